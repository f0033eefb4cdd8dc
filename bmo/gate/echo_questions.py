"""What leads into an answer and is no content: echoes, exclamations, replies left short.

"My husband Desmond? Heavens, no. He can't, he's away": the echo says whom the pronouns behind it
mean and tells nothing itself, "heavens, no" and "he can't" say nothing that would be understood
later.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.asked_question import last_question
from bmo.gate.clause_head import CALLED_BY_RELATION
from bmo.gate.discourse import Discourse, Person
from bmo.gate.person_names import is_name_at, proper
from bmo.gate.word_tables import word_table
from bmo.language import Clause, Words


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``echo_questions.toml``; what each is for stands there beside its words."""

    owners: frozenset[str]
    own: frozenset[str]
    opens_echo: frozenset[str]
    opens_exclamation: frozenset[str]
    said_with_no: frozenset[str]
    exclamations: frozenset[str]
    subjects: frozenset[str]
    of_others: frozenset[str]
    aux: frozenset[str]


_words = word_table(_Words, "echo_questions.toml")


_MOST_RELATIONS = 3

_LONGEST_EXCLAMATION = 4


@lru_cache(maxsize=1)
def leading_cues() -> frozenset[str]:
    """One of these stands in what ``without_leads`` takes off."""
    lists = _words()
    return lists.opens_exclamation | lists.of_others


@lru_cache(maxsize=1)
def _exclamations() -> frozenset[str]:
    lists = _words()
    fronts = lists.said_with_no
    shapes = ("{} no", "oh {} no", "{} not", "{} never")
    return lists.exclamations | {shape.format(front) for shape in shapes for front in fronts}


def echoed(
    spoken: Words, clause: Clause, discourse: Discourse, stops: frozenset[str]
) -> Person | None:
    """Whom an echo question names ("the dog?", "my husband desmond?"); they are pointed at.

    Args:
        spoken: The turn's repaired words.
        clause: A question.
        discourse: Who is who.
        stops: Words that are no names.
    """
    lists = _words()
    if not clause.closed_by.startswith("?"):
        return None
    norm, at, end = spoken.norm, clause.start, clause.end
    while at < end and norm[at] in lists.opens_echo:
        at += 1
    if at >= end:
        return None
    own = norm[at] in lists.owners
    if not own and norm[at] not in CALLED_BY_RELATION:
        known = discourse.by_name(norm[at]) if end - at == 1 else None
        if known is None:
            return _asked_about(spoken, at, end, discourse, stops)
        discourse.point_at(known)
        return known
    found = discourse.lexicon.relation_at(norm, at + 1 if own else at, end)
    if found is None:
        return None
    chain = [found[0]]
    behind = found[1]
    while norm[behind : behind + 1] == ["'s"] and len(chain) < _MOST_RELATIONS:
        more = discourse.lexicon.relation_at(norm, behind + 1, end)
        if more is None:
            return None
        chain.append(more[0])
        behind = more[1]
    size = 0
    if behind < end and not chain[-1].plural:
        size = is_name_at(spoken, behind, end, discourse.lexicon, stops, False)
    if behind + size != end:
        return None
    owner = "user"
    for relation in chain[:-1]:
        owner = discourse.introduce(relation, "", owner).subject
    name = proper(spoken.text[spoken.start[behind] : spoken.end[end - 1]]) if size else ""
    return discourse.introduce(chain[-1], name, owner)


def _asked_about(
    spoken: Words, first: int, end: int, discourse: Discourse, stops: frozenset[str]
) -> Person | None:
    """The one person of the user's in a whole question: "have i told you about my brother?"."""
    lists = _words()
    norm, people = spoken.norm, discourse.lexicon
    if lists.own.isdisjoint(norm[first:end]):
        return None
    found = [
        kin
        for at in range(first, end)
        if norm[at] in lists.own and (kin := people.relation_at(norm, at + 1, end)) is not None
    ]
    if len(found) != 1 or norm[found[0][1] : found[0][1] + 1] == ["'s"]:
        return None
    relation, behind = found[0]
    if relation.plural or relation.pet:
        return None
    size = is_name_at(spoken, behind, end, people, stops, True)
    name = proper(spoken.text[spoken.start[behind] : spoken.end[behind + size - 1]]) if size else ""
    return discourse.introduce(relation, name)


def without_leads(spoken: Words, clauses: list[Clause], assistant_before: str) -> list[Clause]:
    """The clauses without exclamations and replies left short in front; the last one stays.

    Args:
        spoken: The turn's repaired words.
        clauses: Its clauses.
        assistant_before: The assistant's words before the turn.
    """
    lists = _words()
    norm = spoken.norm
    kept: list[Clause] = []
    for clause in clauses:
        start = clause.start
        if norm[start] in lists.opens_exclamation:
            start = _behind_exclamation(spoken, clause)
        if start < clause.end and norm[start] in lists.of_others:
            start = _behind_short_reply(spoken, start, clause.end, assistant_before)
        if start < clause.end:
            kept.append(clause if start == clause.start else clause._replace(start=start))
    return kept or clauses


def _behind_exclamation(spoken: Words, clause: Clause) -> int:
    """Index behind the exclamation that opens a clause, or of the clause's first word."""
    lists = _words()
    norm, first, exclamations = spoken.norm, clause.start, _exclamations()
    for size in range(min(_LONGEST_EXCLAMATION, clause.end - first), 0, -1):
        behind = first + size
        if " ".join(norm[first:behind]) not in exclamations:
            continue
        if behind == clause.end or spoken.after[behind - 1] or norm[behind] in lists.subjects:
            return behind
    return first


def _behind_short_reply(spoken: Words, first: int, end: int, assistant_before: str) -> int:
    """Index behind "he can't" or "she does" where more is told behind it, or ``first``."""
    lists = _words()
    norm = spoken.norm
    if first + 1 >= end or norm[first + 1] not in lists.aux:
        return first
    behind = first + 2
    if norm[behind : behind + 1] == ["not"]:
        behind += 1
    tells_more = behind < end and norm[behind] in lists.subjects
    closed = behind <= end and spoken.after[behind - 1] != ""
    if not (tells_more or closed or behind == end):
        return first
    if tells_more and not closed and norm[behind] not in lists.of_others:
        return first  # "he does my garden"
    question = last_question(assistant_before)
    # "does he drive", "no he doesn't": what is settled is told with the question.
    return first if question[1:2] in (["he"], ["she"], ["it"]) else behind
