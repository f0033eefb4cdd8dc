"""March and May, which are written small in speech and are verbs too, with their capital."""

from __future__ import annotations

import re

_MONTH = re.compile(
    r"\b((?:in|on|of|by|since|until|till|last|next|this|early|late|mid|every|from|before|after|is"
    r"|first|second|third|\w+th|\w+st|\d+(?:st|nd|rd|th)?)) (may|march)\b(?! (?:not|be|have)\b)"
)
"""What stands before the month and never before the verbs."""


def with_months(text: str) -> str:
    """A canonical text with "in may" written "in May".

    Args:
        text: English.
    """
    if " may" not in text and " march" not in text:
        return text  # nearly every text
    return _MONTH.sub(lambda found: f"{found[1]} {found[2].capitalize()}", text)
