"""Captures of what a firm has and is: counted things, amounts, kinds of product."""

from __future__ import annotations

from bmo.gate.capture_phrases import noun_phrase, statement_rest
from bmo.gate.captures import Capture, CaptureContext, lex
from bmo.language.times import NUMBER_WORDS

_ABOUT = frozenset(
    "about around over nearly almost under roughly some up more less than to".split()
)
_PEOPLE = frozenset({"me", "us", "her", "people", "everybody", "everyone"})
"""Whom something "makes" do something."""
_COUNTS = frozenset(
    {
        "several",
        "dozen",
        "dozens",
        "hundred",
        "thousand",
        "hundreds",
        "thousands",
        "million",
        "millions",
    }
)


def counted(context: CaptureContext, start: int, end: int) -> Capture | None:
    """So many of something: "forty employees", "over ten thousand users"."""
    found = statement_rest(context, start, end)
    if found is None:
        return None
    tokens = context.tokens
    at = _behind_number(tokens, start, found.end)
    if at == start or at >= found.end:
        return None
    if any(lex(context, "not_counted", word) for word in tokens[at : found.end]):
        return None
    if any(lex(context, "transient", word) for word in tokens[found.end : end]):
        return None
    return found


def amount(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A figure with its unit: "ninety euros an hour", "four thousand a month"."""
    found = statement_rest(context, start, end)
    if found is None or _behind_number(context.tokens, start, found.end) == start:
        return None
    return found


def kind_of_product(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a product is: "booking tool for dentists", and no opinion of it ("disaster")."""
    found = noun_phrase(context, start, end)
    if found is None or context.tokens[start] in _PEOPLE:
        return None
    said = context.tokens[start : found.end]
    if any(lex(context, name, word) for name in ("opinion_noun", "isa_reject") for word in said):
        return None
    return found


def _behind_number(tokens: list[str], start: int, end: int) -> int:
    """Index behind a number that may have "about" before it; ``start`` when there is none."""
    at = start
    while at < end and tokens[at] in _ABOUT:
        at += 1
    if tokens[at : at + 1] == ["a"] and at + 1 < end and _is_number(tokens[at + 1]):
        at += 1  # "a hundred"
    first = at
    while at < end and (_is_number(tokens[at]) or (at > first and tokens[at] == "and")):
        at += 1
    return at if at > first else start


def _is_number(word: str) -> bool:
    return word in NUMBER_WORDS or word in _COUNTS or word.lstrip("£$€")[:1].isdigit()
