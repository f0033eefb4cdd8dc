"""What a session knows of its conversation: the write gate's context, kept up to date."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bmo.ledger import as_fact
from bmo.turn import TAKEN_BACK, Decision, DialogueContext, Fact, StoredFact, Turn

RECENT_TURNS = 6
"""Turns of the visit the write gate may look back on."""

RECENT_FACTS = 12
"""Facts of the visit the write gate may look back on."""

KNOWN_FACTS = 300
"""Live facts handed to the write gate, newest first."""


@dataclass(frozen=True, slots=True)
class KnownUser:
    """What the ledger knows of a user: put together where it is read, not on the event loop.

    Attributes:
        subjects: Lower-case name -> subject.
        facts: Live facts, newest first.
    """

    subjects: Mapping[str, str]
    facts: tuple[Fact, ...]

    @classmethod
    def of(cls, subjects: Mapping[str, str], facts: Sequence[StoredFact]) -> KnownUser:
        """The ledger's people and live facts, as of now."""
        newest = sorted(facts, key=lambda fact: fact.valid_from, reverse=True)[:KNOWN_FACTS]
        return cls(dict(subjects), tuple(as_fact(fact) for fact in newest))


class Dialogue:
    """Recent turns and facts of one visit, and the people the ledger knows.

    Attributes:
        turns: User turns so far.
    """

    def __init__(self) -> None:
        """An empty conversation."""
        self.turns = 0
        self._said: deque[tuple[str, str, str]] = deque(maxlen=RECENT_TURNS)
        self._facts: deque[Fact] = deque(maxlen=RECENT_FACTS)
        self._last: tuple[Fact, ...] = ()
        self._ledgers_subjects: Mapping[str, str] = {}
        self._known: tuple[Fact, ...] = ()

    @property
    def assistant_before(self) -> str:
        """The assistant's latest words, "" at the start."""
        return self._said[0][2] if self._said else ""

    def note_turn(self, turn: Turn, decision: Decision) -> None:
        """A turn was gated."""
        self.turns += 1
        self._said.appendleft((turn.id, decision.text or turn.text, turn.assistant_after))
        if any(fact.rule_id == TAKEN_BACK for fact in decision.facts):
            undone = {(fact.subject, fact.text) for fact in self._last}
            self._facts = deque(
                (fact for fact in self._facts if (fact.subject, fact.text) not in undone),
                maxlen=RECENT_FACTS,
            )
        self._last = decision.facts if decision.verdict == "allow" else ()
        for fact in reversed(decision.facts):
            if fact.op != "retract":
                self._facts.appendleft(fact)

    def note_reply(self, turn_id: str, text: str) -> None:
        """The assistant answered a turn."""
        for place, (known_id, said, _) in enumerate(self._said):
            if known_id == turn_id:
                self._said[place] = (known_id, said, text)

    def know(self, known: KnownUser) -> None:
        """The ledger's people and live facts, as of now."""
        self._ledgers_subjects = known.subjects
        self._known = known.facts

    def forget(self, facts: Sequence[StoredFact]) -> None:
        """Takes what was erased out of what was said in this visit."""
        gone = {(fact.subject, fact.text) for fact in facts}
        self._facts = deque(
            (fact for fact in self._facts if (fact.subject, fact.text) not in gone),
            maxlen=RECENT_FACTS,
        )
        self._last = tuple(fact for fact in self._last if (fact.subject, fact.text) not in gone)
        told = [word for fact in facts for word in (fact.value, *fact.entities)]
        words = {word.casefold() for word in told if len(word) > 2}
        for place, (turn_id, *texts) in enumerate(self._said):
            said, reply = (
                "" if any(word in text.casefold() for word in words) else text for text in texts
            )
            self._said[place] = (turn_id, said, reply)

    @property
    def subjects(self) -> dict[str, str]:
        """Lower-case name -> subject of everybody known, this visit's newcomers included."""
        subjects = dict(self._ledgers_subjects)
        for fact in self._facts:
            if ":" in fact.subject:
                subjects.setdefault(fact.subject.split(":", 1)[1], fact.subject)
        return subjects

    def context(self) -> DialogueContext:
        """What the write gate may look at."""
        return DialogueContext(
            recent_facts=tuple(self._facts),
            recent_turns=tuple((said, reply) for _, said, reply in self._said),
            subjects=self.subjects,
            known=self._known,
            last_facts=self._last,
        )
