"""The local judge: what the rules leave open, decided on this machine in about two milliseconds."""

from bmo.judge.judge import MODEL, Judge, JudgeThresholds, JudgeUnavailable
from bmo.judge.queue import JudgeBusy, JudgeQueue

__all__ = [
    "MODEL",
    "Judge",
    "JudgeBusy",
    "JudgeQueue",
    "JudgeThresholds",
    "JudgeUnavailable",
]
