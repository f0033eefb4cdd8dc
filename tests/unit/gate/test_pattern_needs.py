"""What injection patterns need is read off them: no text that matches is without it."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bmo.gate import injection
from bmo.gate.pattern_needs import EDGE, NeededWords, pattern_needs

pytestmark = pytest.mark.unit

RULES = injection._load_rules()
PATTERNS = [
    written
    for pack in map(injection.load_pack, injection.LANGUAGES)
    for raw in pack["rule"]
    for source in raw["patterns"]
    if (written := source if raw.get("raw") else injection.expand(source, pack["words"])).isascii()
]
PIECES = sorted(
    {
        piece
        for pack in map(injection.load_pack, injection.LANGUAGES)
        for raw in pack["rule"]
        for line in raw["examples"]
        for piece in line.split(" ")
    }
)


@cache
def matching(pattern: str) -> st.SearchStrategy[str]:
    """Texts that the pattern matches."""
    source = pattern.replace("\\pL", "[a-z]").replace("\\pN", "[0-9]")
    return st.from_regex(re.compile(source, re.ASCII), alphabet=st.characters(max_codepoint=126))


@settings(
    # Hypothesis looks through every constant of the package for each pattern: seconds an example.
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.sampled_from(PATTERNS).flatmap(matching))
def test_what_matches_a_pattern_may_match(text: str) -> None:
    lowered = text.lower()
    if RULES.patterns.Match(lowered):
        assert RULES.needed.may_match(text.split(" "))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from([" ", "  ", " \n", ", "]))
def test_what_is_made_of_attacks_may_match_where_it_does(pieces: list[str], blank: str) -> None:
    lowered = blank.join(pieces).lower()
    if lowered.isascii() and RULES.patterns.Match(lowered):
        assert RULES.needed.may_match(lowered.split(" "))


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("ignore (?:all )?rules?", [{f"{EDGE}ignore{EDGE}"}, {f"{EDGE}rule"}]),
        ("(?:say|write down) ... now", [{f"{EDGE}say{EDGE}", f"{EDGE}write{EDGE}"}]),
        ("the a\\.i\\. (?:\\S+ )+obeys", [{f"{EDGE}the{EDGE}"}, {f"{EDGE}a.i.{EDGE}"}]),
        ("(?:anything|)", []),
        ("you don't", [{f"{EDGE}you{EDGE}"}, {f"{EDGE}don"}, {f"t{EDGE}"}]),
        ("say... now", [{f"{EDGE}say"}, {f"now{EDGE}"}]),
    ],
)
def test_needs_are_read_off_a_pattern(pattern: str, needs: list[set[str]]) -> None:
    found = pattern_needs(pattern, left=True, right=True, dialect=True)
    assert all(need in found for need in map(frozenset, needs))
    assert bool(found) == bool(needs)


def test_a_pattern_that_needs_nothing_may_always_match() -> None:
    needs = pattern_needs(r"\d+", left=False, right=False, dialect=False)
    assert needs == []
    assert NeededWords([needs]).may_match("anything at all".split(" "))


def test_most_talk_is_spared_the_patterns() -> None:
    lines = [e for p in map(injection.load_pack, ("en",)) for r in p["rule"] for e in r["examples"]]
    assert all(RULES.needed.may_match(line.split(" ")) for line in lines if line.isascii())
    talk = "my brother sam lives in leeds and works at the bank"
    assert not RULES.needed.may_match(talk.split(" "))
