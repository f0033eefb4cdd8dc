"""Writes the encoder's int8 graph from its weights, in the operators that run fastest on a CPU.

``onnxruntime.quantization`` writes a graph for any shape and leaves it to onnxruntime to fuse; what
it finds is a third slower than what is known here: one turn at a time, so no mask and no padding;
query, key and value of a token in one product; no zero points for the weights; and in the last
layer only the places that the heads look at, the first token and the text, for the assistant's
words are read by then. Matrices have one scale per output, word vectors one per word (Jacob et al.
2018); activations are scaled at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]

OPSET = 17
FUSED = "com.microsoft"
"""Domain of onnxruntime's own operators."""
LARGEST = 63.0
"""Seven bits: two products of such a weight and an activation of 8 bits fit 16 bits, so that the
kernel of a CPU with AVX2 and without VNNI, which adds two in 16 bits, cannot saturate."""
TO_THE_END = np.iinfo(np.int32).max
READ_LAYERS = (2, 4, 6, 8, 10)
"""Layers whose mean over the text the sentence vector is made of, beside what the heads read: the
last layer has only what the heads need."""
VECTOR = "vector"
OVER = "over"
FEATURES = "features"


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
        weight: (features, classes) float32; features is 2 x hidden for a classifier.
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


def quantised(matrix: Array, axis: int) -> tuple[Array, Array]:
    """A float matrix as int8 and its scales.

    Args:
        matrix: (rows, columns) float32.
        axis: Along which the largest value is sought: 0 for a scale per column, 1 per row.

    Returns:
        int8 values of the same shape, and float32 scales, (columns,) or (rows,).
    """
    scale = np.maximum(np.abs(matrix).max(axis=axis, keepdims=True) / LARGEST, 1e-12)
    values = np.clip(np.rint(matrix / scale), -LARGEST, LARGEST).astype(np.int8)
    return values, scale.astype(np.float32).squeeze(axis)


class _EncoderWriter(GraphWriter):
    """The parts of the encoder; each method returns the name of its result."""

    def many(self, op: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        first = self.node(op, *inputs, **attributes)
        names = [first, *(f"{first}_{k}" for k in range(1, outputs))]
        self.nodes[-1].output[:] = names
        return names

    def product(self, x: str, name: str, parts: Sequence[str]) -> str:
        """Product of x and the matrices of ``parts`` side by side, with biases; int8 inside."""
        pairs = [quantised(self.weights[f"{part}.weight"].T, 0) for part in parts]
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        return self.node(
            "DynamicQuantizeMatMul",
            x,
            self.tensor(f"{name}.weight", np.concatenate([pair[0] for pair in pairs], axis=1)),
            self.tensor(f"{name}.scale", np.concatenate([pair[1] for pair in pairs])),
            "",
            self.tensor(f"{name}.bias", bias.astype(np.float32)),
            domain=FUSED,
        )

    def embedded(self, kinds: str, length: str) -> str:
        values, scale = quantised(self.weights["embeddings.word_embeddings.weight"], 1)
        ids = "input_ids"
        words = self.node(
            "Mul",
            self.node(
                "Cast", self.node("Gather", self.tensor("words", values), ids), to=TensorProto.FLOAT
            ),
            self.node("Gather", self.tensor("words.scale", scale[:, None]), ids),
        )
        first, second = self.weights["embeddings.token_type_embeddings.weight"]
        places = (self.weights["embeddings.position_embeddings.weight"] + first).astype(np.float32)
        place = self.node(
            "Slice", self.tensor("places", places), self.ints(0), length, self.ints(0)
        )
        step = self.tensor("kinds.step", (second - first).astype(np.float32))
        kind = self.node("Mul", self.node("Unsqueeze", kinds, self.ints(2)), step)
        total = self.node("Add", self.node("Add", words, place), kind)
        return self.layer_norm(total, "embeddings.LayerNorm")

    def looked_at(self, kinds: str, length: str) -> str:
        """Truth values, (tokens,): the first token and the text."""
        first = np.zeros(len(self.weights["embeddings.position_embeddings.weight"]), np.float32)
        first[0] = 1.0
        head = self.node("Slice", self.tensor("first", first), self.ints(0), length, self.ints(0))
        both = self.node("Max", self.node("Squeeze", kinds, self.ints(0)), head)
        return self.node("Greater", both, self.scalar(0.5))

    def layer(self, x: str, number: int, kept: str | None) -> str:
        """One layer; with ``kept`` only of those places."""
        prefix = f"encoder.layer.{number}"
        hidden = self.shape.hidden
        own = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        if kept is None:
            three = self.product(x, f"{prefix}.qkv", own)
            widths = self.ints(hidden, hidden, hidden)
            query, key, value = self.many("Split", three, widths, outputs=3, axis=-1)
        else:
            two = self.product(x, f"{prefix}.kv", own[1:])
            key, value = self.many("Split", two, self.ints(hidden, hidden), outputs=2, axis=-1)
            x = self.node("Compress", x, kept, axis=1)
            query = self.product(x, f"{prefix}.q", own[:1])
        mixed = self.product(
            self.mixed(query, key, value), f"{prefix}.joined", [f"{prefix}.attention.output.dense"]
        )
        x = self.layer_norm(self.node("Add", x, mixed), f"{prefix}.attention.output.LayerNorm")
        inner = self.product(x, f"{prefix}.inner", [f"{prefix}.intermediate.dense"])
        outer = self.product(
            self.node("Gelu", inner, domain=FUSED), f"{prefix}.outer", [f"{prefix}.output.dense"]
        )
        return self.layer_norm(self.node("Add", x, outer), f"{prefix}.output.LayerNorm")

    def mixed(self, query: str, key: str, value: str) -> str:
        """Attention of every head over all places, joined again."""
        size = self.shape.hidden // self.shape.heads
        split = self.ints(0, 0, self.shape.heads, size)
        turned = [
            self.node("Transpose", self.node("Reshape", part, split), perm=perm)
            for part, perm in ((query, [0, 2, 1, 3]), (key, [0, 2, 3, 1]), (value, [0, 2, 1, 3]))
        ]
        scores = self.node("FusedMatMul", *turned[:2], domain=FUSED, alpha=float(size**-0.5))
        shares = self.node("Softmax", scores, axis=-1)
        joined = self.node("Transpose", self.node("MatMul", shares, turned[2]), perm=[0, 2, 1, 3])
        return self.node("Reshape", joined, self.ints(0, 0, self.shape.hidden))

    def mean_of_text(self, x: str, kinds: str) -> str:
        """Mean over the places of the text, (1, hidden)."""
        text = self.node("Unsqueeze", kinds, self.ints(2))
        total = self.node("ReduceSum", self.node("Mul", x, text), self.ints(1), keepdims=0)
        return self.node("Div", total, self.node("ReduceSum", text, self.ints(1), keepdims=0))

    def answered(self, x: str, heads: Sequence[Head]) -> str:
        """The heads on the first place and the mean of the others, one output each.

        Returns:
            What they read, (1, 2 x hidden).
        """
        first = self.node("Slice", x, self.ints(0), self.ints(1), self.ints(1))
        text = self.node("Slice", x, self.ints(1), self.ints(TO_THE_END), self.ints(1))
        pooled = self.node(
            "Concat",
            self.node("Squeeze", first, self.ints(1)),
            self.node("ReduceMean", text, axes=[1], keepdims=0),
            axis=1,
        )
        weight = np.concatenate([head.weight for head in heads], axis=1)
        bias = np.concatenate([head.bias for head in heads])
        logits = self.node(
            "Gemm", pooled, self.tensor("heads.weight", weight), self.tensor("heads.bias", bias)
        )
        sizes = self.ints(*(len(head.bias) for head in heads))
        self.many("Split", logits, sizes, outputs=len(heads), axis=1)
        self.nodes[-1].output[:] = [head.name for head in heads]
        return pooled

    def placed(self, features: Sequence[str], vector: Head | None) -> tuple[str, int]:
        """The sentence vector; without its head the features that it is made of.

        Returns:
            Name and length of the output.
        """
        if vector is None:
            self.node("Concat", *features, output=FEATURES, axis=1)
            return FEATURES, (len(READ_LAYERS) + 2) * self.shape.hidden
        values, scale = quantised(vector.weight, 0)
        self.node(
            "DynamicQuantizeMatMul",
            self.node("Concat", *features, axis=1),
            self.tensor("vector.weight", values),
            self.tensor("vector.scale", scale),
            "",
            self.tensor("vector.bias", vector.bias),
            output=VECTOR,
            domain=FUSED,
        )
        return VECTOR, len(vector.bias)


def write_encoder_graph(
    weights: Mapping[str, Array],
    heads: Sequence[Head],
    target: Path,
    shape: EncoderShape | None = None,
    vector: Head | None = None,
) -> None:
    """Writes the int8 encoder of one (context, text) pair; the same weights, the same bytes.

    Args:
        weights: Tensors under Hugging Face's BERT names, float32.
        heads: Classifiers on the first token's vector beside the mean of the second segment's.
        target: The file. Inputs ``input_ids`` and ``token_type_ids`` (int64, 1 x tokens), one
            output of logits per head (float32, 1 x classes), and ``vector`` or ``features``.
        shape: Sizes of the encoder; MiniLM-L6-H384 by default.
        vector: Makes the sentence vector (not of length 1 yet) of the features. Without it the
            features are an output.
    """
    writer = _EncoderWriter(weights, shape or EncoderShape())
    kinds = writer.node("Cast", "token_type_ids", to=TensorProto.FLOAT)
    length = writer.node("Shape", "input_ids", start=1, end=2)
    x = writer.embedded(kinds, length)
    features: list[str] = []
    for number in range(writer.shape.layers - 1):
        x = writer.layer(x, number, None)
        if number + 1 in READ_LAYERS:
            features.append(writer.mean_of_text(x, kinds))
    x = writer.layer(x, writer.shape.layers - 1, writer.looked_at(kinds, length))
    features.append(writer.answered(x, heads))
    name, size = writer.placed(features, vector)
    graph = helper.make_graph(
        writer.nodes,
        "encoder",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, [1, "tokens"])
            for name in ("input_ids", "token_type_ids")
        ],
        [
            *(
                helper.make_tensor_value_info(head.name, TensorProto.FLOAT, [1, len(head.bias)])
                for head in heads
            ),
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]),
        ],
        writer.initializers,
    )
    domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    model = helper.make_model(graph, producer_name="bmo", opset_imports=domains)
    model.ir_version = 8
    onnx.save(model, str(target))


def read_encoder_graph(
    path: Path, published: Mapping[str, Array], shape: EncoderShape
) -> tuple[dict[str, Array], list[Head]]:
    """The float weights and heads of a file that ``write_encoder_graph`` wrote, as its int8 are.

    The heads of the sentence vector and of what is over are not among them: they are made anew for
    other weights.

    Args:
        path: The file.
        published: The tensors it was trained from; its position vectors stay as published.
        shape: Sizes of the encoder.
    """
    graph = onnx.load(str(path)).graph
    held = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    first = (held["places"] - published["embeddings.position_embeddings.weight"]).mean(axis=0)
    found: dict[str, Array] = {
        "embeddings.word_embeddings.weight": held["words"] * held["words.scale"],
        "embeddings.token_type_embeddings.weight": np.stack([first, first + held["kinds.step"]]),
    }
    found |= {name: value for name, value in held.items() if "LayerNorm" in name}
    for number in range(shape.layers):
        prefix = f"encoder.layer.{number}"
        own = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        products = {
            f"{prefix}.qkv": own,
            f"{prefix}.q": own[:1],
            f"{prefix}.kv": own[1:],
            f"{prefix}.joined": [f"{prefix}.attention.output.dense"],
            f"{prefix}.inner": [f"{prefix}.intermediate.dense"],
            f"{prefix}.outer": [f"{prefix}.output.dense"],
        }
        for name, parts in products.items():
            if f"{name}.weight" in held:
                matrix = held[f"{name}.weight"] * held[f"{name}.scale"]
                both = zip(
                    parts,
                    np.split(matrix, len(parts), axis=1),
                    np.split(held[f"{name}.bias"], len(parts)),
                    strict=True,
                )
                for part, weight, bias in both:
                    found |= {f"{part}.weight": weight.T.copy(), f"{part}.bias": bias}
    named = [info for info in graph.output if info.name not in (VECTOR, FEATURES, OVER)]
    sizes = [info.type.tensor_type.shape.dim[1].dim_value for info in named]
    ends = np.cumsum(sizes)[:-1]
    heads = zip(
        named,
        np.split(held["heads.weight"], ends, axis=1),
        np.split(held["heads.bias"], ends),
        strict=True,
    )
    return found, [Head(output.name, weight, bias) for output, weight, bias in heads]


def add_over(path: Path, over: Head, target: Path) -> None:
    """Gives a file that ``write_encoder_graph`` wrote the output ``over``; all else stays.

    Args:
        path: The file.
        over: Reads of each place whether its word is over, from ``READ_LAYERS`` side by side: the
            output is (1, tokens) logits.
        target: The file that gets it; may be the same.
    """
    model = onnx.load(str(path))
    graph = model.graph
    kept: Any
    for kept in (graph.node, graph.initializer, graph.output):
        for one in [one for one in kept if one.name.startswith(OVER)]:
            kept.remove(one)
    norms = {f"encoder.layer.{n - 1}.output.LayerNorm.weight": n for n in READ_LAYERS}
    layers = {norms[i]: node.output[0] for node in graph.node for i in node.input if i in norms}
    told = []
    for part, number in zip(np.split(over.weight, len(READ_LAYERS)), READ_LAYERS, strict=True):
        name = f"{OVER}.{number}"
        graph.initializer.append(numpy_helper.from_array(part.astype(np.float32), f"{name}.weight"))
        inputs = [layers[number], f"{name}.weight"]
        graph.node.append(helper.make_node("MatMul", inputs, [name], name=name))
        told.append(name)
    graph.initializer.append(numpy_helper.from_array(over.bias.astype(np.float32), f"{OVER}.bias"))
    graph.initializer.append(numpy_helper.from_array(np.array([2]), f"{OVER}.axis"))
    total = f"{OVER}.sum"
    graph.node.append(helper.make_node("Sum", [*told, f"{OVER}.bias"], [total], name=total))
    last = [total, f"{OVER}.axis"]
    graph.node.append(helper.make_node("Squeeze", last, [OVER], name=f"{OVER}.squeeze"))
    graph.output.append(helper.make_tensor_value_info(OVER, TensorProto.FLOAT, [1, "tokens"]))
    onnx.save(model, str(target))
