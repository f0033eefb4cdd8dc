"""Applies the ledger's outbox to the index: in order, once, again after failures."""

from __future__ import annotations

import logging

from sqlalchemy.exc import DBAPIError

from bmo.index import EmbedderUnavailable, IndexUnavailable, MemoryIndex
from bmo.ledger import Ledger, OutboxItem
from bmo.turn import Turn, new_id

BATCH = 50
"""Entries leased at a time."""

logger = logging.getLogger(__name__)


class OutboxWorker:
    """What one recorder does with the outbox. Used from one thread.

    Every step may be repeated after a crash: an add looks for an entry of the fact first, a
    delete of what is gone is fine, and an entry leaves the outbox only after it was applied.
    """

    def __init__(self, ledger: Ledger, index: MemoryIndex) -> None:
        """Works for one ledger and one index."""
        self._ledger = ledger
        self._index = index
        self._owner = new_id()

    def apply(self, limit: int = BATCH) -> int:
        """Applies entries that are due.

        Returns:
            How many were applied; 0 when nothing is due or the index cannot be reached.
        """
        if self._index.unavailable and not self._index.try_again():
            return 0
        items = self._ledger.claim_outbox(self._owner, limit)
        applied = 0
        for position, item in enumerate(items):
            try:
                self._apply(item)
                applied += 1
            except (IndexUnavailable, EmbedderUnavailable) as error:
                logger.warning("index unavailable, facts wait in the outbox: %s", error)
                self._ledger.put_off(item, str(error))
                for rest in items[position + 1 :]:
                    self._ledger.put_off(rest, "waits behind another")
                return applied
            except Exception as error:  # one bad entry must not hold up the others
                logger.exception("outbox entry %s (%s) failed", item.id, item.op)
                self._ledger.put_off(item, type(error).__name__)
        return applied

    def finish_erasures(self) -> int:
        """Rewrites files that may still hold the bytes of what was erased.

        Returns:
            Number of receipts completed.
        """
        ids = self._ledger.erasures_to_finish()
        if not ids:
            return 0
        try:
            stale = self._index.drop_stale()
            compacted = self._index.compact()
            self._ledger.vacuum()
        except (IndexUnavailable, DBAPIError, OSError) as error:
            logger.warning("erasure waits for its files to be rewritten: %s", error)
            return 0
        places = {"ledger_files": 1, "index_files": int(compacted), "stale_collections": stale}
        self._ledger.finish_erasures(ids, {place: n for place, n in places.items() if n})
        return len(ids)

    def release(self) -> None:
        """Gives this worker's leases back."""
        self._ledger.release_outbox(self._owner)

    def _apply(self, item: OutboxItem) -> None:
        if item.op in ("add", "update"):
            self._ledger.applied(item, index_id=self._write(item))
        elif item.op == "raw":
            self._write_raw(item)
            self._ledger.applied(item)
        elif item.op == "delete":
            if not self._ledger.is_live(item.user_id, item.fact_id):
                self._index.delete_fact(item.user_id, item.fact_id, purge=True)
            self._ledger.applied(item)
        else:
            self._ledger.purged(item, self._purge(item))

    def _write(self, item: OutboxItem) -> str | None:
        """Writes a fact if it is still live; what ended meanwhile has no place in the index."""
        if not self._ledger.is_live(item.user_id, item.fact_id):
            return None
        fact = self._ledger.facts_by_id(item.user_id, [item.fact_id])[0]
        return self._index.add(fact, self._ledger.gate_metadata(fact.user_id, fact.turn_id))

    def _write_raw(self, item: OutboxItem) -> None:
        for said in self._ledger.turns(item.user_id, turn_ids=[item.fact_id]):
            turn = Turn(
                text=said.text,
                user_id=said.user_id,
                session_id=said.session_id,
                at=said.at,
                id=said.id,
            )
            self._index.add_raw(turn, said.text)

    def _purge(self, item: OutboxItem) -> dict[str, int]:
        if item.fact_id == "*":
            return self._index.delete_user(item.user_id)
        removed = self._index.delete_fact(item.user_id, item.fact_id, purge=True)
        rows = self._index.purge_history([item.index_id]) if item.index_id else 0
        return {"index": removed, "mem0_history": rows + removed}
