"""Removing an embedded store that cannot be opened, so that it can be made anew."""

from __future__ import annotations

import shutil

from bmo.index.embedders import EmbedderUnavailable
from bmo.index.errors import IndexDamaged, IndexUnavailable
from bmo.index.memory_index import MemoryIndex
from bmo.index.store_lock import StoreLock
from bmo.settings import Settings


def discard_damaged(settings: Settings) -> bool:
    """Removes the embedded store if its files cannot be read; the ledger has all that was in it.

    Args:
        settings: ``BMO_HOME`` says where it is; a server's store is left alone.

    Returns:
        Whether there was one that is removed now.

    Raises:
        StoreInUse: Another process took the store in between.
    """
    if settings.qdrant_url is not None:
        return False
    try:
        MemoryIndex.open(settings).close()
    except IndexDamaged as damaged:
        lock = StoreLock(damaged.directory.parent)
        try:
            shutil.rmtree(damaged.directory)
        finally:
            lock.release()
        return True
    except (IndexUnavailable, EmbedderUnavailable):
        return False  # in use, no room, no model: whoever opens it next says so
    return False
