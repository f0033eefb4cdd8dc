"""One turn into the ledger: turn, decision, reconciled facts and outbox, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ids import new_id
from bmo.ledger import doubles, erasure, fact_writing, model_queue, outbox, redaction, turn_log
from bmo.ledger import facts as rows
from bmo.ledger.fact_writing import Stamp
from bmo.ledger.reconcile import Plan, plan_fact, statement_key
from bmo.ledger.records import NearDuplicates, Outcome, Recorded
from bmo.ledger.retracting import retract
from bmo.ledger.schema import facts
from bmo.ledger.values import text_key
from bmo.settings import GatekeeperMode
from bmo.turn import FORGET_LAST_RULE, Decision, Fact, StoredFact, Turn

_CONFIRMED_CONFIDENCE = 0.1
"""Said again: confidence rises by this share of what is missing to 1."""

_COPIED = {field.name for field in fields(Fact)} & {field.name for field in fields(StoredFact)}

_OWNER = sa.select(facts.c.user_id).where(facts.c.id == sa.bindparam("fact"))


def record_turn(
    connection: Connection,
    turn: Turn,
    decision: Decision,
    near: Mapping[int, Mapping[str, float]],
    *,
    source_type: str = "gate",
    raw: bool = False,
    mode: GatekeeperMode | None = None,
    restates: tuple[int, StoredFact] | None = None,
) -> Recorded:
    """Writes a turn and all that follows from it; returns what became of it.

    Args:
        connection: A writing connection.
        turn: The turn.
        decision: The gate's word on it.
        near: As of ``similar_facts``.
        source_type: Where the facts come from.
        raw: As of ``Ledger.record``.
        mode: The gate's mode.
        restates: Position of a fact in ``decision.facts``, and the live memory of this turn whose
            text it replaces, unless another live one says it already.
    """
    new = turn_log.write_turn(connection, turn, decision)
    turn_log.write_decision(connection, turn, decision, mode)
    if not raw:
        # What a model wrote is not put better once more.
        by_gate = source_type == "gate"
        model_queue.note(connection, turn, decision, mode if by_gate else None)
    outcome = Outcome(again=not new)
    if raw and new:
        outbox.put(connection, "raw", turn.user_id, turn.id)
    if decision.verdict != "allow":
        return outcome.recorded(turn.id)
    stamp = Stamp(
        turn.user_id,
        turn.at,
        turn.id,
        source_type,
        decision.gate_version,
        turn.agent_id,
        turn.visibility,
    )
    forget = "forget" in decision.signals
    told = [] if new else _told(connection, turn)
    for position, fact in enumerate(decision.facts):
        known = next((row for row in told if stands_for(row, fact, source_type)), None)
        if fact.op == "retract":
            retract(connection, turn, fact, forget, outcome)
        elif known is not None:
            outcome.confirmed.append(known)
        else:
            worse = restates[1] if restates is not None and restates[0] == position else None
            similar = near.get(position, {})
            _store(connection, stamp, fact, similar, outcome, instead_of=worse)
    if not forget:
        return outcome.recorded(turn.id)
    spent: list[str] = []
    if decision.rule_id == FORGET_LAST_RULE:
        # What became no memory goes too: it may wait for a second look.
        before = turn_log.said_before(connection, turn)
        if before is not None and before.text and not turn_log.told(connection, before.id):
            spent = [before.id]
    for fact in () if outcome.again else outcome.unmatched:
        if fact.scope == "subject":
            about = redaction.turns_about(connection, turn.user_id, fact.text)
            spent += [one for one in about if one != turn.id]
    if not outcome.forgotten and not spent:
        if outcome.pending is None and not outcome.added:
            # "Forget that ..." keeps none of its words, found or not.
            redaction.empty_turns(connection, turn.user_id, [turn.id])
        return outcome.recorded(turn.id)
    gone = tuple(outcome.forgotten.values())
    receipt = erasure.erase_facts(
        connection,
        turn.user_id,
        gone,
        scope="memory",
        topics=outcome.topics,
        at=turn.at,
        turn_id=turn.id if outcome.forgotten or not outcome.added else None,
        spent=spent,
    )
    return outcome.recorded(turn.id, receipt)


def store_fact(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    near: Mapping[str, float],
    *,
    dated: bool = True,
) -> Recorded:
    """Stores one fact that does not come with a turn of its own (an import)."""
    outcome = Outcome()
    _store(connection, stamp, fact, near, outcome, dated=dated)
    return outcome.recorded(stamp.turn_id or "")


def wants_near(fact: Fact) -> bool:
    """Whether reconciling a fact takes similar facts from the index."""
    return fact.op == "assert" and (fact.slot is None or fact.cardinality == "many")


def similar_facts(
    user_id: str, decision: Decision, near: NearDuplicates | None
) -> dict[int, Mapping[str, float]]:
    """What each fact may double, asked before the transaction begins: that takes milliseconds.

    Returns:
        Position of a fact in ``decision.facts`` -> fact id -> cosine similarity.
    """
    if near is None or decision.verdict != "allow":
        return {}
    return {
        position: dict(near(user_id, fact.text))
        for position, fact in enumerate(decision.facts)
        if wants_near(fact) and fact.text.strip()
    }


def stands_for(row: StoredFact, fact: Fact, source_type: str = "gate") -> bool:
    """Whether a memory that a turn left says what the turn says once more.

    What a model wrote of a turn stands for the turn's words as well, and so does what is left of
    them.
    """
    if statement_key(fact) == statement_key(row):
        return True
    if fact.slot is not None or source_type != "gate":
        return False
    left, told = (set(text_key(one.text).split()) for one in (row, fact))
    return row.source_type == "model" or (row.said == fact.said != "" and left < told)


def _told(connection: Connection, turn: Turn) -> list[StoredFact]:
    """What a turn that is recorded again has told already, live or ended since."""
    return rows.by_ids(connection, turn.user_id, turn_log.told(connection, turn.id))


def _store(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    near: Mapping[str, float],
    outcome: Outcome,
    *,
    dated: bool = True,
    instead_of: StoredFact | None = None,
) -> None:
    if not erasure.said_anew(connection, stamp.user_id, fact, stamp.at):
        outcome.suppressed.append(fact)
        return
    if not fact.id or connection.execute(_OWNER, {"fact": fact.id}).first() is not None:
        fact = replace(fact, id=new_id())
    live = rows.touched(connection, stamp.user_id, fact, near)
    plan = plan_fact(
        fact,
        user_id=stamp.user_id,
        at=stamp.at,
        live=[
            row
            for row in live
            if stamp.touches(row) and (instead_of is None or row.id != instead_of.id)
        ],
        near=near,
        turn_id=stamp.turn_id,
        dated=dated,
    )
    successor = _write(connection, stamp, fact, plan, outcome, instead_of)
    for end in plan.ends:
        outcome.ended.append(
            fact_writing.end(
                connection,
                end.fact,
                end.why,
                at=stamp.at,
                superseded_by=successor.id,
                turn_id=stamp.turn_id,
            )
        )
        rest = dict(fact.rests).get(end.fact.id)
        if rest and end.why == "superseded":
            _keep_rest(connection, stamp, end.fact, rest, outcome)


def _keep_rest(
    connection: Connection, stamp: Stamp, known: StoredFact, rest: str, outcome: Outcome
) -> None:
    """Stores what is still true of an ended memory: its own date, turn and words, fewer of them."""
    names = [name for name in _COPIED if name not in ("text", "id")]
    copied = {name: getattr(known, name) for name in names}
    of_then = replace(
        stamp,
        turn_id=known.turn_id,
        source_type=known.source_type,
        version=known.extraction_version,
        agent_id=known.agent_id,
        visibility=known.visibility,
    )
    kept = fact_writing.insert(
        connection, Fact(text=rest, **copied), of_then, valid_from=known.valid_from
    )
    outcome.added.append(kept)
    outbox.put(connection, "add", stamp.user_id, kept.id)
    doubles.settle(connection, [kept])


def _write(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    plan: Plan,
    outcome: Outcome,
    instead_of: StoredFact | None,
) -> StoredFact:
    """Confirms, restates or adds; returns the fact that says it from now on."""
    known = plan.confirm
    if known is not None:
        turn_id = stamp.turn_id
        if turn_id is None or fact_writing.link_turn(connection, known.id, turn_id, "confirmed"):
            confidence = known.confidence + _CONFIRMED_CONFIDENCE * (1.0 - known.confidence)
            fact_writing.change(connection, known.id, {"confidence": confidence})
            known = replace(known, confidence=confidence)
        outcome.confirmed.append(known)
        return known
    conflict = bool(plan.conflicts)
    if instead_of is not None and plan.ended_by is None:
        added = fact_writing.restate(connection, instead_of, fact, stamp, conflict=conflict)
        outcome.restated.append(added)
        outbox.put(connection, "update", stamp.user_id, added.id)
    else:
        added = fact_writing.insert(
            connection, fact, stamp, ended_by=plan.ended_by, conflict=conflict
        )
        outcome.added.append(added)
        if plan.ended_by is None:
            outbox.put(connection, "add", stamp.user_id, added.id)
    if plan.ended_by is None:
        doubles.settle(connection, [added])
    for other in plan.conflicts:
        fact_writing.change(connection, other.id, {"conflict": True})
        outcome.conflicts.append(replace(other, conflict=True))
    if plan.conflicts:
        outcome.conflicts.append(added)
    return added
