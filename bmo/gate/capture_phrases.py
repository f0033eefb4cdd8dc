"""Captured phrases: noun phrases, activities, and what is said of somebody."""

from __future__ import annotations

from bmo.gate.captures import Capture, CaptureContext, lex, qualified_end, strip_tail, trim
from bmo.language import progressive_lemma


def noun_phrase(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Any noun phrase that points at nothing outside the sentence."""
    tokens = context.tokens
    if start >= end or lex(context, "deictic", tokens[start]):
        return None
    if lex(context, "np_not_first", tokens[start]):
        return None
    stop = trim(context, start, end)
    if stop <= start or tokens[stop - 1] in ("them", "it", "him", "her", "that", "this"):
        return None
    if stop - start == 1 and lex(context, "not_alone", tokens[start]):
        return None
    if tokens[start] in ("a", "an", "the", "some", "any", "my") and stop - start == 1:
        return None
    for i in range(start, stop):
        if tokens[i] in ("you", "your", "yours", "bmo") and not lex(
            context, "you_ok", tokens[max(start, i - 1)]
        ):
            return None
    if (
        lex(context, "np_reject", tokens[stop - 1])
        or context.longest("np_reject", start, stop, 5) == stop - start
    ):
        return None
    return Capture(start, stop, qualified_end(context, start, stop, end))


def liked(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What is liked or disliked: not an idea just heard, not a thing pointed at."""
    found = noun_phrase(context, start, end)
    if found is None:
        return None
    tokens = context.tokens
    if lex(context, "like_reject", tokens[found.end - 1]) or context.longest(
        "like_reject", start, found.end, 5
    ):
        return None
    if tokens[start] == "to" or tokens[start].endswith("ing"):
        return activity(context, start, end)
    if tokens[start] == "the" and found.end < end and tokens[found.end] in ("of",):
        return None
    return found


def vehicle(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A car by its make: "old diesel passat"."""
    found = noun_phrase(context, start, end)
    if found is None or found.end - found.start > _VEHICLE_WORDS:
        return None
    if not any(lex(context, "vehicle_make", word) for word in context.tokens[start : found.end]):
        return None
    return found


_VEHICLE_WORDS = 5


def activity(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Reads "swimming in the sea", "to swim in the sea"."""
    tokens = context.tokens
    i = start
    if tokens[i] == "to":
        i += 1
    if i >= end or lex(context, "verb_reject", tokens[i]):
        return None
    if tokens[start] != "to" and not tokens[i].endswith("ing"):
        return None
    if tokens[start] != "to" and lex(context, "verb_reject", progressive_lemma(tokens[i])):
        return None
    stop = trim(context, i, end, "vp_stops")
    if stop <= i:
        return None
    for j in range(i, stop):
        if tokens[j] in ("you", "your", "bmo", "that", "this") and not (
            tokens[j] == "that" and j > i + 1
        ):
            return None
    last = tokens[stop - 1]
    if last in ("it", "this", "that", "them", "those", "these", "the", "a", "to"):
        return None
    return Capture(start, stop, qualified_end(context, start, stop, end))


def verb_phrase(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A bare infinitive and what follows ("run a marathon by may")."""
    tokens = context.tokens
    if lex(context, "verb_reject", tokens[start]) or lex(context, "deictic", tokens[start]):
        return None
    stop = trim(context, start, end, "vp_stops")
    if stop <= start:
        return None
    for j in range(start, stop):
        if tokens[j] in ("you", "your", "bmo"):
            return None
    if tokens[stop - 1] in ("it", "this", "that", "them", "the", "a", "to", "one", "some"):
        return None
    return Capture(start, stop, qualified_end(context, start, stop, end))


def doing(context: CaptureContext, start: int, end: int) -> Capture | None:
    """An activity of any verb, or a noun phrase."""
    if context.tokens[start].endswith("ing"):
        stop = trim(context, start, end, "vp_stops")
        return Capture(start, stop, stop) if stop > start else None
    return noun_phrase(context, start, end)


def anything(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Everything to the end of the clause."""
    stop = strip_tail(context, start, end)
    return Capture(start, stop, stop) if stop > start else None


def statement_rest(context: CaptureContext, start: int, end: int) -> Capture | None:
    """The rest of a habitual statement: nothing in it points outside the sentence."""
    tokens = context.tokens
    if lex(context, "deictic", tokens[start]) or lex(context, "rest_reject_first", tokens[start]):
        return None
    stop = trim(context, start, end, "vp_stops")
    if stop <= start:
        return None
    for i in range(start, stop):
        if lex(context, "rest_reject", tokens[i]):
            return None
    if tokens[stop - 1] in _SUBORDINATE:
        # "feeds the cat when | i am away": the circumstance is told with the value, or not at all.
        full = strip_tail(context, start, end)
        return Capture(start, stop - 1, full) if start < stop - 1 and full > stop else None
    if lex(context, "rest_reject_last", tokens[stop - 1]):
        return None
    return Capture(start, stop, qualified_end(context, start, stop, end))


_SUBORDINATE = frozenset("after before if once until when whenever where while".split())


def identity(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What someone is ("a homebody"): not a state of the moment."""
    found = noun_phrase(context, start, end)
    if found is None:
        return None
    for i in range(found.start, found.end):
        if lex(context, "isa_reject", context.tokens[i]):
            return None
    return found


def had(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What someone has for long: not an appointment, a question or a headache."""
    tokens = context.tokens
    i = start
    if tokens[i] in ("no", "never", "to", "been", "had", "it", "not"):
        return None
    found = noun_phrase(context, i, end)
    if found is None:
        return None
    for j in range(found.start, found.end):
        if lex(context, "have_reject", tokens[j]):
            return None
    return found
