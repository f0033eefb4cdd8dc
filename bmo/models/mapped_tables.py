"""Large tables of an ONNX model as pages of its file instead of memory of the process.

onnxruntime copies every tensor of a model into the process. Of the models here half is a table of
word vectors, of which a turn reads some ten rows. Mapped, it takes room only for the pages that are
read; these are shared by all processes of a machine, and the system may drop them.

A model's file is a protocol buffer (protobuf.dev, "Encoding"): fields of a number and a wire type.
Of ``onnx.proto`` are needed ModelProto.graph (7), GraphProto.initializer (5), and of TensorProto
dims (1), data_type (2), name (8) and raw_data (9).
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

LARGE: Final = 4 << 20
"""Bytes from which on a tensor is mapped. Smaller ones are weights, which onnxruntime packs anew
for its products: of these it would read the pages as well."""

_TYPES: Final[dict[int, type[np.generic]]] = {2: np.uint8, 3: np.int8}
"""TensorProto.DataType of what may lie at any byte of a file."""

_GRAPH, _INITIALIZER = 7, 5
_DIMS, _DATA_TYPE, _NAME, _RAW_DATA = 1, 2, 8, 9
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Span = tuple[int, int]
"""First byte of something in the file, and the one behind its last."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A table in a file.

    Attributes:
        name: Its tensor's name.
        of: Type of its numbers, of one byte each.
        shape: Its dimensions.
        start: Its first byte in the file.
    """

    name: str
    of: type[np.generic]
    shape: tuple[int, ...]
    start: int


class NotAModelError(ValueError):
    """The bytes are no protocol buffer."""


def mapped_tables(model: Path) -> dict[str, NDArray[Any]]:
    """The large tables of a model's file by name, read-only, each a view of the mapped file.

    Args:
        model: An ONNX file.

    Returns:
        Empty where there is none, and for a file that is no model: onnxruntime says that better.

    Raises:
        OSError: The file cannot be read or mapped.
    """
    if not model.stat().st_size:
        return {}
    with model.open("rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
            try:
                tables = list(_tables(pages))
            except NotAModelError:
                return {}
        # Mapped anew, each alone: the pages that were looked through need not stay.
        return {table.name: _mapped(file.fileno(), table) for table in tables}


def _mapped(file: int, table: _Table) -> NDArray[Any]:
    before = table.start % mmap.ALLOCATIONGRANULARITY
    size = prod(table.shape)
    pages = mmap.mmap(file, before + size, access=mmap.ACCESS_READ, offset=table.start - before)
    return np.frombuffer(pages, table.of, size, before).reshape(table.shape)


def _tables(pages: mmap.mmap) -> Iterator[_Table]:
    for number, graph in _fields(pages, (0, len(pages))):
        if number != _GRAPH or isinstance(graph, int):
            continue
        for kind, tensor in _fields(pages, graph):
            if kind == _INITIALIZER and not isinstance(tensor, int):
                if tensor[1] - tensor[0] >= LARGE:
                    yield from _table(pages, tensor)


def _table(pages: mmap.mmap, tensor: Span) -> Iterator[_Table]:
    """A large tensor, if its bytes can be used as they lie there."""
    name, of, raw = "", -1, (0, 0)
    shape: list[int] = []
    for number, found in _fields(pages, tensor):
        if isinstance(found, int):
            if number == _DIMS:
                shape.append(found)
            elif number == _DATA_TYPE:
                of = found
        elif number == _DIMS:  # several in one field
            shape += _varints(pages, found)
        elif number == _NAME:
            name = pages[found[0] : found[1]].decode("utf-8", "replace")
        elif number == _RAW_DATA:
            raw = found
    size = raw[1] - raw[0]
    if of in _TYPES and size >= LARGE and size == prod(shape):
        yield _Table(name, _TYPES[of], tuple(shape), raw[0])


def _fields(pages: mmap.mmap, within: Span) -> Iterator[tuple[int, int | Span]]:
    """(number, value or where its bytes are) of each field of a message."""
    at, end = within
    while at < end:
        tag, at = _varint(pages, at, end)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(pages, at, end)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(pages, at, end)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise NotAModelError(f"wire type {wire} at byte {at}")
        if at + size > end:
            raise NotAModelError(f"a field of {size} bytes at byte {at} goes beyond its message")
        yield number, (at, at + size)
        at += size


def _varints(pages: mmap.mmap, within: Span) -> Iterator[int]:
    at, end = within
    while at < end:
        value, at = _varint(pages, at, end)
        yield value


def _varint(pages: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    """A whole number of seven bits a byte, lowest first, and the place behind it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            raise NotAModelError(f"the message ends inside a number at byte {at}")
        byte = pages[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise NotAModelError(f"a number of more than ten bytes before byte {at}")
