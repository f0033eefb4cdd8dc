"""What the rules have made of a turn: its clauses, who was spoken of, the facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bmo.gate.clause_reader import ClauseAnalysis
from bmo.gate.discourse import Discourse
from bmo.gate.said_of_another import Stranger
from bmo.language import LanguageCode, Words
from bmo.turn import Fact


@dataclass(slots=True)
class Analysis:
    """What the rules make of a turn.

    Attributes:
        clauses: In the order they were said.
        language: Whose pack was used.
        words: The turn's repaired words.
        opening: Opens the discourse, when somebody asks for it: most turns only ask.
        opened: Who was spoken of, once somebody has asked.
        answered: The turn answers the assistant's question.
        asked: What the assistant asked, as a yes states it ("i smoke"), where the turn is no more
            than a yes or no to it; else "".
        settled: The statement that yes or no makes, in words the user could have said.
        facts: Facts of all clauses, each once, corrections marked.
        named_until: Index behind the relation answer or echo question that named somebody; what
            follows speaks of them, whatever the assistant asked. 0 when there is none.
        stranger: Somebody known by name only of whom the same was said ("and so is marcus").
    """

    clauses: list[ClauseAnalysis] = field(default_factory=list)
    language: LanguageCode = "en"
    words: Words = field(default_factory=lambda: Words("", [], [], [], []))
    opening: Callable[[], Discourse] | None = None
    opened: Discourse | None = None
    answered: bool = False
    named_until: int = 0
    asked: str = ""
    settled: Words | None = None
    facts: tuple[Fact, ...] = ()
    stranger: Stranger | None = None

    @property
    def discourse(self) -> Discourse | None:
        """Who was spoken of; None where nothing was said."""
        if self.opened is None and self.opening is not None:
            self.opened = self.opening()
        return self.opened

    @property
    def open_clauses(self) -> tuple[ClauseAnalysis, ...]:
        """Clauses a judge may look at."""
        return tuple(clause for clause in self.clauses if clause.open)


def without_doubles(facts: list[Fact]) -> tuple[Fact, ...]:
    """Each statement once; the first one counts."""
    if len(facts) == 1 and facts[0].slot != "name":
        return (facts[0],)
    seen: set[tuple[str, str | None, str, str]] = set()
    kept: list[Fact] = []
    named = {f.subject.partition(":")[0] for f in facts if f.slot == "name" and ":" in f.subject}
    for fact in facts:
        kin = fact.rule_id.rpartition(".")[2] in ("has_kin", "there_is_a_pet")
        if kin and named and _is_named(fact, named):
            continue
        key = (fact.subject, fact.slot, (fact.value or fact.text).lower(), fact.op)
        if key not in seen:
            seen.add(key)
            kept.append(fact)
    return tuple(kept)


def _is_named(fact: Fact, named: set[str]) -> bool:
    """Whether "Has a cat" says nothing beside "Has a cat named Gumbo"."""
    return any(relation.rpartition(".")[2].replace("_", " ") in fact.value for relation in named)
