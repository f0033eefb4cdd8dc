"""Pages of files that are given back: nothing in them is lost, and no other file is touched."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import pytest

from bmo.index.free_pages import release_file_pages

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux is asked"),
]

SIZE = 64 * mmap.PAGESIZE


def mapped(path: Path) -> mmap.mmap:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(range(256)) * (SIZE // 256))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


def test_pages_of_files_in_the_named_folders_are_asked_back(tmp_path: Path) -> None:
    with mapped(tmp_path / "a b" / "shard" / "wal" / "open-1") as log:
        with mapped(tmp_path / "a b" / "shard" / "vectors" / "wal") as vectors:
            log[5:8] = b"new"
            asked = release_file_pages(tmp_path / "a b", ("wal", "old"))
            assert asked in (SIZE, 0)  # 0: a kernel before 5.4
            assert log[:10] == b"\x00\x01\x02\x03\x04new\x08\x09"
            assert vectors[:3] == b"\x00\x01\x02"
            assert release_file_pages(tmp_path / "a b", ("segments",)) == 0
            assert release_file_pages(tmp_path / "other", ("wal",)) == 0
