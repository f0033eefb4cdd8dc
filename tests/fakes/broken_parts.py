"""Real parts of memory that are broken from a moment on: they raise or hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from sqlalchemy.exc import OperationalError

from bmo.memory import MemoryService

Fault = Literal["raise", "hang"]

LONGEST_HANG_S = 60.0
"""So that a failing test ends."""

PARTS: dict[str, Callable[[MemoryService], list[tuple[Any, str]]]] = {
    "gate rules": lambda service: [(service.write_gate, "rule")],
    "gate": lambda service: [
        (service.write_gate, name) for name in ("rule", "decide_by_rules", "decide")
    ],
    "judge": lambda service: [(service.encoder, "assess")],
    "read gate": lambda service: [
        (service.read_gate, "plan_by_rules"),
        (service.read_gate, "plan"),
    ],
    "recaller": lambda service: [(service.recaller, "recall"), (service.recaller, "profile")],
    "index search": lambda service: [(service.index, "near"), (service.index, "search")],
    "index writes": lambda service: [(service.index, "add_many")],
    "embedder": lambda service: [(getattr(service.index, "embedder", None), "embed")],
    "ledger writes": lambda service: [(service.ledger, "record")],
    "ledger reads": lambda service: [
        (service.ledger, name)
        for name in (
            "live_facts", "known_subjects", "search_words", "facts_by_id", "count_live",
            "word_counts",
        )
    ],
    "ledger": lambda service: [
        (service.ledger, name)
        for name in (
            "record", "record_recall", "note_reply", "live_facts", "known_subjects",
            "search_words", "facts_by_id", "count_live", "word_counts",
        )
    ],
}  # fmt: skip
"""Part -> the methods of a service's parts that break."""


@dataclass
class Break:
    """Breaks parts, and mends them at the end.

    Attributes:
        calls: How often something broken was called.
        in_loop: Whether something broken was called on the event loop's thread.
    """

    monkeypatch: pytest.MonkeyPatch
    calls: int = 0
    _mended: threading.Event = field(default_factory=threading.Event)

    def part(self, service: MemoryService, part: str, fault: Fault) -> None:
        """From now on ``part`` fails in this way."""
        for owner, name in PARTS[part](service):
            self.monkeypatch.setattr(owner, name, self._broken(part, fault, getattr(owner, name)))

    def mend(self) -> None:
        """Lets go what hangs and puts everything right."""
        self._mended.set()

    def _broken(self, part: str, fault: Fault, real: Callable[..., Any]) -> Callable[..., Any]:
        def broken(*args: Any, **kwargs: Any) -> Any:
            if self._mended.is_set():
                return real(*args, **kwargs)
            self.calls += 1
            if fault == "raise":
                if part.startswith("ledger"):
                    raise OperationalError("INSERT", {}, Exception("the disk is broken"))
                raise RuntimeError(f"{part} is broken")
            self._mended.wait(LONGEST_HANG_S)
            return real(*args, **kwargs)

        return broken
