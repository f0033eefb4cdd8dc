"""The ledger's side for models behind the gate: what waits for them, and what they settled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import model_queue, turn_log
from bmo.ledger.canonical import write_allowed
from bmo.ledger.recording import similar_facts
from bmo.ledger.records import Aim, NearDuplicates, Recorded, WaitingTurn
from bmo.ledger.schema import decisions, model_days, turns
from bmo.ledger.schema import model_queue as queue
from bmo.ledger.turn_log import as_turn
from bmo.ledger.turn_queries import TurnQueries
from bmo.settings import GatekeeperMode
from bmo.turn import Decision, Turn

FIRST_RETRY = timedelta(minutes=1)
"""How long a turn waits after the first failure; each further one doubles it."""

LONGEST_RETRY = timedelta(days=1)
"""What fails for days costs a call a day."""

_QUEUE = queue.c
_WAITING = (
    sa.select(_QUEUE.turn_id, *(_QUEUE[field.name] for field in fields(WaitingTurn)[1:]))
    .join(turns, turns.c.id == _QUEUE.turn_id)
    .where(model_queue.readable())
)


_TODAY = sa.select(model_days.c.calls, model_days.c.tokens).where(
    model_days.c.user_id == sa.bindparam("user"), model_days.c.day == sa.bindparam("day")
)
_EARLIER = sa.delete(model_days).where(
    model_days.c.user_id == sa.bindparam("user"), model_days.c.day < sa.bindparam("day")
)
_SPEND = sa.text(
    "INSERT INTO model_days (user_id, day, calls, tokens) VALUES (:user, :day, :calls, :tokens) "
    "ON CONFLICT (user_id, day) DO UPDATE SET calls = model_days.calls + :calls, "
    "tokens = model_days.tokens + :tokens"
)


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
        query = _WAITING.where(_QUEUE.user_id == user_id)
        if due_at is not None:
            query = query.where(_QUEUE.next_at <= due_at)
        if aims is not None:
            query = query.where(_QUEUE.aim.in_(list(aims)))
        # NULLs sort differently on SQLite and PostgreSQL.
        promise = sa.func.coalesce(_QUEUE.promise, 0.0)
        query = query.order_by(_QUEUE.aim != "held", promise.desc(), turns.c.seq).limit(limit)
        with self.reading(user_id) as connection:
            rows = connection.execute(query).all()
            ids = [row.turn_id for row in rows]
            said = {turn.id: turn for turn in turn_log.logged(connection, user_id, turn_ids=ids)}
        return [WaitingTurn(as_turn(said[turn_id]), *rest) for turn_id, *rest in rows]

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
        own = sa.select(turns.c.seq).where(turns.c.id == turn.id).scalar_subquery()
        query = sa.select(turns.c.id).where(
            turns.c.user_id == turn.user_id,
            turns.c.session_id == turn.session_id,
            model_queue.readable(),
        )
        earlier = query.where(turns.c.seq <= own).order_by(turns.c.seq.desc()).limit(before + 1)
        later = query.where(turns.c.seq > own).order_by(turns.c.seq).limit(after)
        with self.reading(turn.user_id) as connection:
            ids = [
                str(found)
                for part in (earlier, later)
                for found in connection.execute(part).scalars()
            ]
            said = turn_log.logged(connection, turn.user_id, turn_ids=ids)
        return [as_turn(one) for one in said if model_queue.showable(one.signals, one.text)]

    def lease_waiting(
        self, user_id: str, turn_ids: Sequence[str], now: datetime, until: datetime
    ) -> set[str]:
        """Takes due turns of a user for this process until a moment, where several share a ledger.

        Returns:
            Ids of those it got; the others are another process's, or settled meanwhile.
        """
        lease = (
            sa.update(queue)
            .where(_QUEUE.turn_id.in_(list(turn_ids)), _QUEUE.next_at <= now)
            .values(next_at=until)
            .returning(_QUEUE.turn_id)
        )
        with self.writing(user_id) as connection:
            return {str(turn_id) for turn_id in connection.execute(lease).scalars()}

    def put_off_settling(
        self, user_id: str, turn_ids: Sequence[str], error: str, now: datetime
    ) -> None:
        """A model had no usable answer for turns: tried again later, each time twice as late.

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
        with self.writing(user_id) as connection:
            for row in connection.execute(query).all():
                later = min(FIRST_RETRY * 2 ** min(row.attempts, 20), LONGEST_RETRY)
                tried = {"attempts": row.attempts + 1, "next_at": now + later, "last_error": error}
                connection.execute(
                    sa.update(queue).where(_QUEUE.turn_id == row.turn_id).values(tried)
                )
            connection.execute(sa.update(decisions).where(failed).values(fallback=True))

    def settle(
        self,
        user_id: str,
        turn_id: str,
        decision: Decision,
        *,
        whole: bool = True,
        near: NearDuplicates | None = None,
        mode: GatekeeperMode | None = None,
    ) -> Recorded | None:
        """Writes what a model made of a waiting turn, all of it or nothing; it waits no longer.

        An allowed turn's facts are reconciled like the gate's. Where the turn left its words as a
        memory, that memory keeps its id and gets the text of the fact that holds most of them, or
        ends as merged into a live one that says the same. A held turn that is held again stays for
        a person to decide on.

        Args:
            user_id: Whose turn.
            turn_id: The turn.
            decision: What the model made of it.
            whole: Whether the facts say all that the words say. If not, the words stay as they
                are, and only facts with a slot are stored beside them.
            near: Finds similar facts.
            mode: The gate's mode.

        Returns:
            What became of it; None when the turn no longer waits, because somebody decided on it
            or its words were erased meanwhile: nothing is written then.
        """
        similar = similar_facts(user_id, decision, near)
        with self.writing(user_id) as connection:
            if not model_queue.waits(connection, user_id, turn_id):
                model_queue.remove(connection, [turn_id])
                return None
            said = turn_log.logged(connection, user_id, turn_ids=[turn_id])[0]
            model_queue.remove(connection, [turn_id])
            if decision.verdict == "allow":
                return write_allowed(connection, said, decision, similar, whole, mode)
            if decision.verdict == "discard" and said.verdict == "hold":
                turn_log.resolve(connection, user_id, turn_id, "discarded")
            turn_log.write_decision(connection, as_turn(said), decision, mode)
            return Recorded(turn_id)

    def take_model_call(self, user_id: str, now: datetime, calls: int, tokens: int) -> bool:
        """Counts a call to a model for a user if the day's budget (UTC) allows one more.

        The tokens of a call are known after it, so that a day's last call may go over.

        Args:
            user_id: For whom a model is asked.
            now: The present moment.
            calls: Calls allowed a day.
            tokens: Tokens allowed a day.

        Returns:
            Whether it may be made.
        """
        with self.writing(user_id) as connection:
            spent = _spent(connection, user_id, now)
            if spent[0] >= calls or spent[1] >= tokens:
                return False
            _spend(connection, user_id, now, 1, 0)
            return True

    def note_model_tokens(self, user_id: str, now: datetime, tokens: int) -> None:
        """Counts the tokens of a call, both ways."""
        with self.writing(user_id) as connection:
            _spend(connection, user_id, now, 0, tokens)

    def model_day(self, user_id: str, now: datetime) -> tuple[int, int]:
        """Calls and tokens that models were asked for a user today (UTC)."""
        with self.reading(user_id) as connection:
            return _spent(connection, user_id, now)

    def rest_waiting(self, user_id: str, until: datetime, why: str) -> None:
        """What waits of a user is not tried before a moment; it counts as no failure."""
        later = (
            sa.update(queue)
            .where(_QUEUE.user_id == user_id, _QUEUE.next_at < until)
            .values(next_at=until, last_error=why)
        )
        with self.writing(user_id) as connection:
            connection.execute(later)

    def forget_waiting(self, user_id: str, turn_id: str) -> None:
        """A turn waits no longer, and nothing else changes: a model had nothing to add to it."""
        with self.writing(user_id) as connection:
            model_queue.remove(connection, [turn_id])


def _spent(connection: Connection, user_id: str, now: datetime) -> tuple[int, int]:
    row = connection.execute(_TODAY, {"user": user_id, "day": _day(now)}).first()
    return (0, 0) if row is None else (int(row.calls), int(row.tokens))


def _spend(connection: Connection, user_id: str, now: datetime, calls: int, tokens: int) -> None:
    today = {"user": user_id, "day": _day(now)}
    connection.execute(_EARLIER, today)
    connection.execute(_SPEND, {**today, "calls": calls, "tokens": tokens})


def _day(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()
