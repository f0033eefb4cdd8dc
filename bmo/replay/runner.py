"""Plays a scenario through a real ``AgentSession``: scripted ears, scripted mouth, real memory.

Each scenario gets a memory of its own in a temporary home and a clock that shows the scenario's
time, so the same files give the same result on every machine and every day.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from livekit.agents import AgentSession, llm

from bmo.agent import HeardTurn, MemoryAgent
from bmo.gate import mask
from bmo.replay.compare import (
    EndedMemory,
    ScenarioResult,
    Stored,
    TurnResult,
    end_mismatches,
    turn_mismatches,
)
from bmo.replay.scenario import Scenario, ScenarioSession, load_scenario
from bmo.replay.scripted import ScriptedAssistant, ScriptedRecogniser
from bmo.settings import Settings, load_settings

if TYPE_CHECKING:
    from bmo.ledger import Ended, Ledger
    from bmo.memory import MemoryService, MemorySession

TURN_GAP = timedelta(seconds=20)
"""Scenario time between two turns of a visit."""

AT_A_TIME = 4
"""Scenarios played at the same time: while one waits for its writes another one talks."""

NO_DEADLINE_MS = 600_000
"""Longest wait in a replay: only a part that hangs is given up on."""

COMMIT_TIMEOUT_S = NO_DEADLINE_MS / 1000
"""Longest wait for the scripted recogniser's words."""

INSTRUCTIONS = "You are BMO, a voice assistant that remembers."


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
) -> AsyncIterator[ScenarioResult]:
    """Plays scenario files, a few at a time, on one memory in a temporary home.

    Args:
        paths: ``*.turns.yaml`` files; see ``find_scenarios``.
        settings: Settings of gates and recall; home and user come from the replay.

    Yields:
        One result a file, in the order of the paths.

    Raises:
        ScenarioError: A file cannot be used (all files are read before the first is played).
    """
    scenarios = [load_scenario(path) for path in paths]
    with ReplayMemory(settings) as memory:
        turnstile = asyncio.Semaphore(AT_A_TIME)

        async def play(scenario: Scenario) -> ScenarioResult:
            async with turnstile:
                return await run_scenario(scenario, memory=memory)

        playing = [asyncio.ensure_future(play(scenario)) for scenario in scenarios]
        try:
            for one in playing:
                yield await one
        finally:
            for one in playing:
                one.cancel()
            await asyncio.gather(*playing, return_exceptions=True)


class ReplayMemory:
    """A memory in a temporary home that scenarios are played on; each has a user of its own.

    Opening a store takes about a second, so a run of many scenarios opens one. Whose memory is
    whose is kept apart as it is for the users of one worker.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        """Opens nothing yet; it is opened by the first scenario.

        Args:
            settings: Settings of gates and recall; None reads the environment.
        """
        self._settings = settings
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._service: MemoryService | None = None
        self._played = 0

    def __enter__(self) -> ReplayMemory:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        self.close()

    def service(self) -> MemoryService:
        """The service, opened by the first call. Blocks while it opens."""
        from bmo.memory import MemoryService

        if self._service is None:
            self._home = tempfile.TemporaryDirectory(
                prefix="bmo-replay-", dir=_memory_disk(), ignore_cleanup_errors=True
            )
            self._service = MemoryService.open_blocking(
                _own_settings(self._settings or load_settings(), Path(self._home.name))
            )
        return self._service

    def new_user(self, scenario: Scenario) -> str:
        """A user id that no other scenario of this memory has."""
        self._played += 1
        return f"{scenario.user[:100]}.{self._played}"

    def close(self) -> None:
        """Closes the service and removes its home. Safe to call twice."""
        if self._service is not None:
            self._service.close_blocking()
            self._service = None
        if self._home is not None:
            self._home.cleanup()
            self._home = None


async def run_scenario(
    scenario: Scenario,
    settings: Settings | None = None,
    *,
    memory: ReplayMemory | None = None,
) -> ScenarioResult:
    """Plays one scenario.

    Args:
        scenario: The annotated conversation.
        settings: Settings of gates and recall for a memory of its own; None reads the environment.
        memory: A memory that several scenarios share; None opens one for this scenario.
    """
    began = time.perf_counter()
    shared = memory or ReplayMemory(settings)
    try:
        service = await asyncio.to_thread(shared.service) if memory is None else shared.service()
        user_id = shared.new_user(scenario)
        turns: list[TurnResult] = []
        for number, visit in enumerate(scenario.sessions):
            turns += await _play_session(service, scenario, user_id, number, visit)
        live = await asyncio.to_thread(service.ledger.live_facts, user_id)
    finally:
        if memory is None:
            await asyncio.to_thread(shared.close)
    return ScenarioResult(
        scenario=scenario.id,
        turns=tuple(turns),
        live=tuple(live),
        mismatches=end_mismatches(scenario.ends, live),
        elapsed_s=time.perf_counter() - began,
        about=scenario.about,
        language=scenario.language,
        mode=_mode(service.settings),
    )


def _mode(settings: Settings) -> str:
    if settings.mem0_setting == "NORMAL":
        return "normal"
    return settings.effective_mode


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
            "bmo_judge_deadline_ms": NO_DEADLINE_MS,
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
) -> list[TurnResult]:
    clock = ScenarioClock(visit.at)
    memory = service.session(user_id=user_id, session_id=f"{scenario.id}-{number}", clock=clock)
    ears, mouth = ScriptedRecogniser(scenario.language), ScriptedAssistant()
    agent = MemoryAgent(memory=memory, instructions=INSTRUCTIONS)
    session = _scripted_session(ears, mouth)
    results: list[TurnResult] = []
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
            result = TurnResult(
                scenario=scenario.id,
                session=number,
                turn=place,
                user=turn.user,
                at=clock.now,
                # What is reported is written to files: no secret may reach them.
                assistant=mask(turn.assistant, service.settings.bmo_sensitive)[0],
            )
            if place == 0:
                result = replace(
                    result,
                    profile=tuple(m.fact for m in profile.memories),
                    profile_context=profile.context,
                )
            result = await _result(result, service, memory, heard if heard is not before else None)
            result = replace(result, hook_ms=_hook_ms(session))
            results.append(replace(result, mismatches=turn_mismatches(turn, visit, result)))
            if result.stored or result.ended or (result.recall and result.recall.memories):
                # Between two spoken turns there are seconds; the writer has long finished by then,
                # with what was stored and with which memories the reply used.
                await memory.flush()
            clock.now += TURN_GAP
    finally:
        await session.aclose()
        await memory.aclose()
    return results


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


async def _result(
    result: TurnResult, service: MemoryService, memory: MemorySession, heard: HeardTurn | None
) -> TurnResult:
    """Fills in what memory did with a turn."""
    if heard is None or heard.decision is None:
        return result
    try:
        decision = await heard.decision
        recorded = await memory.recorded(heard.turn.id)
    except Exception as error:  # a broken gate or store is a difference, not the end of the run
        return replace(result, error=f"memory failed: {error!r}")
    stored: tuple[Stored, ...] = ()
    ended: tuple[EndedMemory, ...] = ()
    if recorded is not None:
        stored = (
            *(Stored(fact) for fact in recorded.added),
            *(Stored(fact, confirmed=True) for fact in recorded.confirmed),
        )
        if recorded.ended:
            ended = await asyncio.to_thread(_ended, service.ledger, recorded.ended)
    return replace(
        result,
        decision=decision,
        stored=stored,
        ended=ended,
        recall=heard.given,
        turn_id=heard.turn.id,
    )


def _ended(ledger: Ledger, ended: Sequence[Ended]) -> tuple[EndedMemory, ...]:
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
        EndedMemory(end.fact.text, end.why, replaced_by.get(end.fact.id, ""), end.fact.turn_id)
        for end in ended
    )


def _hook_ms(session: AgentSession[Any]) -> float:
    """Milliseconds LiveKit measured in the hook of the latest user message."""
    for item in reversed(session.history.items):
        if isinstance(item, llm.ChatMessage) and item.role == "user":
            return (item.metrics.get("on_user_turn_completed_delay") or 0.0) * 1000
    return 0.0
