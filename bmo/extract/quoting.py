"""Finding a quote in the user's own words: no quote, no fact."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+(?:['’`´][^\W_]+)*|\[[a-z ]+\]")
_APOSTROPHES = str.maketrans("", "", "'’`´")


def locate(quote: str, said: str) -> tuple[int, int] | None:
    """Where a quote stands in what was said.

    Case, blanks, punctuation, apostrophes and accents' encoding make no difference; the words
    and their order do.

    Returns:
        Character offsets in ``said``, or None when the words are not there in a row.
    """
    wanted = [word for word, _, _ in _words(quote)]
    spoken = _words(said)
    if not wanted:
        return None
    for start in range(len(spoken) - len(wanted) + 1):
        if all(spoken[start + i][0] == word for i, word in enumerate(wanted)):
            return spoken[start][1], spoken[start + len(wanted) - 1][2]
    return None


def _words(text: str) -> list[tuple[str, int, int]]:
    """(compared form, start, end) of each word."""
    return [
        (
            unicodedata.normalize("NFKC", found[0]).casefold().translate(_APOSTROPHES),
            found.start(),
            found.end(),
        )
        for found in _WORD.finditer(text)
    ]
