"""Fault matrix of models behind the gate: faults made, turns lost, replies delayed.

``python -m benchmarks.model_faults`` talks to BMO in hybrid mode while a fake service fails in
every way it can (``tests/fakes/model_server.py``); real gates, ledger, index and clients. A turn
is lost when it is not settled after the service is well again: a held one is held still, a kept one
has not got its canonical text. A reply is delayed when deciding
and recalling took longer than ``REPLY_S``, which is far less than the clients wait for a model
and far more than a loaded machine needs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bmo.memory import MemoryService, MemorySession
from bmo.settings import Settings, load_settings
from bmo.turn import Decision, Fact, Turn
from tests.fakes.model_server import FAULTS, KEY, OLLAMA_MODEL, FakeModelServer, Fault

SERVICES = ("gemini", "ollama")
REPLY_S = 2.0
USER = "ana"
HELD = {
    "mum taught me to sail on the clyde": "Was taught by their mother to sail on the Clyde",
    "they dont let me touch salt again": "Does not touch salt",
    "the top field floods so we keep the ewes up the hill": "Keeps the ewes up the hill",
}
KEPT = {"on sundays i sing in that choir down in the old mill": "Sings in a choir in the old mill"}
SPOKEN = ("my brother sam lives in leeds", "where does my brother live", "what time is it")


@dataclass
class Row:
    """What one fault of one service came to."""

    service: str
    fault: Fault
    faults: int = 0
    turns: int = 0
    lost: int = 0
    replies: int = 0
    delayed: int = 0
    slowest_s: float = 0.0


def settings_of(home: Path, service: str, server: FakeModelServer) -> Settings:
    """Hybrid mode with an encoder that is sure of nothing, so that what no rule reads is held."""
    gemini = {"google_api_key": KEY, "gatekeeper_llm_model": "gemini-3.1-flash-lite"}
    ollama = {
        "gatekeeper_llm_model": f"ollama/{OLLAMA_MODEL}",
        "ollama_host": server.ollama_url,
    }
    chosen: dict[str, Any] = gemini if service == "gemini" else ollama
    return load_settings(
        bmo_home=home,
        gatekeeper_mode="hybrid",
        gatekeeper_llm_idle_s=0.05,
        bmo_judge_allow=1.0,
        bmo_judge_discard=1.0,
        bmo_recall_deadline_ms=20_000,
        **chosen,
    )


async def reply(session: MemorySession, text: str, row: Row) -> None:
    """What a reply waits for: the decision and the recall."""
    begun = time.perf_counter()
    turn = Turn(text=text)
    await session.on_turn(turn)
    await session.recall(turn)
    spent = time.perf_counter() - begun
    row.turns += 1
    row.replies += 1
    row.delayed += spent > REPLY_S
    row.slowest_s = max(row.slowest_s, spent)


async def keep(memory: MemoryService, session: MemorySession, text: str, row: Row) -> None:
    """A turn that the encoder allows: its words are a memory until a model puts them better."""
    said = Turn(text=text, user_id=USER, session_id=session.session_id)
    fact = Fact(text, "personal_facts", said=text, extraction_method="encoder:test")
    kept = Decision(
        "allow", ("personal_fact",), "stated", 0.9, facts=(fact,), extraction_method="encoder:test",
        text=text,
    )  # fmt: skip
    await asyncio.wrap_future(memory.recorder.submit(said, kept))
    row.turns += 1


async def run(service: str, fault: Fault) -> Row:
    """One fault: a conversation while it lasts, and settling after it."""
    row = Row(service, fault)
    facts = {
        said: [{"quote": said, "statement": told, "category": "personal_facts", "confidence": 0.9}]
        for said, told in (HELD | KEPT).items()
    }
    with tempfile.TemporaryDirectory() as folder, FakeModelServer(script=facts) as server:
        os.environ["GOOGLE_GEMINI_BASE_URL"] = server.gemini_url
        server.always = fault
        settings = settings_of(Path(folder), service, server)
        memory = await MemoryService.open(settings)
        await asyncio.to_thread(memory.warm_up)
        session = memory.session(user_id=USER)
        for text in HELD:
            await reply(session, text, row)
        for text in KEPT:
            await keep(memory, session, text, row)
        deadline = time.monotonic() + 10
        while not server.asked() and time.monotonic() < deadline:  # noqa: ASYNC110 - other threads
            await asyncio.sleep(0.05)
        for text in SPOKEN:
            await reply(session, text, row)
        await memory.aclose()
        row.faults = sum(1 for one in server.asked() if one.fault)
        server.always = None
        memory = await MemoryService.open(settings)
        await asyncio.to_thread(memory.settling().settle_now, USER)
        said = {turn.text: turn.verdict for turn in memory.ledger.turns(USER)}
        row.lost = sum(1 for text in (*HELD, *KEPT, *SPOKEN) if text not in said)
        row.lost += sum(1 for text in HELD if said.get(text) == "hold")
        live = {fact.text for fact in memory.ledger.live_facts(USER)}
        row.lost += sum(1 for told in KEPT.values() if told not in live)
        await memory.aclose()
    return row


def main() -> int:
    """Prints the matrix; exit code 1 when a turn was lost or a reply delayed."""
    logging.disable(logging.CRITICAL)
    rows = [asyncio.run(run(service, fault)) for service in SERVICES for fault in FAULTS]
    print(f"{'service':8} {'fault':13} faults turns lost replies delayed slowest")
    for row in rows:
        print(
            f"{row.service:8} {row.fault:13} {row.faults:6} {row.turns:5} {row.lost:4} "
            f"{row.replies:7} {row.delayed:7} {row.slowest_s * 1000:5.0f} ms"
        )
    faults, lost = sum(row.faults for row in rows), sum(row.lost for row in rows)
    turns, delayed = sum(row.turns for row in rows), sum(row.delayed for row in rows)
    print(
        f"faults made {faults}, turns {turns}, turns lost {lost} (bar 0), "
        f"replies delayed {delayed} (bar 0; over {REPLY_S:.0f} s)"
    )
    return 1 if lost or delayed else 0


if __name__ == "__main__":
    sys.exit(main())
