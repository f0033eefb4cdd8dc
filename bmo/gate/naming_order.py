"""Names told in the order of talk: "name's priyanka", "shep he's called", "connor his name is".

They are put in the order of writing before the turn is cut into clauses ("my name is priyanka",
"he is called shep"), so that the rules of names read them and no clause beside them swallows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.people import people_lexicon
from bmo.gate.word_tables import word_table
from bmo.language import Words, past_lemma
from bmo.language.lexicon import surface_lexicon


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``naming_order.toml``; what each is for stands there beside its words."""

    be: frozenset[str]
    be_called: frozenset[str]
    who: frozenset[str]
    whose: frozenset[str]
    opens_naming: frozenset[str]
    opens_phrase: frozenset[str]
    no_names: frozenset[str]


_words = word_table(_Words, "naming_order.toml")


CUES = frozenset({"name", "names", "called"})
"""Without one of these nobody is named here."""
_LONGEST_NAME = 3


def with_names_in_order(spoken: Words) -> Words:
    """The words with namings in the order in which they are written; ``spoken`` where none is.

    Args:
        spoken: Repaired English words of a turn.
    """
    norm = spoken.norm
    rows: list[tuple[int, str, str]] | None = None
    done = 0
    for i, word in enumerate(norm):
        if word not in CUES or i < done:
            continue
        if word == "names":
            step = _run_on(spoken, i)
        else:
            step = _bare_name(spoken, i) if word == "name" else None
            step = step or _put_behind(spoken, i, done)
        if step is None:
            continue
        first, last, written = step
        rows = rows if rows is not None else []
        rows += [(at, norm[at], spoken.after[at]) for at in range(done, first)]
        if rows and not rows[-1][2] and word != "names":
            rows[-1] = (*rows[-1][:2], ",")
        rows += written
        done = last
    if rows is None:
        return spoken
    rows += [(at, norm[at], spoken.after[at]) for at in range(done, len(norm))]
    start, end = spoken.start, spoken.end
    return Words(
        spoken.text,
        [said for _, said, _ in rows],
        [start[at] for at, _, _ in rows],
        [end[at] for at, _, _ in rows],
        [mark for _, _, mark in rows],
        spoken.before,
    )


_Step = tuple[int, int, list[tuple[int, str, str]]]
"""First word that is replaced, the index behind the last, and what stands there instead."""


def _bare_name(spoken: Words, i: int) -> _Step | None:
    """Reads "(the) name's priyanka" as "my name is priyanka"."""
    lists = _words()
    norm, size = spoken.norm, len(spoken)
    if i + 2 >= size or norm[i + 1] not in lists.be:
        return None
    first = i - 1 if i and norm[i - 1] == "the" and not spoken.after[i - 1] else i
    opens = first == 0 or spoken.after[first - 1] or norm[first - 1] in lists.opens_naming
    if not opens or not _may_be_name(spoken, i + 2):
        return None
    rows = [(i, "my", ""), (i, "name", ""), (i + 1, "is", "")]
    return first, i + 2, rows


def _run_on(spoken: Words, i: int) -> _Step | None:
    """Reads the recogniser's "her names poppy" as "her name is poppy"."""
    norm = spoken.norm
    if not i or norm[i - 1] not in _words().whose or norm[i - 1] in ("their", "our"):
        return None
    if i + 1 >= len(norm) or norm[i + 1] not in people_lexicon("en").names:
        return None
    return i, i + 1, [(i, "name", ""), (i, "is", "")]


def _put_behind(spoken: Words, i: int, done: int) -> _Step | None:
    """Reads "shep he is called", "connor his name is" with the name behind."""
    lists = _words()
    norm, after, size = spoken.norm, spoken.after, len(spoken)
    if norm[i] == "called":
        first, stop = i - 2, i + 1
        named = first >= 0 and norm[first] in lists.who and norm[i - 1] in lists.be_called
    else:
        first, stop = i - 1, i + 2
        named = (
            first >= 0 and norm[first] in lists.whose and norm[i + 1 : i + 2] in (["is"], ["'s"])
        )
    if not named or first <= done or not _ends_clause(spoken, stop):
        return None
    if any(after[at] not in ("",) for at in range(first, stop - 1)):
        return None
    begin = _name_before(spoken, first, done)
    if begin == first:
        return None
    rows = [(at, norm[at], "") for at in range(first, stop)]
    rows += [(at, norm[at], "") for at in range(begin, first)]
    rows[-1] = (*rows[-1][:2], after[stop - 1] or ("," if stop < size else ""))
    return begin, stop, rows


def _ends_clause(spoken: Words, stop: int) -> bool:
    if stop >= len(spoken) or spoken.after[stop - 1]:
        return True
    if spoken.norm[stop] in ("and", "but", "so", "because", "by", "bless"):
        return True
    return spoken.norm[stop] in surface_lexicon("en").clause_subjects


def _name_before(spoken: Words, first: int, done: int) -> int:
    """Where the name begins that ends before ``first``; ``first`` itself where there is none."""
    lists = _words()
    norm, after = spoken.norm, spoken.after
    begin = first
    while begin > done and first - begin < _LONGEST_NAME:
        at = begin - 1
        if begin < first and after[at]:
            break
        if not _may_be_name(spoken, at):
            break
        begin = at
        whole = at == 0 or after[at - 1] or norm[at - 1] in lists.opens_naming
        if whole:
            return begin
    one = first - 1
    known = norm[one] in people_lexicon("en").names
    # "... fourteen next month shep he is called": what he is called stands before, or nowhere.
    named = known or (norm[first] in ("he", "she") and norm[one - 1] not in lists.opens_phrase)
    return one if begin < first and named and one > done else first


def _may_be_name(spoken: Words, at: int) -> bool:
    word = spoken.norm[at]
    if not word.isalpha() or len(word) < 2 or word in _no_names():
        return False
    if word in people_lexicon("en").names or spoken.raw(at)[:1].isupper():
        return True
    return not (past_lemma(word) or word.endswith(("ing", "ed", "ly")))


@lru_cache(maxsize=1)
def _no_names() -> Sequence[str] | frozenset[str]:
    lexicon = surface_lexicon("en")
    return (
        _words().no_names | lexicon.classes.keys() | lexicon.finite_verbs | lexicon.clause_subjects
    )
