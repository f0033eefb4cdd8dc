"""Captured intents: goals, standing requests, decisions, rules of work."""

from __future__ import annotations

from bmo.gate.capture_phrases import noun_phrase, statement_rest
from bmo.gate.captures import Capture, CaptureContext, lex, strip_tail, trim


def goal(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What is wanted for long: "to run a marathon", not "to book a table"."""
    tokens = context.tokens
    if tokens[start] != "to" or start + 1 >= end:
        return None
    verb = tokens[start + 1]
    if not lex(context, "goal_verbs", verb):
        return None
    stop = trim(context, start + 1, end, "vp_stops")
    if stop <= start + 2 and verb not in ("retire",):
        return None
    for j in range(start, stop):
        if lex(context, "goal_reject", tokens[j]):
            return None
    if tokens[stop - 1] in ("it", "this", "that", "them", "the", "a", "to", "one", "some", "more"):
        return None
    return Capture(start, stop, stop)


def goal_phrase(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a goal is said to be: an infinitive, an activity or a noun phrase."""
    if context.tokens[start] == "to" or context.tokens[start].endswith("ing"):
        stop = trim(context, start + 1, end, "vp_stops") if start + 1 < end else start
        return Capture(start, stop, stop) if stop > start + 1 else None
    return noun_phrase(context, start, end)


def trying(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Reads "to quit smoking", "to lose weight": a habit or a state to reach."""
    tokens = context.tokens
    if (
        tokens[start] != "to"
        or start + 2 >= end
        or not lex(context, "trying_verbs", tokens[start + 1])
    ):
        return None
    return goal_end(context, start, end)


def goal_end(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Where an infinitive ends, if nothing in it points outside the sentence."""
    stop = trim(context, start + 1, end, "vp_stops")
    if stop <= start + 2 or any(
        lex(context, "goal_reject", context.tokens[j]) for j in range(start, stop)
    ):
        return None
    return Capture(start, stop, stop)


def standing_request(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a standing instruction asks for: nothing of the moment, nothing pointed at."""
    tokens = context.tokens
    stop = strip_tail(context, start, end)
    if tokens[start] in ("that", "it"):
        return None
    if stop <= start or any(lex(context, "of_the_moment", tokens[i]) for i in range(start, stop)):
        return None
    if context.longest("not_requested", start, stop, 3) == stop - start:
        return None
    if "now" in tokens[stop:end] and "from" not in tokens[stop:end]:
        return None  # "don't bring up my dad now"
    if stop < end and tokens[stop - 1] in _STATES:
        stop += 1  # "if i am ok": no tail that stands behind a verb
    return Capture(start, stop, stop)


_STATES = frozenset({"am", "are", "be", "is", "was", "were", "feel", "feeling"})


def imperative(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What the assistant shall do: an imperative verb and what follows."""
    tokens = context.tokens
    if not lex(context, "imperatives", tokens[start]):
        return None
    stop = strip_tail(context, start, end)
    return Capture(start, stop, stop) if stop - start >= 2 else None


def policy_predicate(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a team does by rule: a work verb and what follows."""
    found = statement_rest(context, start, end)
    return found


def decision(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What was decided: "to use postgres", "on postgres", "against a rewrite"."""
    tokens = context.tokens
    if tokens[start] not in ("to", "on", "against", "for", "not", "that") or start + 1 >= end:
        return None
    if tokens[start + 1] in ("it", "that", "this", "what", "whether", "yet"):
        return None
    stop = strip_tail(context, start, trim(context, start + 1, end, "vp_stops"))
    return Capture(start, stop, stop) if stop > start + 1 else None


def process(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What must hold of a piece of work: "needs two approvals", "go out on mondays"."""
    tokens = context.tokens
    if not lex(context, "process_verbs", tokens[start]):
        return None
    stop = strip_tail(context, start, end)
    if stop - start < 2 or any(lex(context, "rest_reject", tokens[j]) for j in range(start, stop)):
        return None
    return Capture(start, stop, stop)
