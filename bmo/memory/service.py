"""MemoryService: ledger, index, gates and recorder of one process, opened and closed together."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from bmo import telemetry
from bmo.giving_way import giving_way
from bmo.ids import as_user_id, new_id
from bmo.memory.opening import (
    ServiceNotice,
    normal_notices,
    open_encoder,
    open_index,
    open_ledger,
    with_mode,
)
from bmo.memory.session import MemorySession
from bmo.memory.settling import AIMS, Settler
from bmo.memory.visit import MemoryParts
from bmo.settings import Settings, load_settings

if TYPE_CHECKING:
    from bmo.encoder import Encoder
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

logger = logging.getLogger("bmo.memory")

SWITCH_INTERVAL_S = 0.001
"""Longest a thread keeps the interpreter while another waits for it, in seconds. Python's own 5 ms
add up: recall, encoder and the index's threads may each keep it once before the event loop's turn
comes. With half of it the loop loses it twice as often while it works itself, to whoever waits."""

CLOCK_BEHIND = timedelta(minutes=1)
"""How far the clock may be behind the last turn before somebody is told."""


class MemoryService(MemoryParts):
    """Ledger, index, gates and recorder of one process.

    Open it once (in prewarm, or before the first session), make a session per visit, close it at
    the end. An index that cannot be reached degrades the service: facts wait in the ledger's
    outbox and recall reads the ledger.

    Attributes:
        notices: What a person should know about how it was opened, and later how it was closed.
    """

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        index: MemoryIndex | None,
        encoder: Encoder | None,
        notices: tuple[ServiceNotice, ...],
    ) -> None:
        """Use ``open``; this only puts opened parts together."""
        super().__init__(settings, ledger, index, encoder)
        wrong = self.write_gate.custom_rules.problems
        self.notices = (*notices, *(ServiceNotice("rules", str(problem)) for problem in wrong))
        if self.clock.behind > CLOCK_BEHIND:
            shown = (self.clock() - self.clock.behind).strftime("%Y-%m-%d %H:%M")
            said = (
                f"This machine's clock says {shown} UTC, and the last turn in the ledger is later; "
                "set the clock. Until it is right, time counts on from that turn."
            )
            self.notices += (ServiceNotice("clock", said),)
        self._closed = False

    @classmethod
    async def open(cls, settings: Settings | None = None) -> MemoryService:
        """Opens everything, off the event loop; by environment and ``.env`` without settings.

        Raises:
            SettingsError: A variable is wrong.
            MemoryUnavailable: The ledger cannot be opened, or another process owns the store.
        """
        return await asyncio.to_thread(cls.open_blocking, settings)

    @classmethod
    def open_blocking(cls, settings: Settings | None = None) -> MemoryService:
        """The same as ``open``, for code without an event loop (CLI commands, prewarm)."""
        settings, notices = with_mode(settings or load_settings())
        with contextlib.ExitStack() as opened:
            ledger = open_ledger(settings)
            opened.callback(ledger.close)
            index = open_index(settings, notices, ledger)
            if index is not None:
                opened.callback(index.close)
            encoder = open_encoder(settings, notices)
            if encoder is not None:
                opened.callback(encoder.close)
            notices += normal_notices(settings)
            service = cls(settings, ledger, index, encoder, tuple(notices))
            opened.pop_all()  # from here on the service closes them
        if service.is_gated and settings.effective_mode in AIMS:
            service.settling().start()
            service.notices += service._model_notices()
        for notice in service.notices:
            extra = {"part": notice.part, "notice": notice.message}
            logger.warning("memory was opened with a limitation", extra=extra)
        _freeze_what_stays()
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
        return service

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
        user_id = as_user_id(user_id)
        return MemorySession(self, user_id, session_id or new_id(), clock or self.clock)

    def settling(self) -> Settler:
        """What sends held turns to a model; made when first asked for, closed with the service."""
        from bmo.extract import Orchestrator

        if self.settler is None:
            self.settler = Settler(
                self.settings,
                self.ledger,
                self.recorder,
                Orchestrator.from_settings(self.settings, self.write_gate),
                candidates=giving_way()(lambda turn: self.find_candidates(turn)[0]),
                wrote=self.wrote,
            )
        return self.settler

    def _model_notices(self) -> tuple[ServiceNotice, ...]:
        """Says so when the mode wants a model and none can ever be asked."""
        orchestrator = self.settling().orchestrator
        if orchestrator.ready_in() is not None:
            return ()
        mode = self.settings.effective_mode
        return (ServiceNotice("model", f"GATEKEEPER_MODE={mode}: {orchestrator.why_not()}"),)

    def warm_up(self) -> None:
        """Runs every part once, so that no turn pays for lazy loading. Blocking."""
        from bmo.memory.warming import warm_up

        warm_up(self)
        _freeze_what_stays()

    async def aclose(self) -> None:
        """Flushes and closes sessions, recorder, index, ledger and encoder. Safe to call twice.

        Each is closed whatever another's closing does. What could not be done, and how much of
        what was said the ledger did not take, is logged and added to ``notices``.
        """
        for visit in tuple(self.visits):
            try:
                await visit.aclose()
            except Exception as error:
                self._not_closed("session", error)
        await asyncio.to_thread(self.close_blocking)

    def close_blocking(self) -> None:
        """The same as ``aclose``, for code without an event loop and without open sessions."""
        if self._closed:
            return
        self._closed = True
        parts: dict[str, Callable[[], None] | None] = {
            "model": self.settler.close if self.settler is not None else None,
            "gate": self.gate_pool.shutdown,
            "recall": partial(self.recall_pool.shutdown, cancel_futures=True),
            "dialogue": partial(self.dialogue_pool.shutdown, cancel_futures=True),
            "recaller": self.recaller.close,
            "recorder": self.recorder.close,
            "index": self.index.close if self.index is not None else None,
            "erasing": self.recorder.join,
            "ledger": self.ledger.close,
            "encoder": self.encoder.close if self.encoder is not None else None,
        }
        for part, close in parts.items():
            try:
                if close is not None:
                    close()
            except Exception as error:
                self._not_closed(part, error)
        gc.unfreeze()
        if lost := self.recorder.lost:  # the recorder logs it
            said = (
                f"The ledger took none of the last {lost} writes: what was said then is lost. "
                "Make room on its disk, or check that its folder may be written (bmo doctor)."
            )
            self.notices += (ServiceNotice("ledger", said),)

    def _not_closed(self, part: str, error: Exception) -> None:
        from bmo.index import IndexUnavailable, first_line

        why = first_line(error)
        logger.error("part of memory not closed", extra={"part": part, "error": why})
        telemetry.note_fault(part)
        said = (
            str(error) if isinstance(error, IndexUnavailable) else f"Closing {part} failed ({why})."
        )
        self.notices += (ServiceNotice(part, said),)


def _freeze_what_stays() -> None:
    """Tells the garbage collector to leave out what was loaded so far, until the service closes.

    A full collection walks through all libraries' objects (300,000, 0.1 s) while every thread,
    the event loop's too, stands still. Called again when everything was run once: what that
    compiled stays as well.
    """
    gc.collect()
    gc.freeze()
