"""What retrieval hands on: candidates, and who is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bmo.recall.subjects import belongs, mentions
from bmo.turn import StoredFact

NAMED: Final = "named"
"""Why a memory is a candidate whose name stands in the question: the relevance gap does not count
for it, since a question may name several."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may answer a plan.

    Attributes:
        fact: The ledger's row.
        similarity: Calibrated 0..1; 1 when it stands in a slot the plan names.
        why: "slot", "named", "search", "words", "everything" or "hard_rule".
    """

    fact: StoredFact
    similarity: float
    why: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked about.

    Attributes:
        subjects: The plan's subjects; empty means anybody.
        people: Those that are neither the user nor the team.
        names: Lower-case names of these people.
    """

    subjects: tuple[str, ...]
    people: tuple[str, ...]
    names: tuple[str, ...]

    def allows(self, fact: StoredFact) -> bool:
        """Whether ``fact`` is about somebody who is asked about, or names them."""
        if not self.people:
            return not self.subjects or any(belongs(fact.subject, s) for s in self.subjects)
        return any(
            belongs(fact.subject, person)
            or (fact.subject not in ("user", "team") and belongs(person, fact.subject))
            for person in self.people
        ) or mentions(fact.text, (*self.people, *(f":{name}" for name in self.names)))


@dataclass(frozen=True, slots=True)
class Retrieved:
    """All candidates of a plan.

    Attributes:
        candidates: One per fact.
        searched: Whether the index was asked.
        failure: "" or why the index could not answer.
    """

    candidates: tuple[Candidate, ...]
    searched: bool = False
    failure: str = ""
