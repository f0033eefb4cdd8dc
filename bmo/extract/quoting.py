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
    wanted = [_compared(word) for word in _WORD.findall(quote)]
    places = list(_WORD.finditer(said))
    spoken = [_compared(place[0]) for place in places]
    for start in range(len(spoken) - len(wanted) + 1 if wanted else 0):
        end = start + len(wanted)
        if spoken[start:end] == wanted:
            return places[start].start(), places[end - 1].end()
    return None


def _compared(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold().translate(_APOSTROPHES)
