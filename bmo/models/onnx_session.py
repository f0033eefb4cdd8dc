"""Opens an ONNX model on one thread of the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bmo.models.files import ModelFileError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SLOWER_FUSED = ("SkipLayerNormFusion",)
"""Fusions that cost time on the CPU: onnxruntime's kernel for a sum and its layer norm in one
takes 79 us for 40 tokens, the two kernels apart 20 us; with twelve of them a sixth of a turn."""


def open_session(model: Path, name: str) -> InferenceSession:
    """Opens a model.

    One thread: a turn is one short sequence, and a voice process has better uses for its cores.
    ``run`` of the session may be called from several threads at a time.

    Args:
        model: The file, checked before. Given its content instead onnxruntime keeps a copy of it,
            22 MB for a model of this size.
        name: What to call it in an error.

    Returns:
        A session on the CPU.

    Raises:
        ModelFileError: onnxruntime is missing or cannot run the model.
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
        return onnxruntime.InferenceSession(
            str(model),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=[*SLOWER_FUSED],
        )
    except (native.Fail, native.InvalidArgument, native.InvalidGraph, native.InvalidProtobuf) as e:
        raise ModelFileError(f"onnxruntime cannot run the model {name!r}: {e}") from e
    except (native.NotImplemented, native.RuntimeException, native.NoSuchFile) as e:
        raise ModelFileError(f"onnxruntime cannot run the model {name!r}: {e}") from e
