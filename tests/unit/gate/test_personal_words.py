"""German, French and Spanish statements about nobody are not the user's memories."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.personal_words import orders, tells_of_the_user
from bmo.language import LanguageCode, words
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings())


@pytest.mark.parametrize(
    ("language", "text", "personal"),
    [
        ("de", "ich geh montags schwimmen", True),
        ("de", "bin letztes jahr umgezogen", True),
        ("de", "unser dach ist undicht", True),
        ("de", "oma strickt gern", True),
        ("de", "die weser fließt durch bremen", False),
        ("de", "das parlament hat den haushalt beschlossen", False),
        ("fr", "je chante dans une chorale", True),
        ("fr", "on habite au troisième", True),
        ("fr", "la loire traverse orléans", False),
        ("fr", "les conducteurs de bus arrêtent le travail jeudi", False),
        ("fr", "notre planète a une seule lune", False),
        ("de", "unsere katze schläft", True),
        ("de", "unsere sonne ist ein stern", False),
        ("es", "trabajo de noche", True),
        ("es", "pasé veinte años en el mar", True),
        ("es", "me gusta el mar", True),
        ("es", "el duero nace en soria", False),
        ("es", "el café viene de etiopía", False),
    ],
)
def test_words_that_name_the_user(language: LanguageCode, text: str, personal: bool) -> None:
    assert tells_of_the_user(words(text, language).norm, language, ()) is personal


def test_a_name_the_conversation_knows_is_personal() -> None:
    norm = words("zbyszko fährt jetzt lkw", "de").norm
    assert not tells_of_the_user(norm, "de", ())
    assert tells_of_the_user(norm, "de", ("zbyszko",))


@pytest.mark.parametrize(
    "text",
    [
        "die weser fließt durch bremen und dann in die nordsee",
        "Kepler starb 1630 in Regensburg.",
        "la loire est le plus long fleuve de france",
        "el duero nace en soria y llega hasta oporto",
    ],
)
def test_statements_about_the_world_are_not_stored(gate: WriteGate, text: str) -> None:
    decision = gate.decide(Turn(text=text))
    assert decision.verdict != "allow" and not decision.facts


def test_a_rule_at_work_orders() -> None:
    assert orders(words("geliefert wird nur dienstags", "de").norm, "de")
    assert not orders(words("dienstags fließt der rhein", "de").norm, "de")


def test_an_answer_needs_no_such_word(gate: WriteGate) -> None:
    asked = "Was machst du beruflich?"
    answer = gate.decide(Turn(text="zahntechnikerin in einem labor", assistant_before=asked))
    assert answer.verdict == "allow" and answer.facts
