"""Appositives and relative clauses about people, written out before a turn is cut into clauses.

"my brother, who lives in oslo, is a chef" becomes "my brother lives in oslo | he is a chef", "a
son, Ezra" becomes "a son called Ezra", "Gwyn, my husband, is" becomes "my husband Gwyn is", "my
dad, a retired plumber, lives with us" becomes "my dad is a retired plumber | he lives with us".
What the rules read are main clauses; a name behind a comma, or what follows "who", says as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from bmo.gate.people import PeopleLexicon, Relation
from bmo.gate.person_names import is_name_at
from bmo.gate.word_tables import word_table
from bmo.language import Words
from bmo.language.lexicon import surface_lexicon


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``appositives.toml``; what each is for stands there beside its words."""

    owners: frozenset[str]
    articles: frozenset[str]
    borders: frozenset[str]
    starts_clause: frozenset[str]
    roles: frozenset[str]
    describing: frozenset[str]
    not_main: frozenset[str]
    not_before_main: frozenset[str]
    adjectives: frozenset[str]


_words = word_table(_Words, "appositives.toml")


Occupations = frozenset[tuple[str, ...]]
"""Nouns that say what somebody is by profession, as words."""

MAX_REWRITES = 8
"""A turn has no more of these; a bound on time for hostile input."""

MAX_LOOKS = 60
"""No more owners and articles of a turn are looked at, for the same reason."""


@lru_cache(maxsize=1)
def _looked_at() -> frozenset[str]:
    """Words behind which somebody may be told of."""
    lists = _words()
    return lists.owners | lists.articles


_SELF_NAMING = (("i", "am"), ("name", "is"), ("this", "is"), ("it", "is"), ("name", "'s"))
_BEFORE_OWN_NAME = frozenset(opener[-1] for opener in _SELF_NAMING)
_LONGEST_DESCRIPTION = 7
_LONGEST_ROLE = 16


class _Token(NamedTuple):
    """One word of the rewritten turn: the place it is taken from, and what it is there."""

    at: int
    norm: str
    after: str


class _Somebody(NamedTuple):
    """A person or pet spoken of: "my sister ana", "a brother"."""

    start: int
    kin_end: int
    end: int
    relation: Relation
    name: bool


def written_out(
    spoken: Words, people: PeopleLexicon, stops: frozenset[str], occupations: Occupations
) -> Words:
    """The words with appositives and relative clauses about people as clauses of their own.

    Args:
        spoken: Repaired English words of a turn.
        people: Relations and given names.
        stops: Words that are no names.
        occupations: Nouns of professions.

    Returns:
        ``spoken`` itself when there is nothing to write out. Written-in words have the offsets of
        the word they stand for.
    """
    norm = spoken.norm
    first = people.first.keys()
    after = spoken.after
    looked_at = _looked_at()
    if people.last.isdisjoint(norm):
        if "," not in after:
            return spoken
        # Nobody's relation is told: only somebody's own name may stand before a comma.
        places = [
            i
            for i, mark in enumerate(after)
            if mark == "," and (norm[i] == "here" or norm[i - 1] in _BEFORE_OWN_NAME)
        ]
    else:
        places = [i for i, word in enumerate(norm) if word in looked_at or after[i] == ","]
    steps: list[tuple[int, _Step]] = []
    behind = looks = 0
    for i in places:
        if i < behind:
            continue
        if len(steps) >= MAX_REWRITES or looks >= MAX_LOOKS:
            break
        step = None
        if norm[i] in looked_at:
            if not first.isdisjoint(norm[i + 1 : i + 3]):
                looks += 1
                step = _somebody_step(spoken, i, people, stops)
        elif after[i] == ",":
            if _introduces(spoken, i, stops):
                step = _introduction(spoken, i, occupations)
            elif _opens(spoken, i):
                step = _name_first(spoken, i, people, stops)
        if step is not None:
            steps.append((i, step))
            behind = step[1]
    return _rewritten(spoken, steps) if steps else spoken


def _rewritten(spoken: Words, steps: list[tuple[int, _Step]]) -> Words:
    """The words with every step's tokens in the place of what it stands for."""
    tokens: list[_Token] = []
    i = 0
    for at, (written, behind) in [*steps, (len(spoken.norm), ([], 0))]:
        tokens += [_Token(j, spoken.norm[j], spoken.after[j]) for j in range(i, at)]
        tokens += written
        i = behind
    return _in_words(spoken, tokens)


def _in_words(spoken: Words, tokens: list[_Token]) -> Words:
    start, end = spoken.start, spoken.end
    return Words(
        spoken.text,
        [token.norm for token in tokens],
        [start[token.at] for token in tokens],
        [end[token.at] for token in tokens],
        [token.after for token in tokens],
        spoken.before,
    )


def _opens(spoken: Words, i: int) -> bool:
    """Whether a clause may begin at ``i``."""
    return i == 0 or spoken.after[i - 1] != "" or spoken.norm[i - 1] in _words().borders


_Step = tuple[list[_Token], int]
"""What stands in the rewritten turn, and the place to go on from."""


def _somebody_step(
    spoken: Words, i: int, people: PeopleLexicon, stops: frozenset[str]
) -> _Step | None:
    """Rewrites what follows "my sister", if it is a name, a description or "who ..."."""
    lists = _words()
    who = _somebody(spoken, i, people, stops)
    if who is None:
        return None
    tokens = _naming(spoken, who)
    renamed = len(tokens) != who.end - who.start or (
        who.name and spoken.after[who.kin_end - 1] != ""
    )
    behind = who.end
    norm, size = spoken.norm, len(spoken)
    if behind + 1 < size and norm[behind] == "who" and spoken.after[who.end - 1] in ("", ","):
        return _relative(spoken, who, tokens)
    if (
        _opens(spoken, who.start)
        and behind + 2 < size
        and spoken.after[who.end - 1] == ","
        and norm[behind] in lists.describing
        and norm[who.start] in lists.owners
    ):
        described = _description(spoken, who, tokens)
        if described is not None:
            return described
    return (tokens, behind) if renamed else None


def _somebody(
    spoken: Words, i: int, people: PeopleLexicon, stops: frozenset[str]
) -> _Somebody | None:
    lists = _words()
    norm, size = spoken.norm, len(spoken)
    found = people.relation_at(norm, i + 1, size)
    if found is None and i + 2 < size and not spoken.after[i]:
        found = people.relation_at(norm, i + 2, size)  # "a lovely daughter"
        if found is not None and (norm[i + 1] in stops and norm[i + 1] not in lists.adjectives):
            return None
    if found is None or any(spoken.after[j] for j in range(i, found[1] - 1)):
        return None
    relation, kin_end = found
    if spoken.after[kin_end - 1] not in ("", ","):
        return _Somebody(i, kin_end, kin_end, relation, False)
    count = 0
    if not relation.plural and kin_end < size:
        count = is_name_at(spoken, kin_end, size, people, stops, True)
        if count and not _is_apposed(spoken, i, kin_end, kin_end + count, people):
            count = 0
    return _Somebody(i, kin_end, kin_end + count, relation, count > 0)


def _is_apposed(spoken: Words, start: int, first: int, end: int, people: PeopleLexicon) -> bool:
    """Whether the name ``first:end`` names the person before it, not a list's next or a subject."""
    if spoken.after[first - 1] != ",":
        return spoken.norm[start] in _words().owners or spoken.norm[first] in people.names
    if spoken.after[end - 1]:
        return True
    return end == len(spoken)  # "a son, tom was there" is no naming


def _naming(spoken: Words, who: _Somebody) -> list[_Token]:
    """The words of somebody, the name told by construction: "a son called ezra"."""
    lists = _words()
    last = who.end - 1
    tokens = []
    for at in range(who.start, who.end):
        inside = at < last and (who.name and at >= who.kin_end - 1)
        tokens.append(_Token(at, spoken.norm[at], "" if inside else spoken.after[at]))
        if at == who.kin_end - 1 and who.name and spoken.norm[who.start] in lists.articles:
            tokens.append(_Token(at, "called", ""))
    if who.name and tokens[-1].after == "," and _goes_on(spoken, who.end):
        tokens[-1] = tokens[-1]._replace(after="")
    return tokens


def _goes_on(spoken: Words, i: int) -> bool:
    """Whether the verb of the clause follows."""
    return i < len(spoken) and spoken.norm[i] in surface_lexicon("en").finite_verbs


def _pronoun(relation: Relation) -> str:
    if relation.plural:
        return "they"
    return "she" if relation.gender == "female" else "he"


def _relative(spoken: Words, who: _Somebody, tokens: list[_Token]) -> _Step | None:
    """Makes "my brother who lives in oslo is a chef" two clauses."""
    norm, size = spoken.norm, len(spoken)
    relative = who.end + 1
    if norm[relative] in ("i", "we", "you", "he", "she", "they"):
        return None  # "my brother who i love": its verb is not the brother's
    stop, main = _end_of_relative(spoken, relative, spoken.after[who.end - 1] == ",")
    pronoun = _pronoun(who.relation)
    last = tokens[-1]._replace(after="")
    if not _opens(spoken, who.start):
        # Without a comma the run-on belongs to a request or question before it: "call my sister
        # who lives in rome" states nothing.
        told = [*tokens, _Token(who.end, pronoun, "")]
        told += [_Token(at, norm[at], spoken.after[at]) for at in range(relative, stop)]
        return told, stop
    if who.relation.plural and not main:
        return None  # "my kids who are at school love pizza": a plural verb shows no border
    told = [*tokens[:-1], last]
    told += [_Token(at, norm[at], spoken.after[at]) for at in range(relative, stop)]
    if main and stop < size:
        told.append(_Token(stop, pronoun, ""))
    return told, stop


def _end_of_relative(spoken: Words, relative: int, closed: bool) -> tuple[int, bool]:
    """The index behind a relative clause, and whether the main verb stands there."""
    lists = _words()
    norm, after, size = spoken.norm, spoken.after, len(spoken)
    finite = surface_lexicon("en").finite_verbs
    for at in range(relative + 1, min(size, relative + 14)):
        mark = after[at - 1]
        if mark and mark != ",":
            return at, False
        verb = norm[at] in finite and norm[at] not in lists.not_main
        if closed and mark == ",":
            return at, verb
        if not closed and norm[at] in ("and", "but", "so"):
            return at, False
        if not closed and verb and norm[at - 1] not in lists.not_before_main and at > relative + 1:
            return at, True
    return relative, False


def _description(spoken: Words, who: _Somebody, tokens: list[_Token]) -> _Step | None:
    """Makes "my dad, a retired plumber, lives with us" two clauses."""
    norm, after, size = spoken.norm, spoken.after, len(spoken)
    for at in range(who.end, min(size - 1, who.end + _LONGEST_DESCRIPTION)):
        if after[at] == "," and _goes_on(spoken, at + 1):
            told = [*tokens[:-1], tokens[-1]._replace(after=""), _Token(who.end, "is", "")]
            told += [_Token(i, norm[i], after[i]) for i in range(who.end, at)]
            told.append(_Token(at, norm[at], ","))
            told.append(_Token(at, _pronoun(who.relation), ""))
            return told, at + 1
        if after[at]:
            return None
    return None


def _introduction(spoken: Words, i: int, occupations: Occupations) -> _Step | None:
    """Makes "i'm tom, 34, a plumber from leeds" three clauses; ``i`` is the comma behind the name.

    What stands between commas must look like something one says of oneself: "nice to meet you"
    does not.
    """
    norm, after, size = spoken.norm, spoken.after, len(spoken)
    told = [_Token(i, norm[i], ",")]
    begin = i + 1
    while begin < size:
        stop = begin
        while stop < size - 1 and not after[stop]:
            stop += 1
        if not _says_who(norm, begin, stop + 1, occupations):
            break
        told += [_Token(begin, "i", ""), _Token(begin, "am", "")]
        told += [_Token(at, norm[at], after[at]) for at in range(begin, stop + 1)]
        begin = stop + 1
        if after[stop] != ",":
            break
    return (told, begin) if len(told) > 1 else None


def _introduces(spoken: Words, i: int, stops: frozenset[str]) -> bool:
    """Whether the word at ``i``, a comma behind it, is the name in "i am tom," or "tom here,"."""
    norm = spoken.norm
    if norm[i] == "here":
        return i >= 1 and norm[i - 1] not in stops and _opens(spoken, i - 1)
    if i < 2 or norm[i - 1] not in _BEFORE_OWN_NAME or norm[i] in stops or not norm[i].isalpha():
        return False
    return any(
        i >= len(opener) and tuple(norm[i - len(opener) : i]) == opener for opener in _SELF_NAMING
    )


def _says_who(norm: list[str], begin: int, end: int, occupations: Occupations) -> bool:
    lists = _words()
    first = norm[begin]
    if end - begin > _LONGEST_ROLE or first in lists.starts_clause:
        return False
    if not surface_lexicon("en").clause_subjects.isdisjoint(norm[begin:end]):
        return False
    if first in lists.roles or (first.isdigit() and end - begin <= 3):
        return True
    return any(
        (norm[at],) in occupations or tuple(norm[at : at + 2]) in occupations
        for at in range(begin, min(end, begin + 5))
    )


def _name_first(
    spoken: Words, i: int, people: PeopleLexicon, stops: frozenset[str]
) -> _Step | None:
    """Makes "Gwyn, my husband, is ..." "my husband Gwyn is ..."."""
    size = len(spoken)
    if i + 3 >= size or spoken.norm[i + 1] not in ("my", "our"):
        return None
    word = spoken.norm[i]
    if word in stops or not word.isalpha() or people.relation_at(spoken.norm, i, size):
        return None
    found = people.relation_at(spoken.norm, i + 2, size)
    if found is None or found[0].plural or spoken.after[found[1] - 1] != ",":
        return None
    end = found[1]
    if not _goes_on(spoken, end):
        return None
    kin = [_Token(at, spoken.norm[at], "") for at in range(i + 1, end)]
    return [*kin, _Token(i, spoken.norm[i], "")], end
