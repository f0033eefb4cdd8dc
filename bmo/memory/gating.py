"""The writing side of one visit: its turns are gated one after the other and recorded."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from bmo import telemetry
from bmo.memory.deciding import decide, decide_again
from bmo.memory.requests import Requests, own_word
from bmo.memory.visit import Visit
from bmo.memory.wishes import keeps_nothing, wish_of
from bmo.turn import FORGET_LAST_RULE, Decision, Recall, Turn

if TYPE_CHECKING:
    from bmo.ledger import Recorded

logger = logging.getLogger("bmo.memory")

RECORDED_KEPT = 64
"""Turns whose record can still be asked for with ``recorded``."""


class Gating:
    """What becomes of the turns of one visit, in the order they were said."""

    def __init__(self, visit: Visit, requests: Requests) -> None:
        """Nothing is gated yet."""
        self._visit = visit
        self._requests = requests
        self._one_by_one = asyncio.Lock()
        self._answered: tuple[str, Recall, str] | None = None
        self._hides_reply = False
        self._early_replies: dict[str, tuple[str, Recall | None]] = {}
        self._failed: dict[str, datetime] = {}

    def submit(self, turn: Turn) -> asyncio.Task[Decision]:
        """Starts gating a turn of this visit; the task ends with the decision."""
        before = self._visit.masked(turn.assistant_before)
        text = self._visit.unrepeated(turn.text, before)
        self._visit.masked(turn.text, before)  # its secrets may be repeated; the gate masks it
        after = self._visit.masked(turn.assistant_after)
        own = replace(turn, text=text, assistant_before=before, assistant_after=after)
        # Now, and not when its turn comes: by then what follows may have switched back.
        switched = self._requests.switched(wish_of(own.text))
        on_record = not self._visit.off_record
        task = self._visit.start(self._gate_and_note(own, switched, on_record))
        self._visit.deciding[own.id] = task
        return task

    def note_reply(self, turn_id: str, text: str, given: Recall | None) -> None:
        """Notes what the assistant said after a turn, once the turn is gated."""
        text = self._visit.masked(text)
        if turn_id in self._visit.deciding:
            # A reply can be faster than the encoder: it is noted once its turn is.
            _, already = self._early_replies.get(turn_id, ("", None))
            self._early_replies[turn_id] = (text, given or already)
        else:
            self._note_reply(turn_id, text, given)

    def _note_reply(self, turn_id: str, text: str, given: Recall | None) -> None:
        self._visit.dialogue.note_reply(turn_id, text)
        self._answered = None
        if text and not self._visit.off_record and turn_id in self._visit.records:
            now, user_id = self._visit.clock(), self._visit.user_id
            self._visit.service.recorder.note_reply(user_id, turn_id, text, given, at=now)
            if given is not None:
                self._answered = (turn_id, given, text)

    async def _gate_and_note(self, turn: Turn, switched: bool, on_record: bool) -> Decision:
        """Gates a turn, then notes the reply that came before its decision, if one did."""
        try:
            return await self._gate_and_record(turn, switched, on_record)
        finally:
            self._visit.deciding.pop(turn.id, None)
            early = self._early_replies.pop(turn.id, None)
            if early is not None:
                self._note_reply(turn.id, *early)

    async def _gate_and_record(self, turn: Turn, switched: bool, on_record: bool) -> Decision:
        async with self._one_by_one:
            with telemetry.memory_span("bmo.gate", "upsert_memory") as span:
                await self._visit.load_dialogue()
                if self._hides_reply:
                    # It answered words that are not kept, and may repeat them.
                    turn = replace(turn, assistant_before="")
                decision, kept = await self._decided(turn, switched, on_record)
                self._requests.decided(turn.id, decision)
                shown = decision if kept else replace(decision, text="", facts=())
                telemetry.describe_decision(span, turn, shown)
                telemetry.note_decision(
                    turn, shown, debug=self._visit.service.settings.gatekeeper_debug
                )
                # A reply may name what is erased now, or after the next turn.
                forgets = "forget" in decision.signals and _only_takes_back(decision)
                self._hides_reply = forgets or not kept
                if kept:
                    self._record(turn, decision)
                    self._note_wrong(turn, decision)
                    self._visit.dialogue.note_turn(turn, decision)
                elif _only_takes_back(decision) and decision.rule_id != FORGET_LAST_RULE:
                    # What was told on the record is forgotten off it too; no word is written.
                    # "Forget that" means the turn before, which is not kept.
                    wordless = replace(turn, text="", assistant_before="", assistant_after="")
                    self._record(wordless, replace(decision, text=""))
            return decision

    async def _decided(self, turn: Turn, switched: bool, on_record: bool) -> tuple[Decision, bool]:
        """What becomes of a turn, and whether anything of it is kept."""
        if keeps_nothing(turn.text):
            return own_word(turn, "command", "off the record, this turn"), False
        decision = self._requests.granted(wish_of(turn.text), turn, switched)
        if decision is None:
            context = await self._visit.context_of(turn)
            decision = await decide(self._visit.service, turn, context)
        if "forget" in decision.signals:
            self._failed.clear()  # it may have meant what no memory was made of yet
        elif decision.fallback and on_record:
            self._failed[turn.id] = turn.at
        return decision, on_record

    async def decide_again(self) -> None:
        """Reads once more the turns that the gate failed at: when all of the visit are recorded.

        Not those before a request to forget: what was asked to go must not be learnt now.
        """
        failed, self._failed = self._failed, {}
        if failed:
            await decide_again(self._visit.service, self._visit.user_id, failed)

    def _note_wrong(self, turn: Turn, decision: Decision) -> None:
        """Counts a correction against what was recalled for the turn before."""
        from bmo.recall import counts_against

        answered, self._answered = self._answered, None
        if answered is not None:
            turn_id, given, reply = answered
            wrong = counts_against(given, reply, turn.text, decision)
            self._visit.service.recorder.note_judged(
                self._visit.user_id, turn_id, wrong, False, turn.at, "correction"
            )

    def _record(self, turn: Turn, decision: Decision) -> None:
        future = self._visit.service.recorder.submit(turn, decision)
        if self._visit.service.settler is not None:
            self._visit.service.settler.spoke(self._visit.user_id)
        latest = self._visit.records
        if len(latest) == RECORDED_KEPT:
            del latest[next(iter(latest))]
        latest[turn.id] = self._visit.start(self._after_record(turn, future))

    async def _after_record(self, turn: Turn, future: Future[Recorded]) -> Recorded | None:
        """What was recorded of a turn, once it was; None where the ledger does not take it now."""
        from sqlalchemy.exc import DBAPIError

        recorded: Recorded | None = None
        try:
            recorded = await asyncio.wrap_future(future)
        except DBAPIError:  # the recorder says why, keeps the turn and tries again
            logger.warning("turn is recorded later", extra={"turn_id": turn.id})
        except Exception as error:
            logger.error("turn not recorded", extra={"error": repr(error), "turn_id": turn.id})
        self._requests.recorded(turn.id, recorded.pending_erasure if recorded else None)
        if recorded is None:
            return None
        gone = {ended.fact.id for ended in recorded.ended}
        if recorded.pending_erasure is not None:
            # They are out of recall from now on, whatever the answer will be.
            gone |= {fact.id for fact in recorded.pending_erasure.facts}
        if recorded.receipt is not None:
            self._visit.dialogue.forget([ended.fact for ended in recorded.ended])
        if gone or recorded.added or recorded.confirmed:
            self._visit.service.wrote(self._visit.user_id, gone)
            self._visit.start(self._visit.refresh_dialogue())
        return recorded


def _only_takes_back(decision: Decision) -> bool:
    """Whether a turn takes back what was told before, and tells nothing."""
    return bool(decision.facts) and all(fact.op == "retract" for fact in decision.facts)
