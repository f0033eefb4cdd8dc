"""Room on the disk of an embedded store.

Qdrant Edge writes through files mapped into memory and made longer than they are full. Where the
disk is full when such a page is first written, the system ends the process (SIGBUS): no error is
raised that could be caught, so the room is looked at before.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from bmo.index.errors import IndexUnavailable

LEAST_FREE: Final = 64 << 20
"""Bytes that must be free: a new shard takes some 20 MB, its files grow by up to 32 MB."""


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
