"""What was given for which turn, what was used, and whether it helped."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, fields
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ids import new_id
from bmo.ledger.database import Database
from bmo.ledger.records import JudgedItem
from bmo.ledger.schema import facts, feedback, recall_items, recalls, turns
from bmo.ledger.values import stems
from bmo.turn import Recall, RecalledMemory, ScoreParts, StoredFact, Turn

# Built once: building a statement takes longer than running it.
_INSERT_RECALL = sa.insert(recalls)
_INSERT_ITEMS = sa.insert(recall_items)
_INSERT_FEEDBACK = sa.insert(feedback)
_COUNT_USE = (
    sa.update(facts)
    .where(
        facts.c.user_id == sa.bindparam("user"), facts.c.id.in_(sa.bindparam("ids", expanding=True))
    )
    .values(use_count=facts.c.use_count + 1, last_used_at=sa.bindparam("at"))
)
_OWN = sa.select(facts.c.id).where(
    facts.c.user_id == sa.bindparam("user"), facts.c.id.in_(sa.bindparam("ids", expanding=True))
)
_OWN_TURN = sa.select(turns.c.id).where(
    turns.c.id == sa.bindparam("turn"), turns.c.user_id == sa.bindparam("user")
)
_NEWEST_FEEDBACK = (
    sa.select(feedback, facts.c.kind.label("fact_kind"))
    .join(facts, facts.c.id == feedback.c.fact_id)
    .where(feedback.c.user_id == sa.bindparam("user"))
    .order_by(feedback.c.id.desc())
    .limit(sa.bindparam("most", type_=sa.Integer()))
)


_LAST_GIVEN = (
    sa.select(recall_items)
    .join(recalls, recalls.c.id == recall_items.c.recall_id)
    .where(recall_items.c.given.is_(True))
    .order_by(recalls.c.at.desc(), recalls.c.id)
    .limit(1)
)


class RecallLog(Database):
    """The ledger's side for recalls: what was given for a turn, and whether it helped."""

    def record_recall(self, turn: Turn, recall: Recall) -> str:
        """Writes what was given for a turn, with scores; returns the recall's id."""
        recall_id = new_id()
        row = {
            "id": recall_id,
            "user_id": turn.user_id,
            "turn_id": turn.id,
            "at": turn.at,
            "trigger": recall.plan.trigger,
            "recalled": recall.plan.recall,
            "budget_tokens": recall.plan.budget_tokens,
            "tokens": recall.tokens,
            "elapsed_ms": recall.elapsed_ms,
            "fallback": recall.fallback,
            "reason": recall.reason,
        }
        considered = {memory.fact.id: (memory, False) for memory in recall.left_out}
        considered |= {memory.fact.id: (memory, True) for memory in recall.memories}
        with self.writing(turn.user_id) as connection:
            connection.execute(_INSERT_RECALL, row)
            # A fact may have been erased between its retrieval and this moment.
            left = _own(connection, turn.user_id, considered)
            items = [_item(recall_id, *considered[one]) for one in considered if one in left]
            if items:
                connection.execute(_INSERT_ITEMS, items)
        return recall_id

    def note_helpfulness(
        self,
        user_id: str,
        ids: Collection[str],
        *,
        turn_id: str,
        helpful: bool,
        at: datetime,
        source: str,
    ) -> int:
        """Writes for several facts whether they helped with a turn; a helpful one counts as used.

        Args:
            user_id: Whose facts; what is gone meanwhile is left out.
            ids: Facts that were given for the turn.
            turn_id: The turn.
            helpful: Whether they helped.
            at: When it showed.
            source: "reply" (the reply used them), "correction" (the user said they are wrong) or
                "user" (he was asked).

        Returns:
            Number of facts noted.
        """
        if not ids:
            return 0
        with self.writing(user_id) as connection:
            left = sorted(_own(connection, user_id, ids))
            if left:
                said = turn_id if _is_own_turn(connection, user_id, turn_id) else None
                rows = [_judged(user_id, one, said, helpful, at, source) for one in left]
                connection.execute(_INSERT_FEEDBACK, rows)
                if helpful:
                    connection.execute(_COUNT_USE, {"user": user_id, "ids": left, "at": at})
        return len(left)

    def feedback(
        self, user_id: str, *, fact_id: str | None, turn_id: str | None, helpful: bool, at: datetime
    ) -> None:
        """Writes whether a memory helped, as a person said.

        Raises:
            ValueError: Fact or turn are not this user's.
        """
        with self.writing(user_id) as connection:
            if fact_id is not None and not _own(connection, user_id, [fact_id]):
                raise ValueError(f"user {user_id!r} has no fact {fact_id!r}")
            if turn_id is not None and not _is_own_turn(connection, user_id, turn_id):
                raise ValueError(f"user {user_id!r} has no turn {turn_id!r}")
            row = _judged(user_id, fact_id, turn_id, helpful, at, "user")
            connection.execute(_INSERT_FEEDBACK, [row])

    def judged_items(self, user_id: str, *, limit: int) -> list[JudgedItem]:
        """The newest judgements on a user's memories, oldest first, with the scores they had.

        A judgement without a turn (``bmo feedback``) is about the last time the memory was given;
        one of a memory that was never given says nothing of scores and is left out.
        """
        found: list[JudgedItem] = []
        with self.reading(user_id) as connection:
            given = {"user": user_id, "most": limit}
            for row in connection.execute(_NEWEST_FEEDBACK, given).all():
                last = _LAST_GIVEN.where(recall_items.c.fact_id == row.fact_id)
                if row.turn_id is not None:
                    last = last.where(recalls.c.turn_id == row.turn_id)
                item = connection.execute(last).first()
                if item is not None:
                    scores = {one.name: getattr(item, one.name) for one in fields(ScoreParts)}
                    parts = ScoreParts(**scores)
                    found.append(JudgedItem(row.fact_id, row.fact_kind, parts, row.helpful))
        return found[::-1]


def words_used(fact: StoredFact, reply: str) -> bool:
    """Whether a reply uses a memory: it says the value, or half of a slotless memory's words."""
    said = stems([reply])
    told = stems([fact.value or fact.text])
    if fact.value:
        return bool(told) and told <= said
    return bool(told) and 2 * len(told & said) >= len(told)


def _own(connection: Connection, user_id: str, ids: Collection[str]) -> set[str]:
    if not ids:
        return set()
    found = connection.execute(_OWN, {"user": user_id, "ids": list(ids)}).scalars()
    return {str(fact_id) for fact_id in found}


def _is_own_turn(connection: Connection, user_id: str, turn_id: str) -> bool:
    return connection.execute(_OWN_TURN, {"turn": turn_id, "user": user_id}).first() is not None


def _judged(
    user_id: str, fact_id: str | None, turn_id: str | None, helpful: bool, at: datetime, source: str
) -> dict[str, object]:
    return {
        "user_id": user_id,
        "fact_id": fact_id,
        "turn_id": turn_id,
        "at": at,
        "helpful": helpful,
        "source": source,
    }


def _item(recall_id: str, memory: RecalledMemory, given: bool) -> dict[str, object]:
    return {
        "recall_id": recall_id,
        "fact_id": memory.fact.id,
        "given": given,
        "why": memory.why,
        "score": memory.score,
        **asdict(memory.parts),
    }
