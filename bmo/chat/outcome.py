"""What became of a turn: the little that the offline responder speaks of."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from bmo.agent import ConversationMemory
from bmo.ledger import Recorded
from bmo.turn import Decision, Recall

logger = logging.getLogger(__name__)

OUTCOME_TIMEOUT_S = 2.0
"""Longest wait of an offline reply for what became of the turn."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the gates and the ledger made of a turn.

    Attributes:
        decision: The write gate's; None while it is not known.
        recorded: What the ledger changed; None when nothing was written, or not yet.
        recall: What the read gate gave; None when it was not asked or late.
        kept: False while off the record.
        late: Whether recall missed its deadline.
    """

    decision: Decision | None = None
    recorded: Recorded | None = None
    recall: Recall | None = None
    kept: bool = True
    late: bool = False


class Outcomes:
    """Tells what became of a conversation's latest turn."""

    def __init__(self, conversation: ConversationMemory) -> None:
        """Looks at the turns of one conversation."""
        self._conversation = conversation

    async def __call__(self, words: str) -> Outcome | None:
        """The outcome of the latest turn, once it is written; None when these are other words."""
        heard = self._conversation.latest
        if heard is None or heard.said != words:
            return None
        memory = self._conversation.memory
        decision = recorded = None
        given = heard.given
        missed = given is not None and given.plan.trigger == "deadline"
        late = missed or heard.error == "recall deadline"
        try:
            async with asyncio.timeout(OUTCOME_TIMEOUT_S):
                if heard.decision is not None:
                    decision = await asyncio.shield(heard.decision)
                    recorded = await memory.recorded(heard.turn.id)
        except Exception as error:  # TimeoutError, or the ledger's: then nothing is claimed
            logger.warning("nothing known of the turn", extra={"error": repr(error)})
            return Outcome(recall=given, late=late)
        return Outcome(decision, recorded, given, memory.keeps(heard.said), late)
