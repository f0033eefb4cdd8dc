"""A text of open canonicalisation and its last touches."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bmo.gate.month_names import with_months

_LEFT_HANGING = re.compile(
    r"(?<!think)(?<!thinks)(?<!hope)(?<!hopes)(?<!say)(?<!said)(?<!guess)(?<!even)(?<!or)(?<!do)"
    r"[ ,;]+(?:and|but|because|so)$"
)
"""A conjunction that the user broke off at ("no calculators ever, so"); "thinks so" is none."""


@dataclass(frozen=True, slots=True)
class OpenText:
    """A canonical text of open canonicalisation.

    Attributes:
        text: Third person, present, no subject word for the user.
        subject: As in ``Fact.subject``.
        whole: False when it was read with the assistant's words.
    """

    text: str
    subject: str = "user"
    whole: bool = True


def finished(text: str) -> str:
    """Single spaces, no loose punctuation at the ends, capitals at the front and for months."""
    text = re.sub(r"\s{2,}", " ", text).strip(" ,;.")
    text = with_months(_LEFT_HANGING.sub("", text))
    return text[:1].upper() + text[1:]
