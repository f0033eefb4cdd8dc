"""The ledger's side for models behind the gate: what waits for them, and what they settled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import fact_writing, model_queue, turn_log
from bmo.ledger import facts as rows
from bmo.ledger.recording import record_turn, wants_near
from bmo.ledger.records import Aim, Ended, LoggedTurn, NearDuplicates, Recorded, WaitingTurn
from bmo.ledger.schema import decisions, facts, turns
from bmo.ledger.schema import model_queue as queue
from bmo.ledger.turn_log import as_turn
from bmo.ledger.turn_queries import TurnQueries
from bmo.ledger.values import stems, text_key, value_key
from bmo.settings import checked_user_id
from bmo.turn import Decision, Fact, StoredFact, Turn, utc_now

FIRST_RETRY = timedelta(minutes=1)
"""How long a turn waits after the first failure; each further one doubles it."""

LONGEST_RETRY = timedelta(days=1)
"""What fails for days costs a call a day."""

_QUEUE = queue.c
_WAITING = sa.select(queue).join(turns).where(model_queue.readable())

COVERED = 0.5
"""Share of a slotless memory's words of meaning that what takes its place must hold."""


class ModelSide(TurnQueries):
    """Turns that wait for a model, and what becomes of them."""

    def waiting(
        self,
        user_id: str,
        *,
        due_at: datetime | None = None,
        aims: Collection[Aim] | None = None,
        limit: int | None = None,
    ) -> list[WaitingTurn]:
        """Turns of a user that wait for a model, held ones and the most promising first.

        Args:
            user_id: Whose turns.
            due_at: Only those to be tried at this moment; None for all.
            aims: Only what waits for this; None for all.
            limit: Turns at most.
        """
        checked_user_id(user_id)
        query = _WAITING.where(_QUEUE.user_id == user_id)
        if due_at is not None:
            query = query.where(_QUEUE.next_at <= due_at)
        if aims is not None:
            query = query.where(_QUEUE.aim.in_(list(aims)))
        # NULLs sort differently on SQLite and PostgreSQL.
        promise = sa.func.coalesce(_QUEUE.promise, 0.0)
        query = query.order_by(_QUEUE.aim != "held", promise.desc(), turns.c.seq).limit(limit)
        with self.reading() as connection:
            rows = connection.execute(query).all()
            ids = [row.turn_id for row in rows]
            said = {turn.id: turn for turn in turn_log.logged(connection, user_id, turn_ids=ids)}
        return [
            WaitingTurn(
                turn=as_turn(said[row.turn_id]),
                aim=row.aim,
                promise=row.promise,
                attempts=row.attempts,
                next_at=row.next_at,
                last_error=row.last_error,
            )
            for row in rows
        ]

    def users_waiting(self, due_at: datetime, aims: Collection[Aim]) -> list[str]:
        """Users with turns to be tried at a moment, those who wait longest first."""
        query = (
            _WAITING.with_only_columns(_QUEUE.user_id)
            .where(_QUEUE.next_at <= due_at, _QUEUE.aim.in_(list(aims)))
            .group_by(_QUEUE.user_id)
            .order_by(sa.func.min(_QUEUE.next_at), _QUEUE.user_id)
        )
        with self.reading() as connection:
            return [str(user_id) for user_id in connection.execute(query).scalars()]

    def next_try(self, after: datetime, aims: Collection[Aim]) -> datetime | None:
        """When the next turn is to be tried after a moment, or None when none waits so long."""
        query = (
            _WAITING.with_only_columns(_QUEUE.next_at)
            .where(_QUEUE.next_at > after, _QUEUE.aim.in_(list(aims)))
            .order_by(_QUEUE.next_at)
            .limit(1)
        )
        with self.reading() as connection:
            return connection.execute(query).scalar()

    def around(self, turn: Turn, *, before: int, after: int) -> list[Turn]:
        """A turn with those said around it in its visit that may be shown to a model, in order."""
        checked_user_id(turn.user_id)
        own = sa.select(turns.c.seq).where(turns.c.id == turn.id).scalar_subquery()
        query = sa.select(turns.c.id).where(
            turns.c.user_id == turn.user_id,
            turns.c.session_id == turn.session_id,
            model_queue.readable(),
        )
        earlier = query.where(turns.c.seq <= own).order_by(turns.c.seq.desc()).limit(before + 1)
        later = query.where(turns.c.seq > own).order_by(turns.c.seq).limit(after)
        with self.reading() as connection:
            ids = [
                str(found)
                for part in (earlier, later)
                for found in connection.execute(part).scalars()
            ]
            said = turn_log.logged(connection, turn.user_id, turn_ids=ids)
        return [as_turn(one) for one in said if not model_queue.NEVER_SHOWN & {*one.signals}]

    def lease_waiting(self, turn_ids: Sequence[str], now: datetime, until: datetime) -> set[str]:
        """Takes due turns for this process until a moment, where several share a ledger.

        Returns:
            Ids of those it got; the others are another process's, or settled meanwhile.
        """
        lease = (
            sa.update(queue)
            .where(_QUEUE.turn_id.in_(list(turn_ids)), _QUEUE.next_at <= now)
            .values(next_at=until)
            .returning(_QUEUE.turn_id)
        )
        with self.writing() as connection:
            return {str(turn_id) for turn_id in connection.execute(lease).scalars()}

    def put_off_settling(self, turn_ids: Sequence[str], error: str, now: datetime) -> None:
        """A model gave no usable answer: tried again later, each time twice as late.

        The turns stay what they are; the decision of a held one says that a stage failed.
        """
        wanted = list(turn_ids)
        query = sa.select(_QUEUE.turn_id, _QUEUE.attempts).where(_QUEUE.turn_id.in_(wanted))
        newest = (
            sa.select(sa.func.max(decisions.c.id))
            .where(decisions.c.turn_id.in_(wanted))
            .group_by(decisions.c.turn_id)
        )
        failed = sa.and_(decisions.c.id.in_(newest), decisions.c.verdict == "hold")
        with self.writing() as connection:
            for row in connection.execute(query).all():
                later = min(FIRST_RETRY * 2 ** min(row.attempts, 20), LONGEST_RETRY)
                tried = {"attempts": row.attempts + 1, "next_at": now + later, "last_error": error}
                connection.execute(
                    sa.update(queue).where(_QUEUE.turn_id == row.turn_id).values(tried)
                )
            connection.execute(sa.update(decisions).where(failed).values(fallback=True))

    def settle(
        self, user_id: str, turn_id: str, decision: Decision, *, near: NearDuplicates | None = None
    ) -> Recorded | None:
        """Writes what a model made of a waiting turn; it waits no longer.

        An allowed turn's facts are reconciled like the gate's. Memories of the same turn that are
        only its words end as merged into those that say the same in a slot or more cleanly. A
        held turn that is held again stays for a person to decide on.

        Returns:
            What was added, confirmed and ended; None when the turn no longer waits, because
            somebody decided on it or its words were erased meanwhile: nothing is written then.
        """
        checked_user_id(user_id)
        similar = {
            position: dict(near(user_id, fact.text))
            for position, fact in enumerate(decision.facts)
            if near is not None and decision.verdict == "allow" and wants_near(fact)
        }
        with self.writing(user_id) as connection:
            if not model_queue.waits(connection, user_id, turn_id):
                model_queue.remove(connection, [turn_id])
                return None
            said = turn_log.logged(connection, user_id, turn_ids=[turn_id])[0]
            model_queue.remove(connection, [turn_id])
            if decision.verdict == "allow":
                return _write_allowed(connection, said, decision, similar, utc_now())
            if decision.verdict == "discard" and said.verdict == "hold":
                turn_log.resolve(connection, user_id, turn_id, "discarded")
            turn_log.write_decision(connection, as_turn(said), decision)
            return Recorded(turn_id)

    def forget_waiting(self, turn_id: str) -> None:
        """A turn waits no longer, and nothing else changes: a model had nothing to add to it."""
        with self.writing() as connection:
            model_queue.remove(connection, [turn_id])


def _write_allowed(
    connection: Connection,
    said: LoggedTurn,
    decision: Decision,
    similar: Mapping[int, Mapping[str, float]],
    now: datetime,
) -> Recorded:
    """The model's facts, reconciled; the turn's memories of mere words merged into them."""
    own = [fact for fact in _of_turn(connection, said.id) if fact.source_type == "gate"]
    worded = [fact for fact in own if fact.slot is None]
    told: list[Fact] = []
    near: dict[int, Mapping[str, float]] = {}
    for place, fact in enumerate(decision.facts):
        if _filled(fact, own) or _only_repeats(fact, worded):
            continue
        # What is to be merged must not take the new fact for its own double.
        others = similar.get(place, {}).items()
        near[len(told)] = {k: v for k, v in others if all(k != old.id for old in worded)}
        told.append(fact)
    if not told:
        return Recorded(said.id)
    if said.verdict == "hold":
        turn_log.resolve(connection, said.user_id, said.id, "allowed")
    model_word = replace(decision, facts=tuple(told))
    recorded = record_turn(connection, as_turn(said), model_word, near, now, source_type="model")
    ended = _merge(connection, said, worded, recorded, now)
    return replace(recorded, ended=(*recorded.ended, *ended))


def _of_turn(connection: Connection, turn_id: str) -> list[StoredFact]:
    query = rows.select_facts().where(facts.c.turn_id == turn_id, rows.is_live())
    return rows.fetch(connection, query.order_by(facts.c.id))


def _filled(fact: Fact, own: Sequence[StoredFact]) -> bool:
    """Whether the rules read another value for this slot in the very same turn: they are right."""
    return fact.cardinality == "one" and any(
        fact.slot is not None
        and fact.slot == old.slot
        and fact.subject == old.subject
        and value_key(fact.value) != value_key(old.value)
        for old in own
    )


def _only_repeats(fact: Fact, worded: Sequence[StoredFact]) -> bool:
    """Whether a fact without slot has the very words of a memory that the turn left already."""
    return fact.slot is None and any(text_key(fact.text) == text_key(old.text) for old in worded)


def _merge(
    connection: Connection,
    said: LoggedTurn,
    worded: Sequence[StoredFact],
    recorded: Recorded,
    now: datetime,
) -> list[Ended]:
    """Ends the turn's memories of mere words that the model's facts cover."""
    stays = {fact.id for fact in recorded.confirmed} | {one.fact.id for one in recorded.ended}
    new = [*recorded.added, *recorded.confirmed]
    kept = stems(fact.text for fact in new)
    merged: list[Ended] = []
    for old in worded:
        words = stems([old.text])
        if old.id in stays or not new or len(words & kept) < COVERED * len(words):
            continue
        nearest = max(new, key=lambda fact: _shared(fact, words))
        merged.append(
            fact_writing.end(
                connection,
                old,
                "merged",
                now,
                at=said.at,
                superseded_by=nearest.id,
                turn_id=said.id,
            )
        )
    return merged


def _shared(fact: StoredFact, words: set[str]) -> tuple[int, str]:
    return len(words & stems([fact.text])), text_key(fact.text)
