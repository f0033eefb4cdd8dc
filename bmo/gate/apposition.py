"""Appositions told backwards: "ebo taylor thats my favourite musician", "knitting is my hobby".

They are turned round ("my favourite musician is ebo taylor") and read by the ordinary rules.
"""

from __future__ import annotations

from bmo.gate.ellipsis import Lexicons, written_with
from bmo.gate.people import PeopleLexicon
from bmo.language import Clause, Words

_NOT_VALUES = frozenset(
    (
        "this that it what which who one here there he she they i we you everything "
        "nothing so all now then is was"
    ).split()
)
_COPULAS = frozenset({"is", "are", "'s"})
_LEADS = frozenset(
    {"all", "day", "the", "time", "mostly", "usually", "always", "probably", "definitely"}
)


def turned_round(
    spoken: Words,
    clause: Clause,
    previous: Clause | None,
    people: PeopleLexicon,
    lexicons: Lexicons,
) -> Words | None:
    """The clause the other way round, or None when it is no such apposition.

    Args:
        spoken: The turn's words.
        clause: "thats my favourite musician" or "knitting is my hobby".
        previous: The clause before it ("ebo taylor").
        people: Names and relations.
        lexicons: Word lists of the language's pack.
    """
    norm = spoken.norm
    start, end, *_ = clause
    if _COPULAS.isdisjoint(norm[start : min(end, start + 6)]):
        return None  # most clauses
    role = _role_of(spoken, clause, people, lexicons.get("lead_role", frozenset()))
    if role is not None:
        return role
    copula = -1
    for i in range(start, min(end - 1, start + 6)):
        if norm[i] in ("is", "are", "'s") and norm[i + 1] in ("my", "our"):
            copula = i
            break
    if copula < 0 or copula == start:
        return None
    owned = range(copula + 1, end)
    if len(owned) > 6 or len(owned) < 2:
        return None
    subject = list(range(start, copula))
    if len(subject) == 1 and norm[start] in ("that", "this", "he", "she", "it", "who"):
        if previous is None:
            return None
        subject = _named_before(
            spoken, previous, people, people.relation_at(norm, copula + 2, end) is not None
        )
    if norm[copula] == "are" and clause.intro == "and":
        return None  # "salt and pepper are my favourites"
    if not subject or norm[subject[0]] in _NOT_VALUES:
        return None
    relation = people.relation_at(norm, copula + 2, end)
    if relation is not None and not relation[0].plural:
        if norm[subject[0]] in ("my", "our", "the", "a"):
            return None
        behind = _behind_relations(norm, relation[1], end, people)
        return spoken.select([*range(copula + 1, behind), copula, subject[0]]) if behind else None
    return spoken.select([*owned, copula, *subject])


def _behind_relations(norm: list[str], behind: int, end: int, people: PeopleLexicon) -> int:
    """Index behind "(my) wife's brother", 0 where what is owned is no relation.

    "Tom is my wife's brother" names the brother, never the wife.
    """
    while behind < end and norm[behind] == "'s":
        owned = people.relation_at(norm, behind + 1, end)
        if owned is None:
            return 0
        behind = owned[1]
    return behind


_LONGEST_ROLE = 2


def _role_of(
    spoken: Words, clause: Clause, people: PeopleLexicon, roles: frozenset[tuple[str, ...]]
) -> Words | None:
    """Reads "maria is the tech lead" and "the tech lead is maria" as "our tech lead is maria"."""
    norm, start, end = spoken.norm, clause.start, clause.end
    at = next((i for i in range(start, min(end, start + 4)) if norm[i] in ("is", "'s")), 0)
    if at <= start:
        return None
    if norm[start] in people.names and at == start + 1 and norm[at + 1 : at + 2] == ["the"]:
        for size in range(_LONGEST_ROLE, 0, -1):
            if tuple(norm[at + 2 : at + 2 + size]) in roles and at + 2 + size <= end:
                return written_with(spoken, ["our", *range(at + 2, at + 2 + size), "is", start])
    elif norm[start] == "the" and tuple(norm[start + 1 : at]) in roles:
        if norm[at + 1 : at + 2] and norm[at + 1] in people.names:
            return written_with(spoken, ["our", *range(start + 1, end)])
    return None


def _named_before(
    spoken: Words, previous: Clause, people: PeopleLexicon, person: bool
) -> list[int]:
    """What "thats" points at: a name at the front of the clause before, or its last words."""
    norm = spoken.norm
    if person:
        for i in range(previous.start, previous.end):
            if norm[i] in people.names:
                return [i]
        return []
    words = list(range(previous.start, previous.end))
    while words and norm[words[0]] in _LEADS:
        words.pop(0)
    return words if 0 < len(words) <= 4 else []
