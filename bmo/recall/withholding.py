"""What the user asked never to bring up: left out until a turn of theirs mentions it.

A memory mentions it by its words, by the question they answer, or by the name of the person meant.

The wish itself is never given, nor when it was taken back: whoever reads it would be told of what
it is about, or that it still holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from bmo.gate.mentions import concerns, content, names_of
from bmo.quotation import answered
from bmo.turn import WITHHOLD_RULE, StoredFact


def withheld(facts: Sequence[StoredFact], orders: Sequence[StoredFact], turn: str) -> set[str]:
    """Ids of the memories that are to be left out.

    Args:
        facts: Memories that may be shown.
        orders: Live memories of ``WITHHOLD_RULE``.
        turn: The user's words now; what they mention may be shown. "" for the profile.
    """
    hidden = {fact.id for fact in facts if fact.rule_id == WITHHOLD_RULE}
    for topic in (content(order.value) for order in orders):
        names = names_of(topic, facts)
        if not concerns(topic, names, turn):
            told = ((fact.id, f"{answered(fact)} {fact.said} {fact.text}") for fact in facts)
            hidden |= {one for one, text in told if concerns(topic, names, text)}
    return hidden
