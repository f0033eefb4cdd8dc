"""Names told behind whom they name: "three kids, amira and yusuf", "my brother's a roofer, sajid".

A list behind "three kids" is written as what the user has ("i have three kids amira and ..."), a
name behind the clause is put behind its relation, so that the rules of names read both and the
next turns know whom the names mean.
"""

from __future__ import annotations

from bmo.gate.people import PeopleLexicon
from bmo.gate.person_names import is_cased
from bmo.gate.third_person import third_person_lexicon
from bmo.language import Words

_COUNTS = frozenset("two three four five six 2 3 4 5 6 both".split())
_OWNERS = frozenset({"my", "our"})
_ARTICLES = frozenset({"a", "an", "another", "one"})
_HAVING = frozenset({"have", "got"})
_BEFORE_NAME = frozenset("little big baby young old and our".split())
_HARD = frozenset(".!?;…")
_MOST_NAMES = 6
_LONGEST_LIST = 14
_LONGEST_CLAUSE = 14

Row = tuple[int, str, str]
"""Where a word is taken from, the word, and the punctuation behind it."""


def with_late_names(spoken: Words, people: PeopleLexicon) -> Words:
    """The words with names where the rules look for them; ``spoken`` where none stands behind.

    Args:
        spoken: Repaired English words of a turn with a word for a relation.
        people: Relations and given names.
    """
    norm = spoken.norm
    listed = "," in spoken.after
    if not listed and _COUNTS.isdisjoint(norm):
        return spoken
    if people.names.isdisjoint(norm) and not is_cased(spoken.text):
        return spoken
    first = people.first
    for i, word in enumerate(norm[:-2]):
        if norm[i + 1] not in first:
            continue
        if word in _COUNTS:
            rows = _listed(spoken, i, people)
        elif listed and (word in _OWNERS or (word in _ARTICLES and norm[i - 1] in _HAVING)):
            rows = _named_at_last(spoken, i, people)
        else:
            continue
        if rows is not None:
            return _words(spoken, rows)
    return spoken


def _listed(spoken: Words, i: int, people: PeopleLexicon) -> list[Row] | None:
    """A list of names behind "three kids", as what the user has."""
    norm, after, size = spoken.norm, spoken.after, len(spoken)
    found = people.relation_at(norm, i + 1, size)
    if found is None or not found[0].plural:
        return None
    kin = found[1]
    if kin >= size or not set(after[kin - 1]) <= {",", ":", "-", " ", "–", "—"}:
        return None
    names, stop = _names(spoken, kin, people)
    if len(names) < 2:
        return None
    own = i > 0 and norm[i - 1] in _OWNERS
    if own and norm[i - 2 : i - 1] == ["and"]:
        return None  # "with my mum and my two brothers, ...": part of what is told of both
    bare = i == 0 or after[i - 1] != ""
    if not (own or bare or norm[i - 1] in _HAVING):
        return None
    listed: list[Row] = [(at, norm[at], "") for at in range(i, kin)]
    for place, at in enumerate(names):
        if place == len(names) - 1:
            listed.append((at, "and", ""))
        listed.append((at, norm[at], "," if place < len(names) - 2 else ""))
    listed[-1] = (*listed[-1][:2], after[stop - 1])
    having: list[Row] = [(i, "i", ""), (i, "have", "")]
    rows: list[Row] = [(at, norm[at], after[at]) for at in range(i)]
    behind: list[Row] = [(at, norm[at], after[at]) for at in range(stop, size)]
    if not own:
        return [*rows, *(having if bare else []), *listed, *behind]
    if behind and not after[stop - 1]:
        return None
    said: list[Row] = [(at, norm[at], after[at]) for at in range(i, stop)]
    said[-1] = (*said[-1][:2], ".")
    return [*rows, *said, *having, *listed, *behind]


def _names(spoken: Words, first: int, people: PeopleLexicon) -> tuple[list[int], int]:
    """Where the names of a list stand, and the index behind its last word."""
    norm, after = spoken.norm, spoken.after
    names: list[int] = []
    at = first
    while at < min(len(norm), first + _LONGEST_LIST) and len(names) < _MOST_NAMES:
        if norm[at] in _BEFORE_NAME:
            at += 1
            continue
        if not _is_name(spoken, at, people):
            break
        names.append(at)
        at += 1
        if not _HARD.isdisjoint(after[at - 1]):
            break
    closed = at >= len(norm) or after[at - 1] != ""
    return (names, at) if closed else ([], at)


def _is_name(spoken: Words, at: int, people: PeopleLexicon) -> bool:
    word = spoken.norm[at]
    if word in ("bmo", "i") or not word.isalpha():
        return False
    cased = is_cased(spoken.text)
    if cased and not spoken.raw(at)[:1].isupper():
        return False
    common = word in third_person_lexicon().common_names
    known = word in people.names and (cased or not common)
    return known or (cased and word not in third_person_lexicon().capitalised)


def _named_at_last(spoken: Words, i: int, people: PeopleLexicon) -> list[Row] | None:
    """A name between commas behind the clause of somebody's: "my brother drives a taxi, sajid"."""
    norm, after, size = spoken.norm, spoken.after, len(spoken)
    found = people.relation_at(norm, i + 1, size)
    if found is None or found[0].plural or found[1] >= size:
        return None
    opens = i == 0 or after[i - 1] != "" or norm[i - 1] in ("have", "got", "and", "so", "well")
    if not opens or after[found[1] - 1] or norm[found[1]] in people.names:
        return None
    owned = norm[i] in _OWNERS
    if not owned and norm[i - 1 : i] not in (["have"], ["got"]):
        return None
    for at in range(found[1] + 1, min(size, found[1] + _LONGEST_CLAUSE)):
        if not _HARD.isdisjoint(after[at - 1]):
            return None
        if after[at - 1] != "," or (not after[at] and at + 1 < size):
            continue
        if not _is_name(spoken, at, people) or norm[at] not in people.names:
            return None
        said = norm[i + 1 : at]
        if any(word in people.names or word in ("called", "named") for word in said):
            return None
        if any(people.relation_at(norm, k, at) for k in range(found[1], at)):
            return None  # of whom the name is nobody can tell
        name: list[Row] = [(at, norm[at], "")]
        called: list[Row] = [] if owned else [(at, "called", "")]
        rows = [(k, norm[k], after[k]) for k in range(found[1])]
        rows += [*called, *name]
        rows += [(k, norm[k], after[k]) for k in range(found[1], at)]
        rows[-1] = (*rows[-1][:2], after[at] or rows[-1][2])
        return [*rows, *[(k, norm[k], after[k]) for k in range(at + 1, size)]]
    return None


def _words(spoken: Words, rows: list[Row]) -> Words:
    start, end = spoken.start, spoken.end
    return Words(
        spoken.text,
        [word for _, word, _ in rows],
        [start[at] for at, _, _ in rows],
        [end[at] for at, _, _ in rows],
        [mark for _, _, mark in rows],
        spoken.before,
    )
