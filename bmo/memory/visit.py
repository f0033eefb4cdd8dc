"""Visits and what they share: the parts of one process's memory, and the state of each visit."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from bmo import telemetry
from bmo.gate import WriteGate, mask
from bmo.giving_way import giving_way
from bmo.memory.dialogue import Dialogue
from bmo.memory.settling import Settler
from bmo.memory.steady_clock import SteadyClock
from bmo.turn import Decision, DialogueContext, Recall, StoredFact, Turn

if TYPE_CHECKING:
    from bmo.encoder import Encoder
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger, Recorded
    from bmo.settings import Settings

logger = logging.getLogger("bmo.memory")

RECALL_THREADS = 2
"""Threads of the recall pool: what one waits for (the index, the encoder) holds up no other."""

FLUSH_S = 30.0
"""Longest wait until what was said is written, in seconds."""

DIALOGUE_DEADLINE_S = 2.0
"""Longest wait for the ledger before a turn is gated without what it knows of the user."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class MemoryParts:
    """What the visits of one process share: stores, gates, the one writer, and threads.

    Attributes:
        settings: The settings it was opened with, with the gate's mode where none was set.
        ledger: The ledger; the truth.
        index: Mem0 on Qdrant, or None while it cannot be reached.
        encoder: The local encoder, or None in pattern mode or when its model is missing.
        write_gate: Decides what of a turn is kept.
        read_gate: Decides whether a turn needs memory.
        recaller: Retrieves, scores, selects and assembles.
        recorder: The one writer thread.
        settler: Sends what was held to a model, off the voice path; None until something is.
        clock: The system's time in UTC; it never goes back behind what was written down.
        gate_pool: Where the write gate decides, on one turn after the other.
        gate_calls: How many turns it has decided on; one that stands still hangs.
        recall_pool: Where retrieval runs.
        dialogue_pool: Where is read what the gate may know of a user.
        visits: Those that are open.
    """

    def __init__(
        self, settings: Settings, ledger: Ledger, index: MemoryIndex | None, encoder: Encoder | None
    ) -> None:
        """Puts opened parts together."""
        from bmo.recall import ReadGate, Recaller
        from bmo.recorder import Recorder

        self.settings = settings
        self.ledger = ledger
        self.index = index
        self.encoder = encoder
        # The session writes the debug line: once a turn, and it knows what is off the record.
        silent = settings.model_copy(update={"gatekeeper_debug": False})
        self.write_gate = WriteGate.from_settings(silent, encoder=encoder, load_encoder=False)
        self.read_gate = ReadGate.from_settings(settings, encoder=encoder, load_encoder=False)
        self.recaller = Recaller(ledger, index, settings, encoder)
        self.clock = SteadyClock(ledger.latest_moment())
        self.recorder = Recorder(ledger, index, settings)
        self.settler: Settler | None = None
        self.gate_pool = ThreadPoolExecutor(1, thread_name_prefix="bmo-gate")
        self.gate_calls = 0
        self.recall_pool = ThreadPoolExecutor(RECALL_THREADS, thread_name_prefix="bmo-recall")
        self.dialogue_pool = ThreadPoolExecutor(1, thread_name_prefix="bmo-dialogue")
        self.visits: set[Visit] = set()

    @property
    def is_gated(self) -> bool:
        """Whether the gates decide (MEM0_SETTING)."""
        return self.settings.mem0_setting == "GATED"

    @property
    def shares_ledger(self) -> bool:
        """Whether other processes may write to the ledger; an embedded store has one owner."""
        shared = self.settings.ledger_url.startswith("postgresql")
        return shared or self.settings.qdrant_url is not None

    def deadline_s(self, usual_s: float) -> float:
        """A deadline in seconds: who waits longer for recall (a replay) waits as long here."""
        return max(usual_s, self.settings.bmo_recall_deadline_ms / 1000)

    def wrote(self, user_id: str, gone: Collection[str] | None = ()) -> None:
        """Something of a user changed: what his open visits cached of it is dropped.

        Args:
            user_id: Whose.
            gone: Ids of facts that are no longer true, or were forgotten; a profile that shows
                one is loaded again. None: every profile is.
        """
        for visit in tuple(self.visits):  # jobs of other threads open and close theirs
            if visit.user_id == user_id:
                visit.reads.clear()
                visit.renew_profile(gone)

    def find_candidates(self, turn: Turn) -> tuple[tuple[StoredFact, ...], Mapping[str, float]]:
        """The live memories that a turn may restate or end, and how near they are. Blocking."""
        from bmo.memory.candidates import find_candidates

        return find_candidates(self.ledger, self.index, turn)

    async def run(
        self, pool: Executor, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Runs a call on a thread of a pool, in this task's trace."""
        work = giving_way()(partial(telemetry.carried(call), *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(pool, work)


class Visit:
    """What one visit knows: what was said, what still runs, what was read. Of one event loop.

    Attributes:
        service: The parts of memory it uses.
        user_id: Whose memory it is.
        session_id: Which visit it is.
        clock: Tells the time.
        dialogue: What was said, and what the ledger knows of the user.
        off_record: While true nothing of what is said is written.
        deciding: Turn id -> the task that decides on it, for the turns that are not decided yet.
        records: Turn id -> the task that waits for its record, for the latest turns.
        reads: Words -> the task that recalls for them, until something is written.
        profile_task: Reads the profile, or None while nobody asked for it.
        profile_version: Goes up when something in the profile is no longer true or was forgotten.
        secrets: What was told in it and is masked when it is said again.
    """

    def __init__(
        self, service: MemoryParts, user_id: str, session_id: str, clock: Callable[[], datetime]
    ) -> None:
        """Nothing is said or read yet."""
        self.service = service
        self.user_id = user_id
        self.session_id = session_id
        self.clock = clock
        self.dialogue = Dialogue()
        self.off_record = False
        self.deciding: dict[str, asyncio.Task[Decision]] = {}
        self.records: dict[str, asyncio.Task[Recorded | None]] = {}
        self.reads: dict[str, asyncio.Task[Recall]] = {}
        self.profile_task: asyncio.Task[Recall] | None = None
        self.profile_version = 0
        self.secrets: set[str] = set()
        self._dialogue_loaded: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        service.visits.add(self)

    @property
    def ended(self) -> bool:
        """Whether it was closed."""
        return self not in self.service.visits

    def start(self, coroutine: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Begins something that the visit's end waits for."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def flush(self) -> None:
        """Waits until everything said so far is in the ledger, and in the index if it is up."""
        while pending := [task for task in self._tasks if not task.done()]:
            await asyncio.gather(*pending, return_exceptions=True)
        await asyncio.to_thread(self.service.recorder.flush, FLUSH_S)
        self.reads.clear()

    async def aclose(self) -> None:
        """Flushes and ends the visit. Safe to call twice."""
        if not self.ended:
            try:
                await self.flush()
            finally:
                self.service.visits.discard(self)
            if self.service.settler is not None:
                self.service.settler.visit_ended(self.user_id)

    # -- what is written ---------------------------------------------------------------------------

    def unwritten(self) -> list[asyncio.Task[Recorded | None]]:
        """The turns of this visit that are not in the ledger yet."""
        return [task for task in self.records.values() if not task.done()]

    async def written(self, patience_s: float | None = None) -> None:
        """Waits until the turns of this visit are in the ledger, or could not be written.

        Args:
            patience_s: Longest wait in seconds; None: as long as it takes.
        """
        if waiting := self.unwritten():
            await asyncio.wait(waiting, timeout=patience_s)

    def is_behind(self, turn_id: str) -> bool:
        """Whether a turn other than this one is not decided, or any is not in the ledger yet."""
        return bool(self.unwritten()) or any(other != turn_id for other in self.deciding)

    async def catch_up(self, turn_id: str, patience_s: float) -> None:
        """Waits until what was said before a turn is in the ledger, or the patience is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                others = [task for other, task in self.deciding.items() if other != turn_id]
                if others:
                    await asyncio.wait(others)
                await self.written()

    def renew_profile(self, gone: Collection[str] | None) -> None:
        """Lets the profile be loaded again if it may show a fact of ``gone``; None: in any case."""
        if self.profile_task is not None and _may_show(self.profile_task, gone):
            self.profile_task = None
            self.profile_version += 1

    # -- what the gates may know -------------------------------------------------------------------

    def begin_dialogue(self) -> asyncio.Task[None]:
        """Starts reading what the ledger knows of the user, once; the task ends when it is read."""
        if self._dialogue_loaded is None:
            self._dialogue_loaded = self.start(self.refresh_dialogue())
        return self._dialogue_loaded

    async def load_dialogue(self) -> None:
        """Waits until what the ledger knows of the user is in the dialogue, if it comes in time."""
        loaded = self.begin_dialogue()
        if loaded.done():
            return  # waiting for what is done costs two rounds of a busy loop
        done, _ = await asyncio.wait({loaded}, timeout=self.service.deadline_s(DIALOGUE_DEADLINE_S))
        if not done:
            logger.warning("dialogue context missed its deadline")
            telemetry.note_fault("ledger")

    async def refresh_dialogue(self) -> None:
        """Reads who is known, for the read gate: as it is before the next turn is gated."""
        service = self.service
        try:
            self.dialogue.subjects = await service.run(
                service.dialogue_pool, service.ledger.known_subjects, self.user_id
            )
        except Exception as error:  # the gate can do without
            logger.warning("dialogue context not loaded", extra={"error": repr(error)})

    async def context_of(self, turn: Turn) -> DialogueContext:
        """What the write gate may know beside a turn; without memories if they come too late."""
        service = self.service
        if not service.is_gated:
            return self.dialogue.context()
        deadline_s = service.deadline_s(DIALOGUE_DEADLINE_S)
        await self.written(deadline_s)
        try:
            async with asyncio.timeout(deadline_s):
                candidates, near = await service.run(
                    service.dialogue_pool, service.find_candidates, turn
                )
        except Exception as error:  # a turn is gated whatever the ledger or the index does
            logger.warning("candidates not found", extra={"error": repr(error)})
            telemetry.note_fault("ledger")
            return self.dialogue.context()
        return self.dialogue.context(candidates, near)

    def masked(self, text: str, asked: str = "") -> str:
        """Words as they may be written down: an assistant may repeat a secret of this visit.

        The user's own secrets are known from then on.
        """
        policy = self.service.settings.bmo_sensitive
        return mask(text, policy, asked, self.secrets)[0] if text else ""

    def searchable(self, turn: Turn) -> Turn:
        """A turn as it is searched for: a secret goes to no index, embedder, log or trace.

        Nothing is learnt from it: it may be the beginning of a turn that is still spoken.
        """
        from bmo.gate import mask

        policy, known = self.service.settings.bmo_sensitive, set(self.secrets)
        asked, _ = mask(turn.assistant_before, policy, known=known)
        return replace(turn, text=mask(turn.text, policy, asked, known)[0], assistant_before=asked)

    def unrepeated(self, text: str, asked: str) -> str:
        """A turn's words for the gate, without the secrets that were told before in other words.

        A plain word stays: the name of a dog that is also a password.
        """
        told = {value for value in self.secrets if not value.isalpha()}
        if not told:
            return text
        masked, found = mask(text, "keep", asked, told)
        return masked if found > mask(text, "keep", asked)[1] else text


def _may_show(profile: asyncio.Task[Recall], gone: Collection[str] | None) -> bool:
    """Whether a profile may hold a fact of ``gone``; one that is still being read may."""
    if gone is None or not profile.done():
        return gone is None or bool(gone)
    if profile.cancelled() or profile.exception():
        return False
    return any(memory.fact.id in gone for memory in profile.result().memories)
