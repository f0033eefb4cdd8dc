"""Opens an ONNX model on one thread of the CPU, once for all who have it open."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from numpy.typing import NDArray

from bmo.encoder.files import ModelFileError, checked_bytes
from bmo.giving_way import give_way

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SLOWER_FUSED = ("SkipLayerNormFusion",)
"""Fusions that cost time on the CPU: onnxruntime's kernel for a sum and its layer norm in one
takes 79 us for 40 tokens, the two kernels apart 20 us; with twelve of them a sixth of a turn."""


class ModelSession:
    """A model that is open. ``run`` may be called from several threads at a time."""

    def __init__(self, session: InferenceSession) -> None:
        """Wraps a session of onnxruntime."""
        self._session = session

    def run(self, outputs: Sequence[str], feed: Mapping[str, NDArray[Any]]) -> list[Any]:
        """The outputs of those names, for inputs by name.

        Raises:
            Exception: What onnxruntime raises; its errors share no other base class.
        """
        found: list[Any] = self._session.run(outputs, feed)
        give_way()
        return found


_OpenFile = tuple[str, int, int]
"""A file as it is now: path, bytes, and when it was changed."""

_open: WeakValueDictionary[_OpenFile, ModelSession] = WeakValueDictionary()
_opening = threading.Lock()


def open_model(folder: Path, manifest: Mapping[str, Any]) -> ModelSession:
    """Opens a model after comparing its SHA-256, or gives the session that somebody has open.

    Gates and index share one: it keeps nothing of what it was asked.

    Args:
        folder: The model's folder.
        manifest: What ``read_manifest`` gave of it.

    Returns:
        A session on the CPU.

    Raises:
        ModelFileError: The file is missing or another one, or onnxruntime cannot run it.
    """
    model = folder / manifest["file"]
    with _opening:
        stat = model.stat() if model.is_file() else None
        key = (str(model.resolve()), stat.st_size, stat.st_mtime_ns) if stat else ("", 0, 0)
        session = _open.get(key)
        if session is None:
            checked_bytes(model, manifest["sha256"])
            session = _open[key] = _opened(model, manifest["name"])
        return session


def _opened(model: Path, name: str) -> ModelSession:
    """A new session.

    One thread: a turn is one short sequence, and a voice process has better uses for its cores.

    Args:
        model: The file, checked before. Given its content instead onnxruntime keeps a copy of it,
            22 MB for a model of half this size.
        name: What to call it in an error.
    """
    try:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as native
    except ImportError as error:
        raise ModelFileError(
            f"The model {name!r} needs onnxruntime, which cannot be imported ({error}): "
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
        session = onnxruntime.InferenceSession(
            str(model),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=[*SLOWER_FUSED],
        )
        return ModelSession(session)
    except (native.Fail, native.InvalidArgument, native.InvalidGraph, native.InvalidProtobuf) as e:
        raise ModelFileError(f"onnxruntime cannot run the model {name!r}: {e}") from e
    except (native.NotImplemented, native.RuntimeException, native.NoSuchFile) as e:
        raise ModelFileError(f"onnxruntime cannot run the model {name!r}: {e}") from e
