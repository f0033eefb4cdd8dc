"""Applies the ledger's outbox to the index: in order, once, again after failures."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import TypeVar

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.ids import new_id
from bmo.index import (
    EmbedderUnavailable,
    IndexUnavailable,
    InferenceFailed,
    MemoryIndex,
    first_line,
)
from bmo.ledger import Ledger, OutboxItem, OutboxOp, Written
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.entry_writing import write_entries
from bmo.turn import Turn

BATCH = 50
"""Entries leased at a time."""

INFERENCE_ATTEMPTS = 10
"""Failures of Mem0's extraction (some 10 minutes) after which a turn is stored as it was said."""

SHOWN_BEFORE = 10
"""Turns before one that Mem0's extraction is shown with it."""

WRITE_TIMEOUT_S = 10.0
"""Longest wait for one entry, in seconds; then it is tried again later."""

RENEW_S = 2.0
"""How often a worker says that it is still at work on what it leased, in seconds."""

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class OutboxWorker:
    """What one recorder does with the outbox. Used from one thread.

    Every step may be repeated after a crash: an add looks for an entry of the fact first, a
    delete of what is gone is fine, and an entry leaves the outbox only after it was applied.
    """

    def __init__(
        self,
        ledger: Ledger,
        index: MemoryIndex,
        bounded: BoundedCalls,
        *,
        ops: Collection[OutboxOp] | None = None,
        timeout_s: float = WRITE_TIMEOUT_S,
    ) -> None:
        """Works for one ledger and one index.

        Args:
            ledger: Whose outbox.
            index: What learns of it.
            bounded: Gives up calls to the index that hang.
            ops: Only these operations; None is all.
            timeout_s: Longest wait for one entry, in seconds.
        """
        self._bounded = bounded
        self._timeout_s = timeout_s
        self._renewed_at = math.inf  # nothing is leased
        self._ops = ops
        self._ledger = ledger
        self._index = index
        self._owner = new_id()

    def apply(self, limit: int = BATCH) -> int:
        """Applies entries that are due.

        Returns:
            How many were applied; 0 when nothing is due or the index cannot be reached.
        """
        self._renewed_at = math.inf
        try:
            if self._index.unavailable and not self.reconnect():
                return 0
            self._in_time(self._index.confirm_owner)
        except IndexUnavailable as error:
            logger.warning("index unavailable", extra={"error": str(error)})
            return 0
        items = self._ledger.claim_outbox(self._owner, limit, ops=self._ops)
        self._renewed_at = time.monotonic()
        applied = 0
        for position, item in enumerate(items):
            began = time.perf_counter()
            try:
                self._in_time(partial(self._apply, item))
                applied += 1
                telemetry.note_write("index", time.perf_counter() - began)
            except (IndexUnavailable, EmbedderUnavailable) as error:
                logger.warning("facts wait in the outbox", extra={"error": str(error)})
                telemetry.note_write("index", time.perf_counter() - began, failed=True)
                self._ledger.put_off(item, str(error))
                for rest in items[position + 1 :]:
                    self._ledger.put_off(rest, "waits behind another")
                return applied
            except InferenceFailed as error:
                logger.warning("the turn waits in the outbox", extra={"error": str(error)})
                self._ledger.put_off(item, str(error))
            except (OSError, DBAPIError) as error:
                # A disk that is full, say: no traceback says more.
                logger.warning(
                    "an outbox entry failed", extra={"entry": item.id, "error": first_line(error)}
                )
                telemetry.note_write("index", time.perf_counter() - began, failed=True)
                self._ledger.put_off(item, type(error).__name__)
            except Exception as error:  # one bad entry must not hold up the others
                logger.exception("an outbox entry failed", extra={"entry": item.id, "op": item.op})
                telemetry.note_write("index", time.perf_counter() - began, failed=True)
                self._ledger.put_off(item, type(error).__name__)
        return applied

    def reconnect(self, *, at_once: bool = False) -> bool:
        """Has the index tried again, and with it what was put off when it failed.

        Args:
            at_once: Also while it is left alone for a while.

        Returns:
            Whether it can be used.
        """
        try:
            if self._index.unavailable:
                if not self._in_time(partial(self._index.try_again, at_once=at_once)):
                    return False
            self._ledger.hurry_outbox(ops=self._ops)
        except IndexUnavailable as error:
            logger.warning("index unavailable", extra={"error": str(error)})
            return False
        return True

    def release(self) -> None:
        """Gives this worker's leases back."""
        self._ledger.release_outbox(self._owner)

    def _in_time(self, call: Callable[[], _T]) -> _T:
        self._renew()
        return self._bounded.call(call, self._timeout_s, self._renew)

    def _renew(self) -> None:
        """Keeps what it leased while it works: a dead worker's is taken over soon."""
        now = time.monotonic()
        if now >= self._renewed_at + RENEW_S:
            self._ledger.renew_leases(self._owner)
            self._renewed_at = now

    def _apply(self, item: OutboxItem) -> None:
        if item.op in ("add", "update"):
            self._ledger.applied(item, *self._write(item))
        elif item.op == "raw":
            self._write_raw(item)
            self._ledger.applied(item)
        elif item.op == "delete":
            if not self._ledger.live_among([item.fact_id]):
                self._index.delete_fact(item.user_id, item.fact_id)
            self._ledger.applied(item)
        else:
            self._ledger.purged(item, self._purge(item))

    def _write(self, item: OutboxItem) -> list[Written]:
        """Writes a fact if it is still live; what ended meanwhile has no place in the index."""
        with self._ledger.one_view():
            found = self._ledger.live_by_ids(item.user_id, [item.fact_id])
            said = self._ledger.gate_metadata(item.user_id, [fact.turn_id for fact in found])
        facts = [(fact, said[fact.turn_id]) for fact in found]
        return write_entries(self._ledger, self._index, facts) if facts else []

    def _write_raw(self, item: OutboxItem) -> None:
        for said in self._ledger.turns(item.user_id, turn_ids=[item.fact_id]):
            turn = Turn(
                text=said.text,
                user_id=said.user_id,
                session_id=said.session_id,
                at=said.at,
                id=said.id,
            )
            if self._index.inference is None:
                self._index.add_raw(turn, said.text)
            elif item.attempts < INFERENCE_ATTEMPTS:
                before = self._ledger.said_before(turn, SHOWN_BEFORE)
                self._index.add_inferred(turn, said.text, before)
            else:
                logger.warning("Mem0's extraction failed too often; stored as it was said")
                self._index.add_raw(turn, said.text)
            if not any(one.text for one in self._ledger.turns(item.user_id, turn_ids=[turn.id])):
                # Erased while it was being stored: its bytes go as well.
                self._index.remove_turn(turn)
                self._index.compact()

    def _purge(self, item: OutboxItem) -> dict[str, int]:
        if item.fact_id == "*":
            return {"index": self._index.delete_user(item.user_id)}
        return {"index": self._index.delete_fact(item.user_id, item.fact_id)}
