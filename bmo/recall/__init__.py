"""The read gate and recall: exactly the memory that makes this reply better, and nothing more."""

from bmo.recall.assembly import assemble, block
from bmo.recall.budget import tokens_of
from bmo.recall.calibration import Calibration, calibration_for
from bmo.recall.feedback import adjusted, counts_against
from bmo.recall.gate import OPEN, ReadGate
from bmo.recall.recaller import Looked, Recaller
from bmo.recall.scoring import DEFAULT_WEIGHTS, Weights, score

__all__ = [
    "DEFAULT_WEIGHTS",
    "OPEN",
    "Calibration",
    "Looked",
    "ReadGate",
    "Recaller",
    "Weights",
    "adjusted",
    "assemble",
    "block",
    "calibration_for",
    "counts_against",
    "score",
    "tokens_of",
]
