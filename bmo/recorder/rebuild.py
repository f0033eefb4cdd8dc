"""Making the index anew from the ledger."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bmo.index import MemoryIndex
from bmo.ledger import Ledger
from bmo.recorder.comparing import Comparing, comparison_of

PIECE = 1024
"""Memories after which it is written down how far it got."""

BATCH = 64
"""Entries written together."""

Progress = Callable[[int, int], None]
"""(memories looked for, memories in all)"""


def rebuild(
    index: MemoryIndex,
    ledger: Ledger,
    progress: Progress | None = None,
    *,
    fresh: bool = True,
    piece: int = PIECE,
) -> int:
    """Fills the collection from the ledger's live facts, on all processors.

    It can be interrupted at any point: called again it goes on where it stopped, and so does a
    worker that runs.

    Args:
        index: The index to fill. Workers that write to it meanwhile do no harm.
        ledger: Where the facts are.
        progress: Called after each piece.
        fresh: Empty the collection first (unless an interrupted rebuild is resumed); False only
            adds what is missing and removes what is too much.
        piece: Memories after which it is written down how far it got.

    Returns:
        Number of entries written.

    Raises:
        IndexUnavailable: The store cannot be reached.
        EmbedderUnavailable: There are no vectors now.
    """
    begun = comparison_of(ledger, index.collection)
    resumed = fresh and begun.anew and bool(begun.stage)
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="bmo-rebuild") as pool:
        work = Comparing(ledger, index, piece=piece, batch=BATCH, beside=pool)
        try:
            more = work.begin(now=True, again=not resumed, steal=True, anew=fresh)
            if fresh and not resumed:
                index.drop()
            while more:
                more = work.go_on()
                if progress is not None:
                    progress(work.state.looked, work.state.live)
        finally:
            work.leave()
    return work.written
