"""Apostrophes that the recogniser left out: "my brothers boss is gethin", "my sons in the army".

At the front of a clause "my brothers" may be several brothers, one brother's boss, or "my brother
is". What stands behind it tells: somebody or something that is his with a singular verb, or what
only one can be ("my brothers a nurse"). The word is parted as if the apostrophe had been written,
and everything after reads "my brother's boss", "my brother is a nurse".
"""

from __future__ import annotations

from dataclasses import dataclass

from bmo.gate.capture_numbers import read_number
from bmo.gate.people import PeopleLexicon
from bmo.gate.word_tables import word_table
from bmo.language import Words
from bmo.language.lexicon import surface_lexicon
from bmo.language.verb_forms import PAST


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``lost_apostrophes.toml``; what each is for stands there beside its words."""

    owners: frozenset[str]
    opens: frozenset[str]
    qualifying: frozenset[str]
    articles: frozenset[str]
    singular: frozenset[str]
    stating: frozenset[str]
    places: frozenset[str]
    naming: frozenset[str]
    not_called: frozenset[str]
    states: frozenset[str]
    things_done: frozenset[str]
    behind_age: frozenset[str]
    verbs_too: frozenset[str]
    done_nouns: frozenset[str]
    no_nouns: frozenset[str]
    several: frozenset[str]
    relations: frozenset[str]
    of_several: frozenset[str]


_words = word_table(_Words, "lost_apostrophes.toml")
_MOST = 3
"""No more owners of a turn are looked at: a bound on time for hostile input."""
_LONGEST_OWNED = 4
_LONGEST_RELATION = 5
_LONGEST_CLAUSE = 12


def cues(people: PeopleLexicon) -> frozenset[str]:
    """Words that may lack an apostrophe: "mums", "brothers", "bosses"."""
    return frozenset(f"{word}s" for word in people.last) | {"bosses"}


def with_apostrophes(words: Words, people: PeopleLexicon) -> Words:
    """The words with "'s" where an apostrophe is missing; ``words`` itself where none is.

    Args:
        words: Repaired English words of a turn with a word for a relation.
        people: Relations and given names.
    """
    owners = _words().owners
    if owners.isdisjoint(words.norm):
        return words
    looked = 0
    at = 0
    while at < len(words) - 2 and looked < _MOST:
        if words.norm[at] in owners and _opens_clause(words, at):
            looked += 1
            place = _owner_without(words, at, people)
            if place:
                words = _parted(words, place)
        at += 1
    return words


def _opens_clause(words: Words, at: int) -> bool:
    return at == 0 or words.after[at - 1] != "" or words.norm[at - 1] in _words().opens


def _owner_without(words: Words, at: int, people: PeopleLexicon) -> int:
    """Index of the relation behind the owner at ``at`` that lacks its apostrophe; 0 for none."""
    lists, norm, size = _words(), words.norm, len(words)
    last = at + 1
    while last < min(size - 1, at + _LONGEST_RELATION) and not _stem(norm[last]):
        last += 1
    stem = _stem(norm[last])
    if not stem or last >= size - 1 or words.after[last]:
        return 0
    first = at + 1
    while first < last and (*norm[first:last], stem) not in people.forms:
        if norm[first] not in lists.qualifying:
            return 0
        first += 1
    relation = people.forms.get((*norm[first:last], stem))
    if relation is None or relation.plural:
        return 0
    if norm[last] in lists.several:
        return last if _owned(words, last + 1, people) else 0
    return last if _lacks(words, last + 1, people) else 0


def _stem(word: str) -> str:
    """The relation in "brothers" or "bosses", "" where there is none."""
    if word == "bosses":
        return "boss"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else ""


def _lacks(words: Words, i: int, people: PeopleLexicon) -> bool:
    """Whether the words from ``i`` on tell of one, not of several."""
    return _tells_one(words, i) or _owned(words, i, people)


def _tells_one(words: Words, i: int) -> bool:
    """Whether they say what one is, with a verb that was swallowed: "a nurse", "in the army"."""
    lists, norm = _words(), words.norm
    word = norm[i]
    end = _clause_end(words, i)
    if word in lists.articles:
        return end > i + 1 and not _has_verb(norm, i + 1, end)
    if word in lists.naming:
        return end == i + 2 and norm[i + 1] not in lists.not_called
    if word in lists.states:
        return not _has_verb(norm, i + 1, end)
    if word in lists.places:
        return end > i + 1 and not _has_verb(norm, i + 1, end)
    if word == "got":
        return i + 1 < end and (norm[i + 1] in lists.articles or norm[i + 1] in lists.things_done)
    if word.endswith("ing") and len(word) > _SHORTEST_DOING:
        noun = word in lists.done_nouns or (i + 1 < end and norm[i + 1] in lists.singular)
        return not noun and not _has_verb(norm, i + 1, end)
    number, taken = read_number(norm, i, end)
    behind = i + taken
    return number is not None and (behind >= end or norm[behind] in lists.behind_age)


_SHORTEST_DOING = 5


def _owned(words: Words, i: int, people: PeopleLexicon) -> bool:
    """Whether somebody or something of theirs stands there: "boss is gethin", "wife left him"."""
    lists, norm = _words(), words.norm
    classes = surface_lexicon("en").classes
    end = _clause_end(words, i)
    first = i
    while first < end and norm[first] in lists.relations:
        first += 1
    found = people.relation_at(norm, first, end)
    if found is not None:
        behind = found[1]
        if behind < end and norm[behind] in lists.of_several and not found[0].plural:
            return False
        return norm[i] not in lists.verbs_too or (behind < end and norm[behind] in lists.singular)
    for at in range(i + 1, min(end, i + _LONGEST_OWNED)):
        if norm[at] in lists.singular:
            owned = norm[i:at]
            plain = all(word.isalpha() and word not in classes for word in owned)
            return plain and lists.no_nouns.isdisjoint(owned) and not owned[-1].endswith("ly")
        if norm[at] in classes:
            return False
    return False


def _clause_end(words: Words, i: int) -> int:
    """Index behind the clause's last word: a mark, or a word that opens another clause."""
    lists = _words()
    for at in range(i, min(len(words), i + _LONGEST_CLAUSE)):
        if at > i and words.norm[at] in lists.opens:
            return at
        if words.after[at]:
            return at + 1
    return min(len(words), i + _LONGEST_CLAUSE)


def _has_verb(norm: list[str], i: int, end: int) -> bool:
    """Whether a finite verb follows, of which several would be the subject."""
    lists = _words()
    for at in range(i, end):
        if norm[at] in ("who", "that", "he", "she", "and"):
            return False
        if norm[at] in lists.stating or (at > i and norm[at] in PAST):
            return True  # "my friends from the choir took me out"
    return False


def _parted(words: Words, at: int) -> Words:
    """The words with the one at ``at`` as two: "brother", "'s"."""
    start, end = words.start, words.end
    word = words.norm[at]
    stem = word if word in _words().several else _stem(word)
    cut = end[at] - (len(word) - len(stem))
    return Words(
        words.text,
        [*words.norm[:at], stem, "'s", *words.norm[at + 1 :]],
        [*start[: at + 1], cut, *start[at + 1 :]],
        [*end[:at], cut, *end[at:]],
        [*words.after[:at], "", *words.after[at:]],
        words.before,
    )
