"""Writing what a model made of a turn: its facts, one of them in the place of the turn's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy.engine import Connection

from bmo.ledger import fact_writing, turn_log
from bmo.ledger import facts as rows
from bmo.ledger.model_queue import is_words
from bmo.ledger.reconcile import statement_key
from bmo.ledger.recording import record_turn
from bmo.ledger.records import Ended, LoggedTurn, Recorded
from bmo.ledger.turn_log import as_turn
from bmo.ledger.values import stems, text_key, value_key
from bmo.settings import GatekeeperMode
from bmo.turn import Decision, Fact, StoredFact


def write_allowed(
    connection: Connection,
    said: LoggedTurn,
    decision: Decision,
    similar: Mapping[int, Mapping[str, float]],
    whole: bool,
    mode: GatekeeperMode | None,
) -> Recorded:
    """Writes a model's facts of a turn, reconciled.

    Args:
        connection: A writing connection.
        said: The turn.
        decision: Allows the facts.
        similar: Position of a fact -> fact id -> cosine similarity.
        whole: Whether the facts say all that the turn's words say.
        mode: The gate's mode.
    """
    left = rows.by_ids(connection, said.user_id, turn_log.told(connection, said.id))
    words = [fact for fact in left if is_words(fact)]
    own = [fact for fact in left if fact.turn_id == said.id and fact.source_type == "gate"]
    own = rows.live_by_ids(connection, said.user_id, [fact.id for fact in own])
    worded = [fact for fact in own if is_words(fact)]
    if words and (not worded or any(fact.valid_until is not None for fact in words)):
        # They were said before, or ended at least in part, or were corrected since: no better text
        # says more.
        return Recorded(said.id)
    # A model that gives the words back as they are has nothing better to say.
    whole = whole and not any(_only_repeats(fact, worded) for fact in decision.facts)
    # Facts without a slot would double what stays in words, or in an order.
    apart = (whole and bool(worded)) or all(old.slot is not None for old in own)
    told: list[Fact] = []
    near: list[Mapping[str, float]] = []
    for place, fact in enumerate(decision.facts):
        doubles = fact.slot is None and not apart
        if doubles or _filled(fact, own) or _only_repeats(fact, worded):
            continue
        # What is to be replaced must not be taken for the new fact's double.
        others = similar.get(place, {}).items()
        near.append({k: v for k, v in others if all(k != old.id for old in worded)})
        ends = tuple(fact_id for fact_id in fact.ends if all(fact_id != old.id for old in own))
        told.append(replace(fact, ends=ends))
    if not told:
        return Recorded(said.id)
    if said.verdict == "hold":
        turn_log.resolve(connection, said.user_id, said.id, "allowed")
    stated = {statement_key(old) for old in own}
    news = [place for place, fact in enumerate(told) if statement_key(fact) not in stated]
    restates = None
    if worded and whole and news:
        nearest = _nearest([told[place] for place in news], worded[0])
        restates = (news[nearest], worded[0])
    recorded = record_turn(
        connection,
        as_turn(said),
        replace(decision, facts=tuple(told)),
        dict(enumerate(near)),
        source_type="model",
        mode=mode,
        restates=restates,
    )
    if not whole:
        return recorded
    changed = {fact.id for fact in (*recorded.restated, *recorded.confirmed)}
    over = [old for old in worded if old.id not in changed | {e.fact.id for e in recorded.ended}]
    return replace(recorded, ended=(*recorded.ended, *_merge(connection, over, recorded, said)))


def _nearest(told: Sequence[Fact | StoredFact], old: StoredFact) -> int:
    """Which of some facts has most of a memory's words; the first of equals."""
    words = stems([old.text])
    return max(range(len(told)), key=lambda place: (len(words & stems([told[place].text])), -place))


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
    connection: Connection, over: Sequence[StoredFact], recorded: Recorded, said: LoggedTurn
) -> list[Ended]:
    """Ends memories of mere words that other live ones say in their place."""
    into = [*recorded.restated, *recorded.added, *recorded.confirmed]
    return [
        fact_writing.end(
            connection,
            old,
            "merged",
            at=said.at,
            superseded_by=into[_nearest(into, old)].id,
            turn_id=said.id,
        )
        for old in (over if into else ())
    ]
