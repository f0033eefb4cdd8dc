"""Reading and writing ``turns`` and ``decisions``: what was said and what was decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.facts import IS_SOURCE
from bmo.ledger.records import HeldResolution, LoggedTurn
from bmo.ledger.schema import decisions, fact_turns, model_queue, turns
from bmo.settings import GatekeeperMode
from bmo.turn import Decision, Turn

_AS_DECIDED = ("verdict", "reason", "rule_id", "gate_version", "fallback", "extraction_method")
"""Columns of a decision that hold what the gate said as it said it."""

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
            **{field.name: getattr(turn, field.name) for field in fields(Turn)},
            "text": text,
            "assistant_before": before,
            "redacted": False,
            "seq": (newest or 0) + 1,
        },
    )
    return True


def write_decision(
    connection: Connection, turn: Turn, decision: Decision, mode: GatekeeperMode | None = None
) -> None:
    """Writes the gate's word on a turn, with its mode; every pass of the gate is a row."""
    connection.execute(
        _INSERT_DECISION,
        {
            "turn_id": turn.id,
            "user_id": turn.user_id,
            "at": turn.at,
            **{name: getattr(decision, name) for name in _AS_DECIDED},
            "confidence": decision.confidence,
            "elapsed_us": decision.elapsed_us,
            "signals": list(decision.signals),
            "facts_extracted": sum(fact.op != "retract" for fact in decision.facts),
            "resolution": "",
            "mode": mode or "",
        },
    )


_LOOKED_BACK = 8
"""Turns among which the one before another is looked for."""


class Narrowed(TypedDict, total=False):
    """Which turns are asked for.

    Attributes:
        verdict: Those the gate last gave this verdict.
        resolution: Those with this resolution ("" is: none yet).
        gate_version: Those last decided by this version.
        since: Those said at or after this moment.
        turn_ids: Only these.
        newest_first: Turns the order round.
        limit: So many at most.
    """

    verdict: str | None
    resolution: str | None
    gate_version: str | None
    since: datetime | None
    turn_ids: Sequence[str] | None
    newest_first: bool
    limit: int | None


_EVERY = decisions.alias("every")
NEWEST = sa.select(sa.func.max(_EVERY.c.id)).where(_EVERY.c.turn_id == turns.c.id)
"""The latest decision on each turn of a query."""
_LOGGED = (
    sa.select(
        turns,
        *(decisions.c[name] for name in (*_AS_DECIDED, "signals", "resolution", "mode")),
        decisions.c.confidence.label("decision_confidence"),
    )
    .join(decisions, decisions.c.turn_id == turns.c.id)
    # Asked turn by turn through the index: grouped over all turns it would read every decision.
    .where(decisions.c.id == NEWEST.scalar_subquery())
)


def logged(
    connection: Connection, user_id: str | None = None, **narrowed: Unpack[Narrowed]
) -> list[LoggedTurn]:
    """Turns of a user (None: of everybody) with the latest decision on each, as they were said."""
    conditions: dict[str, Callable[[Any], sa.ColumnElement[bool]]] = {
        "verdict": lambda wanted: decisions.c.verdict == wanted,
        "resolution": lambda wanted: decisions.c.resolution == wanted,
        "gate_version": lambda wanted: decisions.c.gate_version == wanted,
        "since": lambda wanted: turns.c.at >= wanted,
        "turn_ids": lambda wanted: turns.c.id.in_(wanted),
    }
    query = _LOGGED if user_id is None else _LOGGED.where(turns.c.user_id == user_id)
    for name, wanted in narrowed.items():
        if name in conditions and wanted is not None:
            query = query.where(conditions[name](wanted))
    order = turns.c.seq.desc() if narrowed.get("newest_first") else turns.c.seq.asc()
    found = connection.execute(query.order_by(order).limit(narrowed.get("limit")))
    return [_logged(row) for row in found]


def said_before(connection: Connection, turn: Turn) -> LoggedTurn | None:
    """The turn before one in its visit, small talk aside, or None."""
    found = logged(connection, turn.user_id, newest_first=True, limit=_LOOKED_BACK)
    here = (one for one in found if one.session_id == turn.session_id and one.id != turn.id)
    return next((one for one in here if not one.rule_id.startswith("skip.")), None)


def told(connection: Connection, turn_id: str) -> list[str]:
    """Ids of the facts a turn stated or confirmed."""
    query = sa.select(fact_turns.c.fact_id).where(fact_turns.c.turn_id == turn_id, IS_SOURCE)
    return [str(fact_id) for fact_id in connection.execute(query).scalars()]


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


def as_turn(logged: LoggedTurn) -> Turn:
    """A logged turn as it was said, but for words that were taken out since."""
    return Turn(**{field.name: getattr(logged, field.name) for field in fields(Turn)})


def _logged(row: sa.Row[Any]) -> LoggedTurn:
    values = row._mapping
    fields = {name: values[name] for name in LoggedTurn.__slots__}
    fields["signals"] = tuple(fields["signals"])
    return LoggedTurn(**fields)
