"""What a session knows of its conversation: the write gate's context, kept up to date."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from bmo.turn import Decision, DialogueContext, Fact, StoredFact, Turn

RECENT_TURNS = 6
"""Turns of the visit the write gate may look back on."""


class Dialogue:
    """Recent turns of one visit, what the latest turn stored, and who is known.

    Attributes:
        turns: User turns so far.
        subjects: Lower-case name -> subject of everybody the ledger knows.
    """

    def __init__(self) -> None:
        """An empty conversation."""
        self.turns = 0
        self.subjects: Mapping[str, str] = {}
        self._said: deque[tuple[str, str, str]] = deque(maxlen=RECENT_TURNS)
        self._last: tuple[Fact, ...] = ()

    @property
    def assistant_before(self) -> str:
        """The assistant's latest words, "" at the start."""
        return self._said[0][2] if self._said else ""

    def words_before(self, turn_id: str) -> str:
        """The user's words of the turn before one, whether that was gated already or not."""
        return next((said for known, said, _ in self._said if known != turn_id), "")

    def note_turn(self, turn: Turn, decision: Decision) -> None:
        """A turn was gated."""
        self.turns += 1
        self._said.appendleft((turn.id, decision.text or turn.text, turn.assistant_after))
        if not decision.rule_id.startswith("skip."):  # "forget that" means what was told before it
            self._last = decision.facts

    def note_reply(self, turn_id: str, text: str) -> None:
        """The assistant answered a turn."""
        for place, (known_id, said, _) in enumerate(self._said):
            if known_id == turn_id:
                self._said[place] = (known_id, said, text)

    def forget(self, facts: Sequence[StoredFact]) -> None:
        """Takes what was erased out of what was said in this visit."""
        ids = {fact.id for fact in facts}
        self._last = tuple(fact for fact in self._last if fact.id not in ids)
        told = {fact.turn_id for fact in facts}
        named = {word.casefold() for fact in facts for word in (fact.value, *fact.entities) if word}
        for place, (turn_id, *texts) in enumerate(self._said):
            said, reply = (
                "" if turn_id in told or any(word in text.casefold() for word in named) else text
                for text in texts
            )
            self._said[place] = (turn_id, said, reply)

    def context(
        self, candidates: Sequence[StoredFact] = (), near: Mapping[str, float] | None = None
    ) -> DialogueContext:
        """What the write gate may look at."""
        return DialogueContext(
            recent_turns=tuple((said, reply) for _, said, reply in self._said),
            last_facts=self._last,
            candidates=tuple(candidates),
            near=near or {},
        )
