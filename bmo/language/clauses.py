"""Clause segmentation: punctuation, coordinators and run-ons of speech without punctuation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import compress
from operator import or_
from typing import NamedTuple

from bmo.language.asked_conditions import ASKING_WORDS, CONDITIONS, asks_behind_condition
from bmo.language.clause_borders import STATING, border_before, border_words
from bmo.language.lexicon import (
    BEHIND_DENIALS,
    LanguageCode,
    SurfaceLexicon,
    match_phrase,
    opener_words,
    surface_lexicon,
)
from bmo.language.tokens import Words

MAX_CLAUSES = 32
"""What follows the last of these is one clause: a bound on time for hostile input."""

_HARD = frozenset(".!?;…:")


class Clause(NamedTuple):
    """One clause of a turn.

    Attributes:
        start: Index of its first word in the turn's words, openers taken off.
        end: Index behind its last word.
        intro: The conjunction or opener word it began with, or "".
        carried: Its subject is that of the clause before ("... and live in york").
        sentence: Number of the sentence it stands in, by punctuation.
        closed_by: Punctuation behind it ("?", ".", ...), or "".
    """

    start: int
    end: int
    intro: str = ""
    carried: bool = False
    sentence: int = 0
    closed_by: str = ""


_made = tuple.__new__
"""Makes a named tuple of all its fields in a third of the time."""


def segment(
    words: Words, language: LanguageCode = "en", names: frozenset[str] = frozenset()
) -> list[Clause]:
    """Splits words into clauses, left to right.

    Args:
        words: Repaired words of a turn.
        language: Whose conjunctions and pronouns apply.
        names: Lower-case names of known people, which may be subjects.

    Returns:
        Clauses that hold at least one word each; openers ("well", "you know") belong to none.
    """
    lexicon, openers, fronts = _forms(language)
    norm = words.norm
    after = words.after
    size = len(norm)
    if names:
        openers = openers | dict.fromkeys(names)
    conditional = language == "en" and not CONDITIONS.isdisjoint(norm)
    if conditional:
        openers = openers | dict.fromkeys(ASKING_WORDS)
    may_open: Iterable[int] = map(openers.__contains__, norm[1:])
    if any(after[:-1]):
        may_open = map(or_, may_open, map(len, after))  # behind a mark any word may
    borders = list(compress(range(1, size), may_open))
    if size:
        borders.append(size)
    clauses: list[Clause] = []
    begin = 0
    sentence = 0
    carried = False
    for i in borders:
        mark = after[i - 1]
        border = 1
        hard = i == size or (mark != "" and not _HARD.isdisjoint(mark))
        if i < size and len(clauses) >= MAX_CLAUSES:
            continue
        if not hard:
            word = norm[i]
            follows = None if mark else openers[word]
            if follows is not None and (i + 1 >= size or norm[i + 1] not in follows):
                continue
            if word == "the" and (i + 2 >= size or norm[i + 2] not in STATING):
                continue  # most of them
            border = border_before(norm, after, begin, i, lexicon, names)
            if not border and not (conditional and _asks(norm, begin, i, lexicon)):
                continue
        closed_by = mark if hard else mark[:1]
        first = norm[begin]
        opening = first in fronts
        if opening and (behind := fronts[first]) is not None:
            opening = begin + 1 < size and norm[begin + 1] in behind
        if not opening:  # most clauses
            clauses.append(_made(Clause, (begin, i, "", carried, sentence, closed_by)))
        else:
            clause = _clause(norm, begin, i, carried, sentence, closed_by, lexicon)
            if clause is not None:
                clauses.append(clause)
        begin = i
        carried = border == 2
        if hard:
            sentence += 1
    return clauses


def _asks(norm: list[str], begin: int, i: int, lexicon: SurfaceLexicon) -> bool:
    """Whether a question begins at word ``i`` of a clause that is a condition."""
    if (
        i - begin < 3
        or norm[i] not in ASKING_WORDS
        or CONDITIONS.isdisjoint(norm[begin : begin + 3])
    ):
        return False
    return norm[i - 1] not in lexicon.embedders and asks_behind_condition(norm, i)


@cache
def _forms(
    language: LanguageCode,
) -> tuple[SurfaceLexicon, dict[str, frozenset[str] | None], dict[str, frozenset[str] | None]]:
    """What a turn is cut by: surface forms, words of borders, words of openers."""
    return surface_lexicon(language), border_words(language), opener_words(language)


def _clause(
    norm: list[str],
    begin: int,
    end: int,
    carried: bool,
    sentence: int,
    mark: str,
    lexicon: SurfaceLexicon,
) -> Clause | None:
    """The clause of these words, without the openers at its front."""
    intro = norm[begin]
    start = begin
    while start < end:
        word = norm[start]
        length = match_phrase(lexicon.openers, norm, start) if word in lexicon.openers else 0
        denied = word in lexicon.denials and start + 1 < end
        follows = lexicon.classes.get(norm[start + 1], "") if denied else ""
        if follows in BEHIND_DENIALS:
            length = 1  # "no | his name is tom"
        if not length or start + length > end:
            break
        start += length
    if start >= end:
        return None
    opener = intro if start > begin else ""
    return _made(Clause, (start, end, opener, carried, sentence, mark))
