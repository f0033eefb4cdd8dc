"""The ledger's side for turns: what was said, held, decided again, recalled and used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Unpack

import sqlalchemy as sa

from bmo.ledger import facts as rows
from bmo.ledger import turn_log
from bmo.ledger.database import Database, chunks
from bmo.ledger.recording import record_turn
from bmo.ledger.records import LoggedTurn, Recorded, TurnOutcome
from bmo.ledger.redaction import EMPTIED
from bmo.ledger.restating import Restated, compare_pass, write_pass
from bmo.ledger.schema import decisions, fact_turns, recall_items, recalls, turns
from bmo.ledger.turn_log import Narrowed, as_turn
from bmo.ledger.values import content_words
from bmo.turn import Decision, Fact, Turn, utc_now


class TurnQueries(Database):
    """Reading and settling logged turns; what was recalled for them."""

    def note_reply(self, user_id: str, turn_id: str, text: str) -> None:
        """Adds what the assistant said after a turn; erased turns stay without words."""
        mine = sa.and_(turns.c.id == turn_id, turns.c.user_id == user_id)
        write = sa.update(turns).where(mine, turns.c.redacted.is_(False))
        with self.writing(user_id) as connection:
            connection.execute(write.values(assistant_after=text))

    def turns(self, user_id: str | None = None, **narrowed: Unpack[Narrowed]) -> list[LoggedTurn]:
        """Logged turns with the latest decision on each, in the order they were said."""
        with self.reading(*(() if user_id is None else (user_id,))) as connection:
            return turn_log.logged(connection, user_id, **narrowed)

    def said_before(self, turn: Turn, limit: int) -> list[str]:
        """A user's words in the turns before one, oldest first; erased ones are left out."""
        mine = turns.c.user_id == turn.user_id
        here = sa.select(turns.c.seq).where(mine, turns.c.id == turn.id).scalar_subquery()
        query = sa.select(turns.c.text).where(mine, turns.c.seq < here, turns.c.text != "")
        with self.reading(turn.user_id) as connection:
            found = connection.execute(query.order_by(turns.c.seq.desc()).limit(limit)).scalars()
            return [str(text) for text in found][::-1]

    def latest_moment(self) -> datetime | None:
        """When the turn that was written last was said, or None without any."""
        query = sa.select(turns.c.at).order_by(turns.c.seq.desc()).limit(1)
        with self.reading() as connection:
            return connection.execute(query).scalar()

    def outcomes(self, user_id: str, turn_ids: Sequence[str]) -> dict[str, TurnOutcome]:
        """What each of a user's turns told and was given; nothing for ids of other users."""
        told: defaultdict[str, list[str]] = defaultdict(list)
        given: defaultdict[str, list[str]] = defaultdict(list)
        asked: set[str] = set()
        with self.reading(user_id) as connection:
            for some in chunks(turn_ids):
                stated = sa.select(fact_turns.c.turn_id, fact_turns.c.fact_id).where(
                    fact_turns.c.turn_id.in_(some), rows.IS_SOURCE
                )
                for row in connection.execute(stated.order_by(fact_turns.c.fact_id)):
                    told[row.turn_id].append(row.fact_id)
                mine = sa.and_(recalls.c.turn_id.in_(some), recalls.c.user_id == user_id)
                asking = sa.select(recalls.c.turn_id).where(mine, recalls.c.recalled)
                asked.update(connection.execute(asking).scalars())
                items = (
                    sa.select(recalls.c.turn_id, recall_items.c.fact_id)
                    .join(recall_items, recall_items.c.recall_id == recalls.c.id)
                    .where(mine, recall_items.c.given)
                    .order_by(recall_items.c.score.desc(), recall_items.c.fact_id)
                )
                for row in connection.execute(items):
                    given[row.turn_id].append(row.fact_id)
            return {
                turn_id: TurnOutcome(
                    told=tuple(rows.by_ids(connection, user_id, told[turn_id])),
                    recalled=turn_id in asked,
                    given=tuple(rows.by_ids(connection, user_id, given[turn_id])),
                )
                for turn_id in turn_ids
            }

    def held(self, user_id: str, *, limit: int | None = None) -> list[LoggedTurn]:
        """Turns the gate held and nobody has decided on, newest first."""
        return self.turns(user_id, verdict="hold", resolution="", newest_first=True, limit=limit)

    def search_held(self, user_id: str, query: str, limit: int) -> list[tuple[LoggedTurn, float]]:
        """Held turns that share words with ``query``, best first, with the share 0..1."""
        wanted = content_words([query])
        found = [
            (turn, len(wanted & content_words([turn.text])) / max(len(wanted), 1))
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
        told = facts if facts is not None else [_as_said(held)]
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
            return record_turn(connection, as_turn(held), decision, {}, source_type="manual")

    def discard_held(self, user_id: str, turn_id: str) -> None:
        """Discards a held turn by hand; its words go with the other discarded ones.

        Raises:
            ValueError: No such turn of this user is held.
        """
        self._held_turn(user_id, turn_id)
        with self.writing(user_id) as connection:
            turn_log.resolve(connection, user_id, turn_id, "discarded")

    def _held_turn(self, user_id: str, turn_id: str) -> LoggedTurn:
        found = self.turns(user_id, turn_ids=[turn_id], verdict="hold", resolution="")
        if not found:
            raise ValueError(f"user {user_id!r} has no held turn {turn_id!r}")
        return found[0]

    def compare_passes(self, passes: Sequence[tuple[Turn, Decision]]) -> list[Restated]:
        """What another pass of the gate would change about logged turns; writes nothing."""
        with self.reading(*(turn.user_id for turn, _ in passes)) as connection:
            return [compare_pass(connection, turn, decision) for turn, decision in passes]

    def write_passes(self, passes: Sequence[Restated]) -> None:
        """Writes what other passes of the gate change, all of it or nothing.

        Each is compared once more with what is there now: others may have written meanwhile.
        """
        with self.writing(*(restated.turn.user_id for restated in passes)) as connection:
            for told in passes:
                write_pass(connection, compare_pass(connection, told.turn, told.decision))

    def drop_old_words(self, keep_days: int, *, now: datetime | None = None) -> int:
        """Takes the words out of discarded turns older than ``keep_days`` (BMO_KEEP_TURNS_DAYS).

        Held turns keep their words until someone decides on them.

        Returns:
            Number of turns emptied. Their decisions stay.
        """
        newest = sa.select(sa.func.max(decisions.c.id)).group_by(decisions.c.turn_id)
        told_nothing = sa.select(decisions.c.turn_id).where(
            decisions.c.id.in_(newest),
            sa.or_(decisions.c.verdict == "discard", decisions.c.resolution == "discarded"),
        )
        old = sa.select(turns.c.id).where(
            turns.c.at < (now or utc_now()) - timedelta(days=keep_days),
            turns.c.redacted.is_(False),
            turns.c.id.in_(told_nothing),
            turns.c.id.not_in(sa.select(fact_turns.c.turn_id)),
        )
        free = old.with_for_update(skip_locked=True)  # the others wait for the next time
        with self.writing() as connection:
            empty = sa.update(turns).where(turns.c.id.in_(free)).values(EMPTIED)
            return connection.execute(empty).rowcount


def _as_said(logged: LoggedTurn) -> Fact:
    return Fact(
        text=logged.text,
        said=logged.text,
        asked=logged.assistant_before,
        category="personal_facts",
        confidence=1.0,
        extraction_method="manual",
    )
