"""What is known already: some clauses are news only to those they are about.

"I left the council" ends a job for who works there; for others it tells where they were. "You can
use long sentences again" lifts a wish that was made. Rules marked ``known`` speak only then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bmo.turn import DialogueContext, Fact

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_EMPTY = frozenset(
    (
        "a about again all always an and any are as at be can do for from give have her his i in "
        "is it its keep me my never of on or our so that the their them this to use want wants "
        "was we what when with you your"
    ).split()
)
_BY_SUBJECT = frozenset({"standing_instruction", "policy"})
"""Topics that are found again by most of their words; others need them all."""

_WHERE: dict[str, frozenset[str | None]] = {
    "employer": frozenset(
        {"employer", "occupation", "department", "field", "business", "volunteers", None}
    ),
    "technology": frozenset({"technology"}),
    "lives_in": frozenset({"lives_in", "home_type", "owns", None}),
    "medication": frozenset({"medication", None}),
    "eats": frozenset({"diet", "eats", "abstains", "allergy", None}),
    "given_up": frozenset(
        {
            "activity",
            "routine",
            "hobby",
            "plays",
            "learning",
            "training",
            "habit",
            "drinks",
            "takes",
            "member_of",
            "exercise",
            "diet",
            "saving",
            None,
        }
    ),
}
"""Slots in which what a rule names may stand; elsewhere its words mean something else."""

_TAKEN = ("Takes ", "Is on ", "Uses ", "Injects ", "Was put on ", "Has to take ", "Needs ", "Said ")
"""How memories of a medicine without a slot begin."""

_ONE_AT_A_TIME = frozenset({"lives_in"})
"""Slots where a new value is news to whoever has one, whatever it was."""

_MOST = 0.5
_ENDINGS = ("ing", "ed", "es", "s", "e")


def is_known(fact: Fact, context: DialogueContext, kinds: frozenset[tuple[str, ...]]) -> bool:
    """Whether the user's live facts have what a fact names.

    Args:
        fact: What a ``known`` rule read.
        context: The conversation, with the user's live facts.
        kinds: Kinds of workplace (lexicon ``company_noun``): "the bakery" names the one employer.
    """
    if fact.op == "assert" and fact.slot in _ONE_AT_A_TIME:
        return _has_one(fact, context)
    asked = _stems([fact.value])
    if not asked:
        return False
    needed = _MOST if fact.slot in _BY_SUBJECT else 1.0
    slots = _WHERE.get(fact.slot or "")
    for old in (*context.recent_facts, *context.known):
        if old.op == "retract" or (slots is not None and not _may_stand(old, slots)):
            continue
        if len(asked & _stems([old.text, old.value])) >= needed * len(asked):
            return True
        if fact.slot == "employer" and old.slot == "employer" and old.subject == fact.subject:
            if (fact.value.lower().removeprefix("the ").removeprefix("my "),) in kinds:
                return True
    return False


def _has_one(fact: Fact, context: DialogueContext) -> bool:
    """Whether a value of the same slot is known of the same person."""
    return any(
        old.slot == fact.slot and old.subject == fact.subject and old.op != "retract"
        for old in (*context.recent_facts, *context.known)
    )


def _may_stand(old: Fact, slots: frozenset[str | None]) -> bool:
    if "medication" in slots and old.slot is None:
        return old.text.startswith(_TAKEN)
    if "technology" in slots and old.text.startswith(("Uses ", "The team ")):
        return True
    return old.slot in slots


def _stems(texts: Iterable[str]) -> set[str]:
    words = (word for text in texts for word in _WORD.findall(text.lower()))
    return {_stem(word.removesuffix("'s")) for word in words if word not in _EMPTY}


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
