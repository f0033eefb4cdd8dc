"""German, French and Spanish as it is spoken: whole turns with what of them should be stored.

``spoken/<language>.txt`` holds the turns. Every third one was kept apart until the rules were
written: its floor is checked by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from bmo.evaluation.annotated import AnnotatedFact, stored
from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Category, Decision, Turn, Verdict

pytestmark = pytest.mark.unit

LANGUAGES = ("de", "fr", "es")
REPLIES = {
    "de": "Ist notiert, danke dir.",
    "fr": "C'est noté, merci à toi.",
    "es": "Lo tengo apuntado, gracias.",
}
VERDICTS: dict[str, Verdict] = {"a": "allow", "h": "hold", "d": "discard"}
CATEGORIES: dict[str, Category] = {
    "p": "personal_facts",
    "r": "relationships",
    "l": "preferences",
    "g": "goals",
    "o": "policies",
    "c": "decisions",
}
_FACT = re.compile(r"([prlgoc]):(.*?)(?=\s[prlgoc]:|$)")


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn, its right verdict and the facts it should leave behind."""

    text: str
    verdict: Verdict
    facts: tuple[AnnotatedFact, ...]
    apart: bool


def spoken_turns(language: str) -> Iterator[SpokenTurn]:
    """The turns of a language's file, in order."""
    source = Path(__file__).parent / "spoken" / f"{language}.txt"
    lines = [
        line
        for line in source.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    for place, line in enumerate(lines, start=1):
        verdict, text, told = (part.strip() for part in line.split("|"))
        facts = tuple(
            AnnotatedFact(CATEGORIES[code], tuple(w.strip() for w in words.split("+")), ())
            for code, words in _FACT.findall(told)
        )
        yield SpokenTurn(text, VERDICTS[verdict], facts, place % 3 == 0)


@cache
def decided(language: str) -> tuple[tuple[SpokenTurn, Decision], ...]:
    """What the rules alone make of every turn."""
    gate = WriteGate.from_settings(load_settings(gatekeeper_mode="pattern"), load_judge=False)
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return tuple(
        (row, gate.decide(Turn(text=row.text, at=at, assistant_before=REPLIES[language])))
        for row in spoken_turns(language)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_turns_enough_of_every_kind(language: str) -> None:
    rows = list(spoken_turns(language))
    assert len(rows) >= 150
    assert len({row.text for row in rows}) == len(rows)
    assert 0.3 <= sum(row.verdict != "allow" for row in rows) / len(rows) <= 0.6


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_stored_of_small_talk_commands_and_hearsay(language: str) -> None:
    wrong = [
        row.text for row, found in decided(language) if row.verdict != "allow" and stored(found)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("language", "apart", "found_at_least"),
    [
        ("de", False, 0.93),
        ("fr", False, 0.93),
        ("es", False, 0.93),
        ("de", True, 0.80),
        ("fr", True, 0.70),
        ("es", True, 0.70),
    ],
)
def test_rules_alone_find_what_is_told(language: str, apart: bool, found_at_least: float) -> None:
    found = [
        any(fact.found_in(memory) for memory in stored(decision))
        for row, decision in decided(language)
        if row.apart is apart
        for fact in row.facts
    ]
    assert sum(found) / len(found) >= found_at_least


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_stored_is_what_was_told(language: str) -> None:
    right = [
        any(fact.found_in(memory, with_category=False) for fact in row.facts)
        for row, decision in decided(language)
        for memory in stored(decision)
    ]
    assert sum(right) / len(right) >= 0.82
