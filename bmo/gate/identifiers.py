"""Personal identifiers in a turn: e-mail addresses and phone numbers (BMO_SENSITIVE).

They are no secrets: ``keep`` stores them as said, ``mask`` stores the turn without them, ``drop``
stores nothing of a turn that has one beside few other words.
"""

from __future__ import annotations

import re

import phonenumbers

_EMAIL = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b[\w.]+ at [\w]+ dot (?:com|org|net|de|fr|es)\b"
)
_DIGITS = re.compile(r"\d[\d\s()./-]{5,}\d")
_REGIONS = ("US", "GB", "DE", "FR", "ES")
_MOST = 16
"""More of them in a turn are a list that was read out: the rest is masked as digits."""


def masked_identifiers(text: str) -> tuple[str, int]:
    """The text with its identifiers replaced, and how many there were.

    Args:
        text: The user's words, secrets masked already.
    """
    masked, found = text, 0
    if "@" in text or " dot " in text.lower():
        masked, found = _EMAIL.subn("[e-mail]", masked)
    if _DIGITS.search(masked):
        spans = {
            (match.start, match.end)
            for region in _REGIONS
            for match in phonenumbers.PhoneNumberMatcher(
                masked, region, phonenumbers.Leniency.VALID, max_tries=_MOST
            )
        }
        last = len(masked)
        for start, end in sorted(spans, reverse=True):
            if end <= last:
                masked, last, found = f"{masked[:start]}[phone]{masked[end:]}", start, found + 1
    return masked, found
