"""The ledger's side for turns: what was said, held, decided again, recalled and used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Unpack

from bmo.ledger import turn_log
from bmo.ledger.database import Database
from bmo.ledger.provenance import outcomes_of
from bmo.ledger.recording import record_turn
from bmo.ledger.records import LoggedTurn, Recorded, TurnOutcome
from bmo.ledger.restating import Restated, compare_pass, write_pass
from bmo.ledger.retention import drop_words
from bmo.ledger.turn_log import Narrowed, as_turn
from bmo.ledger.values import content_words
from bmo.settings import checked_user_id
from bmo.turn import Decision, Fact, Turn, utc_now


class TurnQueries(Database):
    """Reading and settling logged turns; what was recalled for them."""

    def note_reply(self, user_id: str, turn_id: str, text: str) -> None:
        """Adds what the assistant said after a turn; erased turns stay without words."""
        checked_user_id(user_id)
        with self.writing() as connection:
            turn_log.write_reply(connection, user_id, turn_id, text)

    def turns(self, user_id: str | None = None, **narrowed: Unpack[Narrowed]) -> list[LoggedTurn]:
        """Logged turns with the latest decision on each, in the order they were said."""
        if user_id is not None:
            checked_user_id(user_id)
        with self.reading() as connection:
            return turn_log.logged(connection, user_id, **narrowed)

    def said_before(self, turn: Turn, limit: int) -> list[str]:
        """A user's words in the turns before one, oldest first; erased ones are left out."""
        checked_user_id(turn.user_id)
        with self.reading() as connection:
            return turn_log.words_before(connection, turn.user_id, turn.id, limit)

    def latest_moment(self) -> datetime | None:
        """When the turn that was written last was said, or None without any."""
        with self.reading() as connection:
            return turn_log.latest_moment(connection)

    def outcomes(self, user_id: str, turn_ids: Sequence[str]) -> dict[str, TurnOutcome]:
        """What each of a user's turns told and was given; nothing for ids of other users."""
        checked_user_id(user_id)
        with self.reading() as connection:
            return outcomes_of(connection, user_id, turn_ids)

    def held(self, user_id: str, *, limit: int | None = None) -> list[LoggedTurn]:
        """Turns the gate held and nobody has decided on, newest first."""
        checked_user_id(user_id)
        return self.turns(user_id, verdict="hold", resolution="", newest_first=True, limit=limit)

    def search_held(self, user_id: str, query: str, limit: int) -> list[tuple[LoggedTurn, float]]:
        """Held turns that share words with ``query``, best first, with the share 0..1."""
        checked_user_id(user_id)
        wanted = content_words([query])
        if not wanted:
            return []
        found = [
            (turn, len(wanted & content_words([turn.text])) / len(wanted))
            for turn in self.held(user_id)
        ]
        ranked = sorted(found, key=lambda pair: pair[1], reverse=True)
        return [pair for pair in ranked[:limit] if pair[1] > 0.0]

    def allow_held(
        self, user_id: str, turn_id: str, facts: Sequence[Fact] | None = None
    ) -> Recorded:
        """Stores a held turn by hand.

        Args:
            user_id: Whose turn.
            turn_id: A turn of ``held``.
            facts: What it says; None stores its words as they are.

        Raises:
            ValueError: No such turn of this user is held.
        """
        held = self._held_turn(user_id, turn_id)
        told = list(facts) if facts is not None else [_as_said(held)]
        decision = Decision(
            verdict="allow",
            signals=held.signals,
            reason="allowed by hand",
            confidence=1.0,
            facts=tuple(told),
            gate_version=held.gate_version,
            extraction_method="manual",
            text=held.text,
        )
        with self.writing(user_id) as connection:
            turn_log.resolve(connection, user_id, turn_id, "allowed")
            return record_turn(
                connection, as_turn(held), decision, {}, utc_now(), source_type="manual"
            )

    def discard_held(self, user_id: str, turn_id: str) -> None:
        """Discards a held turn by hand; its words go with the other discarded ones.

        Raises:
            ValueError: No such turn of this user is held.
        """
        self._held_turn(user_id, turn_id)
        with self.writing() as connection:
            turn_log.resolve(connection, user_id, turn_id, "discarded")

    def _held_turn(self, user_id: str, turn_id: str) -> LoggedTurn:
        checked_user_id(user_id)
        found = [
            turn
            for turn in self.turns(user_id, turn_ids=[turn_id], verdict="hold")
            if not turn.resolution
        ]
        if not found:
            raise ValueError(f"user {user_id!r} has no held turn {turn_id!r}")
        return found[0]

    def compare_passes(self, passes: Sequence[tuple[Turn, Decision]]) -> list[Restated]:
        """What another pass of the gate would change about logged turns; writes nothing."""
        for turn, _ in passes:
            checked_user_id(turn.user_id)
        with self.reading() as connection:
            return [compare_pass(connection, turn, decision) for turn, decision in passes]

    def write_passes(self, passes: Sequence[Restated], now: datetime) -> None:
        """Writes what ``compare_passes`` found, all of it or nothing."""
        users = {restated.turn.user_id for restated in passes}
        with self.writing(*sorted(users)) as connection:
            for restated in passes:
                checked_user_id(restated.turn.user_id)
                write_pass(connection, restated, now)

    def drop_old_words(self, keep_days: int, *, now: datetime | None = None) -> int:
        """Takes the words out of discarded turns older than ``keep_days`` (BMO_KEEP_TURNS_DAYS).

        Returns:
            Number of turns emptied. Their decisions stay.
        """
        moment = now or utc_now()
        with self.writing() as connection:
            return drop_words(connection, moment - timedelta(days=keep_days))


def _as_said(logged: LoggedTurn) -> Fact:
    return Fact(
        text=logged.text,
        said=logged.text,
        asked=logged.assistant_before,
        category="personal_facts",
        confidence=1.0,
        extraction_method="manual",
    )
