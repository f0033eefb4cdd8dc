"""One owner for an embedded store.

Qdrant Edge notices a second owner too late: opening a shard that another process has open reads
its files, and with data not yet flushed the first owner's next flush failed ("tracker_journal.dat
is shorter than expected", qdrant-edge-py 0.9.0). So the lock is taken before the store is touched.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from bmo.index.errors import IndexUnavailable, StoreInUse


class StoreLock:
    """An exclusive lock on a directory, held until ``release`` or the end of the process."""

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
            raise StoreInUse(
                f"The memory in {directory.parent} is in use by {self._who()}; stop it, set "
                "BMO_HOME to another directory, or set QDRANT_URL to share a Qdrant server."
            ) from None
        self._owner.write_text(str(os.getpid()), encoding="ascii")

    def release(self) -> None:
        """Gives the lock back. Safe to call twice."""
        if self._file is not None:
            self._owner.unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def _who(self) -> str:
        try:
            return f"process {int(self._owner.read_text(encoding='ascii'))}"
        except (OSError, ValueError):
            return "another process"
