"""The recorder: the one writer thread, and what else keeps ledger and index in agreement."""

from bmo.recorder.comparing import Comparison, comparison_of
from bmo.recorder.mem0_import import MemoryImport, import_mem0
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.recorder.rebuild import Progress, rebuild
from bmo.recorder.recorder import Recorder

__all__ = [
    "Comparison",
    "MemoryImport",
    "OutboxWorker",
    "Progress",
    "Recorder",
    "comparison_of",
    "import_mem0",
    "rebuild",
]
