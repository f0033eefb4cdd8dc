"""What the judge's read-need weighs: from which need a turn is about memory, by what memory has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bmo.recall.relevance import Familiarity

OVERRULED: Final[Mapping[str, float]] = {
    "statement": 0.9,
    "command": 0.9,
    "general_knowledge": 0.96,
}
"""Read-need from which the judge overrules a rule that saw no need, where the speaker or somebody
of theirs is in the turn ("Propose a composer for our concert" begins with no word the rules know).
Of the 2,027 lines of read_negative it overrules 3."""

OVERRULED_FITTING: Final = 0.8
"""The same where some memory may be what the turn is about ..."""

MAY_BE_MEANT: Final = -1.0
"""... by at least these log odds, nearness included."""

OVERRULED_MEANT: Final = 0.5
"""The same where some memory surely is ("whats my camera these days" beside a camera) ..."""

SURELY_MEANT: Final = 1.0
"""... by these."""

FAMILIAR: Final = 2.0
"""Familiarity (``bmo.recall.relevance``) from which a turn is about what memory holds ..."""

FAMILIAR_NEED: Final = 0.32
"""... and the read-need that is enough then."""

STRANGE_NEED: Final = 0.97
"""The read-need that a turn must have which shares nothing with memory ..."""

STRANGE_OWN_NEED: Final = 0.7
"""... and where "my" or a person of the speaker's is in it."""

FITS: Final = -0.8
"""Log odds of some memory, nearness included, from which it may be what a turn is about ..."""

FITS_NEED: Final = 0.08
"""... and the read-need that is enough then."""

FITS_QUESTION: Final = 0.0
"""The same for a question, whatever the judge says: "whats on tuesdays" and "is the carbonara okay
for the flat" read like general knowledge to whoever has no memory."""

FITS_OCCASION: Final = 0.3
"""The same for what is about to happen ("im ordering lunch", "mums coming on friday")."""

FITS_ADVICE: Final = -2.0
"""The same where the speaker asks what they had better do ("wedding on a saturday do i have owt
on"), which depends on them more often than not."""

NOT_STRANGE: Final = -1.5
"""Log odds from which a turn that shares no word with memory is no stranger to it."""


def overrules(need: float, known: Familiarity | None, otherwise: float) -> float:
    """The read-need from which the judge overrules a rule that saw no need."""
    if known is None or need < OVERRULED_MEANT:
        return otherwise
    closest = known.closest()
    if closest >= SURELY_MEANT:
        return min(otherwise, OVERRULED_MEANT)
    if need < OVERRULED_FITTING or closest < MAY_BE_MEANT:
        return otherwise
    return min(otherwise, OVERRULED_FITTING)


def may_fit(need: float, known: Familiarity) -> bool:
    """Whether a turn is about some memory though the judge sees little need of any."""
    return need >= FITS_NEED and known.closest() >= FITS


def answers(known: Familiarity, question: bool, occasion: bool, advice: bool = False) -> bool:
    """Whether some memory answers a question or matters to an occasion, whatever the judge says."""
    if not (question or occasion):
        return False
    if advice:
        return known.closest() >= FITS_ADVICE
    return known.closest() >= (FITS_QUESTION if question else FITS_OCCASION)
