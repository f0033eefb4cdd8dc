"""Asking the write gate about one turn: off the event loop, within deadlines, whatever it does.

A gate that raises, hangs or answers with something that is no decision leaves the turn held (or
allowed raw, GATEKEEPER_FAIL_POLICY=open), with ``fallback`` set: the ledger says what happened. It
is asked once more afterwards, when nobody waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import TypeVar

from bmo import telemetry
from bmo.memory.normal import raw_decision
from bmo.memory.visit import MemoryParts
from bmo.turn import Decision, DialogueContext, Turn

logger = logging.getLogger("bmo.memory")

_T = TypeVar("_T")

RULES_DEADLINE_S = 5.0
"""Seconds rules may take: a guard against one that hangs, and no budget. The first turn of a
process loads their packs, and no reply waits for them."""
JUDGED_MODES = ("local", "hybrid", "llm")
"""Modes in which an encoder looks at what the rules leave open."""
AFTERWARDS_S = 20.0
"""Longest that a turn is tried for afterwards, in seconds; the end of its visit waits for it. Then
it stays as it is until ``bmo reprocess``."""
_PAUSE_S = 0.25
"""Wait before the line of the encoder is tried again, in seconds."""


async def decide(service: MemoryParts, turn: Turn, context: DialogueContext) -> Decision:
    """The gate's word on a turn: rules, then the encoder where they leave it open.

    Rules take microseconds, but not even they run on the loop: other sessions speak there.
    """
    settings = service.settings
    if not service.is_gated:
        return raw_decision(turn, settings)
    from bmo.encoder import EncoderBusy
    from bmo.gate import Ruled

    gate = service.write_gate
    deadline_s = settings.bmo_judge_deadline_ms / 1000
    rules_s = max(RULES_DEADLINE_S, deadline_s)
    try:
        with telemetry.memory_span("bmo.gate.rules"):
            rules = partial(gate.rule, turn, context)
            said = await _asked(service, service.gate_pool, rules, Ruled, rules_s)
            ask = partial(gate.decide_ruled, said)
            judged = settings.effective_mode in JUDGED_MODES and service.encoder is not None
            if not said.open or not judged:
                return await _asked(service, service.gate_pool, ask, Decision, rules_s)
    except TimeoutError:
        logger.error("rules missed their deadline", extra={"turn_id": turn.id})
        return _unjudged(service, turn, "the rules missed their deadline")
    except Exception as error:  # a turn must leave its row, whatever a rule does
        logger.exception("rules failed", extra={"turn_id": turn.id})
        return _unjudged(service, turn, f"the gate failed: {type(error).__name__}")
    try:
        with telemetry.memory_span("bmo.gate.judge"):
            return await _asked(service, service.encoder_pool, ask, Decision, deadline_s)
    except TimeoutError:
        logger.warning("encoder missed its deadline", extra={"deadline_s": deadline_s})
    except EncoderBusy as error:
        logger.warning("encoder not asked", extra={"error": str(error)})
    except Exception as error:  # the rules' word stands, whatever the encoder does
        logger.warning("encoder failed", extra={"error": repr(error)})
    telemetry.note_fault("judge")
    return gate.unasked(said)


async def decide_afterwards(
    service: MemoryParts, turn: Turn, context: DialogueContext
) -> Decision | None:
    """The whole gate's word on a turn that missed its deadline; None if there is none now too."""
    from bmo.encoder import EncoderBusy

    ask, pool = partial(service.write_gate.decide, turn, context), service.encoder_pool
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(AFTERWARDS_S):
            while True:
                try:
                    decision = await _asked(service, pool, ask, Decision, AFTERWARDS_S)
                    return None if decision.fallback else decision
                except EncoderBusy:
                    await asyncio.sleep(_PAUSE_S)
                except Exception as error:  # the turn stays as it was recorded
                    logger.warning("turn not decided afterwards", extra={"error": repr(error)})
                    return None
    logger.warning("turn not decided afterwards", extra={"turn_id": turn.id})
    return None


async def _asked(
    service: MemoryParts,
    pool: Executor,
    ask: Callable[[], object],
    kind: type[_T],
    deadline_s: float,
) -> _T:
    """What the gate says, from a pool's thread; a call given up on leaves the line unasked.

    Raises:
        EncoderBusy: Too many turns wait for the encoder.
        TimeoutError: It took too long.
        TypeError: It answered with something else.
    """
    answer = await asyncio.wait_for(service.run(pool, ask), deadline_s)
    if not isinstance(answer, kind):
        raise TypeError(f"the gate answered with {type(answer).__name__}, not a {kind.__name__}")
    return answer


def _unjudged(service: MemoryParts, turn: Turn, reason: str) -> Decision:
    """The gate failed: the turn is held, without words when nothing could scan them for secrets.

    By GATEKEEPER_FAIL_POLICY=open it is allowed raw, if secrets and attacks could be looked for.
    """
    from bmo.gate import raw_ruling

    telemetry.note_fault("gate")
    settings = service.settings
    text, harmless = "", False
    try:
        gate, asked = service.write_gate, turn.assistant_before
        text = gate.masked(turn.text, asked)
        harmless = gate.may_hold(text, asked, by_rules=True)
    except Exception as error:  # the scan is a part of the gate, and may be what failed
        logger.error("words not scanned and not kept", extra={"error": type(error).__name__})
    opened = settings.gatekeeper_fail_policy == "open" and harmless and bool(text.strip())
    ruling = raw_ruling(replace(turn, text=text), reason) if opened else None
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
