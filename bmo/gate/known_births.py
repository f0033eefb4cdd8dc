"""A birth that ends a pregnancy brings somebody up: "the baby's here, she's called iris"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bmo.gate.people import label_of
from bmo.turn import Fact

BORN = ("baby_is_here", "she_had_the_baby")
"""The constructions of change that tell of a birth."""

_CALLED = re.compile(
    r"\b(?:called|named|call (?:her|him|it|them)|calling (?:her|him|it)|(?:her|his|the|its) name is"
    r"|her name 's|his name 's) (?:her |him )?(?P<name>[^\W\d_]{2,})\b"
)
_CHILDREN = {
    "daughter": frozenset({"daughter", "girl", "her", "she"}),
    "son": frozenset({"son", "boy", "him", "he", "his"}),
}
_NO_NAME = frozenset("after him her it them the a an my our yet and so by".split())
_PARENTS = frozenset({"user", "user.wife", "user.girlfriend", "user.partner", "user.fiancée"})


def child_named(ended: Sequence[Fact], norm: Sequence[str]) -> Fact | None:
    """The child whose name a turn tells with its birth.

    Args:
        ended: What the turn ends; a pregnancy by ``BORN`` among it.
        norm: The turn's words.

    Returns:
        "Has a daughter named Iris", of a sister's "Sister has a baby named Ailsa"; None where no
        name is told.
    """
    over = next((fact for fact in ended if fact.rule_id in BORN), None)
    found = _CALLED.search(" ".join(norm)) if over is not None else None
    if over is None or found is None or found["name"] in _NO_NAME:
        return None
    name = found["name"].title()
    said = frozenset(norm)
    relation = next((child for child, words in _CHILDREN.items() if words & said), "baby")
    mother = over.subject.partition(":")[0]
    if mother in _PARENTS and relation != "baby":
        text = f"Has a {relation} named {name}"
        return _told(over, f"user.{relation}:{name.lower()}", text, "name", name)
    label = label_of(over.subject)
    text = f"{label} has a baby named {name}" if label else f"Has a baby named {name}"
    return _told(over, over.subject, text, None, "")


def _told(over: Fact, subject: str, text: str, slot: str | None, value: str) -> Fact:
    return Fact(
        text=text,
        category="relationships",
        slot=slot,
        value=value,
        subject=subject,
        confidence=over.confidence,
        rule_id=over.rule_id,
        extraction_method=over.extraction_method,
        entities=(text.rpartition(" ")[2].lower(),),
    )
