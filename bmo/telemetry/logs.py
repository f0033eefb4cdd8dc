"""Log lines: the gate's debug line, and a terminal without other people's warnings.

Messages are static and what varies goes into fields; spoken words only into fields with a ``pii``
segment, which LiveKit strips where a project redacts.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from typing import Any

from bmo.turn import Decision

logger = logging.getLogger("bmo.gate")

DEBUG_WIDTH = 160
"""Characters of a turn that a debug line shows."""

LINE_FIELD = "lk.pii.gatekeeper"
"""Field of the log record that holds the debug line."""

_WORDS = {"allow": "KEEP", "hold": "HOLD", "discard": "SKIP"}


@contextlib.contextmanager
def quiet_logs() -> Iterator[None]:
    """Keeps log records off the terminal while it belongs to a conversation or a report.

    Python prints warnings of libraries to standard error when no handler is there; this puts one
    there that prints nothing. Handlers that somebody set up keep working.
    """
    root = logging.getLogger()
    handler = logging.NullHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def debug_to_stderr() -> None:
    """Prints the lines of ``GATEKEEPER_DEBUG`` to standard error. Safe to call twice."""
    if any(isinstance(handler, _DebugHandler) for handler in logger.handlers):
        return
    logger.addHandler(_DebugHandler(sys.stderr))
    logger.setLevel(logging.INFO)
    logger.propagate = False


class _DebugHandler(logging.StreamHandler[Any]):
    """Prints the debug line of a decision, and any other record as its message."""

    def format(self, record: logging.LogRecord) -> str:
        line = getattr(record, LINE_FIELD, None)
        return line if isinstance(line, str) else super().format(record)


def debug_line(decision: Decision) -> str:
    """One line a decision: ``[gatekeeper] KEEP (preference): "i like tea" - stated preference``.

    The text is the masked one, on one line.
    """
    text = " ".join(decision.text.split())
    if len(text) > DEBUG_WIDTH:
        text = f"{text[: DEBUG_WIDTH - 1]}…"
    signal = decision.signals[0] if decision.signals else "other"
    return f'[gatekeeper] {_WORDS[decision.verdict]} ({signal}): "{text}" - {decision.reason}'


def log_decision(decision: Decision, turn_id: str = "") -> None:
    """Logs a decision: what ``GATEKEEPER_DEBUG`` asks for."""
    fields = {
        "verdict": decision.verdict,
        "reason": decision.reason,
        "turn_id": turn_id,
        LINE_FIELD: debug_line(decision),
    }
    if not logger.hasHandlers():
        debug_to_stderr()  # Python's own last resort prints messages and no fields
    logger.warning("gatekeeper decision", extra=fields)
