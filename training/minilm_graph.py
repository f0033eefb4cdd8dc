"""Builds an ONNX graph of a BERT encoder from its weights, node by node, and quantises it.

Written with ``onnx`` alone, so that building needs neither torch nor a model hub, and the file
holds exactly what is used: no pooler, no unused outputs. Architecture: Devlin et al. 2019 (BERT,
post-layer-norm), MiniLM: Wang et al. 2020.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process

OPSET = 17
MASKED = -10_000.0
"""Added to the attention score of a padded position; small enough for softmax to give 0."""


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Sizes of a BERT encoder; the defaults are those of MiniLM-L6-H384."""

    layers: int = 6
    hidden: int = 384
    heads: int = 12
    layer_norm_eps: float = 1e-12


@dataclass(frozen=True, slots=True)
class Head:
    """A linear classifier on the pooled vector.

    Attributes:
        name: Name of the graph's output.
        weight: (features, classes) float32; features is 2 x hidden for the judge.
        bias: (classes,) float32.
    """

    name: str
    weight: np.ndarray[Any, Any]
    bias: np.ndarray[Any, Any]


class GraphWriter:
    """Collects nodes and initializers; each method returns the name of its result."""

    def __init__(self, weights: Mapping[str, np.ndarray[Any, Any]], shape: EncoderShape) -> None:
        """Takes tensors under Hugging Face's BERT names."""
        self.weights = weights
        self.shape = shape
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._names = 0
        self._constants: dict[str, str] = {}

    def node(self, op: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """A node with one result."""
        self._names += 1
        result = output or f"{op.lower()}_{self._names}"
        self.nodes.append(
            helper.make_node(op, list(inputs), [result], name=f"{op}_{self._names}", **attributes)
        )
        return result

    def tensor(self, name: str, value: np.ndarray[Any, Any]) -> str:
        """A constant, written once a name."""
        if name not in self._constants:
            self.initializers.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
            self._constants[name] = name
        return name

    def ints(self, *values: int) -> str:
        """A constant list of int64."""
        return self.tensor("i_" + "_".join(map(str, values)), np.array(values, np.int64))

    def scalar(self, value: float) -> str:
        """A constant float32."""
        return self.tensor(f"f_{value!r}", np.array(value, np.float32))

    def weight(self, name: str) -> str:
        """One of the published tensors."""
        return self.tensor(name, self.weights[name].astype(np.float32))

    def linear(self, x: str, prefix: str) -> str:
        """A dense layer."""
        matrix = self.tensor(f"{prefix}.weight_t", self.weights[f"{prefix}.weight"].T.copy())
        return self.node("Add", self.node("MatMul", x, matrix), self.weight(f"{prefix}.bias"))

    def layer_norm(self, x: str, prefix: str) -> str:
        """Layer normalisation over the last axis."""
        return self.node(
            "LayerNormalization",
            x,
            self.weight(f"{prefix}.weight"),
            self.weight(f"{prefix}.bias"),
            axis=-1,
            epsilon=self.shape.layer_norm_eps,
        )

    def gelu(self, x: str) -> str:
        """The Gaussian error unit, exact."""
        erf = self.node("Erf", self.node("Div", x, self.scalar(float(np.sqrt(2.0)))))
        half = self.node("Mul", self.node("Mul", x, self.scalar(0.5)), self.tensor_one(erf))
        return half

    def tensor_one(self, x: str) -> str:
        """One more than x."""
        return self.node("Add", x, self.scalar(1.0))

    def embeddings(self) -> str:
        """Words and places, normalised."""
        words = self.node("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        length = self.node(
            "Slice", self.node("Shape", "input_ids"), self.ints(1), self.ints(2), self.ints(0)
        )
        positions = self.weights["embeddings.position_embeddings.weight"]
        kinds = self.weights["embeddings.token_type_embeddings.weight"]
        # Only segment 0 occurs: its vector is added to every position once, here.
        positions = positions + kinds[0]
        place = self.node(
            "Slice",
            self.tensor("positions", positions.astype(np.float32)),
            self.ints(0),
            length,
            self.ints(0),
        )
        total = self.node("Add", words, place)
        return self.layer_norm(total, "embeddings.LayerNorm")

    def attention(self, x: str, bias: str, prefix: str) -> str:
        """Self-attention with its output layer."""
        size = self.shape.hidden // self.shape.heads
        split = self.ints(0, 0, self.shape.heads, size)
        query, key, value = (
            self.node("Reshape", self.linear(x, f"{prefix}.self.{part}"), split)
            for part in ("query", "key", "value")
        )
        query = self.node("Transpose", query, perm=[0, 2, 1, 3])
        key = self.node("Transpose", key, perm=[0, 2, 3, 1])
        value = self.node("Transpose", value, perm=[0, 2, 1, 3])
        scores = self.node(
            "Div", self.node("MatMul", query, key), self.scalar(float(np.sqrt(size)))
        )
        shares = self.node("Softmax", self.node("Add", scores, bias), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        joined = self.node("Reshape", mixed, self.ints(0, 0, self.shape.hidden))
        return self.linear(joined, f"{prefix}.output.dense")

    def encoder(self) -> str:
        """All layers; padded places are masked."""
        mask = self.node("Cast", "attention_mask", to=TensorProto.FLOAT, output="mask_f")
        away = self.node("Mul", self.node("Sub", self.scalar(1.0), mask), self.scalar(MASKED))
        bias = self.node("Unsqueeze", away, self.ints(1, 2))
        x = self.embeddings()
        for layer in range(self.shape.layers):
            prefix = f"encoder.layer.{layer}"
            attended = self.attention(x, bias, f"{prefix}.attention")
            x = self.layer_norm(
                self.node("Add", x, attended), f"{prefix}.attention.output.LayerNorm"
            )
            inner = self.gelu(self.linear(x, f"{prefix}.intermediate.dense"))
            x = self.layer_norm(
                self.node("Add", x, self.linear(inner, f"{prefix}.output.dense")),
                f"{prefix}.output.LayerNorm",
            )
        return x

    def mean(self, x: str, mask: str) -> str:
        """Mean over the places whose mask is 1."""
        wide = self.node("Unsqueeze", mask, self.ints(2))
        total = self.node("ReduceSum", self.node("Mul", x, wide), self.ints(1), keepdims=0)
        count = self.node("ReduceSum", wide, self.ints(1), keepdims=0)
        return self.node("Div", total, self.node("Max", count, self.scalar(1e-9)))


def embedding_graph(
    weights: Mapping[str, np.ndarray[Any, Any]], shape: EncoderShape | None = None
) -> onnx.ModelProto:
    """A sentence embedder: mean over the attended tokens, L2-normalised.

    Args:
        weights: Tensors under Hugging Face's BERT names.
        shape: Sizes of the encoder; MiniLM-L6-H384 by default.

    Returns:
        Float32 model with inputs ``input_ids`` and ``attention_mask`` (int64, batch x tokens) and
        output ``embedding`` (float32, batch x hidden).
    """
    writer = GraphWriter(weights, shape or EncoderShape())
    pooled = writer.mean(writer.encoder(), "mask_f")
    norm = writer.node("ReduceL2", pooled, axes=[1], keepdims=1)
    writer.node("Div", pooled, writer.node("Max", norm, writer.scalar(1e-12)), output="embedding")
    return _model(writer, ("input_ids", "attention_mask"), {"embedding": writer.shape.hidden})


def _model(
    writer: GraphWriter, inputs: Sequence[str], outputs: Mapping[str, int]
) -> onnx.ModelProto:
    graph = helper.make_graph(
        writer.nodes,
        "minilm",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"]) for n in inputs],
        [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", size])
            for n, size in outputs.items()
        ],
        writer.initializers,
    )
    model = helper.make_model(
        graph, producer_name="bmo", opset_imports=[helper.make_opsetid("", OPSET)]
    )
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def quantise(model: onnx.ModelProto, target: Path) -> None:
    """Writes ``model`` with int8 weights, one scale per output channel.

    Matrices of MatMul and the embedding table (Gather) are quantised; activations are quantised
    at run time. Per channel, because one scale per tensor cost .08 of top-1 retrieval.

    Args:
        model: The float32 model.
        target: Where the quantised file goes.
    """
    with tempfile.TemporaryDirectory() as folder:
        plain, ready = Path(folder) / "plain.onnx", Path(folder) / "ready.onnx"
        onnx.save(model, str(plain))
        quant_pre_process(str(plain), str(ready), skip_symbolic_shape=True)
        quantize_dynamic(
            str(ready),
            str(target),
            op_types_to_quantize=["MatMul", "Gather"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            reduce_range=True,  # seven bits: see training/encoder_graph.py
        )
