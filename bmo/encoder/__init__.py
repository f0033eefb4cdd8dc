"""The one local model: tokenizer, ONNX session, heads and thresholds; about 2 ms a turn."""

from bmo.encoder.encoder import Encoder, EncoderThresholds, EncoderUnavailable
from bmo.encoder.files import MODEL, ModelFileError, checked_bytes, read_manifest
from bmo.encoder.onnx_session import ModelSession, open_model
from bmo.encoder.wordpiece import WordPiece

__all__ = [
    "MODEL",
    "Encoder",
    "EncoderThresholds",
    "EncoderUnavailable",
    "ModelFileError",
    "ModelSession",
    "WordPiece",
    "checked_bytes",
    "open_model",
    "read_manifest",
]
