"""The model files shipped with the package, and how they are opened: checked, on one thread."""

from bmo.models.files import MODELS, ModelFileError, checked_bytes, read_manifest
from bmo.models.onnx_session import ModelSession, open_session
from bmo.models.wordpiece import WordPiece

__all__ = [
    "MODELS",
    "ModelFileError",
    "ModelSession",
    "WordPiece",
    "checked_bytes",
    "open_session",
    "read_manifest",
]
