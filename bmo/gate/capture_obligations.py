"""Captured obligations: what a rule that names nobody asks for each time, and how far.

"Invoices have to be paid within thirty days" is a rule, "the boxes have to be packed" is to be done
once. Without a subject that says whose rule it is, the words behind the verb must tell the two
apart: a limit or somebody who agrees on one side, a single day or a repair on the other.
"""

from __future__ import annotations

from bmo.gate.capture_phrases import statement_rest
from bmo.gate.captures import Capture, CaptureContext, lex, strip_tail
from bmo.language import past_lemma

_FIRST_WORDS = 4
_ONE_TIME = frozenset({"the", "my", "his", "her", "their", "then", "when", "we", "i", "he", "she"})
_EACH = frozenset({"every", "each", "a", "at"})
_OF_A_SPAN = frozenset({"month", "week", "year", "quarter", "day", "shift", "sprint", "term"})
_SURE_MODALS = frozenset({"must", "should", "required", "obliged"})


def required(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a kind of thing needs: "two approvals", "a manager", "steps to reproduce"."""
    found = _whole(context, start, end)
    if found is None:
        return None
    tokens = context.tokens[found.start : found.end]
    if tokens[0] in ("to", "be") or _is_once(context, found):
        return None
    if any(lex(context, "bad_way", word) for word in tokens[:_FIRST_WORDS]):
        return None
    return found if any(lex(context, "asked_of", word) for word in tokens) else None


def obliged(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What is to be done each time: "be paid within thirty days", "be approved by a manager"."""
    found = _whole(context, start, end)
    if found is None or _is_once(context, found):
        return None
    tokens = context.tokens
    if tokens[start] == "be" and not _is_done(tokens[start + 1 : start + 2]):
        return None
    if not _SURE_MODALS.isdisjoint(tokens[:start]) and found.end - found.start > 1:
        return found
    return found if _is_limited(context, found) else None


def forbidden(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What is never to be done, or only so: "leave the eu", "be taken home"."""
    found = _whole(context, start, end)
    if found is None or _is_once(context, found) or found.end - found.start < 2:
        return None
    return found


def done_so(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What is done with things each time: "refunded within two weeks"."""
    found = _whole(context, start, end)
    if found is None or _is_once(context, found):
        return None
    first = context.tokens[start]
    if lex(context, "happened", first) or not _is_done([first]):
        return None
    if "only" in context.tokens[:start] and found.end - found.start > 1:
        return found
    return found if _has_limit(context, found) else None


def terms(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a rule says of its thing: no repair of it, and nothing that is to be done once."""
    found = statement_rest(context, start, end)
    if found is None or _is_once(context, found):
        return None
    first = context.tokens[start : min(found.end, start + _FIRST_WORDS)]
    return None if any(lex(context, "bad_way", word) for word in first) else found


def duty(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What people do by rule: "a badge", "the log before handover"."""
    found = _whole(context, start, end)
    return None if found is None or _is_once(context, found) else found


def _whole(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A habitual statement to the end of its clause: what follows a stop would be lost."""
    first = start + 1 if context.tokens[start] == "be" and start + 1 < end else start
    found = statement_rest(context, first, end)
    if found is None:
        return None
    stop = strip_tail(context, start, end)
    if found.end != stop and found.long_end != stop:
        return None
    return Capture(start, stop, stop)


def _is_done(words: list[str]) -> bool:
    return bool(words) and (words[0].endswith("ed") or past_lemma(words[0]) != "")


def _is_once(context: CaptureContext, found: Capture) -> bool:
    """Whether something ties an obligation to one time ("by friday", "before the meeting")."""
    tokens = context.tokens
    for i in range(found.start, found.end):
        word = tokens[i]
        if lex(context, "once_word", word) and tokens[i - 1] not in _EACH:
            return True
        if word in ("before", "after", "until", "by") and i + 1 < found.end:
            if tokens[i + 1] in _ONE_TIME and not (
                _OF_A_SPAN & set(tokens[i + 2 : found.end]) or _is_agent(context, i)
            ):
                return True
    return False


def _is_agent(context: CaptureContext, at: int) -> bool:
    """Whether "by the ..." names who does it: "be approved by the team lead"."""
    return context.tokens[at] == "by" and _is_done(context.tokens[at - 1 : at])


def _has_limit(context: CaptureContext, found: Capture) -> bool:
    return any(lex(context, "limit_word", w) for w in context.tokens[found.start : found.end])


def _is_limited(context: CaptureContext, found: Capture) -> bool:
    """Whether it is said how far an obligation goes, or who agrees."""
    if _has_limit(context, found):
        return True
    tokens = context.tokens
    return any(
        word in ("before", "after", "until", "by") and i + 1 < found.end
        for i, word in enumerate(tokens[found.start : found.end], found.start)
    )
