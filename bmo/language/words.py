"""Words of a text in their compared form: lower-case, without punctuation."""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 2000
"""A turn is read up to here; speech of more than two minutes has no single fact to lose."""

_WORD = re.compile(r"\w+(?:'\w+)*")
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ`´", "'"))
_NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufeff\u200b-\u200f\u202a-\u202e\ud800-\udfff]")


def clean(text: str) -> str:
    """Text in Unicode form C, on one line, with straight apostrophes and no control characters."""
    plain = _NOT_TEXT.sub("", _straight(unicodedata.normalize("NFC", text)))
    return " ".join(plain.split())


def words(text: str) -> list[str]:
    """Lower-case words with the apostrophes inside them."""
    return _WORD.findall(_straight(text).lower())


def _straight(text: str) -> str:
    """With straight apostrophes."""
    return text.replace("`", "'") if text.isascii() else text.translate(_APOSTROPHES)


def spoken(text: str) -> str:
    """The words without case, punctuation and apostrophes: what LiveKit compares as well."""
    kept = clean(text).replace("'", "")
    return " ".join("".join(c if c.isalnum() else " " for c in kept.casefold()).split())
