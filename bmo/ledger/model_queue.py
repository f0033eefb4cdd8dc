"""Turns that wait for a model: which do, which is next, and what becomes of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.database import chunks
from bmo.ledger.records import Aim, LoggedTurn
from bmo.ledger.schema import model_queue, turns
from bmo.ledger.turn_log import logged
from bmo.settings import GatekeeperMode
from bmo.turn import Decision, Fact, StoredFact, Turn, is_masked, utc_now

NEVER_SHOWN = frozenset({"injection", "sensitive", "forget"})
"""Signals of turns that no model gets to read: attacks, secrets, what was to be forgotten."""

_BY_ENCODER = ("encoder:", "judge:")
_BY_WORDS = (*_BY_ENCODER, "raw", "pattern:order.remember", "pattern:published.")
"""Extraction methods whose memories are the user's words: a model may put them better."""

# Built once: building a statement takes longer than running it, and each turn runs these.
_INSERT = sa.insert(model_queue)
_AIM = sa.select(model_queue.c.aim).where(model_queue.c.turn_id == sa.bindparam("turn"))
_REMOVE = sa.delete(model_queue).where(
    model_queue.c.turn_id.in_(sa.bindparam("turns", expanding=True))
)


def aim_of(decision: Decision, mode: GatekeeperMode | None) -> Aim | None:
    """What a model is asked about a turn, or None when it is not to be asked.

    Held turns wait in every mode, so that a later change of mode finds them. A turn of which
    something was masked is never shown.

    Args:
        decision: The gate's word on the turn.
        mode: The gate's mode; None adds nothing but held turns.
    """
    if not showable(decision.signals, decision.text):
        return None
    if decision.verdict == "hold":
        return "held"
    told = [fact for fact in decision.facts if fact.op != "retract"]
    if mode == "llm":
        learned = decision.extraction_method.startswith(_BY_ENCODER)
        noise = decision.verdict == "discard" and learned
        return "polish" if told else "every" if noise else None
    return "polish" if mode == "hybrid" and any(map(is_words, told)) else None


def showable(signals: Collection[str], text: str) -> bool:
    """Whether a model may read a turn, by its signals and by what was masked in it."""
    return NEVER_SHOWN.isdisjoint(signals) and not is_masked(text)


def is_words(fact: Fact | StoredFact) -> bool:
    """Whether a memory is the user's words, which a model may put better; no order is."""
    return fact.slot is None and fact.extraction_method.startswith(_BY_WORDS)


def note(
    connection: Connection, turn: Turn, decision: Decision, mode: GatekeeperMode | None
) -> None:
    """Lets a turn that was just decided wait for a model, or no longer.

    Args:
        connection: A writing connection; the turn is in it already.
        turn: The turn.
        decision: The gate's word on it.
        mode: The gate's mode.
    """
    aim = aim_of(decision, mode)
    known = connection.execute(_AIM, {"turn": turn.id}).scalar()
    if known not in (None, aim):
        remove(connection, [turn.id])
    if aim is None or known == aim:
        return
    promise = decision.assessment.allow if decision.assessment is not None else None
    connection.execute(_INSERT, _row(turn, aim, promise))


def _row(turn: Turn | LoggedTurn, aim: Aim, promise: float | None) -> dict[str, object]:
    return {
        "turn_id": turn.id,
        "user_id": turn.user_id,
        "aim": aim,
        "promise": promise,
        "attempts": 0,
        "next_at": utc_now(),
        "last_error": "",
    }


def queue_held(connection: Connection, user_id: str, turn_ids: Sequence[str]) -> None:
    """Lets those of some turns wait that are held: turns that came with an import."""
    for some in chunks(turn_ids):
        held = logged(connection, user_id, verdict="hold", resolution="", turn_ids=some)
        rows = [
            _row(said, "held", None)
            for said in held
            if said.text and not said.redacted and showable(said.signals, said.text)
        ]
        if rows:
            connection.execute(_INSERT, rows)


def remove(connection: Connection, turn_ids: Sequence[str]) -> None:
    """These turns wait no longer."""
    connection.execute(_REMOVE, {"turns": list(turn_ids)})


def waits(connection: Connection, user_id: str, turn_id: str) -> bool:
    """Whether a turn of this user still waits, with words to read."""
    query = sa.select(model_queue.c.turn_id).where(
        model_queue.c.turn_id == turn_id, model_queue.c.user_id == user_id, readable()
    )
    return connection.execute(query.join(turns)).first() is not None


def readable() -> sa.ColumnElement[bool]:
    """Words that were erased, masked or dropped are no longer shown to a model."""
    return sa.and_(turns.c.redacted.is_(False), turns.c.text != "")
