"""Making the index anew from the ledger."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bmo.index import MemoryIndex
from bmo.ledger import Ledger
from bmo.recorder.comparing import Comparing

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
    """Brings the collection to what the ledger says, on all processors.

    An entry that says what its memory says is kept, and with it its vector: the encoder, whose name
    the collection has, would make the same. Recall goes on meanwhile, and so may workers.

    Args:
        index: The index.
        ledger: Where the facts are.
        progress: Called after each piece.
        fresh: Lay the collection out anew as well.
        piece: Memories after which it is written down how far it got: interrupted, a worker goes
            on there.

    Returns:
        Number of entries written.

    Raises:
        IndexUnavailable: The store cannot be reached.
        EmbedderUnavailable: There are no vectors now.
    """
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="bmo-rebuild") as pool:
        work = Comparing(ledger, index, piece=piece, batch=BATCH, beside=pool)
        try:
            more = work.begin(now=True, again=True, steal=True)
            while more:
                more = work.go_on()
                if progress is not None:
                    progress(work.state.looked, work.state.live)
        finally:
            work.leave()
    if fresh:
        index.lay_out()
    return work.written
