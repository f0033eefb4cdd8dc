"""One turn into the ledger: turn, decision, reconciled facts and outbox, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy.engine import Connection

from bmo.ledger import erasure, fact_writing, model_queue, outbox, redaction, turn_log
from bmo.ledger import facts as rows
from bmo.ledger.changes import is_together_again
from bmo.ledger.ending import end_fact
from bmo.ledger.fact_plan import Plan, Rewrite
from bmo.ledger.fact_writing import Stamp
from bmo.ledger.facts import as_fact
from bmo.ledger.outcome import Outcome
from bmo.ledger.positions import fills_anew
from bmo.ledger.reconcile import plan_fact
from bmo.ledger.records import Receipt, Recorded
from bmo.ledger.subjects import name_of, states_name
from bmo.ledger.taking_back import rejoin, retract
from bmo.ledger.touched import touched
from bmo.ledger.values import (
    tells_of_change,
    text_key,
    value_key,
)
from bmo.settings import GatekeeperMode
from bmo.turn import Decision, Fact, StoredFact, Turn

_CONFIRMED_CONFIDENCE = 0.1
"""Said again: confidence rises by this share of what is missing to 1."""


def record_turn(
    connection: Connection,
    turn: Turn,
    decision: Decision,
    near: Mapping[int, Mapping[str, float]],
    now: datetime,
    *,
    source_type: str = "gate",
    raw: bool = False,
    mode: GatekeeperMode | None = None,
) -> Recorded:
    """Writes a turn and all that follows from it.

    Args:
        connection: A writing connection.
        turn: The turn.
        decision: The gate's word on it.
        near: Position of a fact in ``decision.facts`` -> fact id -> cosine similarity.
        now: The present moment, for the outbox.
        source_type: Where the facts come from.
        raw: The turn's words go to the index as they are (MEM0_SETTING=NORMAL).
        mode: The gate's mode: in hybrid and llm more than held turns wait for a model.

    Returns:
        What became of it.
    """
    new = turn_log.write_turn(connection, turn, decision)
    turn_log.write_decision(connection, turn, decision)
    if not raw:
        model_queue.note(connection, turn, decision, now, mode)
    outcome = Outcome(again=not new)
    if raw and new:
        outbox.put(connection, "raw", turn.user_id, turn.id, now)
    stamp = Stamp(turn.user_id, turn.at, turn.id, source_type, decision.gate_version)
    if decision.verdict == "allow":
        forget = "forget" in decision.signals
        known = {} if new else _stated(connection, turn)
        words = decision.text or turn.text
        change = tells_of_change(words)
        for position, fact in enumerate(decision.facts):
            similar = near.get(position, {})
            if fact.op != "retract" and _statement(fact) in known:
                outcome.confirmed.append(known[_statement(fact)])
                continue
            if fact.op == "retract":
                retract(connection, turn, fact, similar, forget, now, outcome)
            else:
                told = _as_correction(fact, decision)
                if is_together_again(told):
                    rejoin(connection, turn.user_id, told, now, outcome)
                changed = change and (not states_name(told) or fills_anew(words, told.span))
                _store(connection, stamp, told, similar, now, outcome, change=changed)
        if forget and not outcome.forgotten and not outcome.pending:
            # "Forget that ..." keeps none of its words, found or not.
            redaction.empty_turns(connection, turn.user_id, [turn.id])
    receipt = _erase(connection, turn, now, outcome)
    return outcome.recorded(turn.id, receipt)


def store_fact(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    near: Mapping[str, float],
    now: datetime,
    *,
    dated: bool = True,
) -> Recorded:
    """Stores one fact that does not come with a turn of its own (import, edit, by hand)."""
    outcome = Outcome()
    _store(connection, stamp, fact, near, now, outcome, dated=dated)
    return outcome.recorded(stamp.turn_id or "")


def wants_near(fact: Fact) -> bool:
    """Whether reconciling a fact takes similar facts from the index."""
    if fact.op == "retract":
        return fact.slot is None
    return fact.slot is None or fact.cardinality == "many"


def _store(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    near: Mapping[str, float],
    now: datetime,
    outcome: Outcome,
    *,
    dated: bool = True,
    change: bool = False,
) -> None:
    if not erasure.said_anew(connection, stamp.user_id, fact, stamp.at):
        outcome.suppressed.append(fact)
        return
    live = touched(connection, stamp.user_id, fact, near, change=change)
    plan = plan_fact(fact, at=stamp.at, live=live, near=near, dated=dated, change=change)
    for rewrite in plan.rewrites:
        _rewrite(connection, stamp, rewrite, now, outcome)
    if plan.past or (plan.ends and fact.tense == "past"):
        _store_past(connection, stamp, fact, plan, now, outcome)
        return
    successor = _successor(connection, stamp, fact, plan, now, outcome)
    for end in plan.ends:
        by = successor if end.by_new else None
        outcome.ended.append(
            end_fact(
                connection,
                stamp.user_id,
                end.fact,
                end.why,
                now,
                at=stamp.at,
                superseded_by=by,
                turn_id=stamp.turn_id,
            )
        )
    _settle_conflict(connection, stamp.user_id, fact)


def _successor(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    plan: Plan,
    now: datetime,
    outcome: Outcome,
) -> str | None:
    """Id of the fact that says the new one from now on; None when nothing does."""
    if plan.only_ends:
        return None
    if plan.confirm is not None:
        _confirm(connection, stamp, plan.confirm, outcome)
        return plan.confirm.id
    return _add(connection, stamp, fact, plan, now, outcome).id


def _as_correction(fact: Fact, decision: Decision) -> Fact:
    """A name said in a correction takes the place of the one before ("no, it's Tom")."""
    if fact.op == "assert" and "correction" in decision.signals and states_name(fact):
        return replace(fact, op="correct")
    return fact


def _stated(connection: Connection, turn: Turn) -> dict[tuple[str, ...], StoredFact]:
    """What a turn that is recorded again has stated already."""
    found = rows.by_ids(connection, turn.user_id, turn_log.stated(connection, turn.id))
    return {_statement(as_fact(row)): row for row in found}


def _statement(fact: Fact) -> tuple[str, ...]:
    what = value_key(fact.value) if fact.slot is not None and fact.value else text_key(fact.text)
    return (fact.subject, fact.slot or "", what, fact.polarity)


def _store_past(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    plan: Plan,
    now: datetime,
    outcome: Outcome,
) -> None:
    until = rows.moment_of(fact.when, stamp.at)
    for end in plan.ends:
        over = max(until, end.fact.valid_from)
        outcome.ended.append(
            end_fact(
                connection,
                stamp.user_id,
                end.fact,
                "past",
                now,
                at=stamp.at,
                until=over,
                turn_id=stamp.turn_id,
            )
        )
    if plan.past:
        added = fact_writing.insert(connection, fact, stamp, valid_until=until, end_reason="past")
        outcome.added.append(added)


def _add(
    connection: Connection,
    stamp: Stamp,
    fact: Fact,
    plan: Plan,
    now: datetime,
    outcome: Outcome,
) -> StoredFact:
    newer = plan.ended_by
    added = fact_writing.insert(
        connection,
        fact,
        stamp,
        valid_until=newer.valid_from if newer else None,
        end_reason="superseded" if newer else "",
        superseded_by=newer.id if newer else None,
        conflict=bool(plan.conflicts),
    )
    outcome.added.append(added)
    if newer is None:
        outbox.put(connection, "add", stamp.user_id, added.id, now)
    for other in plan.conflicts:
        fact_writing.change(connection, other.id, {"conflict": True})
        outcome.conflicts.append(replace(other, conflict=True))
    if plan.conflicts:
        outcome.conflicts.append(added)
    return added


def _confirm(connection: Connection, stamp: Stamp, known: StoredFact, outcome: Outcome) -> None:
    confidence = known.confidence + _CONFIRMED_CONFIDENCE * (1.0 - known.confidence)
    fact_writing.change(connection, known.id, {"confidence": confidence})
    if stamp.turn_id is not None:
        fact_writing.link_turn(connection, known.id, stamp.turn_id, "confirmed")
    outcome.confirmed.append(replace(known, confidence=confidence))


def _rewrite(
    connection: Connection, stamp: Stamp, rewrite: Rewrite, now: datetime, outcome: Outcome
) -> None:
    old = rewrite.fact
    if not rewrite.correction:
        changed = {"subject": rewrite.subject, **_text_columns(rewrite.value, rewrite.text)}
        fact_writing.change(connection, old.id, changed)
        fact_writing.write_words(
            connection,
            stamp.user_id,
            old.id,
            rewrite.subject,
            rewrite.text,
            rewrite.value,
            old.entities,
        )
        outbox.put(connection, "update", stamp.user_id, old.id, now, index_id=old.index_id)
        outcome.changed.append(rows.by_ids(connection, stamp.user_id, [old.id])[0])
        return
    wrong, right = name_of(old.subject), name_of(rewrite.subject)
    fact = as_fact(
        replace(
            old,
            subject=rewrite.subject,
            value=rewrite.value,
            text=rewrite.text,
            entities=tuple(right if entity == wrong else entity for entity in old.entities),
        )
    )
    added = fact_writing.insert(connection, fact, stamp, valid_from=old.valid_from)
    outbox.put(connection, "add", stamp.user_id, added.id, now)
    outcome.added.append(added)
    ended = end_fact(
        connection,
        stamp.user_id,
        old,
        "corrected",
        now,
        at=stamp.at,
        superseded_by=added.id,
        turn_id=stamp.turn_id,
    )
    outcome.ended.append(ended)


def _erase(connection: Connection, turn: Turn, now: datetime, outcome: Outcome) -> Receipt | None:
    if not outcome.forgotten:
        return None
    return erasure.erase_facts(
        connection,
        turn.user_id,
        tuple(outcome.forgotten.values()),
        scope=outcome.forgotten_scope,
        at=turn.at,
        now=now,
        turn_id=turn.id,
    )


def _settle_conflict(connection: Connection, user_id: str, fact: Fact) -> None:
    """A conflict of which one side is left is none."""
    if fact.slot is None or fact.cardinality == "many":
        return
    left = rows.of_slots(connection, fact, user_id, [fact.slot], conflict=True)
    if len(left) == 1:
        fact_writing.change(connection, left[0].id, {"conflict": False})


def _text_columns(value: str, text: str) -> dict[str, str]:
    return {
        "value": value,
        "value_key": value_key(value),
        "text": text,
        "text_key": text_key(text),
    }
