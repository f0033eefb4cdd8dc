"""What a held turn says when a person allows it by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmo.turn import Category, Fact

if TYPE_CHECKING:
    from bmo.ledger import LoggedTurn


def fact_of_held(
    held: LoggedTurn, *, text: str | None = None, category: Category | None = None
) -> Fact:
    """The memory that a held turn becomes.

    Args:
        held: The turn.
        text: What it should say; None takes the turn's own words.
        category: Where it belongs; None is ``personal_facts``.
    """
    told = " ".join((text or held.text).split())
    return Fact(
        text=told,
        category=category or "personal_facts",
        said="" if text else held.text,
        asked="" if text else held.assistant_before,
        confidence=1.0,
        extraction_method="manual",
    )
