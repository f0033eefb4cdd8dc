"""Recorder: what is said goes through here into the ledger, and from there into the index."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from bmo import telemetry
from bmo.index import EmbedderUnavailable, IndexUnavailable, MemoryIndex
from bmo.ledger import Ledger, Recorded, words_used
from bmo.recall import calibration_for
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.upkeep import Upkeep
from bmo.recorder.writer_thread import WriterThread
from bmo.settings import Settings
from bmo.turn import Decision, Recall, Turn, utc_now

if TYPE_CHECKING:
    from opentelemetry.context import Context


NEAR_TOP_K = 5
NEAR_THRESHOLD = 0.4
"""How many similar facts reconciliation looks at, and from which cosine similarity."""

NEAR_TIMEOUT_S = 1.0
"""Longest wait for them, in seconds; then the turn is recorded without."""

logger = logging.getLogger(__name__)

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Recorder:
    """Writes to ledger and index on a thread of its own, in the order of the calls.

    What was recorded is on disk when its future is done. The index follows through the outbox,
    also after failures, also after a crash.
    """

    def __init__(
        self,
        ledger: Ledger,
        index: MemoryIndex | None,
        settings: Settings,
    ) -> None:
        """Starts the thread.

        Args:
            ledger: Where turns are recorded.
            index: What follows it; None leaves everything for it in the outbox.
            settings: ``MEM0_SETTING=NORMAL`` sends the turns' words to the index as they are.
        """
        self._ledger = ledger
        self._index = index
        self._raw = settings.mem0_setting == "NORMAL"
        self._mode = settings.effective_mode
        self._bounded = BoundedCalls("bmo-recorder-index")
        upkeep = Upkeep(ledger, index, self._bounded, keep_days=settings.bmo_keep_turns_days)
        self._upkeep = upkeep
        self._writer = WriterThread(upkeep)

    # -- from any thread -----------------------------------------------------------------------

    def submit(self, turn: Turn, decision: Decision) -> Future[Recorded]:
        """Records a turn; returns at once.

        Returns:
            Done when turn, decision, facts and outbox are in the ledger. If the database would
            not take them the future has the error, and the turn is tried again by itself.
        """
        asked_in, tries = telemetry.trace_context(), count()
        return self._writer.put(
            lambda: self._record(turn, decision, asked_in, again=next(tries) > 0), keep=True
        )

    def settle(
        self, user_id: str, turn_id: str, decision: Decision, *, whole: bool
    ) -> Future[Recorded | None]:
        """Writes what a model made of a turn that waited for it; returns at once.

        Returns:
            As ``Ledger.settle``; failed when the database would not take it: the turn waits on.
        """
        # Not kept: the turn waits for a model in the ledger, and is asked about again.
        return self.call(
            self._ledger.settle,
            user_id,
            turn_id,
            decision,
            whole=whole,
            near=self.near,
            mode=self._mode,
        )

    def call(self, fn: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Runs ``fn`` on the thread, after everything submitted before."""
        return self._writer.put(lambda: fn(*args, **kwargs))

    def note_reply(
        self,
        user_id: str,
        turn_id: str,
        text: str,
        given: Recall | None = None,
        *,
        at: datetime | None = None,
    ) -> None:
        """Writes what the assistant said after a turn, and which memories it used.

        Args:
            user_id: Whose turn.
            turn_id: A turn submitted here.
            text: The assistant's words.
            given: What was recalled for the turn; memories whose words are in the reply count as
                used, and as helpful.
            at: The session's moment; None is now.
        """
        self._writer.put(lambda: self._ledger.note_reply(user_id, turn_id, text), keep=True)
        shown = tuple(memory.fact for memory in given.memories) if given is not None else ()
        if shown:
            moment = at or utc_now()

            def note_used() -> None:
                """Found out on the thread: this is called from event loops."""
                used = [fact.id for fact in shown if words_used(fact, text)]
                self._ledger.note_helpfulness(
                    user_id, used, turn_id=turn_id, helpful=True, at=moment, source="reply"
                )

            self._writer.put(note_used, keep=True)

    def note_judged(
        self,
        user_id: str,
        turn_id: str,
        fact_ids: Sequence[str],
        helpful: bool,
        at: datetime,
        source: Literal["correction", "user"],
    ) -> None:
        """Writes whether memories helped with a turn: the user corrected them, or was asked."""
        if fact_ids:
            self._writer.put(
                lambda: self._ledger.note_helpfulness(
                    user_id, fact_ids, turn_id=turn_id, helpful=helpful, at=at, source=source
                ),
                keep=True,
            )

    def note_recall(self, turn: Turn, recall: Recall) -> None:
        """Writes what was recalled for a turn."""
        self._writer.put(lambda: self._ledger.record_recall(turn, recall), keep=True)

    def flush(self, timeout_s: float) -> bool:
        """Waits until everything submitted is in the ledger, and in the index if it is up.

        Returns:
            Whether the outbox is empty and nothing waits.
        """
        deadline = time.monotonic() + timeout_s
        done = self._writer.put(lambda: self._writer.drain(deadline))
        try:
            drained = done.result(timeout_s)
        except TimeoutError:
            return False
        # On the caller's thread: the turns of others are recorded meanwhile.
        self._upkeep.finish_erasures(deadline)
        self._upkeep.finish_inference(deadline)
        return drained or (not self._writer.deferred and self._ledger.backlog().depth == 0)

    @property
    def lost(self) -> int:
        """Writes that the ledger never took: turns, replies, recalls. Known after ``close``."""
        return self._writer.lost

    @property
    def index_problem(self) -> str:
        """Why the index cannot be used now, or ""."""
        return self._index.unavailable if self._index is not None else "no index"

    def close(self, timeout_s: float = 30.0) -> None:
        """Does what was submitted, brings the index up to date if it is up, and stops.

        Safe to call twice. What the index has not learnt stays in the outbox.
        """
        if self._writer.close(timeout_s):
            self._bounded.close()

    def join(self) -> None:
        """Waits for its last thread, which rewrites files, after the index was closed."""
        self._upkeep.join()

    # -- on the thread -------------------------------------------------------------------------

    def _record(
        self, turn: Turn, decision: Decision, asked_in: Context | None, *, again: bool
    ) -> Recorded:
        if again and self._ledger.turns(turn.user_id, turn_ids=[turn.id]):
            return Recorded(turn.id)  # it was written: only the answer to its commit was lost
        began = time.perf_counter()
        failed = True
        try:
            with telemetry.memory_span("bmo.write", parent=asked_in) as span:
                recorded = self._ledger.record(
                    turn, decision, near=self.near, raw=self._raw, mode=self._mode
                )
                telemetry.describe_written(
                    span,
                    added=len(recorded.added),
                    confirmed=len(recorded.confirmed),
                    ended=len(recorded.ended),
                )
            failed = False
        finally:
            telemetry.note_write("ledger", time.perf_counter() - began, failed=failed)
        return recorded

    def near(self, user_id: str, text: str) -> Sequence[tuple[str, float]]:
        """(fact id, similarity) of a user's facts near a text, for reconciliation.

        Nothing is near when the index fails. On the thread: a job may call it.
        """
        index = self._index
        if index is None or index.unavailable:
            return ()
        try:
            found = self._bounded.call(
                lambda: index.near(user_id, text, top_k=NEAR_TOP_K, threshold=NEAR_THRESHOLD),
                NEAR_TIMEOUT_S,
            )
            # The ledger's thresholds are cosines of the local embedder.
            scale = calibration_for(index.embedder.name)
            moved = [(str(fact_id), scale.on_reference(float(score))) for fact_id, score in found]
            return [(fact_id, score) for fact_id, score in moved if score >= NEAR_THRESHOLD]
        except (IndexUnavailable, EmbedderUnavailable) as error:
            logger.warning("recorded without near facts", extra={"error": str(error)})
        except Exception as error:  # the turn must reach the ledger, whatever the index does
            logger.exception("near facts failed", extra={"error": type(error).__name__})
            telemetry.note_fault("index")
        return ()
