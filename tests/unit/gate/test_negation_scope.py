"""What is negated in a way no rule reads is not stored as its opposite."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from bmo.gate import WriteGate
from bmo.gate.negation_scope import beyond_rules
from bmo.language import LANGUAGES, LanguageCode, repair, segment, words
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

TABLES = {
    language: tomllib.loads(
        (resources.files("bmo.gate") / "packs" / language / "factuality.toml").read_text("utf-8")
    )["scope"]
    for language in LANGUAGES
}


@pytest.fixture(scope="module")
def local() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


def lines(kind: str) -> list[tuple[LanguageCode, str]]:
    return [(language, line) for language in LANGUAGES for line in TABLES[language][kind]]


def refused(language: LanguageCode, text: str) -> bool:
    spoken = repair(words(text, language), language)
    return any(beyond_rules(spoken, clause, language) for clause in segment(spoken, language))


@pytest.mark.parametrize(("language", "text"), lines("examples"))
def test_a_negation_beyond_the_rules_is_refused(language: LanguageCode, text: str) -> None:
    assert refused(language, text)


@pytest.mark.parametrize(("language", "text"), lines("non_examples"))
def test_another_negation_is_not(language: LanguageCode, text: str) -> None:
    assert not refused(language, text)


@pytest.mark.parametrize(("language", "text"), lines("examples"))
def test_nothing_else_than_a_second_clause_is_stored(
    local: WriteGate, language: LanguageCode, text: str
) -> None:
    told = [fact.text for fact in local.decide(Turn(text=text, language=language)).facts]
    assert set(told) <= {"Is a midwife", "Studies"}


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        ("i don't not like coffee", "Does not like coffee"),
        ("i can't stop eating chocolate", "Can eat chocolate"),
    ],
)
def test_the_opposite_is_not_stored(local: WriteGate, text: str, opposite: str) -> None:
    assert opposite not in [fact.text for fact in local.decide(Turn(text=text)).facts]


def test_an_order_may_say_not_always(local: WriteGate) -> None:
    assert local.decide(Turn(text="sag bitte du zu mir ja nicht immer sie", language="de")).facts
    assert local.decide(Turn(text="please don't always say sorry to me")).facts
