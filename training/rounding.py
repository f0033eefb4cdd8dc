"""Weights as the judge's first graph held them.

The weights that ship were written by ``onnxruntime.quantization`` before ``judge_graph`` was, and
the float ones were not kept: today's graph was made from the rounded ones. So a training rounds as
that did first, and gives the same bytes: matrices to int8 with a scale per output (-127..127), all
word vectors to uint8 with one scale and a zero point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from training.minilm_graph import Head  # which needs onnx

Array = np.ndarray[Any, Any]

WORDS = "embeddings.word_embeddings.weight"
KINDS = "embeddings.token_type_embeddings.weight"
_MATRICES = (".query.weight", ".key.weight", ".value.weight", ".dense.weight")


def rounded(
    weights: Mapping[str, Array], heads: Sequence[Head]
) -> tuple[dict[str, Array], list[Head]]:
    """Weights and heads, float32, with the values that the first graph could hold.

    Args:
        weights: Tensors under Hugging Face's BERT names, float32.
        heads: The classifiers.
    """
    known = dict(weights)
    for name in weights:
        if name.startswith("encoder.") and name.endswith(_MATRICES):
            known[name] = by_output(weights[name].T).T
    known[WORDS] = by_table(weights[WORDS])
    first, second = weights[KINDS]
    # The second kind was kept as its difference from the first.
    known[KINDS] = np.stack([first, first + (second - first)])
    return known, [replace(head, weight=by_output(head.weight)) for head in heads]


def by_output(matrix: Array) -> Array:
    """(inputs, outputs) float32 in steps of a 127th of each output's largest."""
    largest = np.abs(matrix).max(axis=0).astype(np.float64)
    scale = (2 * largest / 254).astype(np.float32)
    values = np.clip((matrix / scale).round(), -128, 127).astype(np.int8)
    result: Array = values.astype(np.float32) * scale
    return result


def by_table(table: Array) -> Array:
    """(words, width) float32 in 255 steps between the least and the largest of all."""
    least, largest = min(float(table.min()), 0.0), max(float(table.max()), 0.0)
    step = (largest - least) / 255
    zero, scale = np.float32(np.round(-least / step)), np.float32(step)
    values = np.clip((table / scale).round() + zero, 0, 255)
    result: Array = (values.astype(np.float32) - zero) * scale
    return result
