"""MemoryService: ledger, index, gates and recorder of one process, opened and closed together."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import sys
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from bmo.ids import as_user_id, new_id
from bmo.memory.batches import AIMS
from bmo.memory.candidates import find_candidates
from bmo.memory.mode_choice import ModeChoice, choose_mode
from bmo.memory.session import MemorySession
from bmo.memory.settling import Settler
from bmo.memory.steady_clock import SteadyClock
from bmo.memory.turnstile import Turnstile
from bmo.memory.warming import RECALL_THREADS, warm_up
from bmo.settings import OLLAMA_PREFIX, Settings, load_settings, quiet_third_parties

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.index import MemoryIndex
    from bmo.judge import Judge
    from bmo.ledger import Ledger
    from bmo.recall import ReadGate
    from bmo.turn import StoredFact, Turn


logger = logging.getLogger("bmo.memory")

SWITCH_INTERVAL_S = 0.001
"""Longest a thread keeps the interpreter while another waits for it, in seconds. Python's own 5 ms
add up: recall, judge and the index's threads may each keep it once before the event loop's turn
comes. With half of it the loop loses it twice as often while it works itself, to whoever waits."""

PYTHONS_THRESHOLDS = (10, 10)
MIDDLE_AFTER = 1
"""Beyond how many young collections the middle generation's turn comes, and beyond how many of
those a full one's; and beyond how many young ones here, unless the application chose otherwise."""

CLOCK_BEHIND = timedelta(minutes=1)
"""How far the clock may be behind the last turn before somebody is told."""

UNTIL_THE_INDEX = "Until then recall reads the ledger, and nothing is lost."


class MemoryUnavailable(RuntimeError):
    """Memory could not be opened; the message is one sentence that names the fix."""


@dataclass(frozen=True, slots=True)
class ServiceNotice:
    """Something a person should know about how memory was opened.

    Attributes:
        part: "index", "judge", "embedder", "model", "rules", "mode" or "clock".
        message: One sentence.
    """

    part: str
    message: str


class MemoryService:
    """Ledger, index, gates and recorder of one process.

    Open it once (in prewarm, or before the first session), make a session per visit, close it at
    the end. An index that cannot be reached degrades the service: facts wait in the ledger's
    outbox and recall reads the ledger.

    Attributes:
        settings: The settings it was opened with, with the gate's mode where none was set.
        ledger: The ledger; the truth.
        index: Mem0 on Qdrant, or None while it cannot be reached.
        judge: The local judge, or None in pattern mode or when its model is missing.
        write_gate: Decides what of a turn is kept.
        read_gate: Decides whether a turn needs memory.
        recaller: Retrieves, scores, selects and assembles.
        recorder: The one writer thread.
        settler: Sends what was held to a model, off the voice path; None until something is.
        notices: What a person should know about how it was opened.
        clock: The system's time in UTC; it never goes back behind what was written down.
        gate_pool: Where the rules run.
        judge_pool: Where the judge runs, behind a bounded line.
        recall_pool: Where retrieval runs.
        dialogue_pool: Where is read what the gate may know of a user.
        turnstile: What these threads go through one by one.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        index: MemoryIndex | None,
        judge: Judge | None,
        notices: tuple[ServiceNotice, ...],
    ) -> None:
        """Use ``open``; this only puts opened parts together."""
        from bmo.gate import WriteGate
        from bmo.judge import JudgeQueue
        from bmo.recall import ReadGate, Recaller
        from bmo.recorder import Recorder

        self.settings = settings
        self.ledger = ledger
        self.index = index
        self.judge = judge
        self.notices = notices
        # The session writes the debug line: once a turn, and it knows what is off the record.
        silent = settings.model_copy(update={"gatekeeper_debug": False})
        self.write_gate: WriteGate = WriteGate.from_settings(silent, judge=judge, load_judge=False)
        self.read_gate: ReadGate = ReadGate.from_settings(settings, judge=judge, load_judge=False)
        wrong = self.write_gate.custom_rules.problems
        self.notices += tuple(ServiceNotice("rules", str(problem)) for problem in wrong)
        self.recaller = Recaller(ledger, index, settings, judge)
        self.clock = SteadyClock(ledger.latest_moment())
        if self.clock.behind > CLOCK_BEHIND:
            self.notices += (ServiceNotice("clock", _clock_sentence(self.clock)),)
        self.turnstile = Turnstile()
        self.recorder = Recorder.open(ledger, index, settings, one_by_one=self.turnstile)
        self.settler: Settler | None = None
        self.gate_pool = ThreadPoolExecutor(1, thread_name_prefix="bmo-gate")
        self.judge_pool = JudgeQueue(settings.bmo_judge_queue)
        self.recall_pool = ThreadPoolExecutor(RECALL_THREADS, thread_name_prefix="bmo-recall")
        self.dialogue_pool = ThreadPoolExecutor(1, thread_name_prefix="bmo-dialogue")
        self._sessions: set[MemorySession] = set()
        self._closed = False

    @classmethod
    async def open(cls, settings: Settings | None = None) -> MemoryService:
        """Opens everything, off the event loop.

        Args:
            settings: Settings of this process; None reads environment and ``.env``.

        Raises:
            SettingsError: A variable is wrong.
            MemoryUnavailable: The ledger cannot be opened, or another process owns the store.
        """
        return await asyncio.to_thread(cls.open_blocking, settings)

    @classmethod
    def open_blocking(cls, settings: Settings | None = None) -> MemoryService:
        """The same as ``open``, for code without an event loop (CLI commands, prewarm)."""
        settings = settings or load_settings()
        chosen = choose_mode(settings)
        if settings.gatekeeper_mode is None:
            settings = settings.model_copy(update={"gatekeeper_mode": chosen.mode})
        notices = _mode_notices(settings, chosen)
        with contextlib.ExitStack() as opened:
            ledger = open_ledger(settings)
            opened.callback(ledger.close)
            index = open_index(settings, notices, ledger)
            if index is not None:
                opened.callback(index.close)
            judge = _open_judge(settings, notices)
            if judge is not None:
                opened.callback(judge.close)
            notices += normal_notices(settings)
            service = cls(settings, ledger, index, judge, tuple(notices))
            opened.pop_all()  # from here on the service closes them
        if settings.mem0_setting == "GATED" and settings.effective_mode in AIMS:
            service.settling().start()
            service.notices = (*service.notices, *service._model_notices())
        _freeze_what_stays()
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
        _collect_less_at_a_time()
        return service

    @property
    def shares_ledger(self) -> bool:
        """Whether other processes may write to the ledger; an embedded store has one owner."""
        shared = self.settings.ledger_url.startswith("postgresql")
        return shared or self.settings.qdrant_url is not None

    def session(
        self,
        *,
        user_id: str,
        session_id: str | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> MemorySession:
        """Starts one visit of one user.

        Args:
            user_id: Whose: a user id, or an identity that one is made from. What a stranger may
                choose belongs through ``user_id_for`` first: a made id is taken as it is.
            session_id: Id of the visit; None makes one.
            clock: Tells the time, timezone-aware; None uses the service's.

        Raises:
            ValueError: The user id is empty.
        """
        session = MemorySession(
            self, as_user_id(user_id), session_id or new_id(), clock or self.clock
        )
        self._sessions.add(session)
        if self.index is not None and self.settings.mem0_setting == "GATED":
            self.index.preload(session.user_id)
        return session

    def ended(self, session: MemorySession) -> None:
        """A session says that it is closed."""
        self._sessions.discard(session)
        if self.settler is not None:
            self.settler.visit_ended(session.user_id)

    def settling(self) -> Settler:
        """What sends held turns to a model; made when first asked for, closed with the service."""
        from bmo.extract import Orchestrator

        if self.settler is None:
            self.settler = Settler(
                self.settings,
                self.ledger,
                self.recorder,
                Orchestrator.from_settings(self.settings, self.write_gate),
                judge=self.judge,
                candidates=self._candidates,
                wrote=self.wrote,
            )
        return self.settler

    def _candidates(self, turn: Turn) -> tuple[StoredFact, ...]:
        """Live memories that a turn may end, found when nobody who speaks waits for a thread."""
        find = partial(find_candidates, self.ledger, self.index, turn)
        found: tuple[tuple[StoredFact, ...], object] = self.turnstile.behind(find)()
        return found[0]

    def _model_notices(self) -> tuple[ServiceNotice, ...]:
        """Says so when the mode wants a model and none can ever be asked."""
        orchestrator = self.settling().orchestrator
        if orchestrator.ready_in() is not None:
            return ()
        mode = self.settings.effective_mode
        return (ServiceNotice("model", f"GATEKEEPER_MODE={mode}: {orchestrator.why_not()}"),)

    @property
    def is_judged(self) -> bool:
        """Whether a judge looks at what the rules leave open."""
        return self.judge is not None and self.settings.mem0_setting == "GATED"

    def wrote(self, user_id: str, gone: Collection[str] | None = ()) -> None:
        """Something of a user changed: what his open sessions cached of it is dropped.

        Args:
            user_id: Whose.
            gone: Ids of facts that are no longer true, or were forgotten; a profile that shows
                one is loaded again. None: every profile is.
        """
        for session in tuple(self._sessions):  # jobs of other threads open and close theirs
            if session.user_id == user_id:
                session.drop_reads()
                session.renew_profile(gone)

    def warm_up(self) -> None:
        """Runs every part once, so that no turn pays for lazy loading. Blocking."""
        warm_up(self)
        _freeze_what_stays()

    async def aclose(self) -> None:
        """Flushes and closes sessions, recorder, index, ledger and judge. Safe to call twice."""
        for session in tuple(self._sessions):
            await session.aclose()
        await asyncio.to_thread(self.close_blocking)

    def close_blocking(self) -> None:
        """The same as ``aclose``, for code without an event loop and without open sessions."""
        if self._closed:
            return
        self._closed = True
        if self.settler is not None:
            self.settler.close()
        self.gate_pool.shutdown(wait=True)
        self.judge_pool.shutdown(wait=True)
        self.recall_pool.shutdown(wait=True, cancel_futures=True)
        self.dialogue_pool.shutdown(wait=True, cancel_futures=True)
        self.recaller.close()
        self.recorder.close()
        if self.index is not None:
            self.index.close()
        self.ledger.close()
        if self.judge is not None:
            self.judge.close()
        gc.unfreeze()


def _clock_sentence(clock: SteadyClock) -> str:
    shown = (clock() - clock.behind).strftime("%Y-%m-%d %H:%M")
    return (
        f"This machine's clock says {shown} UTC, and the last turn in the ledger is later; set the "
        "clock. Until it is right, time counts on from that turn."
    )


def _freeze_what_stays() -> None:
    """Tells the garbage collector to leave out what was loaded so far, until the service closes.

    A full collection walks through all libraries' objects (300,000, 0.1 s) while every thread,
    the event loop's too, stands still. Called again when everything was run once: what that
    compiled stays as well.
    """
    from bmo.index import release_free_pages

    gc.collect()
    gc.freeze()
    release_free_pages()


def _collect_less_at_a_time() -> None:
    """Lets the garbage collector look through its middle generation more often.

    What eight conversations make between two of them took 3 to 6 ms, in which every thread stands
    still; a fifth of it takes one. Full collections stay as rare as they were. An application's own
    choice stands.
    """
    young, middle, old = gc.get_threshold()
    if (middle, old) == PYTHONS_THRESHOLDS:
        often = (old + 1) * (middle + 1) // (MIDDLE_AFTER + 1) - 1
        gc.set_threshold(young, MIDDLE_AFTER, often)


def open_ledger(settings: Settings) -> Ledger:
    """Opens the ledger alone: works beside a running BMO, which owns the embedded index.

    Raises:
        MemoryUnavailable: One sentence that names the path and the fix.
    """
    from bmo.ledger import Ledger, LedgerUnavailable

    try:
        settings.bmo_home.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_not_emptied(settings)
        return Ledger.open(settings.ledger_url, settings.bmo_ledger_connections)
    except LedgerUnavailable as error:
        raise MemoryUnavailable(str(error)) from error
    except OSError as error:
        raise MemoryUnavailable(
            f"BMO_HOME={str(settings.bmo_home)!r} cannot be written ({error.strerror}): "
            "make it writable or point BMO_HOME to another directory."
        ) from error


def _check_not_emptied(settings: Settings) -> None:
    """An empty ledger file beside an index is no new ledger: something emptied it.

    Raises:
        MemoryUnavailable: It is so.
    """
    ledger = settings.bmo_home / "ledger.sqlite3"
    if settings.bmo_ledger_url is not None or not ledger.is_file() or ledger.stat().st_size:
        return
    index = next((path for path in settings.bmo_home.glob("qdrant-*/*") if path.is_dir()), None)
    if index is not None:
        raise MemoryUnavailable(
            f"The ledger {str(ledger)!r} is empty, but its index is not: put a backup in its "
            f"place, or remove it and {str(index.parent)!r} to begin anew."
        )


def open_index(
    settings: Settings, notices: list[ServiceNotice], ledger: Ledger, *, take_over: bool = False
) -> MemoryIndex | None:
    """Opens the index alone, with its embedder.

    Args:
        settings: Settings of this process.
        notices: Gets a sentence when the index cannot be reached, or is another ledger's.
        ledger: Whose copy it is.
        take_over: Make it this ledger's, whoever it belongs to.

    Returns:
        The index, or None when it cannot be opened now.

    Raises:
        MemoryUnavailable: Another process owns the embedded store.
    """
    quiet_third_parties(settings.bmo_home)
    from bmo.index import (
        EmbedderUnavailable,
        IndexOwner,
        IndexUnavailable,
        MemoryIndex,
        StoreInUse,
    )

    try:
        owner = IndexOwner(ledger.identity(), ledger.knows, take_over)
        index = MemoryIndex.open(settings, owner=owner)
        if index.unavailable:
            notices.append(ServiceNotice("index", f"{index.unavailable} {UNTIL_THE_INDEX}"))
        elif index.notice:
            notices.append(ServiceNotice("index", index.notice))
        return index
    except StoreInUse as error:
        raise MemoryUnavailable(str(error)) from error
    except (IndexUnavailable, EmbedderUnavailable) as error:
        notices.append(ServiceNotice("index", f"{error} {UNTIL_THE_INDEX}"))
        return None


def _mode_notices(settings: Settings, chosen: ModeChoice) -> list[ServiceNotice]:
    """Says so where somebody named an Ollama model and it cannot be asked now."""
    named = any(name.startswith(OLLAMA_PREFIX) for name in settings.model_names)
    if chosen.mode == "hybrid" or not chosen.why or not named:
        return []
    sentence = f"{chosen.why}. Until the next start GATEKEEPER_MODE is local."
    return [ServiceNotice("mode", sentence)]


def _open_judge(settings: Settings, notices: list[ServiceNotice]) -> Judge | None:
    if settings.effective_mode in ("pattern", "disabled") or settings.mem0_setting == "NORMAL":
        return None
    from bmo.judge import Judge, JudgeUnavailable

    try:
        return Judge.open()
    except JudgeUnavailable as error:
        notices.append(ServiceNotice("judge", f"{error} Until then the rules decide alone."))
        return None


def normal_notices(settings: Settings) -> list[ServiceNotice]:
    """What MEM0_SETTING=NORMAL does with turns, said at start; nothing behind the gates."""
    if settings.mem0_setting != "NORMAL":
        return []
    what = (
        f"Mem0 extracts memories from every turn with {settings.gemini_model}"
        if settings.google_api_key is not None
        else "every turn is stored as it was said (with GOOGLE_API_KEY Mem0 would extract memories)"
    )
    return [
        ServiceNotice(
            "mode", f"MEM0_SETTING=NORMAL: no gates; {what}, and every turn searches them all."
        )
    ]
