"""Turns that wait for a model: which do, which is next, and what becomes of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.records import Aim, WaitingTurn
from bmo.ledger.schema import decisions, model_queue, turns
from bmo.ledger.turn_log import as_turn, logged
from bmo.settings import GatekeeperMode
from bmo.turn import Decision, Turn

FIRST_RETRY = timedelta(minutes=1)
"""How long a turn waits after the first failure; each further one doubles it."""

LONGEST_RETRY = timedelta(days=1)
"""What fails for days costs a call a day."""

_NEVER_SHOWN = frozenset({"injection", "sensitive", "forget"})
"""Signals of turns that no model gets to read: attacks, secrets, what was to be forgotten."""

_CHUNK = 500
"""Ids per statement; SQLite takes a limited number of parameters."""

_BY_WORDS = ("judge:", "raw")
"""Extraction methods whose memories are the user's words: a model may put them better."""

# Built once: building a statement takes longer than running it, and each turn runs these.
_INSERT = sa.insert(model_queue)
_AIM = sa.select(model_queue.c.aim).where(model_queue.c.turn_id == sa.bindparam("turn"))
_REMOVE = sa.delete(model_queue).where(
    model_queue.c.turn_id.in_(sa.bindparam("turns", expanding=True))
)


def aim_of(decision: Decision, mode: GatekeeperMode | None) -> Aim | None:
    """What a model is asked about a turn, or None when it is not to be asked.

    Held turns wait in every mode, so that a later change of mode finds them.

    Args:
        decision: The gate's word on the turn.
        mode: The gate's mode; None adds nothing but held turns.
    """
    if _NEVER_SHOWN.intersection(decision.signals):
        return None
    if decision.verdict == "hold":
        return "held"
    told = [fact for fact in decision.facts if fact.op != "retract"]
    if mode == "llm":
        by_judge = decision.extraction_method.startswith("judge:")
        return "every" if told or (decision.verdict == "discard" and by_judge) else None
    slotless = any(f.slot is None and f.extraction_method.startswith(_BY_WORDS) for f in told)
    return "polish" if mode == "hybrid" and slotless else None


def note(
    connection: Connection,
    turn: Turn,
    decision: Decision,
    now: datetime,
    mode: GatekeeperMode | None,
) -> None:
    """Lets a turn that was just decided wait for a model, or no longer.

    Args:
        connection: A writing connection; the turn is in it already.
        turn: The turn.
        decision: The gate's word on it.
        now: The present moment.
        mode: The gate's mode.
    """
    aim = aim_of(decision, mode)
    known = connection.execute(_AIM, {"turn": turn.id}).scalar()
    if known not in (None, aim):
        remove(connection, [turn.id])
    if aim is None or known == aim:
        return
    connection.execute(
        _INSERT,
        {
            "turn_id": turn.id,
            "user_id": turn.user_id,
            "aim": aim,
            "promise": decision.assessment.allow if decision.assessment is not None else None,
            "attempts": 0,
            "next_at": now,
            "last_error": "",
        },
    )


def queue_held(
    connection: Connection, user_id: str, turn_ids: Sequence[str], now: datetime
) -> None:
    """Lets those of some turns wait that are held: turns that came with an import."""
    for start in range(0, len(turn_ids), _CHUNK):
        chunk = turn_ids[start : start + _CHUNK]
        held = logged(connection, user_id, verdict="hold", resolution="", turn_ids=chunk)
        rows = [
            {
                "turn_id": said.id,
                "user_id": user_id,
                "aim": "held",
                "promise": None,
                "attempts": 0,
                "next_at": now,
                "last_error": "",
            }
            for said in held
            if said.text and not said.redacted and not _NEVER_SHOWN.intersection(said.signals)
        ]
        if rows:
            connection.execute(_INSERT, rows)


def remove(connection: Connection, turn_ids: Sequence[str]) -> None:
    """These turns wait no longer."""
    connection.execute(_REMOVE, {"turns": list(turn_ids)})


def waits(connection: Connection, user_id: str, turn_id: str) -> bool:
    """Whether a turn of this user still waits, with words to read."""
    query = sa.select(model_queue.c.turn_id).where(
        model_queue.c.turn_id == turn_id, model_queue.c.user_id == user_id, _readable()
    )
    return connection.execute(query.join(turns)).first() is not None


def waiting(
    connection: Connection,
    user_id: str,
    *,
    due_at: datetime | None,
    aims: Collection[Aim] | None,
    limit: int | None,
) -> list[WaitingTurn]:
    """Turns of a user that wait for a model, held ones and the most promising first.

    Args:
        connection: An open connection.
        user_id: Whose turns.
        due_at: Only those to be tried at this moment; None for all.
        aims: Only these; None for all.
        limit: Turns at most.
    """
    query = sa.select(model_queue).join(turns).where(model_queue.c.user_id == user_id, _readable())
    if due_at is not None:
        query = query.where(model_queue.c.next_at <= due_at)
    if aims is not None:
        query = query.where(model_queue.c.aim.in_(list(aims)))
    # NULLs sort differently on SQLite and PostgreSQL.
    promise = sa.func.coalesce(model_queue.c.promise, 0.0)
    later = model_queue.c.aim != "held"
    query = query.order_by(later, promise.desc(), turns.c.seq).limit(limit)
    rows = connection.execute(query).all()
    said = {t.id: t for t in logged(connection, user_id, turn_ids=[r.turn_id for r in rows])}
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


def users(connection: Connection, due_at: datetime, aims: Collection[Aim]) -> list[str]:
    """Users with turns to be tried at a moment, those who wait longest first."""
    since = sa.func.min(model_queue.c.next_at)
    query = (
        sa.select(model_queue.c.user_id)
        .join(turns)
        .where(model_queue.c.next_at <= due_at, model_queue.c.aim.in_(list(aims)), _readable())
        .group_by(model_queue.c.user_id)
        .order_by(since, model_queue.c.user_id)
    )
    return [str(user_id) for user_id in connection.execute(query).scalars()]


def next_try(connection: Connection, after: datetime, aims: Collection[Aim]) -> datetime | None:
    """When the next turn is to be tried after a moment, or None when none waits so long."""
    query = (
        sa.select(model_queue.c.next_at)
        .join(turns)
        .where(model_queue.c.next_at > after, model_queue.c.aim.in_(list(aims)), _readable())
        .order_by(model_queue.c.next_at)
        .limit(1)
    )
    return connection.execute(query).scalar()


def lease(
    connection: Connection, turn_ids: Sequence[str], now: datetime, until: datetime
) -> set[str]:
    """Takes turns that are due for one process of several; returns those it got."""
    got = connection.execute(
        sa.update(model_queue)
        .where(model_queue.c.turn_id.in_(list(turn_ids)), model_queue.c.next_at <= now)
        .values(next_at=until)
        .returning(model_queue.c.turn_id)
    )
    return {str(turn_id) for turn_id in got.scalars()}


def put_off(connection: Connection, turn_ids: Sequence[str], now: datetime, error: str) -> None:
    """A model gave no usable answer: tried again later, each time twice as late.

    The turns stay what they are; the decision of a held one says that a stage failed.
    """
    wanted = list(turn_ids)
    query = sa.select(model_queue.c.turn_id, model_queue.c.attempts).where(
        model_queue.c.turn_id.in_(wanted)
    )
    for row in connection.execute(query).all():
        later = min(FIRST_RETRY * 2 ** min(row.attempts, 20), LONGEST_RETRY)
        connection.execute(
            sa.update(model_queue)
            .where(model_queue.c.turn_id == row.turn_id)
            .values(attempts=row.attempts + 1, next_at=now + later, last_error=error)
        )
    newest = (
        sa.select(sa.func.max(decisions.c.id))
        .where(decisions.c.turn_id.in_(wanted))
        .group_by(decisions.c.turn_id)
    )
    connection.execute(
        sa.update(decisions)
        .where(decisions.c.id.in_(newest), decisions.c.verdict == "hold")
        .values(fallback=True)
    )


def visit_of(connection: Connection, turn: Turn, *, before: int, after: int) -> list[Turn]:
    """A turn with those said around it in the same visit that still have their words, in order."""
    own = sa.select(turns.c.seq).where(turns.c.id == turn.id).scalar_subquery()
    same = sa.and_(turns.c.user_id == turn.user_id, turns.c.session_id == turn.session_id)
    query = sa.select(turns.c.id).where(same, _readable())
    earlier = query.where(turns.c.seq <= own).order_by(turns.c.seq.desc()).limit(before + 1)
    later = query.where(turns.c.seq > own).order_by(turns.c.seq).limit(after)
    ids = [str(found) for part in (earlier, later) for found in connection.execute(part).scalars()]
    said = logged(connection, turn.user_id, turn_ids=ids)
    return [as_turn(one) for one in said if not _NEVER_SHOWN.intersection(one.signals)]


def _readable() -> sa.ColumnElement[bool]:
    """Words that were erased, masked or dropped are no longer shown to a model."""
    return sa.and_(turns.c.redacted.is_(False), turns.c.text != "")
