"""The local judge: what the rules leave open, decided on this machine in about two milliseconds."""

from bmo.judge.encoding import MAX_CONTEXT_TOKENS, MAX_TOKENS, EncodedPair, encode_pair
from bmo.judge.judge import MODEL, Judge, JudgeThresholds, JudgeUnavailable
from bmo.judge.nearest import NearestTurns, NearTurn
from bmo.judge.queue import JudgeBusy, JudgeQueue

__all__ = [
    "MAX_CONTEXT_TOKENS",
    "MAX_TOKENS",
    "MODEL",
    "EncodedPair",
    "Judge",
    "JudgeBusy",
    "JudgeQueue",
    "JudgeThresholds",
    "JudgeUnavailable",
    "NearTurn",
    "NearestTurns",
    "encode_pair",
]
