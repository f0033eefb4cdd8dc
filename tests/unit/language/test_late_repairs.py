"""Days and numbers that are put right later than right behind what was misspoken."""

from __future__ import annotations

import pytest

from bmo.language import LanguageCode
from bmo.language.disfluency import repair
from bmo.language.tokens import words


@pytest.mark.parametrize(
    ("language", "said", "left"),
    [
        (
            "en",
            "i go swimming tuesdays well it was tuesdays now its thursdays with a woman called pru",
            "i go swimming thursdays with a woman called pru",
        ),
        (
            "en",
            "my neighbour pops in on tuesdays well it was tuesdays its thursdays now",
            "my neighbour pops in on thursdays",
        ),
        (
            "en",
            "practice is mondays except well no its wednesdays now because max has soccer",
            "practice is wednesdays because max has soccer",
        ),
        (
            "en",
            "yoga is on tuesday evenings at the library no wait thursday evenings",
            "yoga is on thursday evenings at the library",
        ),
        (
            "en",
            "dinner is at six well it was six now its seven because of the baby",
            "dinner is at seven because of the baby",
        ),
        (
            "en",
            "my favourite film is alien no i tell a lie its aliens",
            "my favourite film is aliens",
        ),
        (
            "de",
            "chor ist donnerstags na ja es war donnerstags jetzt ist es mittwochs",
            "chor ist mittwochs",
        ),
        (
            "de",
            "wir treffen uns am montag beim anton nee am dienstag",
            "wir treffen uns am dienstag beim anton",
        ),
        (
            "de",
            "ich bin vierunddreißig jahre alt nee fünfunddreißig",
            "ich bin fünfunddreißig jahre alt",
        ),
        (
            "fr",
            "le mardi soir je fais de la poterie euh non le jeudi soir pardon",
            "le jeudi soir je fais de la poterie",
        ),
        (
            "fr",
            "j'ai trente et un ans enfin non trente deux depuis hier",
            "je ai trente deux ans depuis hier",
        ),
        (
            "es",
            "el yoga es los martes bueno era los martes ahora es los jueves",
            "el yoga es los jueves",
        ),
        (
            "es",
            "tengo cuarenta y ocho años no perdón cuarenta y nueve",
            "tengo cuarenta y nueve años",
        ),
    ],
)
def test_a_day_or_number_is_put_right_where_it_was_said(
    language: LanguageCode, said: str, left: str
) -> None:
    assert " ".join(repair(words(said, language), language).norm) == left


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "well it was tuesday when we met"),
        ("en", "my mum rings on sundays well it was sundays but she died"),
        ("en", "i am vegetarian except well no i do eat fish"),
        ("en", "my sister works mondays and i work nights"),
        ("de", "früher war es montag als wir uns trafen"),
        ("fr", "enfin ce était le mardi quand je suis né"),
        ("es", "bueno era martes cuando nací"),
    ],
)
def test_what_puts_nothing_right_stays(language: LanguageCode, said: str) -> None:
    assert " ".join(repair(words(said, language), language).norm) == said
