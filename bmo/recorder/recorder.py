"""The one writer thread: ledger rows first, then the outbox to the index."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.index import EmbedderUnavailable, IndexUnavailable, MemoryIndex
from bmo.ledger import Ledger, OutboxOp, Recorded, words_used
from bmo.recall import calibration_for
from bmo.recorder.agreement import settle
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.inference_thread import InferenceThread
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.settings import Settings, checked_user_id
from bmo.turn import Decision, Recall, Turn, utc_now

if TYPE_CHECKING:
    from opentelemetry.context import Context

POLL_S = 2.0
"""Longest the thread sleeps while something waits in the outbox, in seconds."""

IDLE_S = 10.0
"""How often an idle thread looks for what another process put into the outbox, in seconds."""

RETRY_LEDGER_S = 1.0
"""How long a turn waits that the database would not take."""

KEPT_TURNS = 10_000
"""Turns kept in memory while the database takes nothing."""

JOBS_PER_BATCH = 20
"""Jobs done before the outbox gets its turn under load."""

NEAR_TOP_K = 5
NEAR_THRESHOLD = 0.4
"""How many similar facts reconciliation looks at, and from which cosine similarity."""

NEAR_TIMEOUT_S = 1.0
"""Longest wait for them, in seconds; then the turn is recorded without."""

SETTLE_TIMEOUT_S = 300.0
"""Longest wait for the comparison of ledger and index after a start, in seconds."""

RETENTION_S = 24 * 3600.0
"""How often the words of old discarded turns are dropped, in seconds; first at the start."""

INFERENCE_FLUSH_S = 6.0
INFERENCE_CLOSE_S = 2.0
"""How long a flush, and closing, wait for Mem0's extraction, in seconds; the rest goes on later."""

_AT_ONCE: tuple[OutboxOp, ...] = ("add", "update", "delete", "purge")
"""What the recorder's thread applies itself when Mem0's extraction has a thread of its own."""

_KNOWN_TURNS = 1000
_PAUSE_S = 0.1

logger = logging.getLogger(__name__)

_P = ParamSpec("_P")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RecorderStats:
    """How far the recorder is behind.

    Attributes:
        queued: Jobs that wait for the thread.
        deferred: Turns the database would not take yet.
        outbox: Entries the index has not learnt yet.
        oldest_s: Age of the oldest of them, in seconds.
        recorded: Turns recorded since it was opened.
        index_problem: Why the index cannot be used now, or "".
    """

    queued: int
    deferred: int
    outbox: int
    oldest_s: float
    recorded: int
    index_problem: str


@dataclass(slots=True)
class _Job:
    run: Callable[[], Any]
    future: Future[Any]
    keep: bool = False
    """Tried again when the database would not take it."""


class Recorder:
    """Writes to ledger and index on a thread of its own, in the order of the calls.

    What was recorded is on disk when its future is done. The index follows through the outbox,
    also after failures, also after a crash.
    """

    def __init__(self, ledger: Ledger, index: MemoryIndex | None, settings: Settings) -> None:
        """Use ``open``."""
        self._ledger = ledger
        self._index = index
        self._keep_days = settings.bmo_keep_turns_days
        self._retention_at = 0.0
        self._raw = settings.mem0_setting == "NORMAL"
        self._mode = settings.effective_mode
        self._bounded = BoundedCalls("bmo-recorder-index")
        self._worker: OutboxWorker | None = None
        self._inference: InferenceThread | None = None
        if index is not None and index.inference is not None:
            self._inference = InferenceThread(ledger, index)
            self._worker = OutboxWorker(ledger, index, ops=_AT_ONCE, bounded=self._bounded)
        elif index is not None:
            self._worker = OutboxWorker(ledger, index, bounded=self._bounded)
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._deferred: deque[tuple[float, _Job]] = deque(maxlen=KEPT_TURNS)
        self._turn_users: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False
        self._settled = index is None
        self._recorded = 0
        self._thread = threading.Thread(target=self._run, name="bmo-recorder", daemon=True)

    @classmethod
    def open(cls, ledger: Ledger, index: MemoryIndex | None, settings: Settings) -> Recorder:
        """Starts the thread.

        Args:
            ledger: Where turns are recorded.
            index: What follows it; None leaves everything for it in the outbox.
            settings: ``MEM0_SETTING=NORMAL`` sends the turns' words to the index as they are.
        """
        recorder = cls(ledger, index, settings)
        recorder._thread.start()
        if recorder._inference is not None:
            recorder._inference.start()
        return recorder

    # -- from any thread -----------------------------------------------------------------------

    def submit(self, turn: Turn, decision: Decision) -> Future[Recorded]:
        """Records a turn; returns at once.

        Returns:
            Done when turn, decision, facts and outbox are in the ledger. If the database would
            not take them the future has the error, and the turn is tried again by itself.
        """
        with self._lock:
            self._turn_users[turn.id] = turn.user_id
            while len(self._turn_users) > _KNOWN_TURNS:
                self._turn_users.popitem(last=False)
        asked_in = telemetry.trace_context()
        return self._put(_Job(lambda: self._record(turn, decision, asked_in), Future(), keep=True))

    def settle(self, user_id: str, turn_id: str, decision: Decision) -> Future[Recorded | None]:
        """Writes what a model made of a turn that waited for it; returns at once.

        Returns:
            As ``Ledger.settle``; failed when the database would not take it: the turn waits on.
        """
        return self._put(_Job(lambda: self._settle_turn(user_id, turn_id, decision), Future()))

    def call(self, fn: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Runs ``fn`` on the thread, after everything submitted before."""
        return self._put(_Job(lambda: fn(*args, **kwargs), Future()))

    def note_reply(
        self,
        turn_id: str,
        text: str,
        given: Recall | None = None,
        *,
        at: datetime | None = None,
    ) -> None:
        """Writes what the assistant said after a turn, and which memories it used.

        Args:
            turn_id: A turn submitted here.
            text: The assistant's words.
            given: What was recalled for the turn; memories whose words are in the reply count as
                used, and as helpful.
            at: The session's moment; None is now.
        """
        with self._lock:
            user_id = self._turn_users.get(turn_id)
        if user_id is None:
            return
        used = [m.fact for m in given.memories if words_used(m.fact, text)] if given else []
        self._put(_Job(lambda: self._ledger.note_reply(user_id, turn_id, text), Future()))
        if used:
            ids = [fact.id for fact in used]
            self._note_helpfulness(user_id, turn_id, ids, True, at)

    def note_wrong(
        self, turn_id: str, fact_ids: Sequence[str], *, at: datetime | None = None
    ) -> None:
        """Writes that the user said of memories that they are wrong.

        Args:
            turn_id: The turn they were recalled for, submitted here.
            fact_ids: The memories.
            at: The session's moment; None is now.
        """
        with self._lock:
            user_id = self._turn_users.get(turn_id)
        if user_id is not None and fact_ids:
            self._note_helpfulness(user_id, turn_id, fact_ids, False, at)

    def _note_helpfulness(
        self,
        user_id: str,
        turn_id: str,
        fact_ids: Sequence[str],
        helpful: bool,
        at: datetime | None,
    ) -> None:
        moment = at or utc_now()

        def note() -> int:
            return self._ledger.note_helpfulness(
                user_id,
                fact_ids,
                turn_id=turn_id,
                helpful=helpful,
                at=moment,
                source="reply" if helpful else "correction",
            )

        self._put(_Job(note, Future()))

    def note_recall(self, turn: Turn, recall: Recall) -> None:
        """Writes what was recalled for a turn."""
        checked_user_id(turn.user_id)
        self._put(_Job(lambda: self._ledger.record_recall(turn, recall), Future()))

    def flush(self, timeout_s: float) -> bool:
        """Waits until everything submitted is in the ledger, and in the index if it is up.

        Args:
            timeout_s: Longest wait, in seconds.

        Returns:
            Whether the outbox is empty and nothing waits.
        """
        deadline = time.monotonic() + timeout_s
        done = self._put(_Job(lambda: self._drain(deadline), Future()))
        try:
            drained = bool(done.result(timeout_s))
        except TimeoutError:
            return False
        if self._inference is None:
            return drained
        self._inference.flush(min(deadline, time.monotonic() + INFERENCE_FLUSH_S))
        return not self._deferred and self._ledger.outbox_depth()[0] == 0

    def stats(self) -> RecorderStats:
        """How far it is behind."""
        depth, oldest = self._ledger.outbox_depth()
        age_s = (utc_now() - oldest).total_seconds() if oldest is not None else 0.0
        return RecorderStats(
            queued=self._queue.qsize(),
            deferred=len(self._deferred),
            outbox=depth,
            oldest_s=max(age_s, 0.0),
            recorded=self._recorded,
            index_problem=self._index.unavailable if self._index is not None else "no index",
        )

    def close(self, timeout_s: float = 30.0) -> None:
        """Does what was submitted, brings the index up to date if it is up, and stops.

        Safe to call twice. What the index has not learnt stays in the outbox.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._queue.put(None)
        self._thread.join(timeout_s)
        self._bounded.close()
        if self._inference is not None:
            self._inference.close(INFERENCE_CLOSE_S)

    def _put(self, job: _Job) -> Future[Any]:
        with self._lock:
            if self._closed:
                raise RuntimeError("the recorder is closed; nothing can be recorded any more")
            self._queue.put(job)
        telemetry.note_queue(self._queue.qsize())
        return job.future

    # -- on the thread -------------------------------------------------------------------------

    def _run(self) -> None:
        if self._index is not None and self._index.backend != "server":
            # Nobody else can be at work on an embedded store: leases are a dead process's.
            self._guarded(self._ledger.release_outbox)
        # Before the first job: a replay's turns, dated months ago, are not old yet.
        self._guarded(self._drop_old_words)
        jobs = 0
        while True:
            job = self._next()
            if job is _STOP:
                break
            if job is not None:
                if job.keep and self._deferred:
                    # Behind those that wait: turns are recorded in the order they were said.
                    self._deferred.append((self._deferred[-1][0], job))
                else:
                    self._do(job)
                jobs += 1
                telemetry.note_queue(self._queue.qsize())
            if self._queue.empty() or jobs >= JOBS_PER_BATCH:
                jobs = 0
                self._guarded(self._catch_up)
        self._guarded(lambda: self._drain(time.monotonic() + 10.0))
        if self._worker is not None:
            self._guarded(self._worker.release)

    def _next(self) -> _Job | None:
        """The next job, or None when it is time to look after the outbox."""
        try:
            job = self._queue.get(timeout=self._sleep_s())
        except Empty:
            return None
        return _STOP if job is None else job

    def _sleep_s(self) -> float:
        if self._deferred:
            return RETRY_LEDGER_S
        if self._worker is None:
            return IDLE_S
        try:
            due = self._ledger.next_due(ops=None if self._inference is None else _AT_ONCE)
        except DBAPIError:
            return POLL_S
        if due is None:
            return IDLE_S
        return min(max((due - utc_now()).total_seconds(), 0.05), POLL_S)

    def _do(self, job: _Job) -> None:
        if job.future.cancelled():
            return
        try:
            result = job.run()
        except DBAPIError as error:
            logger.error(
                "the ledger did not take a write", extra={"error": type(error.orig).__name__}
            )
            telemetry.note_fault("ledger")
            if job.keep:
                self._deferred.append((time.monotonic() + RETRY_LEDGER_S, job))
            _fail(job.future, error)
        except Exception as error:  # the caller gets it; the thread goes on
            logger.error("a recorder job failed", extra={"error": type(error).__name__})
            telemetry.note_fault("recorder")
            _fail(job.future, error)
        else:
            if not job.future.done():
                job.future.set_result(result)

    def _record(self, turn: Turn, decision: Decision, asked_in: Context | None) -> Recorded:
        near = self._near if self._index is not None else None
        began = time.perf_counter()
        failed = True
        try:
            with telemetry.memory_span("bmo.write", parent=asked_in) as span:
                recorded = self._ledger.record(
                    turn, decision, near=near, raw=self._raw, mode=self._mode
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
        self._recorded += 1
        if self._inference is not None:
            self._inference.wake()
        return recorded

    def _settle_turn(self, user_id: str, turn_id: str, decision: Decision) -> Recorded | None:
        near = self._near if self._index is not None else None
        return self._ledger.settle(user_id, turn_id, decision, near=near)

    def _near(self, user_id: str, text: str) -> Sequence[tuple[str, float]]:
        if self._index is None or self._index.unavailable:
            return ()
        index = self._index
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

    def _catch_up(self) -> None:
        """One round of everything that waits."""
        self._retry_deferred()
        if time.monotonic() >= self._retention_at:
            self._drop_old_words()
        if self._worker is None:
            return
        if not self._settled:
            self._settle()
        if self._worker.apply() == 0:
            self._worker.finish_erasures()
            self._note_complete()
        self._note_backlog()

    def _note_backlog(self) -> None:
        depth, oldest = self._ledger.outbox_depth()
        age_s = (utc_now() - oldest).total_seconds() if oldest is not None else 0.0
        telemetry.note_outbox(depth, max(age_s, 0.0))

    def _settle(self) -> None:
        """After a start: what the last process left undone, or a new embedder's empty store."""
        index = self._index
        assert index is not None
        try:
            found = self._bounded.call(lambda: settle(self._ledger, index), SETTLE_TIMEOUT_S)
        except IndexUnavailable:
            return
        self._settled = True
        index.complete = not found.missing
        if found:
            counts = {
                "missing": len(found.missing),
                "orphaned": len(found.orphaned),
                "doubled": len(found.doubled),
            }
            logger.info("index differs from the ledger", extra=counts)

    def _note_complete(self) -> None:
        if self._index is not None and self._settled and not self._index.complete:
            depth, _ = self._ledger.outbox_depth()
            if depth == 0:
                self._index.drop_stale()
                self._index.complete = True

    def _drop_old_words(self) -> None:
        self._retention_at = time.monotonic() + RETENTION_S
        self._ledger.drop_old_words(self._keep_days)

    def _retry_deferred(self, *, due_only: bool = True) -> None:
        """Tries turns again that the database refused, in order, until it refuses one."""
        while self._deferred:
            if due_only and self._deferred[0][0] > time.monotonic():
                return
            _, job = self._deferred.popleft()
            before = len(self._deferred)
            self._do(job)
            if len(self._deferred) > before:
                # Back to the front: turns are recorded in the order they were said.
                self._deferred.rotate(1)
                return

    def _drain(self, deadline: float) -> bool:
        """Works until nothing is due; returns whether nothing waits at all."""
        self._retry_deferred(due_only=False)
        while self._deferred and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            self._retry_deferred(due_only=False)
        if self._worker is None:
            return not self._deferred and self._ledger.outbox_depth()[0] == 0
        if not self._settled:
            self._settle()
        while self._worker.apply() and time.monotonic() < deadline:
            pass
        self._worker.finish_erasures()
        self._note_complete()
        return not self._deferred and self._ledger.outbox_depth()[0] == 0

    def _guarded(self, fn: Callable[[], Any]) -> None:
        try:
            fn()
        except Exception as error:  # the thread must live as long as the process
            logger.error(
                "the recorder's own work failed",
                extra={"error": type(error).__name__},
                exc_info=error,
            )
            telemetry.note_fault("recorder")


_STOP = _Job(lambda: None, Future())


def _fail(future: Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
