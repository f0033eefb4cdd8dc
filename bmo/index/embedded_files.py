"""The files of an embedded store: one owner, room on the disk, and stores that nobody uses.

Qdrant Edge notices a second owner too late: opening a shard that another process has open reads
its files, and with data not yet flushed the first owner's next flush failed ("tracker_journal.dat
is shorter than expected", qdrant-edge-py 0.9.0). So the lock is taken before the store is touched.

It writes through files mapped into memory and made longer than they are full. Where the disk is
full when such a page is first written, the system ends the process (SIGBUS): no error is raised
that could be caught, so the room is looked at before.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import IO, Final

from bmo.index.errors import IndexUnavailable, StoreInUse

LEAST_FREE: Final = 64 << 20
"""Bytes that must be free: a new shard takes some 20 MB, its files grow by up to 32 MB."""


class StoreLock:
    """An exclusive lock on a directory, held until ``close`` or the end of the process."""

    def __init__(self, directory: Path) -> None:
        """Takes the lock.

        Args:
            directory: Made if it is not there.

        Raises:
            StoreInUse: Another owner has it; the sentence names its process id if it is known.
            IndexUnavailable: The directory cannot be written.
        """
        # Not at import: portalocker looks for a writable temporary directory then.
        import portalocker

        self._owner = directory / "owner.pid"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] | None = (directory / "owner.lock").open("a+", encoding="ascii")
        except OSError as error:
            raise IndexUnavailable(
                f"The index directory {directory} cannot be written ({error.strerror}); "
                "set BMO_HOME to a directory you may write to."
            ) from None
        flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
        try:
            portalocker.lock(self._file, flags)
        except portalocker.exceptions.LockException:
            self._file.close()
            raise StoreInUse(self._in_use(directory.parent)) from None
        try:
            self._owner.write_text(str(os.getpid()), encoding="ascii")
        except OSError as error:
            self._file.close()
            raise IndexUnavailable(
                f"The index directory {directory} cannot be written ({error.strerror}): make room "
                "on its disk."
            ) from None

    def close(self) -> None:
        """Gives the lock back. Safe to call twice."""
        if self._file is not None:
            self._owner.unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def _in_use(self, home: Path) -> str:
        try:
            owner = int(self._owner.read_text(encoding="ascii"))
        except (OSError, ValueError):
            owner = 0
        if owner == os.getpid():
            return (
                f"The memory in {home} is in use by process {owner}, this one; use the "
                "MemoryService that has it open, or close it first."
            )
        who = f"process {owner}" if owner else "another process"
        return (
            f"The memory in {home} is in use by {who}; stop it, set BMO_HOME to another "
            "directory, or set QDRANT_URL to share a Qdrant server."
        )


def check_room(directory: Path, more: int = 0) -> None:
    """Looks whether there is room to write.

    Args:
        directory: Below which is written; it, or one above it, exists.
        more: Bytes that are needed beside ``LEAST_FREE``.

    Raises:
        IndexUnavailable: There is too little; the sentence says how much and where.
    """
    place = directory
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < LEAST_FREE + more:
        raise IndexUnavailable(
            f"The disk of {directory} is full ({free >> 20} MB free, {LEAST_FREE + more >> 20} MB "
            "needed); free some space, or set BMO_HOME to a directory on another disk."
        )


def bytes_of(directory: Path) -> int:
    """What the files of a directory take on the disk, in bytes."""
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())


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
                lock.close()
    return removed


def _belongs(name: str, collection: str) -> bool:
    """Whether a directory is the collection's own: what it is rewritten into stands beside it."""
    return name == collection or name.startswith(f"{collection}.")


def remove_history_files(directory: Path) -> None:
    """Removes the files that earlier versions let Mem0 write.

    Args:
        directory: Mem0's own directory in ``BMO_HOME``.
    """
    for file in directory.glob("history-*.db*"):
        # On Windows a process of an earlier version may have it open: the next start removes it.
        with contextlib.suppress(PermissionError):
            file.unlink(missing_ok=True)
