"""Where a person's name stands in a turn, and how a name is written."""

from __future__ import annotations

import re
from functools import lru_cache

from bmo.gate.people import PeopleLexicon
from bmo.language import Words

COPULAS = frozenset(
    ("'s am are can did do does had has have is might should was were will would").split()
)
"""Verbs that may follow a name or something owned, and tell it from the noun."""

_INNER_CAPITAL = re.compile(r"(?<=[\s\W])[^\W\d_a-z](?=[^\W\d_A-Z])")

_STOP_OF_TITLE = re.compile(r"\b(mr|mrs|ms|dr)\. ", re.IGNORECASE)
_TITLES = frozenset(
    (
        "aunt auntie baba captain doctor dr father mama miss mr mrs ms nana papa pastor prof "
        "professor sister uncle"
    ).split()
)

ABBREVIATED_TITLES = frozenset({"dr", "mr", "mrs", "ms"})
"""Titles that stand before a name and nowhere else: "my landlord is mr singh"."""


def without_stops_of_titles(words: Words) -> Words:
    """The words without the full stop behind a title, which ends no sentence ("mr. okafor").

    Args:
        words: English words of a turn.

    Returns:
        ``words`` itself where none stands.
    """
    last = len(words.norm) - 1
    places = [
        i
        for i, word in enumerate(words.norm)
        if word in ABBREVIATED_TITLES and words.after[i] == "." and i < last
    ]
    if not places:
        return words
    after = ["" if i in places else mark for i, mark in enumerate(words.after)]
    return Words(words.text, words.norm, words.start, words.end, after, words.before)


def is_name_at(
    words: Words, i: int, end: int, lexicon: PeopleLexicon, stops: frozenset[str], strict: bool
) -> int:
    """How many words at ``i`` are a person's name (0 to 3).

    Args:
        words: The turn's words.
        i: Where a name may begin.
        end: Index behind the clause.
        lexicon: Given names.
        stops: Words that are no names in this position.
        strict: True where the construction itself does not say that a name follows.
    """
    if i >= end:
        return 0
    norm = words.norm
    count = 0
    cased = is_cased(words.text)
    titled = norm[i] in _TITLES and i + 1 < end and norm[i + 1] not in stops
    if titled:
        count = 1
    surname = titled and (not strict or norm[i] in ABBREVIATED_TITLES)
    while i + count < end and count < 3:
        word = norm[i + count]
        if not word[0].isalpha() or (
            word in stops and not (cased and _capitalised(words, i + count) and count)
        ):
            break
        if word in ("'s", "i") or word.endswith("'"):
            break  # "ma femme m'a quitté"
        known = word in lexicon.names
        capital = cased and _capitalised(words, i + count)
        behind_title = surname and count == 1
        if count and not capital and not (known and not cased) and not behind_title:
            break
        if (
            not count
            and strict
            and not known
            and not capital
            and not _followed_by_verb(norm, i + 1, end)
        ):
            break
        if cased and not capital and strict and not known:
            break
        count += 1
        if words.after[i + count - 1]:
            break
    if count == 1 and norm[i] in _TITLES:
        return 0
    return count


def _capitalised(words: Words, i: int) -> bool:
    first = words.text[words.start[i]]
    return first.isupper()


@lru_cache(maxsize=64)
def is_cased(text: str) -> bool:
    """Whether upper and lower case in ``text`` tell names from words.

    A capital at the very beginning tells nothing, nor does text in capitals throughout.
    """
    return _INNER_CAPITAL.search(text, 1) is not None and not text.isupper()


def _followed_by_verb(norm: list[str], i: int, end: int) -> bool:
    return i < end and (
        norm[i] in COPULAS
        or norm[i]
        in (
            "lives",
            "works",
            "likes",
            "loves",
            "hates",
            "drives",
            "studies",
            "moved",
            "just",
            "got",
            "started",
            "plays",
            "and",
            "called",
        )
    )


def proper(raw: str) -> str:
    """A name as it is written: title case unless the speaker's case says more ("McDonald")."""
    if "." in raw:
        raw = _STOP_OF_TITLE.sub(r"\1 ", raw)
    if raw.islower() or (raw.isupper() and len(raw) > 3):
        return " ".join(part[:1].upper() + part[1:].lower() for part in raw.split())
    return raw
