"""The only door to memory: MemoryService (one a process) and MemorySession (one visit of one user).

Replay, the terminal chat, the worker and other people's agents all go through here, so a turn
means the same everywhere.
"""

from bmo.memory.opening import MemoryUnavailable, ServiceNotice, open_index, open_ledger
from bmo.memory.service import MemoryService
from bmo.memory.session import MemorySession

__all__ = [
    "MemoryService",
    "MemorySession",
    "MemoryUnavailable",
    "ServiceNotice",
    "open_index",
    "open_ledger",
]
