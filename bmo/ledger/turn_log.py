"""Reading and writing ``turns`` and ``decisions``: what was said and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.records import HeldResolution, LoggedTurn
from bmo.ledger.schema import decisions, fact_turns, facts, model_queue, turns
from bmo.turn import Decision, Turn

# Built once: building a statement takes as long as running it.
_INSERT_TURN = sa.insert(turns)
_INSERT_DECISION = sa.insert(decisions)
_AROUND = sa.select(
    sa.select(turns.c.user_id)
    .where(turns.c.id == sa.bindparam("turn"))
    .scalar_subquery()
    .label("owner"),
    sa.select(sa.func.max(turns.c.seq)).scalar_subquery().label("newest"),
    sa.select(turns.c.redacted)
    .where(turns.c.user_id == sa.bindparam("user"), turns.c.session_id == sa.bindparam("session"))
    .order_by(turns.c.seq.desc())
    .limit(1)
    .scalar_subquery()
    .label("redacted"),
)
"""Whose a turn is that is known already, the newest turn's number, and whether words were taken out
of the last turn of the visit: all that is asked before a turn is written, in one statement."""
_WRITE_REPLY = (
    sa.update(turns)
    .where(
        turns.c.id == sa.bindparam("turn"),
        turns.c.user_id == sa.bindparam("user"),
        turns.c.redacted.is_(False),
    )
    .values(assistant_after=sa.bindparam("said"))
)


def write_turn(connection: Connection, turn: Turn, decision: Decision) -> bool:
    """Writes a turn if it is new.

    The text is the gate's (secrets masked). Right after a turn whose words were erased the
    assistant's words are left out as well: they tend to repeat what was to be forgotten.

    Returns:
        False when the turn is known already; it is not changed then.
    """
    owner, newest, redacted = connection.execute(
        _AROUND, {"turn": turn.id, "user": turn.user_id, "session": turn.session_id}
    ).one()
    if owner is not None:
        if owner != turn.user_id:
            raise ValueError(f"turn id {turn.id!r} is another user's: ids must be unique")
        return False
    text = decision.text or ("" if "sensitive" in decision.signals else turn.text)
    before = "" if redacted else turn.assistant_before
    connection.execute(
        _INSERT_TURN,
        {
            "id": turn.id,
            "user_id": turn.user_id,
            "session_id": turn.session_id,
            "at": turn.at,
            "text": text,
            "assistant_before": before,
            "assistant_after": turn.assistant_after,
            "language": turn.language,
            "confidence": turn.confidence,
            "redacted": False,
            "seq": (newest or 0) + 1,
        },
    )
    return True


def write_decision(connection: Connection, turn: Turn, decision: Decision) -> None:
    """Writes the gate's word on a turn; every pass of the gate is a row."""
    connection.execute(
        _INSERT_DECISION,
        {
            "turn_id": turn.id,
            "user_id": turn.user_id,
            "at": turn.at,
            "verdict": decision.verdict,
            "signals": list(decision.signals),
            "reason": decision.reason,
            "rule_id": decision.rule_id,
            "confidence": decision.confidence,
            "gate_version": decision.gate_version,
            "fallback": decision.fallback,
            "extraction_method": decision.extraction_method,
            "facts_extracted": sum(fact.op != "retract" for fact in decision.facts),
            "elapsed_us": decision.elapsed_us,
            "resolution": "",
        },
    )


def write_reply(connection: Connection, user_id: str, turn_id: str, text: str) -> None:
    """Adds the assistant's words after a turn, unless words were erased there."""
    connection.execute(_WRITE_REPLY, {"turn": turn_id, "user": user_id, "said": text})


def words_before(connection: Connection, user_id: str, turn_id: str, limit: int) -> list[str]:
    """The words of a user's last turns before one of them, oldest first."""
    here = sa.select(turns.c.seq).where(turns.c.user_id == user_id, turns.c.id == turn_id)
    query = (
        sa.select(turns.c.text)
        .where(turns.c.user_id == user_id, turns.c.seq < here.scalar_subquery())
        .where(turns.c.text != "")
        .order_by(turns.c.seq.desc())
        .limit(limit)
    )
    return [str(text) for text in connection.execute(query).scalars()][::-1]


def latest_moment(connection: Connection) -> datetime | None:
    """When the turn that was written last was said."""
    query = sa.select(turns.c.at).order_by(turns.c.seq.desc()).limit(1)
    moment: datetime | None = connection.execute(query).scalar()
    return moment


def logged(
    connection: Connection,
    user_id: str | None = None,
    *,
    verdict: str | None = None,
    resolution: str | None = None,
    gate_version: str | None = None,
    since: datetime | None = None,
    turn_ids: Sequence[str] | None = None,
    newest_first: bool = False,
    limit: int | None = None,
) -> list[LoggedTurn]:
    """Turns with the latest decision on each, in the order they were said.

    Args:
        connection: An open connection.
        user_id: Whose turns; None for everybody's.
        verdict: Only turns the gate last gave this verdict.
        resolution: Only turns with this resolution ("" is: none yet).
        gate_version: Only turns last decided by this version.
        since: Only turns said at or after this moment.
        turn_ids: Only these turns.
        newest_first: Turns the order round.
        limit: Turns at most.
    """
    # Asked turn by turn through the index: grouped over all turns it would read every decision.
    every = decisions.alias("every")
    newest = sa.select(sa.func.max(every.c.id)).where(every.c.turn_id == turns.c.id)
    order = turns.c.seq.desc() if newest_first else turns.c.seq.asc()
    query = (
        sa.select(
            turns,
            decisions.c.verdict,
            decisions.c.signals,
            decisions.c.reason,
            decisions.c.rule_id,
            decisions.c.confidence.label("decision_confidence"),
            decisions.c.gate_version,
            decisions.c.fallback,
            decisions.c.resolution,
            decisions.c.extraction_method,
        )
        .join(decisions, decisions.c.turn_id == turns.c.id)
        .where(decisions.c.id == newest.scalar_subquery())
        .order_by(order)
        .limit(limit)
    )
    conditions = (
        (user_id, turns.c.user_id == user_id),
        (verdict, decisions.c.verdict == verdict),
        (resolution, decisions.c.resolution == resolution),
        (gate_version, decisions.c.gate_version == gate_version),
        (since, turns.c.at >= since if since is not None else sa.true()),
        (turn_ids, turns.c.id.in_(turn_ids) if turn_ids is not None else sa.true()),
    )
    for given, condition in conditions:
        if given is not None:
            query = query.where(condition)
    return [_logged(row) for row in connection.execute(query)]


def stated(connection: Connection, turn_id: str) -> list[str]:
    """Ids of the facts a turn stated."""
    query = sa.select(fact_turns.c.fact_id).where(
        fact_turns.c.turn_id == turn_id, fact_turns.c.role == "stated"
    )
    return [str(fact_id) for fact_id in connection.execute(query).scalars()]


def ended(connection: Connection, turn_id: str) -> list[str]:
    """Ids of the facts a turn ended."""
    query = sa.select(fact_turns.c.fact_id).where(
        fact_turns.c.turn_id == turn_id, fact_turns.c.role == "ended"
    )
    return [str(fact_id) for fact_id in connection.execute(query).scalars()]


def turn_before(connection: Connection, turn: Turn) -> str | None:
    """Id of the session's turn just before this one."""
    own = sa.select(turns.c.seq).where(turns.c.id == turn.id).scalar_subquery()
    query = (
        sa.select(turns.c.id)
        .where(
            turns.c.user_id == turn.user_id,
            turns.c.session_id == turn.session_id,
            turns.c.seq < own,
        )
        .order_by(turns.c.seq.desc())
        .limit(1)
    )
    found = connection.execute(query).scalar()
    return None if found is None else str(found)


def resolve(connection: Connection, user_id: str, turn_id: str, resolution: HeldResolution) -> None:
    """Notes what was made of a held turn; it no longer waits for a model."""
    connection.execute(
        sa.update(decisions)
        .where(
            decisions.c.turn_id == turn_id,
            decisions.c.user_id == user_id,
            decisions.c.verdict == "hold",
        )
        .values(resolution=resolution)
    )
    connection.execute(sa.delete(model_queue).where(model_queue.c.turn_id == turn_id))


def latest_stored(connection: Connection, turn: Turn) -> list[str]:
    """Ids of the facts the latest turn of the session before this one stored or confirmed."""
    own = sa.select(turns.c.seq).where(turns.c.id == turn.id).scalar_subquery()
    row = connection.execute(
        sa.select(turns.c.id)
        .join(fact_turns, fact_turns.c.turn_id == turns.c.id)
        .join(facts, facts.c.id == fact_turns.c.fact_id)
        .where(
            turns.c.user_id == turn.user_id,
            turns.c.session_id == turn.session_id,
            turns.c.seq < own,
            fact_turns.c.role.in_(["stated", "confirmed"]),
        )
        .order_by(turns.c.seq.desc())
        .limit(1)
    ).first()
    if row is None:
        return []
    query = sa.select(fact_turns.c.fact_id).where(
        fact_turns.c.turn_id == row.id, fact_turns.c.role.in_(["stated", "confirmed"])
    )
    return [str(fact_id) for fact_id in connection.execute(query).scalars()]


def as_turn(logged: LoggedTurn) -> Turn:
    """A logged turn as it was said, but for words that were taken out since."""
    return Turn(
        text=logged.text,
        user_id=logged.user_id,
        session_id=logged.session_id,
        at=logged.at,
        assistant_before=logged.assistant_before,
        assistant_after=logged.assistant_after,
        language=logged.language,
        confidence=logged.confidence,
        id=logged.id,
    )


def _logged(row: sa.Row[Any]) -> LoggedTurn:
    values = row._mapping
    fields = {name: values[name] for name in LoggedTurn.__slots__}
    fields["signals"] = tuple(fields["signals"])
    return LoggedTurn(**fields)
