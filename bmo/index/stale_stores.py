"""Embedded stores that are no longer used: of another embedder, or of another backend."""

from __future__ import annotations

import shutil
from pathlib import Path

from bmo.index.errors import IndexUnavailable
from bmo.index.store_lock import StoreLock


def drop_stale_stores(home: Path, backend: str, collection: str) -> int:
    """Removes every embedded collection below ``home`` but one.

    Args:
        home: ``BMO_HOME``.
        backend: Which backend is in use; its lock is the caller's.
        collection: Which of its collections is in use.

    Returns:
        Number of collections removed; those of a running process are left alone.
    """
    removed = 0
    for other in ("edge", "local"):
        directory = home / f"qdrant-{other}"
        if not directory.is_dir():
            continue
        try:
            lock = None if other == backend else StoreLock(directory)
        except IndexUnavailable:
            continue
        try:
            for stale in directory.glob("bmo-*"):
                if other != backend or not _belongs(stale.name, collection):
                    shutil.rmtree(stale)
                    removed += 1
        finally:
            if lock is not None:
                lock.release()
    return removed


def _belongs(name: str, collection: str) -> bool:
    """Whether a directory is the collection's own: what it is rewritten into stands beside it."""
    return name == collection or name.startswith(f"{collection}.")
