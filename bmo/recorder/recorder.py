"""Recorder: what is said goes through here into the ledger, and from there into the index."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from bmo import telemetry
from bmo.index import MemoryIndex
from bmo.ledger import Ledger, Recorded, words_used
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.inference_thread import InferenceThread
from bmo.recorder.near_facts import NearFacts
from bmo.recorder.upkeep import Upkeep
from bmo.recorder.writer_thread import Job, WriterThread
from bmo.settings import Settings, checked_user_id
from bmo.turn import Decision, Recall, Turn, utc_now

if TYPE_CHECKING:
    from opentelemetry.context import Context


OneByOne = Callable[[Callable[[], Any]], Callable[[], Any]]
"""Makes a call one that waits while another thread of memory computes (``Turnstile.through``)."""

INFERENCE_FLUSH_S = 6.0
INFERENCE_CLOSE_S = 2.0
"""How long a flush, and closing, wait for Mem0's extraction, in seconds; the rest goes on later."""

_KNOWN_TURNS = 1000

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
        one_by_one: OneByOne | None = None,
    ) -> None:
        """Use ``open``."""
        self._one_by_one = one_by_one
        self._ledger = ledger
        self._index = index
        self._raw = settings.mem0_setting == "NORMAL"
        self._mode = settings.effective_mode
        self._bounded = BoundedCalls("bmo-recorder-index")
        self._near: NearFacts | None = None
        self._inference: InferenceThread | None = None
        if index is not None:
            self._near = NearFacts(index, self._bounded)
            if index.inference is not None:
                self._inference = InferenceThread(ledger, index)
        upkeep = Upkeep(
            ledger,
            index,
            self._bounded,
            keep_days=settings.bmo_keep_turns_days,
            raw_elsewhere=self._inference is not None,
        )
        self._upkeep = upkeep
        round_of_it = one_by_one(upkeep.catch_up) if one_by_one is not None else None
        self._writer = WriterThread(upkeep, round_of_it)
        self._turn_users: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        ledger: Ledger,
        index: MemoryIndex | None,
        settings: Settings,
        *,
        one_by_one: OneByOne | None = None,
    ) -> Recorder:
        """Starts the thread.

        Args:
            ledger: Where turns are recorded.
            index: What follows it; None leaves everything for it in the outbox.
            settings: ``MEM0_SETTING=NORMAL`` sends the turns' words to the index as they are.
            one_by_one: Where the thread waits while others compute; None: nowhere.
        """
        recorder = cls(ledger, index, settings, one_by_one)
        recorder._writer.start()
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
        return self._put(lambda: self._record(turn, decision, asked_in), keep=True)

    def settle(
        self, user_id: str, turn_id: str, decision: Decision, *, whole: bool
    ) -> Future[Recorded | None]:
        """Writes what a model made of a turn that waited for it; returns at once.

        Returns:
            As ``Ledger.settle``; failed when the database would not take it: the turn waits on.
        """
        return self._put(
            lambda: self._ledger.settle(
                user_id, turn_id, decision, whole=whole, near=self._near, mode=self._mode
            )
        )

    def restate(self, turn: Turn, decision: Decision) -> Future[None]:
        """Writes what the gate said of a recorded turn afterwards; returns at once."""
        return self._put(lambda: self._restate_turn(turn, decision))

    def call(self, fn: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Runs ``fn`` on the thread, after everything submitted before."""
        return self._writer.put(Job(lambda: fn(*args, **kwargs), Future()))

    def note_reply(
        self, turn_id: str, text: str, given: Recall | None = None, *, at: datetime | None = None
    ) -> None:
        """Writes what the assistant said after a turn, and which memories it used.

        Args:
            turn_id: A turn submitted here.
            text: The assistant's words.
            given: What was recalled for the turn; memories whose words are in the reply count as
                used, and as helpful.
            at: The session's moment; None is now.
        """
        user_id = self._user_of(turn_id)
        if user_id is None:
            return
        self._put(lambda: self._ledger.note_reply(user_id, turn_id, text))
        shown = tuple(memory.fact for memory in given.memories) if given is not None else ()

        def used() -> list[str]:
            """Found out on the thread: this is called from event loops."""
            return [fact.id for fact in shown if words_used(fact, text)]

        if shown:
            self._note_helpfulness(user_id, turn_id, used, True, at, "reply")

    def note_wrong(
        self, turn_id: str, fact_ids: Sequence[str], *, at: datetime | None = None
    ) -> None:
        """Writes that the user said of memories that they are wrong.

        Args:
            turn_id: The turn they were recalled for, submitted here.
            fact_ids: The memories.
            at: The session's moment; None is now.
        """
        user_id = self._user_of(turn_id)
        if user_id is not None and fact_ids:
            self._note_helpfulness(user_id, turn_id, lambda: fact_ids, False, at, "correction")

    def note_judged(
        self, user_id: str, turn_id: str, fact_ids: Sequence[str], helpful: bool, at: datetime
    ) -> None:
        """Writes what the user said when asked whether memories helped with a turn."""
        self._note_helpfulness(user_id, turn_id, lambda: fact_ids, helpful, at, "user")

    def _note_helpfulness(
        self,
        user_id: str,
        turn_id: str,
        which: Callable[[], Sequence[str]],
        helpful: bool,
        at: datetime | None,
        source: str,
    ) -> None:
        moment = at or utc_now()
        self._put(
            lambda: self._ledger.note_helpfulness(
                user_id, which(), turn_id=turn_id, helpful=helpful, at=moment, source=source
            )
        )

    def _user_of(self, turn_id: str) -> str | None:
        """Whose a turn is that was submitted here lately."""
        with self._lock:
            return self._turn_users.get(turn_id)

    def note_recall(self, turn: Turn, recall: Recall) -> None:
        """Writes what was recalled for a turn."""
        checked_user_id(turn.user_id)
        self._put(lambda: self._ledger.record_recall(turn, recall))

    def flush(self, timeout_s: float) -> bool:
        """Waits until everything submitted is in the ledger, and in the index if it is up.

        Returns:
            Whether the outbox is empty and nothing waits.
        """
        deadline = time.monotonic() + timeout_s
        done = self._writer.put(Job(lambda: self._writer.drain(deadline), Future()))
        try:
            drained = bool(done.result(timeout_s))
        except TimeoutError:
            return False
        # On the caller's thread: the turns of others are recorded meanwhile.
        self._upkeep.finish_erasures(deadline)
        if self._inference is None:
            return drained
        self._inference.flush(min(deadline, time.monotonic() + INFERENCE_FLUSH_S))
        return not self._writer.deferred and self._ledger.outbox_depth()[0] == 0

    @property
    def index_problem(self) -> str:
        """Why the index cannot be used now, or ""."""
        return self._index.unavailable if self._index is not None else "no index"

    def close(self, timeout_s: float = 30.0) -> None:
        """Does what was submitted, brings the index up to date if it is up, and stops.

        Safe to call twice. What the index has not learnt stays in the outbox.
        """
        if not self._writer.close(timeout_s):
            return
        self._bounded.close()
        if self._inference is not None:
            self._inference.close(INFERENCE_CLOSE_S)

    def join(self) -> None:
        """Waits for its last thread, which rewrites files, after the index was closed."""
        self._upkeep.join()

    def _put(self, write: Callable[[], Any], *, keep: bool = False) -> Future[Any]:
        """Hands what is written of a turn to the thread."""
        if self._one_by_one is not None:
            write = self._one_by_one(write)
        return self._writer.put(Job(write, Future(), keep=keep))

    # -- on the thread -------------------------------------------------------------------------

    def _record(self, turn: Turn, decision: Decision, asked_in: Context | None) -> Recorded:
        began = time.perf_counter()
        failed = True
        try:
            with telemetry.memory_span("bmo.write", parent=asked_in) as span:
                recorded = self._ledger.record(
                    turn, decision, near=self._near, raw=self._raw, mode=self._mode
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
        if self._inference is not None:
            self._inference.wake()
        return recorded

    def _restate_turn(self, turn: Turn, decision: Decision) -> None:
        self._ledger.write_passes(self._ledger.compare_passes([(turn, decision)]), utc_now())
