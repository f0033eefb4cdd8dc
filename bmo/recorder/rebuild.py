"""Making the index anew from the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from bmo.index import MemoryIndex
from bmo.ledger import Ledger
from bmo.recorder.agreement import compare

BATCH = 64
"""Entries written together: the store's files are flushed once for all of them."""

Progress = Callable[[int, int], None]
"""(entries done, entries in all)"""


def rebuild(
    index: MemoryIndex,
    ledger: Ledger,
    progress: Progress | None = None,
    *,
    fresh: bool = True,
    batch: int = BATCH,
) -> int:
    """Fills the collection from the ledger's live facts.

    It can be interrupted at any point: called again it goes on where it stopped.

    Args:
        index: The index to fill; nobody else writes to it meanwhile.
        ledger: Where the facts are.
        progress: Called after each batch.
        fresh: Empty the collection first (unless an interrupted rebuild is resumed); False only
            adds what is missing and removes what is too much.
        batch: Entries written together.

    Returns:
        Number of entries written.

    Raises:
        IndexUnavailable: The store cannot be reached.
    """
    mark = f"rebuild:{index.collection}"
    if fresh and ledger.remembered(mark) is None:
        ledger.remember(mark, "started")
        index.drop()
    found = compare(ledger, index)
    for user_id, fact_id in (*found.orphaned, *found.doubled):
        index.delete_fact(user_id, fact_id)
    wanted = sorted([*found.missing, *found.doubled])
    done = len(ledger.indexable()) - len(wanted)
    total = done + len(wanted)
    for user_id, ids in _batches(wanted, batch):
        index.confirm_owner()
        # Asked at each one: a fact may end or be erased while a long rebuild runs.
        live = ledger.live_by_ids(user_id, ids)
        said = ledger.gate_metadata(user_id, [fact.turn_id for fact in live])
        index_ids = index.add_many([(fact, said[fact.turn_id]) for fact in live])
        ledger.note_index_ids(dict(zip((fact.id for fact in live), index_ids, strict=True)))
        done += len(ids)
        if progress is not None:
            progress(done, total)
    index.drop_stale()
    ledger.remember(mark, None)
    index.complete = True
    return len(wanted)


def _batches(wanted: Sequence[tuple[str, str]], size: int) -> Iterator[tuple[str, list[str]]]:
    """(user, some of his facts), for (user, fact) pairs in order."""
    for user_id, pairs in groupby(wanted, key=lambda pair: pair[0]):
        ids = [fact_id for _, fact_id in pairs]
        for start in range(0, len(ids), size):
            yield user_id, ids[start : start + size]
