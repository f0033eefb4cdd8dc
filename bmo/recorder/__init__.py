"""The recorder: the one writer thread, and what else keeps ledger and index in agreement."""

from bmo.recorder.agreement import Disagreement, settle
from bmo.recorder.mem0_import import MemoryImport, import_mem0
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.recorder.rebuild import Progress, rebuild
from bmo.recorder.recorder import Recorder, RecorderStats

__all__ = [
    "Disagreement",
    "MemoryImport",
    "OutboxWorker",
    "Progress",
    "Recorder",
    "RecorderStats",
    "import_mem0",
    "rebuild",
    "settle",
]
