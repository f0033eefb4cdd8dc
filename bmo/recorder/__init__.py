"""The recorder: the one writer thread, and what else keeps ledger and index in agreement."""

from bmo.recorder.comparing import Comparison, comparison_of, made_anew, rebuild
from bmo.recorder.mem0_import import import_mem0
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.recorder.recorder import Recorder

__all__ = [
    "Comparison",
    "OutboxWorker",
    "Recorder",
    "comparison_of",
    "import_mem0",
    "made_anew",
    "rebuild",
]
