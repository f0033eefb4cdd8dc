"""What the user asked never to bring up: left out until a turn of theirs mentions it.

The wish itself is never given, nor when it was taken back: whoever reads it would be told of what
it is about, or that it still holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from bmo.gate.orders import content, mentions
from bmo.turn import WITHHOLD_RULE, StoredFact


def withheld(facts: Sequence[StoredFact], orders: Sequence[StoredFact], turn: str) -> set[str]:
    """Ids of the memories that are to be left out.

    Args:
        facts: Memories that may be shown.
        orders: Live memories of ``WITHHOLD_RULE``.
        turn: The user's words now; what they mention may be shown. "" for the profile.
    """
    topics = [
        topic for order in orders if (topic := content(order.value)) and not mentions(topic, turn)
    ]
    wishes = {fact.id for fact in facts if fact.rule_id == WITHHOLD_RULE}
    return wishes | {
        fact.id
        for fact in (facts if topics else ())
        if any(mentions(topic, f"{fact.asked} {fact.said} {fact.text}") for topic in topics)
    }
