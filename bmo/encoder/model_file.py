"""The model's files: what ``model.json`` says of them, and the session on one thread of the CPU."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MODEL = Path(__file__).parent / "model"
"""Folder of the encoder that is shipped in the package."""

SLOWER_FUSED = ("SkipLayerNormFusion",)
"""Fusions that cost time on the CPU: onnxruntime's kernel for a sum and its layer norm in one
takes 79 us for 40 tokens, the two kernels apart 20 us; with twelve of them a sixth of a turn."""

_FIX = "reinstall the package, or make the model again (see training/README.md)."

_OpenFile = tuple[str, int, int]
"""A file as it is now: path, bytes, and when it was changed."""

_open: WeakValueDictionary[_OpenFile, InferenceSession] = WeakValueDictionary()
_opening = threading.Lock()


class EncoderUnavailable(RuntimeError):
    """The encoder cannot be opened or asked; the message names the fix."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """What ``model.json`` says of a model; at least ``file``, ``sha256`` and ``version``.

    Raises:
        EncoderUnavailable: It is missing or is not such a manifest.
    """
    path = folder / "model.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise EncoderUnavailable(f"{str(path)!r} is missing: {_FIX}") from None
    except (OSError, ValueError) as error:
        raise EncoderUnavailable(f"{str(path)!r} cannot be read ({error}): {_FIX}") from error
    if not isinstance(manifest, dict) or not {"file", "sha256", "version"} <= manifest.keys():
        raise EncoderUnavailable(
            f"{str(path)!r} is no model manifest (file, sha256, version): {_FIX}"
        )
    return manifest


def open_model(folder: Path, manifest: Mapping[str, Any]) -> InferenceSession:
    """Opens a model after comparing its SHA-256, or gives the session that somebody has open.

    Gates and index share one: it keeps nothing of what it was asked, and may be run from several
    threads at a time.

    Args:
        folder: The model's folder.
        manifest: What ``read_manifest`` gave of it.

    Raises:
        EncoderUnavailable: The file is missing or another one, or onnxruntime cannot run it.
    """
    model = folder / manifest["file"]
    with _opening:
        try:
            stat = model.stat()
            key = (str(model.resolve()), stat.st_size, stat.st_mtime_ns)
            session = _open.get(key)
            if session is None:
                _check(model, manifest["sha256"])
                session = _open[key] = _opened(model)
        except OSError as error:
            raise EncoderUnavailable(f"{str(model)!r} cannot be read ({error}): {_FIX}") from error
        return session


def _check(model: Path, sha256: str) -> None:
    with model.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise EncoderUnavailable(
            f"{str(model)!r} is damaged or another version (sha256 {found[:12]}..., expected "
            f"{sha256[:12]}...): {_FIX}"
        )


def _opened(model: Path) -> InferenceSession:
    """A new session of a file that was checked.

    One thread: a turn is one short sequence, and a voice process has better uses for its cores.
    Given the file's content instead of its path onnxruntime keeps a copy of it, 22 MB for a model
    of half this size.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise EncoderUnavailable(
            f"The encoder needs onnxruntime, which cannot be imported ({error}): "
            "pip install onnxruntime."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The arena keeps what one long text needed for ever, and while loading 13 MB beside: it saves
    # no time with sequences as short as ours (2.2 ms with it, 2.2 without).
    options.enable_cpu_mem_arena = False
    try:
        return onnxruntime.InferenceSession(
            str(model),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=[*SLOWER_FUSED],
        )
    except Exception as error:  # onnxruntime's errors share no base class but Exception
        raise EncoderUnavailable(f"onnxruntime cannot run {str(model)!r}: {error}") from error
