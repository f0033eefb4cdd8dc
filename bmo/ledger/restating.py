"""Running another pass of the gate over logged turns: what differs, and writing it.

A pass is compared with what the very turn left behind, not with what is live today: what was
superseded, edited, taken back or erased since stays so. Facts that a person, a tool or a model
wrote are never touched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import erasure, fact_writing
from bmo.ledger import facts as rows
from bmo.ledger.reconcile import statement_key
from bmo.ledger.recording import record_turn, stands_for
from bmo.ledger.schema import fact_turns, facts
from bmo.ledger.values import relation_of, text_key
from bmo.turn import Decision, Fact, StoredFact, Turn


@dataclass(frozen=True, slots=True)
class Restated:
    """What another pass of the gate changes about one turn.

    Attributes:
        turn: The turn as it was logged.
        decision: The present gate's word on it.
        added: Facts that it would store beside what is there.
        removed: Live facts of this turn alone that it would not store.
        changed: (old, new) of facts that it would store in other words.
        forgotten: Facts that it would store, but that were erased: they stay so.
    """

    turn: Turn
    decision: Decision
    added: tuple[Fact, ...] = ()
    removed: tuple[StoredFact, ...] = ()
    changed: tuple[tuple[StoredFact, Fact], ...] = ()
    forgotten: tuple[Fact, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything would be written."""
        return bool(self.added or self.removed or self.changed)


def compare_pass(connection: Connection, turn: Turn, decision: Decision) -> Restated:
    """Compares a new decision with what the turn left behind."""
    left = _left_behind(connection, turn)
    told = [f for f in decision.facts if f.op != "retract"] if decision.verdict == "allow" else []
    new = [fact for fact in told if not any(_agree(fact, old, turn) for old in left)]
    buried = [f for f in new if erasure.is_buried(connection, turn.user_id, turn.at, f)]
    new = [fact for fact in new if fact not in buried]
    gone = [
        old
        for old in left
        if old.valid_until is None
        and old.source_type == "gate"
        and not any(_agree(fact, old, turn) for fact in told)
        and not _said_elsewhere(connection, old, turn)
    ]
    changed: list[tuple[StoredFact, Fact]] = []
    for old in tuple(gone):
        same = next((fact for fact in new if _same_slot(fact, old)), None)
        if same is not None:
            changed.append((old, same))
            gone.remove(old)
            new.remove(same)
    return Restated(turn, decision, tuple(new), tuple(gone), tuple(changed), tuple(buried))


def write_pass(connection: Connection, restated: Restated) -> None:
    """Writes what a pass changes: new facts with the turn's date, the others ended."""
    turn = restated.turn
    for old in (*restated.removed, *(old for old, _ in restated.changed)):
        # "corrected" is: never true. As-of questions no longer show it.
        fact_writing.end(connection, old, "corrected", at=turn.at)
    new = (*restated.added, *(fact for _, fact in restated.changed))
    record_turn(connection, turn, replace(restated.decision, facts=new), {})


def _left_behind(connection: Connection, turn: Turn) -> list[StoredFact]:
    """Every fact, live or ended, that the turn stated or confirmed."""
    linked = sa.select(fact_turns.c.fact_id).where(fact_turns.c.turn_id == turn.id, rows.IS_SOURCE)
    query = rows.select_facts().where(
        facts.c.user_id == turn.user_id, sa.or_(facts.c.turn_id == turn.id, facts.c.id.in_(linked))
    )
    return rows.fetch(connection, query.order_by(facts.c.id))


def _said_elsewhere(connection: Connection, fact: StoredFact, turn: Turn) -> bool:
    query = sa.select(fact_turns.c.turn_id).where(
        fact_turns.c.fact_id == fact.id,
        fact_turns.c.turn_id != turn.id,
        rows.IS_SOURCE,
    )
    return connection.execute(query.limit(1)).first() is not None


def _agree(fact: Fact, old: StoredFact, turn: Turn) -> bool:
    """Whether both say the same of a turn."""
    if old.turn_id == turn.id and stands_for(old, fact):
        return True
    same_words = text_key(fact.text) == text_key(old.text)
    return same_words or statement_key(fact) == statement_key(old)


def _same_slot(fact: Fact, old: StoredFact) -> bool:
    return fact.slot == old.slot and relation_of(fact.subject) == relation_of(old.subject)
