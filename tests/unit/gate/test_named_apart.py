"""Two of a kind named one by one: the rewrites' examples hold, and both are known by name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bmo.gate import WriteGate
from bmo.gate.named_apart import with_both_named
from bmo.gate.pack_tables import read_table
from bmo.gate.people import people_lexicon
from bmo.language import LANGUAGES, LanguageCode, repair, words
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

GATE = WriteGate(load_settings(gatekeeper_mode="pattern"))


def examples(which: str) -> Iterator[tuple[LanguageCode, object]]:
    for language in LANGUAGES:
        for rewrite in read_table(language, "named_apart.toml")["rewrite"]:
            for example in rewrite[which]:
                yield language, example


def read(text: str, language: LanguageCode) -> str:
    spoken = repair(words(text, language), language)
    return " ".join(with_both_named(spoken, people_lexicon(language), language).norm)


@pytest.mark.parametrize(("language", "example"), list(examples("examples")))
def test_both_names_are_put_where_the_rules_look(
    language: LanguageCode, example: tuple[str, str]
) -> None:
    said, expected = example
    assert read(said, language) == expected


@pytest.mark.parametrize(("language", "said"), list(examples("non_examples")))
def test_what_names_no_two_of_a_kind_stays(language: LanguageCode, said: str) -> None:
    assert read(said, language) == " ".join(repair(words(said, language), language).norm)


@pytest.mark.parametrize(
    ("language", "said", "kept"),
    [
        ("en", "ive got a cat called monty and another one called sooty", ["Monty", "Sooty"]),
        (
            "en",
            "i have two sisters one is called ann and the other is called beth",
            ["Ann", "Beth"],
        ),
        (
            "de",
            "ich hab zwei hunde der eine heißt bruno und der andere heißt milo",
            ["Bruno", "Milo"],
        ),
        (
            "fr",
            "on a deux chats l'un s'appelle pixel et l'autre s'appelle plume",
            ["Pixel", "Plume"],
        ),
        (
            "es",
            "tenemos dos perros uno se llama trueno y el otro se llama lola",
            ["Trueno", "Lola"],
        ),
        ("es", "tengo un gato que se llama tom y otro que se llama jerry", ["Tom", "Jerry"]),
    ],
)
def test_both_are_kept_by_name(language: LanguageCode, said: str, kept: list[str]) -> None:
    decision = GATE.decide_by_rules(Turn(text=said, language=language))
    assert [fact.value for fact in decision.facts if fact.slot == "name"] == kept
