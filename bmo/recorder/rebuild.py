"""Making the index anew from the ledger."""

from __future__ import annotations

from collections.abc import Callable

from bmo.index import MemoryIndex
from bmo.ledger import Ledger
from bmo.recorder.agreement import compare

Progress = Callable[[int, int], None]
"""(entries done, entries in all)"""


def rebuild(
    index: MemoryIndex,
    ledger: Ledger,
    progress: Progress | None = None,
    *,
    fresh: bool = True,
) -> int:
    """Fills the collection from the ledger's live facts.

    It can be interrupted at any point: called again it goes on where it stopped.

    Args:
        index: The index to fill; nobody else writes to it meanwhile.
        ledger: Where the facts are.
        progress: Called after each fact.
        fresh: Empty the collection first (unless an interrupted rebuild is resumed); False only
            adds what is missing and removes what is too much.

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
    for user_id, fact_id in found.orphaned:
        index.delete_fact(user_id, fact_id)
    wanted = [*found.missing, *found.doubled]
    done = len(ledger.indexable()) - len(wanted)
    total = done + len(wanted)
    for user_id, fact_id in wanted:
        # Asked at each one: a fact may end or be erased while a long rebuild runs.
        if ledger.is_live(user_id, fact_id):
            fact = ledger.facts_by_id(user_id, [fact_id])[0]
            index_id = index.add(fact, ledger.gate_metadata(user_id, fact.turn_id))
            ledger.note_index_id(user_id, fact_id, index_id)
        done += 1
        if progress is not None:
            progress(done, total)
    index.drop_stale()
    ledger.remember(mark, None)
    index.complete = True
    return len(wanted)
