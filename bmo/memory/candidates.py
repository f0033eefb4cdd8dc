"""Which live memories a turn may restate or end: what the write gate is told of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bmo.gate.orders import WIDE, read_order
from bmo.index import EmbedderUnavailable, IndexUnavailable
from bmo.turn import WITHHOLD_RULE, StoredFact, Turn

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

logger = logging.getLogger("bmo.memory")

NEAREST = 12
"""Memories asked of the index, of the words and of the visit, at most each."""
LEAST_SIMILARITY = 0.2
"""Below this cosine a memory is not about the same thing."""


def find_candidates(
    ledger: Ledger, index: MemoryIndex | None, turn: Turn
) -> tuple[tuple[StoredFact, ...], Mapping[str, float]]:
    """The memories nearest in meaning, those that share words, and the visit's own. Blocking.

    Returns:
        Live memories, nearest first, and the similarity of those where it is known.
    """
    order = read_order(turn.text)
    # What is to be forgotten is looked for by what it is, not by the words of the order.
    topic = order.what if order is not None and order.kind in WIDE else ""
    near = _near(index, replace(turn, text=topic or turn.text))
    wanted: Sequence[StoredFact] = ()
    if order is not None and order.kind == "lift":
        wanted = ledger.live_facts(turn.user_id, rules=(WITHHOLD_RULE,))
    elif order is not None and order.kind in WIDE:  # any may be meant
        wanted = ledger.live_facts(turn.user_id)
    else:
        named = ledger.search_words(turn.user_id, turn.text, NEAREST)
        wanted = [fact for fact, _ in named]
    visit = ledger.visit_facts(turn.user_id, turn.session_id, NEAREST)
    closest = ledger.facts_by_id(turn.user_id, list(near), live_at=turn.at)
    found = {fact.id: fact for fact in (*closest, *visit, *wanted)}
    told = [
        fact for fact in found.values() if fact.is_for(turn.agent_id) and fact.valid_until is None
    ]
    told.sort(key=lambda fact: -near.get(fact.id, 0.0))
    return tuple(told), near


def _near(index: MemoryIndex | None, turn: Turn) -> dict[str, float]:
    if index is None or index.unavailable or not turn.text.strip():
        return {}
    asked = turn.assistant_before if len(turn.text.split()) <= 4 else ""
    try:
        found = index.near(
            turn.user_id,
            turn.text,
            top_k=NEAREST,
            threshold=LEAST_SIMILARITY,
            asked=asked,
        )
    except (IndexUnavailable, EmbedderUnavailable) as error:
        logger.warning("no near memories", extra={"error": str(error)})
        return {}
    return {str(fact_id): float(score) for fact_id, score in found}
