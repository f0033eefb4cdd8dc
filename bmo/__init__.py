"""BMO: a voice agent that remembers what matters about the person it talks with.

The names below are the public ones (``docs/api.md``); all others may change in any release.
Each is imported when it is first used: ``import bmo`` itself takes a few milliseconds.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bmo.agent import (
        MemoryAgent,
        attach,
        end_memory,
        memory_for,
        prepare,
        prewarm,
        user_turn,
    )
    from bmo.gate import WriteGate
    from bmo.ids import identity_of, user_id_for
    from bmo.memory import MemoryService, MemorySession, MemoryUnavailable
    from bmo.recall import ReadGate
    from bmo.settings import Settings, SettingsError, load_settings
    from bmo.turn import Decision, Fact, Recall, RecallPlan, StoredFact, Turn

# onnxruntime sends who runs it to Microsoft and leaves an id of the machine in the home directory,
# from its import on. Set here, before anything of BMO imports it; processes inherit it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"

__all__ = [
    "Decision",
    "Fact",
    "MemoryAgent",
    "MemoryService",
    "MemorySession",
    "MemoryUnavailable",
    "ReadGate",
    "Recall",
    "RecallPlan",
    "Settings",
    "SettingsError",
    "StoredFact",
    "Turn",
    "WriteGate",
    "attach",
    "end_memory",
    "identity_of",
    "load_settings",
    "memory_for",
    "prepare",
    "prewarm",
    "user_id_for",
    "user_turn",
]

_HOMES = {
    "bmo.agent": (
        "MemoryAgent",
        "attach",
        "end_memory",
        "memory_for",
        "prepare",
        "prewarm",
        "user_turn",
    ),
    "bmo.ids": ("identity_of", "user_id_for"),
    "bmo.gate": ("WriteGate",),
    "bmo.memory": ("MemoryService", "MemorySession", "MemoryUnavailable"),
    "bmo.recall": ("ReadGate",),
    "bmo.settings": ("Settings", "SettingsError", "load_settings"),
    "bmo.turn": ("Decision", "Fact", "Recall", "RecallPlan", "StoredFact", "Turn"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
