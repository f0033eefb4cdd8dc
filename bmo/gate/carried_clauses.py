"""Clauses carried on from the one before: "and live in york" has its subject and what bars it."""

from __future__ import annotations

from bmo.gate.clause_reader import ClauseAnalysis, ClauseReader
from bmo.gate.factuality import Veto
from bmo.gate.other_grammar import grammar
from bmo.gate.people import PeopleLexicon
from bmo.language import Clause, Words

_MODALS = frozenset({"could", "would", "might", "may", "should", "if"})


def inherited(spoken: Words, previous: Clause, read: list[ClauseAnalysis]) -> Veto | None:
    """What speaks against a clause also speaks against what is carried on from it."""
    if read and read[-1].vetoes:
        return read[-1].vetoes[0]
    if not _MODALS.isdisjoint(spoken.norm[previous.start : previous.end]):
        return "hedge"
    return None


def _somebody_at(norm: list[str], start: int, end: int, people: PeopleLexicon) -> int:
    """The index behind "my brother sam" or a known name at ``start``, or 0."""
    if norm[start] in people.names:
        return start + 1
    found = people.relation_at(norm, start + 1, end) if norm[start] in ("my", "our") else None
    if found is None:
        return 0
    named = found[1] < end and norm[found[1]] in people.names
    return found[1] + 1 if named else found[1]


def with_subject_of(spoken: Words, previous: Clause, clause: Clause, reader: ClauseReader) -> Words:
    """A carried clause with the subject of the clause before it."""
    people, take = reader.people, previous.start
    norm = spoken.norm
    stop = take + 1
    if reader.language != "en":
        rules = grammar(reader.language)
        if norm[take] in rules.first or norm[take] in rules.third:  # "ich wohne ... | arbeite"
            return spoken.select([take, *range(clause.start, clause.end)])
    if norm[take] not in ("i", "we", "he", "she", "they", "it"):
        somebody = _somebody_at(norm, take, previous.end, people)
        if somebody:
            kept = [*range(take, somebody), *range(clause.start, clause.end)]
            return spoken.select(kept)
        stop = min(previous.end, take + 3)
        for i in range(take, min(previous.end, take + 6)):
            if norm[i] in ("is", "has", "lives", "works", "was", "'s", "are", "have"):
                stop = i
                break
    kept = [*range(take, stop), *range(clause.start, clause.end)]
    return spoken.select(kept)
