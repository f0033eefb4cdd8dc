"""Predicates for templates: the words between subject and value, present, negated and past."""

from __future__ import annotations

from bmo.gate.canonical_text import surface
from bmo.gate.captures import Capture, CaptureContext
from bmo.gate.clause_head import Head
from bmo.language import third_person


def predicate(
    head: Head,
    context: CaptureContext,
    captures: dict[str, tuple[Capture, str]],
    proper_words: frozenset[str],
) -> dict[str, str]:
    """The words between subject and value, for templates: present, negated, past."""
    first = min((c.start for c, _ in captures.values()), default=len(head.tokens))
    group = head.group
    if head.tokens[0] == "P":
        words = head.tokens[1:first]
        lemma = group.lemma if group is not None else ""
        shown = " ".join(be_form(head, words) if w == lemma == "be" else w for w in words)
        return {"PRED": shown}
    if head.tokens[0] != "S" or group is None:
        return {"PRED": surface(context, 0, first, proper_words)}
    at = 2 if len(head.tokens) > 1 and head.tokens[1] == "can" else 1
    rest = surface(context, at + 1, first, proper_words) if first > at + 1 else ""
    lemma = head.tokens[at]
    never = "never" in group.habits
    if at == 2:
        positive, negated, used = f"can {lemma}", f"cannot {lemma}", f"could {lemma}"
    elif lemma == "be":
        positive, negated, used = "is", "is not", "used to be"
    else:
        third = third_person(lemma)
        positive = third
        negated = f"never {third}" if never else f"does not {lemma}"
        used = f"used to {lemma}"
    norm = context.words.norm
    if group.verb_at > 0 and norm[group.verb_at - 1 : group.verb_at] == ["only"] and lemma != "be":
        positive = f"only {positive}"  # "i only drink decaf" is not "i drink decaf"
    said = norm[group.verb_at] if 0 <= group.verb_at < len(norm) else lemma
    past = said if group.tense == "past" and lemma != "be" else positive
    if lemma == "be" and group.tense == "past":
        past = "was"
    if group.aspect == "perfect" and not group.had:
        past = f"has {said}" if lemma != "be" else "has been"
    elif group.had and lemma != "be":
        past = f"had {said}"
    has = (
        "has"
        if lemma in ("have", "get", "buy", "adopt", "rescue", "inherit", "purchase")
        else positive
    )
    if not rest:
        return {
            "PRED": positive,
            "NOTPRED": negated,
            "USEDPRED": used,
            "EDPRED": past,
            "HASPRED": has,
        }
    return {
        "PRED": f"{positive} {rest}".strip(),
        "NOTPRED": f"{negated} {rest}".strip(),
        "USEDPRED": f"{used} {rest}".strip(),
        "EDPRED": f"{past} {rest}".strip(),
        "HASPRED": f"{has} {rest}".strip(),
    }


def be_form(head: Head, words: list[str]) -> str:
    """The form of "be" for what is owned ("office is", "shoes are"), in the tense of the head."""
    plural = words and words[0].endswith("s") and not words[0].endswith("ss")
    past = head.group is not None and head.group.tense == "past"
    if past:
        return "were" if plural else "was"
    return "are" if plural else "is"
