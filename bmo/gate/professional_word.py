"""What a doctor, dentist, vet or the like says of the user counts as said by the user.

"The doctor told me i'm prediabetic" reports a finding, not an opinion: the frame is taken off, and
"i'm prediabetic" is read by the ordinary rules. Advice ("says i should walk more") is no finding.
"""

from __future__ import annotations

from bmo.gate.open_lexicon import open_lexicon
from bmo.language import Words

_LONGEST_FRAME = 8
_FINDINGS = frozenset({"am", "have", "can", "has", "is", "got", "must"})
_OWNERS = frozenset({"the", "my", "our", "his", "her", "their", "a"})
_ABOUT = frozenset({"i", "my", "he", "she", "his", "her", "our", "we"})


def without_professional(spoken: Words) -> Words:
    """The words without "the doctor says that" before a finding; ``spoken`` when there is none.

    Args:
        spoken: Repaired English words of a turn.
    """
    norm = spoken.norm
    lexicon = open_lexicon()
    if lexicon.professionals.isdisjoint(norm) or lexicon.professionals_say.isdisjoint(norm):
        return spoken
    for at, word in enumerate(norm):
        if word in lexicon.professionals and at and norm[at - 1] in _OWNERS:
            stop = _frame_end(norm, at + 1)
            if stop:
                kept = [*range(at - 1), *range(stop, len(norm))]
                return spoken.select(kept) if kept else spoken
    return spoken


def _frame_end(norm: list[str], start: int) -> int:
    """The index behind "told me that", where a finding follows; 0 where none does."""
    said = False
    saying = open_lexicon().professionals_say
    for at in range(start, min(len(norm) - 1, start + _LONGEST_FRAME)):
        word = norm[at]
        if word in saying:
            said = True
        elif said and word in _ABOUT:
            finding = any(norm[i] in _FINDINGS for i in range(at + 1, min(len(norm), at + 4)))
            advised = "should" in norm[at : at + 4] or "could" in norm[at : at + 4]
            return at if finding and not advised else 0
        elif word not in ("me", "us", "that", "has", "have", "just", "had", "'s"):
            return 0
    return 0
