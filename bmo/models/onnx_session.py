"""Opens an ONNX model on one thread of the CPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from bmo.giving_way import give_way
from bmo.models.files import ModelFileError
from bmo.models.mapped_tables import mapped_tables

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions

SLOWER_FUSED = ("SkipLayerNormFusion",)
"""Fusions that cost time on the CPU: onnxruntime's kernel for a sum and its layer norm in one
takes 79 us for 40 tokens, the two kernels apart 20 us; with twelve of them a sixth of a turn."""


class ModelSession:
    """A model that is open. ``run`` may be called from several threads at a time."""

    def __init__(self, session: InferenceSession, tables: Sequence[object]) -> None:
        """Wraps a session of onnxruntime.

        Args:
            session: Reads ``tables`` and does not keep them alive.
            tables: onnxruntime's values of the model's mapped tables.
        """
        self._session = session
        self._tables = tables

    def run(self, outputs: Sequence[str], feed: Mapping[str, NDArray[Any]]) -> list[Any]:
        """The outputs of those names, for inputs by name.

        Raises:
            Exception: What onnxruntime raises; its errors share no other base class.
        """
        found: list[Any] = self._session.run(outputs, feed)
        give_way()
        return found


def open_session(model: Path, name: str) -> ModelSession:
    """Opens a model.

    One thread: a turn is one short sequence, and a voice process has better uses for its cores.
    ``run`` of the session may be called from several threads at a time.

    Args:
        model: The file, checked before. Given its content instead onnxruntime keeps a copy of it,
            22 MB for a model of this size.
        name: What to call it in an error.

    Returns:
        A session on the CPU. Its large tables stay in the file, which is kept mapped.

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
        tables = _with_tables(options, model)
        session = onnxruntime.InferenceSession(
            str(model),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=[*SLOWER_FUSED],
        )
        return ModelSession(session, tables)
    except OSError as e:
        raise ModelFileError(f"{str(model)!r} cannot be read ({e}).") from e
    except (native.Fail, native.InvalidArgument, native.InvalidGraph, native.InvalidProtobuf) as e:
        raise ModelFileError(f"onnxruntime cannot run the model {name!r}: {e}") from e
    except (native.NotImplemented, native.RuntimeException, native.NoSuchFile) as e:
        raise ModelFileError(f"onnxruntime cannot run the model {name!r}: {e}") from e


def _with_tables(options: SessionOptions, model: Path) -> list[object]:
    """Gives a model's large tables to onnxruntime, which copies what it is not given.

    Returns:
        onnxruntime's values: each must live as long as the session.
    """
    from onnxruntime import OrtValue

    values: list[object] = []
    for name, table in mapped_tables(model).items():
        value = OrtValue.ortvalue_from_numpy(table)  # a view of it, on the CPU
        options.add_initializer(name, value)
        values.append((value, table))
    return values
