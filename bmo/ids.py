"""Ids of turns, facts and visits: random, and drawn many at a time."""

from __future__ import annotations

import os
import sys
import uuid
from collections import deque

_IDS_AT_ONCE = 64
_ids: deque[str] = deque()


def new_id() -> str:
    """A random 32-character hexadecimal id (a UUID, version 4). Safe from any thread.

    Python gives the interpreter away to ask the system for randomness, and an event loop under load
    waits milliseconds to get it back: it is asked for many ids at once.
    """
    try:
        return _ids.pop()
    except IndexError:
        random = os.urandom(16 * _IDS_AT_ONCE)
        first, *others = (
            uuid.UUID(bytes=random[at : at + 16], version=4).hex for at in range(0, len(random), 16)
        )
        _ids.extend(others)
        return first


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_ids.clear)  # a child would give out the same ids
