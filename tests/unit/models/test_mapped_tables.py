"""Tables of a model that stay in its file: the same numbers, whatever the file is like."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.models import MODELS, open_session
from bmo.models import mapped_tables as mapping
from bmo.models.mapped_tables import mapped_tables
from bmo.models.onnx_session import SLOWER_FUSED
from bmo.models.wordpiece import read_vocabulary

pytestmark = pytest.mark.unit

UINT8, INT8, FLOAT = 2, 3, 1
IDS = np.array([[101, 2026, 2567, 3520, 3268, 1999, 7873, 102]], dtype=np.int64)
FEEDS = {
    "minilm-l6-v2-int8": {"input_ids": IDS, "attention_mask": np.ones_like(IDS)},
    "judge": {"input_ids": IDS, "token_type_ids": np.zeros_like(IDS)},
}


def varint(number: int) -> bytes:
    low = number & 0x7F
    return bytes([low]) if number < 0x80 else bytes([low | 0x80]) + varint(number >> 7)


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(name: str, of: int, shape: list[int], raw: bytes, *, packed: bool = False) -> bytes:
    dims = (
        field(1, b"".join(map(varint, shape)))
        if packed
        else b"".join(field(1, size) for size in shape)
    )
    return field(5, dims + field(2, of) + field(8, name.encode()) + field(9, raw))


def model(*tensors: bytes) -> bytes:
    fixed = varint(3 << 3 | 5) + b"abcd" + varint(4 << 3 | 1) + b"abcdefgh"
    return field(1, 8) + field(2, b"somebody") + field(7, b"".join(tensors)) + fixed


WORDS = model(
    tensor("bytes", UINT8, [3, 4], bytes(range(12))),
    tensor("small", INT8, [2], b"ab"),
    tensor("numbers", FLOAT, [3], bytes(12)),
    tensor("signed", INT8, [2, 5], bytes(range(250, 256)) + bytes(4), packed=True),
    tensor("too short", INT8, [3, 5], bytes(10)),
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "LARGE", 8)


@pytest.mark.usefixtures("small")
def test_large_tables_of_bytes_are_found(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(WORDS)
    tables = mapped_tables(tmp_path / "m")
    assert {name: (t.shape, t.dtype.name) for name, t in tables.items()} == {
        "bytes": ((3, 4), "uint8"),
        "signed": ((2, 5), "int8"),
    }
    assert tables["bytes"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert tables["signed"].tolist() == [[-6, -5, -4, -3, -2], [-1, 0, 0, 0, 0]]
    assert not tables["bytes"].flags.writeable


@given(cut=st.integers(0, len(WORDS)), wrong=st.integers(0, len(WORDS) - 1), by=st.integers(1, 255))
def test_a_file_that_is_no_model_has_tables_of_its_own_bytes_or_none(
    tmp_path_factory: pytest.TempPathFactory, cut: int, wrong: int, by: int
) -> None:
    damaged = bytearray(WORDS)
    damaged[wrong] ^= by
    path = tmp_path_factory.mktemp("m") / "m"
    path.write_bytes(bytes(damaged[:cut]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapping, "LARGE", 8)
        tables = mapped_tables(path)
        assert all(table.tobytes() in damaged for table in tables.values())


@pytest.mark.parametrize("name", sorted(FEEDS))
def test_a_mapped_model_says_what_a_copied_one_says(name: str) -> None:
    path = MODELS / name / "model.onnx"
    (table,) = mapped_tables(path).values()
    assert table.shape == (len(read_vocabulary()), 384)
    del table
    session = open_session(path, name)
    gc.collect()  # what the session reads must be kept by it
    copied = onnxruntime.InferenceSession(
        str(path), providers=["CPUExecutionProvider"], disabled_optimizers=[*SLOWER_FUSED]
    )
    outputs = [output.name for output in copied.get_outputs()]
    for mine, other in zip(
        session.run(outputs, FEEDS[name]), copied.run(outputs, FEEDS[name]), strict=True
    ):
        assert np.array_equal(mine, other)
