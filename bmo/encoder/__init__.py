"""The one local model: tokenizer, ONNX session, heads and thresholds; about 2 ms a turn."""

from bmo.encoder.encoder import Encoder, EncoderThresholds
from bmo.encoder.model_file import MODEL, EncoderUnavailable, open_model, read_manifest
from bmo.encoder.wordpiece import WordPiece

__all__ = [
    "MODEL",
    "Encoder",
    "EncoderThresholds",
    "EncoderUnavailable",
    "WordPiece",
    "open_model",
    "read_manifest",
]
