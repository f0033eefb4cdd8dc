"""The ledger's side for models behind the gate: what waits for them, and what they settled."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy.engine import Connection

from bmo.ledger import facts as rows
from bmo.ledger import model_queue, turn_log
from bmo.ledger.ending import end_fact
from bmo.ledger.recording import record_turn, wants_near
from bmo.ledger.records import Aim, Ended, LoggedTurn, NearDuplicates, Recorded, WaitingTurn
from bmo.ledger.schema import facts
from bmo.ledger.turn_log import as_turn
from bmo.ledger.turn_queries import TurnQueries
from bmo.ledger.values import stems, text_key, value_key
from bmo.settings import checked_user_id
from bmo.turn import Decision, Fact, StoredFact, Turn, utc_now

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
        """Turns of a user that wait for a model, the most promising first.

        Args:
            user_id: Whose turns.
            due_at: Only those to be tried at this moment; None for all.
            aims: Only what waits for this; None for all.
            limit: Turns at most.
        """
        checked_user_id(user_id)
        with self.reading() as connection:
            return model_queue.waiting(connection, user_id, due_at=due_at, aims=aims, limit=limit)

    def users_waiting(self, due_at: datetime, aims: Collection[Aim]) -> list[str]:
        """Users with turns to be tried at a moment, those who wait longest first."""
        with self.reading() as connection:
            return model_queue.users(connection, due_at, aims)

    def next_try(self, after: datetime, aims: Collection[Aim]) -> datetime | None:
        """When the next turn is to be tried after a moment, or None."""
        with self.reading() as connection:
            return model_queue.next_try(connection, after, aims)

    def around(self, turn: Turn, *, before: int, after: int) -> list[Turn]:
        """A turn with those said before and after it in its visit that may be shown to a model."""
        checked_user_id(turn.user_id)
        with self.reading() as connection:
            return model_queue.visit_of(connection, turn, before=before, after=after)

    def lease_waiting(self, turn_ids: Sequence[str], now: datetime, until: datetime) -> set[str]:
        """Takes due turns for this process until a moment, where several share a ledger.

        Returns:
            Ids of those it got; the others are another process's, or settled meanwhile.
        """
        with self.writing() as connection:
            return model_queue.lease(connection, turn_ids, now, until)

    def put_off_settling(self, turn_ids: Sequence[str], error: str, now: datetime) -> None:
        """A model gave no usable answer: the turns are tried again later."""
        with self.writing() as connection:
            model_queue.put_off(connection, turn_ids, now, error)

    def settle(
        self,
        user_id: str,
        turn_id: str,
        decision: Decision,
        *,
        near: NearDuplicates | None = None,
    ) -> Recorded | None:
        """Writes what a model made of a waiting turn; it waits no longer.

        An allowed turn's facts are reconciled like the gate's. Memories of the same turn that are
        only its words end as merged into those that say the same in a slot or more cleanly. A
        held turn that is held again stays for a person to decide on.

        Args:
            user_id: Whose turn.
            turn_id: A turn of ``waiting``.
            decision: The model's word on it.
            near: Finds similar facts, for near duplicates.

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
        with self.writing() as connection:
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
    stays = {fact.id for fact in recorded.confirmed}
    new = [*recorded.added, *recorded.confirmed]
    kept = stems(fact.text for fact in new)
    merged: list[Ended] = []
    for old in worded:
        words = stems([old.text])
        if old.id in stays or not new or len(words & kept) < COVERED * len(words):
            continue
        nearest = max(new, key=lambda fact: _shared(fact, words))
        ended = end_fact(
            connection,
            said.user_id,
            old,
            "merged",
            now,
            at=said.at,
            superseded_by=nearest.id,
            turn_id=said.id,
        )
        merged.append(ended)
    return merged


def _shared(fact: StoredFact, words: set[str]) -> tuple[int, str]:
    return len(words & stems([fact.text])), text_key(fact.text)
