"""Turns a question's vector towards the memories that answer it.

The local embedder was made to tell whether two texts say the same. A question and its answer do
not: "when could the plumber come" is far from "works nights". A small matrix of low rank, fitted on
kinds of memories and their questions (``training/fit_question_map.py``, ``recall_pairs.txt``),
moves the question only: q' = (q + U V^T q) / |q + U V^T q|. Memories keep their vectors, so the
index is the same with and without it. Another embedder's vectors are left as they are.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


def question_map(embedder: str) -> Callable[[Vector], Vector] | None:
    """The map for an embedder's question vectors, or None where none was fitted.

    Args:
        embedder: ``Embedder.name``.
    """
    fitted_for, into, onto = _factors()
    if embedder != fitted_for:
        return None

    def turned(question: Vector) -> Vector:
        moved = question + into @ (onto @ question)
        length = float(np.linalg.norm(moved))
        return (moved / length).astype(np.float32) if length > 0.0 else question

    return turned


@cache
def _factors() -> tuple[str, Vector, Vector]:
    """Embedder, U (dims, rank) and V^T (rank, dims): bytes of int8 with one scale each."""
    text = resources.files("bmo.recall").joinpath("question_map.json").read_text(encoding="utf-8")
    table = json.loads(text)
    dims, rank = table["dims"], table["rank"]
    into, onto = (
        np.frombuffer(base64.b64decode(table[side]["codes"]), dtype=np.int8).astype(np.float32)
        * np.float32(table[side]["scale"])
        for side in ("into", "onto")
    )
    return table["embedder"], into.reshape(dims, rank), onto.reshape(rank, dims)
