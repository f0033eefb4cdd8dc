"""Plays a scenario through a real ``AgentSession``: scripted ears, scripted mouth, real memory.

Each scenario gets a memory of its own in a temporary home and a clock that shows the scenario's
time, so the same files give the same result on every machine and every day.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livekit.agents import AgentSession, llm

from bmo.agent import HeardTurn, MemoryAgent
from bmo.gate import mask
from bmo.quotation import exchange
from bmo.replay.compare import end_mismatches, turn_mismatches
from bmo.replay.played import Places, recall_row, stored_row, with_decision, with_profile
from bmo.replay.rows import (
    FORMAT,
    EndedRow,
    Place,
    RecallRow,
    RecordedScenario,
    ScenarioRow,
    TurnRow,
)
from bmo.replay.scenario import TURN_GAP, Scenario, ScenarioSession, load_scenario
from bmo.replay.scripted import ScriptedAssistant, ScriptedRecogniser
from bmo.settings import Settings, load_settings

if TYPE_CHECKING:
    from bmo.ledger import Ended, Ledger
    from bmo.memory import MemoryService, MemorySession

AT_A_TIME = 4
"""Scenarios played at the same time: while one waits for its writes another one talks."""

NO_DEADLINE_MS = 600_000
"""Longest wait in a replay: only a part that hangs is given up on."""

COMMIT_TIMEOUT_S = NO_DEADLINE_MS / 1000
"""Longest wait for the scripted recogniser's words."""

INSTRUCTIONS = "You are BMO, a voice assistant that remembers."

_PLAYED = count(1)
"""Numbers the users of scenarios: no two of a process share one."""


class ScenarioClock:
    """Shows a scenario's time; moved by the runner."""

    def __init__(self, at: datetime) -> None:
        """Starts at ``at``."""
        self.now = at

    def __call__(self) -> datetime:
        """The scenario's present moment."""
        return self.now


async def replay(
    paths: Iterable[Path], settings: Settings | None = None
) -> AsyncIterator[RecordedScenario]:
    """Plays scenario files, a few at a time, on one memory in a temporary home.

    One result a file, in the order of the paths.

    Raises:
        ScenarioError: A file cannot be used (all files are read before the first is played).
    """
    scenarios = [load_scenario(path) for path in paths]
    with replay_memory(settings) as service:
        turnstile = asyncio.Semaphore(AT_A_TIME)

        async def play(scenario: Scenario) -> RecordedScenario:
            async with turnstile:
                return await run_scenario(scenario, service=service)

        playing = [asyncio.ensure_future(play(scenario)) for scenario in scenarios]
        try:
            for one in playing:
                yield await one
        finally:
            for one in playing:
                one.cancel()
            await asyncio.gather(*playing, return_exceptions=True)


@contextmanager
def replay_memory(settings: Settings | None = None) -> Iterator[MemoryService]:
    """A memory in a temporary home that scenarios are played on. Blocks while it opens.

    Opening a store takes about a second, so a run of many scenarios opens one. Each scenario has a
    user of its own; whose memory is whose is kept apart as it is for the users of one worker.
    """
    from bmo.memory import MemoryService

    with tempfile.TemporaryDirectory(
        prefix="bmo-replay-", dir=_memory_disk(), ignore_cleanup_errors=True
    ) as home:
        own = _own_settings(settings or load_settings(), Path(home))
        service = MemoryService.open_blocking(own)
        try:
            yield service
        finally:
            service.close_blocking()


async def run_scenario(
    scenario: Scenario, settings: Settings | None = None, *, service: MemoryService | None = None
) -> RecordedScenario:
    """Plays one scenario, on the memory of a run or (None) one of its own by ``settings``."""
    began = time.perf_counter()
    with replay_memory(settings) if service is None else nullcontext(service) as memory:
        user_id = f"{scenario.user[:100]}.{next(_PLAYED)}"
        turns: list[TurnRow] = []
        places: dict[str, Place] = {}
        for number, visit in enumerate(scenario.sessions):
            turns += await _play_session(memory, scenario, user_id, number, visit, places)
        live = await asyncio.to_thread(memory.ledger.live_facts, user_id)
    end = ScenarioRow(
        scenario=scenario.id,
        live=tuple(fact.text for fact in live),
        told=tuple(exchange(fact) for fact in live),
        mismatches=(),
        format=FORMAT,
        about=scenario.about,
        language=scenario.language,
        mode=memory.settings.effective_mode if memory.is_gated else "normal",
        elapsed_s=round(time.perf_counter() - began, 3),
    )
    differs = end_mismatches(scenario.ends, end)
    return RecordedScenario(tuple(turns), end.model_copy(update={"mismatches": differs}))


def _own_settings(base: Settings, home: Path) -> Settings:
    """The given settings on a store of the replay's own, with no server and no waiting."""
    return base.model_copy(
        update={
            "bmo_home": home,
            # The same everywhere: a key in the environment must not change what is replayed.
            "gatekeeper_mode": base.gatekeeper_mode or "local",
            "bmo_ledger_url": None,
            "qdrant_url": None,
            # A replay asks what is recalled, not whether a loaded machine made it in time.
            "bmo_recall_deadline_ms": NO_DEADLINE_MS,
        }
    )


def _memory_disk() -> str | None:
    """Linux's disk in memory, where waiting for a write costs nothing; else the usual place."""
    shm = Path("/dev/shm")
    return str(shm) if shm.is_dir() and os.access(shm, os.W_OK) else None


async def _play_session(
    service: MemoryService,
    scenario: Scenario,
    user_id: str,
    number: int,
    visit: ScenarioSession,
    places: dict[str, Place],
) -> list[TurnRow]:
    """Plays one visit; notes in ``places`` where each turn was said."""
    clock = ScenarioClock(visit.at)
    memory = service.session(user_id=user_id, session_id=f"{scenario.id}-{number}", clock=clock)
    ears, mouth = ScriptedRecogniser(scenario.language), ScriptedAssistant()
    policy = service.settings.bmo_sensitive
    agent = MemoryAgent(memory=memory, instructions=INSTRUCTIONS)
    session = _scripted_session(ears, mouth)
    rows: list[TurnRow] = []
    await session.start(agent, record=False)
    try:
        # As it is given: what the first turn itself ends leaves the profile afterwards.
        profile = await memory.profile()
        for place, turn in enumerate(visit.turns):
            ears.will_hear(turn.user)
            mouth.line = turn.assistant
            before = agent.conversation.latest
            await session.commit_user_turn(transcript_timeout=COMMIT_TIMEOUT_S)
            await session.wait_for_idle()
            heard = agent.conversation.latest
            # What is reported is written to files: no secret may reach them.
            written, assistant = mask(turn.user)[0], mask(turn.assistant, policy)[0]
            row = TurnRow(
                scenario=scenario.id,
                session=number,
                turn=place,
                user=turn.user,
                verdict=None,
                signals=(),
                reason="",
                stored=(),
                ended=(),
                recall=RecallRow(triggered=False, trigger="", memories=(), context=""),
                profile=None,
                mismatches=(),
                hook_ms=round(_hook_ms(session), 3),
                at=clock.now.isoformat(),
                written=written if written != turn.user else None,
                assistant=assistant,
            )
            if place == 0:
                row = with_profile(row, profile)
            error = ""
            if heard is not None and heard is not before:
                places[heard.turn.id] = (number, place)
                try:
                    row = await _what_memory_did(row, service, memory, heard, places)
                except Exception as fault:  # it is a difference, not the end of the run
                    error = f"memory failed: {fault!r}"
            differs = turn_mismatches(turn, visit, row, error)
            rows.append(row.model_copy(update={"mismatches": differs}))
            if row.stored or row.ended or row.recall.memories:
                # Between two spoken turns there are seconds; the writer has long finished by then,
                # with what was stored and with which memories the reply used.
                await memory.flush()
            clock.now += TURN_GAP
    finally:
        await session.aclose()
        await memory.aclose()
    return rows


def _scripted_session(ears: ScriptedRecogniser, mouth: ScriptedAssistant) -> AgentSession[Any]:
    """A real session that hears and says what a scenario has written."""
    return AgentSession(
        stt=ears,
        llm=mouth,
        vad=None,
        # Without it each close waits two seconds for words that cannot come.
        session_close_transcript_timeout=0,
        user_away_timeout=None,
        turn_handling={
            "turn_detection": "manual",
            "endpointing": {"min_delay": 0.0, "max_delay": 0.0},
        },
    )


async def _what_memory_did(
    row: TurnRow, service: MemoryService, memory: MemorySession, heard: HeardTurn, places: Places
) -> TurnRow:
    if heard.decision is None:
        return row
    row = with_decision(row, await heard.decision)
    recorded = await memory.recorded(heard.turn.id)
    done: dict[str, Any] = {}
    if recorded is not None:
        added = tuple(stored_row(fact) for fact in recorded.added)
        known = tuple(stored_row(fact, confirmed=True) for fact in recorded.confirmed)
        done["stored"] = (*added, *known)
        if recorded.ended:
            done["ended"] = await asyncio.to_thread(_ended, service.ledger, recorded.ended, places)
    if heard.given is not None:
        done["recall"] = recall_row(heard.given, places)
    return row.model_copy(update=done)


def _ended(ledger: Ledger, ended: Sequence[Ended], places: Places) -> tuple[EndedRow, ...]:
    """What ended, with what took its place."""
    user_id = ended[0].fact.user_id
    rows = {row.id: row for row in ledger.facts_by_id(user_id, [end.fact.id for end in ended])}
    successors = {
        row.id: row.text
        for row in ledger.facts_by_id(
            user_id, [row.superseded_by for row in rows.values() if row.superseded_by]
        )
    }
    # What was forgotten has no row any more.
    replaced_by = {row.id: successors.get(row.superseded_by or "", "") for row in rows.values()}
    return tuple(
        EndedRow(
            text=end.fact.text,
            why=end.why,
            replaced_by=replaced_by.get(end.fact.id, ""),
            said=places.get(end.fact.turn_id or ""),
        )
        for end in ended
    )


def _hook_ms(session: AgentSession[Any]) -> float:
    """Milliseconds LiveKit measured in the hook of the latest user message."""
    for item in reversed(session.history.items):
        if isinstance(item, llm.ChatMessage) and item.role == "user":
            return (item.metrics.get("on_user_turn_completed_delay") or 0.0) * 1000
    return 0.0
