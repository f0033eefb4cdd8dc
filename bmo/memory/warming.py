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
from bmo.gate import mask
from bmo.gate.secrets import load as load_secrets
from bmo.language import LanguageCode
from bmo.language.identification import warm_up as load_identification
from bmo.memory.visit import RECALL_THREADS, MemoryParts
from bmo.memory.wishes import wish_of
from bmo.turn import Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.recall import ReadGate

logger = logging.getLogger("bmo.memory")

START_S = 10.0
"""Longest wait for threads to start, in seconds."""

WHO = "warm-up"
"""The user nothing is kept of."""

ASKS = "what do you know about my brother"
TELLS = "my brother is called sam"
FORGETS = "forget that my brother is called sam"
NUMBER = "call the plumber on 030 901820"
SAID: dict[LanguageCode, str] = {
    "en": "she lives in kiel now, im anna",
    "de": "sie wohnt jetzt in kiel",
    "fr": "elle habite à lille maintenant",
    "es": "ella vive ahora en lugo",
}


def warm_up(service: MemoryParts) -> None:
    """Runs every part of memory once, for nobody. Blocking: a second or two."""
    telemetry.make_instruments()
    _threads(service)
    rehearse_gates(service.write_gate, service.read_gate)
    if service.is_gated:
        _recall(service)
        _ledger(service)
    _index(service)


def _threads(service: MemoryParts) -> None:
    """Starts the threads that turns are handed to.

    An executor starts one when it is first needed, and whoever hands over the work waits until the
    new thread runs: that is the event loop, and under load many threads run before the new one.
    """
    one_each = (service.gate_pool, service.dialogue_pool)
    for pool, threads in (*((pool, 1) for pool in one_each), (service.recall_pool, RECALL_THREADS)):
        all_run = Barrier(threads)
        wait([pool.submit(all_run.wait, START_S) for _ in range(threads)])


def rehearse_gates(write_gate: WriteGate, read_gate: ReadGate) -> None:
    """Has both gates read a turn in each language."""
    load_identification()
    load_secrets()
    mask(NUMBER)
    for language, said in SAID.items():
        write_gate.decide(Turn(said, user_id=WHO, language=language))
        read_gate.plan(Turn(ASKS, user_id=WHO, language=language))
    wish_of(ASKS)


def _recall(service: MemoryParts) -> None:
    turn = Turn(ASKS, user_id=WHO)
    plan = service.read_gate.plan(turn)
    service.recaller.profile(WHO, turn.at)
    service.recaller.rehearse(plan, WHO, turn.at)
    service.recaller.weights_of(WHO)


def _ledger(service: MemoryParts) -> None:
    try:
        for text in (TELLS, FORGETS):
            told = Turn(text, user_id=WHO)
            service.find_candidates(told)
            service.ledger.rehearse(told, service.write_gate.decide(told))
    except Exception as error:  # the first real turn will say so again
        logger.warning("ledger not warmed up", extra={"error": type(error).__name__})


def _index(service: MemoryParts) -> None:
    if service.index is None or service.index.unavailable:
        return
    try:
        service.index.near(WHO, ASKS, top_k=1, threshold=1.0)
        service.index.search(WHO, ASKS, top_k=1, threshold=1.0)  # Mem0, which writes what is added
    except Exception as error:  # the first real search will say so again
        logger.warning("index not warmed up", extra={"error": repr(error)})
