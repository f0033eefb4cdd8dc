"""The files of a home, without the holes in them.

Qdrant Edge sets aside 160 MB for a few memories, and nearly all of it was never written: read or
copied as it looks, it takes longer than what is tested.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def files_with(home: Path, word: str | bytes) -> list[Path]:
    """Files below ``home`` that have ``word`` in their raw bytes, in any case of its letters."""
    wanted = (word if isinstance(word, bytes) else word.encode()).lower()
    return sorted(
        file
        for file in home.rglob("*")
        if file.is_file() and any(wanted in part.lower() for _, part in written(file))
    )


def copy_home(home: Path, to: Path) -> None:
    """Copies a closed home to a folder that is not there yet."""
    shutil.copytree(home, to, copy_function=_copy)


def written(file: Path) -> Iterator[tuple[int, bytes]]:
    """The parts of a file that are no holes, with where each begins."""
    with file.open("rb") as opened:
        number = opened.fileno()
        end, size = 0, os.fstat(number).st_size
        while end < size:
            try:
                start = os.lseek(number, end, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # a hole up to the end
                    return
                raise
            end = os.lseek(number, start, os.SEEK_HOLE)
            yield start, os.pread(number, end - start, start)


def _copy(source: str, to: str) -> None:
    with open(to, "wb") as copied:
        for start, part in written(Path(source)):
            copied.seek(start)
            copied.write(part)
        copied.truncate(os.stat(source).st_size)
    shutil.copystat(source, to)
