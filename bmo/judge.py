"""The former name of ``bmo.encoder``, for programs that import it."""

from bmo.encoder import Encoder as Judge
from bmo.encoder import EncoderUnavailable as JudgeUnavailable

__all__ = ["Judge", "JudgeUnavailable"]
