"""Everything a turn may need, loaded and compiled before the first one.

A rule file that is read, an expression or a statement that is compiled when a turn first needs it
costs that turn 10 to 150 ms, and the event loop as well: Python compiles on one thread and the loop
waits. ``tests/integration/test_memory_warm_up.py`` has people talk after a warm-up and lets nothing
be read, compiled or imported.
"""

from __future__ import annotations

import logging
from concurrent.futures import wait
from threading import Barrier
from typing import TYPE_CHECKING

from bmo import telemetry
from bmo.gate.secrets import load as load_secrets
from bmo.language import LANGUAGES, LanguageCode
from bmo.language.identification import warm_up as load_identification
from bmo.memory.candidates import find_candidates
from bmo.memory.wishes import wish_of
from bmo.turn import Turn

if TYPE_CHECKING:
    from bmo.memory.service import MemoryService

logger = logging.getLogger("bmo.memory")

RECALL_THREADS = 2
"""Threads of the recall pool: what one waits for (the index, the judge) holds up no other."""

START_S = 10.0
"""Longest wait for threads to start, in seconds."""

WHO = "warm-up"
"""The user nothing is kept of."""

ASKS = "what do you know about my brother"
TELLS = "my brother is called sam"
FORGETS = "forget that my brother is called sam"
SAID: dict[LanguageCode, str] = {
    "en": "she lives in kiel now",
    "de": "sie wohnt jetzt in kiel",
    "fr": "elle habite à lille maintenant",
    "es": "ella vive ahora en lugo",
}


def warm_up(service: MemoryService) -> None:
    """Runs every part of memory once, for nobody. Blocking: a second or two.

    Args:
        service: An open one.
    """
    telemetry.make_instruments()
    _threads(service)
    _gates(service)
    if service.settings.mem0_setting == "GATED":
        _recall(service)
        _ledger(service)
    _index(service)


def _threads(service: MemoryService) -> None:
    """Starts the threads that turns are handed to.

    An executor starts one when it is first needed, and whoever hands over the work waits until the
    new thread runs: that is the event loop, and under load many threads run before the new one.
    """
    one_each = (service.gate_pool, service.judge_pool, service.dialogue_pool)
    for pool, threads in (*((pool, 1) for pool in one_each), (service.recall_pool, RECALL_THREADS)):
        all_run = Barrier(threads)
        wait([pool.submit(all_run.wait, START_S) for _ in range(threads)])


def _gates(service: MemoryService) -> None:
    load_identification()
    load_secrets()
    for language in LANGUAGES:
        turn = Turn(SAID[language], user_id=WHO, language=language)
        service.write_gate.decide(turn)
        service.read_gate.plan(Turn(ASKS, user_id=WHO, language=language))
    wish_of(ASKS)


def _recall(service: MemoryService) -> None:
    turn = Turn(ASKS, user_id=WHO)
    plan = service.read_gate.plan(turn)
    service.recaller.profile(WHO, turn.at)
    service.recaller.rehearse(plan, WHO, turn.at)
    service.recaller.weights_of(WHO)


def _ledger(service: MemoryService) -> None:
    try:
        for text in (TELLS, FORGETS):
            told = Turn(text, user_id=WHO)
            find_candidates(service.ledger, service.index, told)
            service.ledger.rehearse(told, service.write_gate.decide(told))
    except Exception as error:  # the first real turn will say so again
        logger.warning("ledger not warmed up", extra={"error": type(error).__name__})


def _index(service: MemoryService) -> None:
    if service.index is None or service.index.unavailable:
        return
    try:
        service.index.search(WHO, ASKS, top_k=1, threshold=1.0)
    except Exception as error:  # the first real search will say so again
        logger.warning("index not warmed up", extra={"error": repr(error)})
