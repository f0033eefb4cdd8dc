"""The shipped models, opened once a test run instead of once a service.

A session of onnxruntime keeps nothing of what it was asked, and several services of a process may
ask one at a time. Opening one and comparing its file's SHA-256 takes as long as many tests do. A
file that a test changed is another file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import pytest

_Opened = TypeVar("_Opened")


def share_models(patch: pytest.MonkeyPatch) -> None:
    """Judges and embedders that are opened from now on share their sessions."""
    from bmo.index import embedders
    from bmo.judge import judge

    for name in ("checked_bytes", "open_session"):
        once = _once_a_file(getattr(judge, name))
        for user in (judge, embedders):
            patch.setattr(user, name, once)


def _once_a_file(opens: Callable[[Path, str], _Opened]) -> Callable[[Path, str], _Opened]:
    @lru_cache
    def opened(path: Path, word: str, size: int, changed_ns: int) -> _Opened:
        return opens(path, word)

    def once(path: Path, word: str) -> _Opened:
        if not path.is_file():
            return opens(path, word)  # which says what is wrong
        stat = path.stat()
        return opened(path, word, stat.st_size, stat.st_mtime_ns)

    return once
