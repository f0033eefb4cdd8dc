"""What a held turn says when a person allows it by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmo.turn import Category, Fact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bmo.ledger import LoggedTurn


def fact_of_held(
    held: LoggedTurn,
    subjects: Mapping[str, str],
    *,
    text: str | None = None,
    category: Category | None = None,
) -> Fact:
    """The memory that a held turn becomes.

    Args:
        held: The turn.
        subjects: Lower-case name -> subject of people the ledger knows.
        text: What it should say; None takes the turn's own words, in the third person where
            they can be put so.
        category: Where it belongs; None is ``personal_facts``.
    """
    if text is not None:
        told, subject = " ".join(text.split()), "user"
    else:
        told, subject = _third_person(held, subjects)
    return Fact(
        text=told,
        subject=subject,
        category=category or "personal_facts",
        confidence=1.0,
        extraction_method="manual",
    )


def _third_person(held: LoggedTurn, subjects: Mapping[str, str]) -> tuple[str, str]:
    """Text and subject of what a turn states; its own words where that is not understood."""
    from bmo.gate.open_canonicalisation import canonicalise
    from bmo.language import LANGUAGES, LanguageCode, words

    language: LanguageCode = next((one for one in LANGUAGES if one == held.language), "en")
    told = canonicalise(words(held.text, language), held.assistant_before, language, subjects)
    return (held.text, "user") if told is None else (told.text, told.subject)
