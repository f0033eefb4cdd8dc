"""What a user asks of memory itself: off the record, and forgetting much, which is asked back."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from bmo.gate import may_ask_to_forget
from bmo.memory.visit import Visit
from bmo.memory.wishes import Wish, wish_of
from bmo.quotation import flat
from bmo.turn import WITHHOLD_RULE, Decision, Signal, Turn

if TYPE_CHECKING:
    from bmo.ledger import PendingErasure
    from bmo.turn import StoredFact

logger = logging.getLogger("bmo.memory")


ASK_BACK_DEADLINE_S = 3.0
"""Longest a reply waits to be told what is to be erased, in seconds: the turn must be over (the
model may be asked before it is) and written. Then it says that nothing is forgotten yet."""

WRITTEN_KEPT = 64
"""Turns of which is known that they are in the ledger."""


class Requests:
    """What of a visit's turns is meant for memory itself, and what is said of it.

    Attributes:
        pending: The erasure that waits for a yes, if there is one.
    """

    def __init__(self, visit: Visit) -> None:
        """Nothing is asked yet."""
        self.pending: PendingErasure | None = None
        self._visit = visit
        self._on_disk: dict[str, asyncio.Event] = {}
        self._wide: deque[str] = deque(maxlen=WRITTEN_KEPT)
        self._written: deque[str] = deque(maxlen=WRITTEN_KEPT)

    def switched(self, wish: Wish | None) -> bool:
        """Goes off the record or back on it, where that is wished; says whether it did."""
        if wish == "off_record" or (wish == "on_record" and self._visit.off_record):
            self._visit.off_record = wish == "off_record"
            return True
        return False

    def granted(self, wish: Wish | None, turn: Turn, switched: bool) -> Decision | None:
        """Does what a short utterance asks of memory itself; None when it asks for nothing.

        ``switched``: whether it went off the record or back on it when it was submitted.
        """
        if wish == "record_state":
            return own_word(turn, "question", "record state")
        pending, self.pending = self.pending, None
        if wish is not None and switched:
            return own_word(turn, "command", wish.replace("_", " "))
        if pending is None or wish not in ("yes", "no"):
            return None
        ledger, recorder = self._visit.service.ledger, self._visit.service.recorder
        answer = ledger.confirm_erasure if wish == "yes" else ledger.cancel_erasure
        carried_out = recorder.call(answer, self._visit.user_id, pending.id)
        self._visit.start(self._after_answer(carried_out, pending, gone=wish == "yes"))
        return own_word(turn, "forget", f"erasure {'confirmed' if wish == 'yes' else 'cancelled'}")

    def decided(self, turn_id: str, decision: Decision) -> None:
        """A turn is decided, but not written yet: it may be to forget much."""
        if _forgets_much(decision):
            self._wide.append(turn_id)

    def recorded(self, turn_id: str, pending: PendingErasure | None) -> None:
        """A turn is in the ledger, or could not be written."""
        self._written.append(turn_id)
        asked = self._on_disk.pop(turn_id, None)
        if pending is not None:
            self.pending = pending
        if asked is not None:
            asked.set()

    async def notice(self, turn: Turn, pending: PendingErasure | None) -> str:
        """What the assistant must say about memory itself with this reply, or "".

        A turn that may ask to forget much takes longer than a recall may: a model that is not told
        what was asked of memory would say that it is done.
        """
        wish = wish_of(turn.text)
        if wish in ("off_record", "on_record"):
            return OFF_THE_RECORD if wish == "off_record" else ON_THE_RECORD
        if wish == "record_state":
            return STILL_OFF if self._visit.off_record else STILL_ON
        if pending is not None and wish in ("yes", "no"):
            return answered(pending, yes=wish == "yes")
        return await self._ask_back(turn) if self.may_ask_back(turn) else ""

    def may_ask_back(self, turn: Turn) -> bool:
        """Whether a turn could be a wish to forget much: the words decide, in microseconds."""
        return self._visit.service.is_gated and may_ask_to_forget(turn.text)

    async def _ask_back(self, turn: Turn) -> str:
        """The question to ask when a turn wants much forgotten; "" when it does not."""
        wide = False
        try:
            async with asyncio.timeout(self._visit.service.deadline_s(ASK_BACK_DEADLINE_S)):
                wide = await self._asks_to_forget_much(turn)
                if not wide:
                    return ""
                if turn.id not in self._written:  # writing may have been faster than the question
                    await self._on_disk.setdefault(turn.id, asyncio.Event()).wait()
        except TimeoutError:
            self._on_disk.pop(turn.id, None)
            return NOT_FORGOTTEN_YET if wide else ""
        except Exception as error:  # e.g. rules that fail; gating the turn says so in the ledger
            logger.warning("notice failed", extra={"error": repr(error)})
            return ""
        return ask_to_erase(self.pending) if self.pending is not None else ""

    async def _asks_to_forget_much(self, turn: Turn) -> bool:
        service = self._visit.service
        context = await self._visit.context_of(turn)
        rules = service.write_gate.decide_by_rules
        ruled = await service.run(service.recall_pool, rules, turn, context)
        # Where it is written already, what it means is withdrawn, and the rules find nothing.
        return _forgets_much(ruled) or turn.id in self._wide

    async def _after_answer(
        self, carried_out: Future[Any], pending: PendingErasure, *, gone: bool
    ) -> None:
        try:
            await asyncio.wrap_future(carried_out)
        except Exception as error:  # the request stays pending; bmo memories shows it
            logger.error("erasure not carried out", extra={"error": repr(error)})
            return
        if gone:
            self._visit.dialogue.forget(pending.facts)
        self._visit.service.wrote(self._visit.user_id, None)
        await self._visit.refresh_dialogue()


def _forgets_much(decision: Decision) -> bool:
    return any(fact.scope not in (None, "memory") for fact in decision.facts)


def own_word(turn: Turn, signal: Signal, reason: str) -> Decision:
    """A decision about an utterance that was meant for memory itself."""
    return Decision(
        verdict="discard",
        signals=(signal,),
        reason=reason,
        confidence=1.0,
        extraction_method="session",
        gate_version="session",
        text=turn.text,
    )


# -- what the assistant must say of memory itself with its reply -----------------------------------

SHOWN = 4
"""Memories named when asking whether they may be erased."""


def _line(text: str) -> str:
    return f"<memory_notice>{flat(text)}</memory_notice>"


NOT_FORGOTTEN_YET = _line(
    "What is to be forgotten could not be looked up yet, and nothing is forgotten so far. "
    "Say so, and ask to say it again."
)
"""A wide request to forget that could not be looked up in time."""

OFF_THE_RECORD = _line(
    'Off the record: nothing that is said now is kept, until "back on the record". Say so.'
)
ON_THE_RECORD = _line("On the record again. Say so.")
STILL_OFF = _line(
    'Off the record still: nothing that is said is kept, until "back on the record". Say so.'
)
STILL_ON = _line("On the record: what matters of what is said is remembered. Say so.")


def ask_to_erase(pending: PendingErasure) -> str:
    """A wide request to forget: withdrawn at once, erased after a yes."""
    told = _told(pending)
    named = "; ".join(fact.text.rstrip(" .!?") for fact in told[:SHOWN])
    rest = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    quoted = f" ({named}{rest})" if told else ""
    question = f"Ask whether to erase them for good{_beside(pending)}."
    return _line(f"{_count(pending)} withdrawn{quoted}. {question}")


def answered(pending: PendingErasure, *, yes: bool) -> str:
    """The user said whether to erase them."""
    done = f"erased for good{_beside(pending)}" if yes else "kept after all"
    return _line(f"{_count(pending)} {done}. Say so.")


def _told(pending: PendingErasure) -> list[StoredFact]:
    """What is told of a request: what was known till now; what had ended goes with it unnamed."""
    live = [fact for fact in pending.facts if fact.valid_until is None]
    return [fact for fact in live if fact.rule_id != WITHHOLD_RULE] or live or list(pending.facts)


def _beside(pending: PendingErasure) -> str:
    """What goes beside the memories."""
    days = ", with every other word of these days" if pending.scope == "period" else ""
    wish = any(fact.rule_id == WITHHOLD_RULE for fact in pending.facts)
    return f"{days}, with the wish never to bring it up" if wish else days


def _count(pending: PendingErasure) -> str:
    number = len(_told(pending))
    if pending.scope == "period" and not number:
        return "All that was said then is"
    return "1 memory is" if number == 1 else f"{number} memories are"
