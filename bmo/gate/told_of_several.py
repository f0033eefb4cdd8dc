"""Several told of in one breath: "rex and bella are our dogs", "ana, ben and carla, 3, 5 and 9".

Who several are is written the other way round ("our dogs are rex and bella"), as the rules of
names read it. Ages behind as many names become clauses of their own. One's own part in what two
do together goes in front ("sophie and i are engaged" is "me and sophie are engaged"), for "i"
behind "and" would leave the other one out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bmo.gate.capture_numbers import read_number
from bmo.gate.ellipsis import written_with
from bmo.gate.people import PeopleLexicon
from bmo.gate.word_tables import word_lists, word_table
from bmo.language import LanguageCode, Words
from bmo.language.lexicon import surface_lexicon


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``told_of_several.toml``; what each is for stands there beside its words."""

    owners: frozenset[str]
    between: frozenset[str]
    together: frozenset[str]
    opens: frozenset[str]
    are: frozenset[str]
    joins: frozenset[str]
    called: frozenset[str]


_FILE = "told_of_several.toml"
_words = word_table(_Words, _FILE)
_MOST_NAMES = 6
_NEAR = 4
"""What two do together is told by one of so many words behind "i"."""
_OLDEST = 120


def with_several_told(spoken: Words, people: PeopleLexicon) -> Words:
    """The words with several told of as the rules read it; ``spoken`` where nobody is.

    Args:
        spoken: Repaired English words of a turn with a word for a relation.
        people: Relations and given names.
    """
    if "and" not in spoken.norm:
        return spoken
    return _turned_round(_with_ages(with_own_part(spoken, people), people), people, "en")


@cache
def _lists_of(language: LanguageCode) -> _Words:
    return _words() if language == "en" else word_lists(_Words, language, _FILE)


def with_relations_first(spoken: Words, people: PeopleLexicon, language: LanguageCode) -> Words:
    """Reads "ana y pablo son mis padres" as "mis padres son ana y pablo".

    Args:
        spoken: Repaired words of a turn.
        people: Relations and given names.
        language: Whose words apply.
    """
    lists = _lists_of(language)
    if lists.are.isdisjoint(spoken.norm) or lists.joins.isdisjoint(spoken.norm):
        return spoken
    return _turned_round(spoken, people, language)


def _opens_clause(spoken: Words, at: int, opens: frozenset[str]) -> bool:
    return at == 0 or spoken.after[at - 1] != "" or spoken.norm[at - 1] in opens


def _names_at(
    spoken: Words, first: int, people: PeopleLexicon, language: LanguageCode
) -> tuple[list[int], int]:
    """Places of two or more names in a list, and the index behind it; no names where none is."""
    norm, after, lists = spoken.norm, spoken.after, _lists_of(language)
    opens, joins = lists.opens, lists.joins
    classes = surface_lexicon(language).classes
    names: list[int] = []
    at = first
    while at < len(norm) and len(names) < _MOST_NAMES:
        word = norm[at]
        number = read_number(norm, at, len(norm))[0]
        plain = word.isalpha() and word not in classes and number is None
        plain = plain and word not in opens and (word,) not in people.forms
        if not plain or (names and not (after[at - 1] or norm[at - 1] in joins)):
            break
        names.append(at)
        at += 1
        if after[at - 1] not in ("", ",") or (len(names) > 1 and norm[at - 2] in joins):
            break
        last = at < len(norm) and norm[at] in joins
        if last:
            at += 1
        elif not after[at - 1]:
            break
    closed = len(names) > 1 and norm[names[-1] - 1] in joins
    known = any(norm[i] in people.names for i in names)
    return (names, names[-1] + 1) if closed and known else ([], first)


def _turned_round(spoken: Words, people: PeopleLexicon, language: LanguageCode) -> Words:
    """Reads "rex and bella are our dogs" as "our dogs are rex and bella"."""
    lists, norm, size = _lists_of(language), spoken.norm, len(spoken)
    for at in (i for i in range(size - 4) if norm[i + 1] in lists.joins or spoken.after[i] == ","):
        if not _opens_clause(spoken, at, lists.opens) or (
            at and spoken.after[at - 1] == "," and at > 1
        ):
            continue
        names, are = _names_at(spoken, at, people, language)
        if not names or are >= size - 2 or norm[are] not in lists.are or spoken.after[are - 1]:
            continue
        owner = are + 1
        while owner < size - 2 and norm[owner] not in lists.owners and norm[owner] in lists.between:
            owner += 1
        kin = owner + 1
        while kin < size - 1 and norm[kin] in lists.between:
            kin += 1
        found = people.relation_at(norm, kin, size)
        if norm[owner] not in lists.owners or found is None or not found[0].plural:
            continue
        relation = range(owner, found[1])
        verb: list[int | str] = [word for said in lists.called for word in said.split()]
        verb = verb or [are]
        order: list[int | str] = [*range(at), *relation, *verb, *range(at, are)]
        turned = written_with(spoken, [*order, *range(found[1], size)])
        marks = [spoken.after[part] if isinstance(part, int) else "" for part in order]
        marks[at + len(relation) - 1] = ""
        marks[-1] = spoken.after[found[1] - 1]
        marks += spoken.after[found[1] :]
        return Words(spoken.text, turned.norm, turned.start, turned.end, marks, spoken.before)
    return spoken


def _with_ages(spoken: Words, people: PeopleLexicon) -> Words:
    """Reads "my kids are ana, ben and carla, 3, 5 and 9" with "ana is 3" behind it."""
    norm, size = spoken.norm, len(spoken)
    for at in range(1, size - 4):
        if norm[at] not in people.names or spoken.after[at - 1] == "," or norm[at - 1] == "and":
            continue
        names, behind = _names_at(spoken, at, people, "en")
        if not names or behind >= size:
            continue
        ages, stop = _ages_at(spoken, behind)
        if len(ages) != len(names):
            continue
        put: list[int | str] = [*range(behind)]
        ends = {len(put) - 1}
        for name, age in zip(names, ages, strict=True):
            put += [name, "is", *age]
            ends.add(len(put) - 1)
        told = written_with(spoken, [*put, *range(stop, size)])
        marks = [spoken.after[i] for i in range(behind)]
        marks += [""] * (len(put) - behind) + spoken.after[stop:]
        for place in ends:
            marks[place] = "."
        return Words(told.text, told.norm, told.start, told.end, marks, spoken.before)
    return spoken


def _ages_at(spoken: Words, first: int) -> tuple[list[range], int]:
    """Where the ages of a list stand ("3, 5 and 9"), and the index behind it."""
    norm = spoken.norm
    ages: list[range] = []
    at = first
    while at < len(norm) and len(ages) <= _MOST_NAMES:
        if norm[at] == "and" and ages:
            at += 1
            continue
        number, taken = read_number(norm, at, len(norm))
        if number is None or not 0 < number <= _OLDEST:
            break
        ages.append(range(at, at + taken))
        at += taken
        if spoken.after[at - 1] not in ("", ","):
            break
    closed = at >= len(norm) or spoken.after[at - 1] != ""
    return (ages, at) if closed else ([], at)


def with_own_part(spoken: Words, people: PeopleLexicon) -> Words:
    """Reads "my brother and i are twins" as "me and my brother are twins".

    Args:
        spoken: Repaired English words of a turn with a given name or a word for a relation.
        people: Relations and given names.
    """
    lists, norm, size = _words(), spoken.norm, len(spoken)
    for i in range(2, size - 1):
        if norm[i] != "i" or norm[i - 1] != "and" or spoken.after[i - 2]:
            continue
        named = norm[i - 2] in people.names and norm[i - 3 : i - 2] not in ([], ["and"])
        if lists.together.isdisjoint(norm[i + 1 : i + 1 + _NEAR]) and not named:
            continue
        at = _first_of(spoken, i - 2, people)
        if at < 0 or not _opens_clause(spoken, at, lists.opens):
            continue
        order: list[int | str] = [*range(at), "me", "and", *range(at, i - 1), *range(i + 1, size)]
        told = written_with(spoken, order)
        marks = [*spoken.after[:at], "", "", *spoken.after[at : i - 1], *spoken.after[i + 1 :]]
        return Words(told.text, told.norm, told.start, told.end, marks, spoken.before)
    return spoken


def _first_of(spoken: Words, last: int, people: PeopleLexicon) -> int:
    """Index of the first word of who ends at ``last``: a name, "my brother"; -1 for nobody.

    "My name is ada (and i live in leeds)" ends with nobody that leads a clause.
    """
    norm = spoken.norm
    for at in range(last - 1, max(-1, last - 5), -1):
        if norm[at] in _words().owners:
            return at if _is_person(norm, at + 1, last, people) else -1
    return last if norm[last] in people.names else -1


def _is_person(norm: list[str], first: int, last: int, people: PeopleLexicon) -> bool:
    """Whether the words up to ``last`` are a relation, with a name or without ("brother sam")."""
    for at in range(first, min(first + 2, last + 1)):  # "older | brother"
        found = people.relation_at(norm, at, last + 1)
        if found is not None:
            return found[1] == last + 1 or (found[1] == last and norm[last] in people.names)
    return False
