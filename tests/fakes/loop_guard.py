"""A stall monitor: notes what must never run on an event loop's thread, when it does.

Two nets: the methods of memory's parts that touch a disk, a store or a model (whatever they cost
today), and Python's own audit events of blocking calls made by BMO's code.
"""

from __future__ import annotations

import pkgutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bmo.memory import MemoryService

AUDITED = {"open", "sqlite3.connect", "socket.connect", "os.remove", "import"}

METHODS = {
    "write_gate": ("decide", "decide_by_rules", "rule"),
    "read_gate": ("plan", "plan_by_rules"),
    "recaller": ("recall", "look", "profile", "weights_of"),
    "encoder": ("assess",),
    "index": ("near", "search", "add_many", "delete_fact", "count", "compact"),
    "ledger": (
        "record", "record_recall", "note_reply", "live_facts", "facts_by_id",
        "search_words", "count_live", "known_subjects", "word_counts", "confirm_erasure",
        "backlog", "claim_outbox", "turns", "note_helpfulness", "judged_items",
    ),
}  # fmt: skip

FUNCTIONS = ("bmo.memory.candidates.find_candidates", "bmo.recorder.recorder.words_used")
"""Work on every fact of a user: nothing for a loop either."""

_watching: list[LoopGuard] = []


class LoopGuard:
    """What was caught on the loop's thread, and how often each method was called at all."""

    def __init__(self) -> None:
        self.caught: list[str] = []
        self.called: dict[str, int] = {}
        self.thread = threading.get_ident()

    def watch(self, monkeypatch: pytest.MonkeyPatch, service: MemoryService) -> None:
        """Watches the parts of a service."""
        for part, names in METHODS.items():
            owner = getattr(service, part)
            for name in names:
                what = f"{part}.{name}"
                monkeypatch.setattr(owner, name, self._watched(what, getattr(owner, name)))
        for what in FUNCTIONS:
            monkeypatch.setattr(what, self._watched(what, pkgutil.resolve_name(what)))

    def _watched(self, what: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.called[what] = self.called.get(what, 0) + 1
            if threading.get_ident() == self.thread:
                self.caught.append(what)
            return real(*args, **kwargs)

        return call

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Notes a blocking call made on the loop's thread by code of BMO."""
        if event not in AUDITED or threading.get_ident() != self.thread:
            return
        frame = sys._getframe(2)
        name = frame.f_globals.get("__name__", "")
        if isinstance(name, str) and name.startswith("bmo."):
            self.caught.append(f"{event} {args[:1]} in {name}:{frame.f_lineno}")


def _hook(event: str, args: tuple[Any, ...]) -> None:
    for guard in _watching:
        guard.audit(event, args)


@contextmanager
def guarded_loop() -> Iterator[LoopGuard]:
    """Guards this thread's loop. An audit hook cannot be removed: one stays, and sleeps."""
    if not getattr(_hook, "installed", False):
        sys.addaudithook(_hook)
        _hook.installed = True  # type: ignore[attr-defined]
    guard = LoopGuard()
    sleep = time.sleep

    def noted(seconds: float) -> None:
        if threading.get_ident() == guard.thread:
            guard.caught.append(f"time.sleep ({seconds})")
        sleep(seconds)

    _watching.append(guard)
    time.sleep = noted  # type: ignore[assignment]  # no test sleeps an index
    try:
        yield guard
    finally:
        time.sleep = sleep
        _watching.remove(guard)
