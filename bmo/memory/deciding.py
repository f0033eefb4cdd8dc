"""Asking the write gate about one turn: off the event loop, and whatever it does.

No reply waits for a decision, so there is no deadline: a turn waits until the gate comes to it,
behind those that were said before. A gate that raises or hangs leaves the turn held (or allowed
raw, GATEKEEPER_FAIL_POLICY=open), with ``fallback`` set: the ledger says what happened. It is read
again when its visit ends; what the gate fails at then too, ``bmo reprocess --held`` reads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from bmo import telemetry
from bmo.gate import raw_ruling
from bmo.memory.normal import raw_decision
from bmo.memory.visit import MemoryParts
from bmo.turn import Decision, DialogueContext, Turn

logger = logging.getLogger("bmo.memory")

HANGS_S = 10.0
"""How long the gate may come to no decision on any turn before it is taken to hang, in seconds.
Then the turn is written down all the same: it must be in the ledger before its visit ends."""


async def decide(service: MemoryParts, turn: Turn, context: DialogueContext) -> Decision:
    """The gate's word on a turn; never raises.

    Rules take microseconds, but not even they run on the loop: other sessions speak there.
    """
    if not service.is_gated:
        return raw_decision(turn, service.settings)
    try:
        decision = await _asked(service, turn, context)
    except TimeoutError:
        logger.error("the gate hangs", extra={"turn_id": turn.id, "seconds": HANGS_S})
        return _unjudged(service, turn, "the gate hangs")
    except Exception as error:  # a turn must leave its row, whatever a rule does
        logger.exception("the gate failed", extra={"turn_id": turn.id})
        return _unjudged(service, turn, f"the gate failed: {type(error).__name__}")
    if decision.fallback and service.encoder is not None:
        telemetry.note_fault("judge")
    return decision


async def decide_again(service: MemoryParts, user_id: str, said: Mapping[str, datetime]) -> None:
    """Reads turns once more that the gate failed at, and writes what it says now; never raises.

    Args:
        service: The gate, the ledger and its writer.
        user_id: Whose turns.
        said: Id -> when it was said.
    """
    from bmo.memory.reprocess import reprocess

    try:
        async with asyncio.timeout(service.deadline_s(HANGS_S)):
            found = await service.run(
                service.gate_pool,
                reprocess,
                service.ledger,
                service.write_gate,
                [user_id],
                since=min(said.values()),
                only=said,
            )
            written = service.recorder.call(service.ledger.write_passes, found.changes)
            await asyncio.wrap_future(written)
        if found.changes:
            service.wrote(user_id, None)
    except Exception as error:  # the visit must end; the turns are in the ledger
        told = {"turns": len(said), "error": repr(error)}
        logger.warning("turns stay for bmo reprocess --held", extra=told)


async def _asked(service: MemoryParts, turn: Turn, context: DialogueContext) -> Decision:
    """What the gate says, from its thread, when those before have their decisions.

    Raises:
        TimeoutError: It came to no decision at all for too long.
    """

    def ask() -> Decision:
        try:
            return service.write_gate.decide(turn, context)
        finally:
            service.gate_calls += 1

    answer = asyncio.ensure_future(service.run(service.gate_pool, ask))
    calls = -1
    while not answer.done() and calls != service.gate_calls:
        calls = service.gate_calls
        await asyncio.wait({answer}, timeout=service.deadline_s(HANGS_S))
    if not answer.done():
        answer.cancel()
        raise TimeoutError
    return answer.result()


def _unjudged(service: MemoryParts, turn: Turn, reason: str) -> Decision:
    """The gate failed: the turn is held, without words when nothing could scan them for secrets.

    By GATEKEEPER_FAIL_POLICY=open it is allowed raw, if secrets and attacks could be looked for.
    """
    telemetry.note_fault("gate")
    settings = service.settings
    text, asked, harmless = "", "", False
    try:
        gate, before = service.write_gate, turn.assistant_before
        text = gate.masked(turn.text, before)
        harmless = gate.may_hold(text, before, by_rules=True)
        asked = gate.kept_context(gate.masked(before), by_rules=True)
    except Exception as error:  # the scan is a part of the gate, and may be what failed
        logger.error("words not scanned and not kept", extra={"error": type(error).__name__})
    opened = settings.gatekeeper_fail_policy == "open" and harmless and bool(text.strip())
    said = replace(turn, text=text, assistant_before=asked)
    ruling = raw_ruling(said, reason) if opened else None
    return Decision(
        verdict="allow" if opened else "hold",
        signals=("other",),
        reason=reason,
        confidence=0.0,
        facts=ruling.facts if ruling else (),
        gate_version=service.write_gate.version,
        extraction_method="raw" if opened else "",
        fallback=True,
        text=text,
    )
