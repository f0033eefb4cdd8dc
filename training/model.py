"""The encoder in torch: MiniLM with linear heads, under Hugging Face's tensor names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bmo.turn import CATEGORIES
from training.data import RELATION_NAMES, VERDICTS
from training.minilm_graph import EncoderShape, Head

HEADS = {
    "verdict": len(VERDICTS),
    "categories": len(CATEGORIES),
    "read_need": 1,
    "steers": 1,
    "relation": len(RELATION_NAMES),
    "answers": 1,
}


@dataclass(frozen=True, slots=True)
class Batch:
    """Encoded inputs of equal length: ids, mask and segment, each (batch, tokens) int64."""

    ids: Tensor
    mask: Tensor
    kinds: Tensor


class _Layer(nn.Module):
    def __init__(self, shape: EncoderShape, dropout: float) -> None:
        super().__init__()
        hidden, self.heads, self.dropout = shape.hidden, shape.heads, dropout
        self.query, self.key, self.value, self.joined = (nn.Linear(hidden, hidden) for _ in "qkvo")
        self.after_attention = nn.LayerNorm(hidden, eps=shape.layer_norm_eps)
        self.inner = nn.Linear(hidden, hidden * 4)
        self.outer = nn.Linear(hidden * 4, hidden)
        self.after_all = nn.LayerNorm(hidden, eps=shape.layer_norm_eps)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        batch, tokens, hidden = x.shape
        query, key, value = (
            part(x).view(batch, tokens, self.heads, -1).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        drop = self.dropout if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(query, key, value, bias, dropout_p=drop)
        mixed = self.joined(mixed.transpose(1, 2).reshape(batch, tokens, hidden))
        x = self.after_attention(x + functional.dropout(mixed, drop, self.training))
        inner = self.outer(functional.gelu(self.inner(x)))
        result: Tensor = self.after_all(x + functional.dropout(inner, drop, self.training))
        return result


class EncoderModel(nn.Module):
    """MiniLM over two segments, with linear heads on first token and mean of the second.

    The position vectors stay as published.
    """

    def __init__(
        self, weights: Mapping[str, np.ndarray[Any, Any]], shape: EncoderShape, dropout: float
    ) -> None:
        """Takes the published weights; the heads start near zero."""
        super().__init__()
        self.published = dict(weights)
        words = torch.from_numpy(weights["embeddings.word_embeddings.weight"])
        places = torch.from_numpy(weights["embeddings.position_embeddings.weight"])
        self.words = nn.Embedding(words.shape[0], words.shape[1], _weight=words.clone())
        self.places = nn.Embedding(places.shape[0], places.shape[1], _weight=places, _freeze=True)
        self.segments = nn.Embedding(2, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.layer_norm_eps)
        self._layers = [_Layer(shape, dropout) for _ in range(shape.layers)]
        self.layers = nn.ModuleList(self._layers)
        self._heads = {name: nn.Linear(2 * shape.hidden, k) for name, k in HEADS.items()}
        self.heads = nn.ModuleDict(self._heads)
        self.dropout = nn.Dropout(dropout)
        for head in self._heads.values():
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        with torch.no_grad():
            for name, parameter in self._named():
                parameter.copy_(torch.from_numpy(weights[name]))

    def by_depth(self) -> list[list[nn.Parameter]]:
        """Trained parameters of the encoder: embeddings first, then layer by layer."""
        below = [*self.words.parameters(), *self.segments.parameters(), *self.norm.parameters()]
        return [below, *(list(layer.parameters()) for layer in self._layers)]

    def _named(self) -> list[tuple[str, Tensor]]:
        """Trained encoder tensors with their published names."""
        pairs = [
            ("embeddings.token_type_embeddings.weight", self.segments.weight),
            ("embeddings.LayerNorm.weight", self.norm.weight),
            ("embeddings.LayerNorm.bias", self.norm.bias),
            ("embeddings.word_embeddings.weight", self.words.weight),
        ]
        for number, layer in enumerate(self._layers):
            parts: dict[str, nn.Linear | nn.LayerNorm] = {
                "attention.self.query": layer.query,
                "attention.self.key": layer.key,
                "attention.self.value": layer.value,
                "attention.output.dense": layer.joined,
                "attention.output.LayerNorm": layer.after_attention,
                "intermediate.dense": layer.inner,
                "output.dense": layer.outer,
                "output.LayerNorm": layer.after_all,
            }
            for name, part in parts.items():
                pairs.append((f"encoder.layer.{number}.{name}.weight", part.weight))
                pairs.append((f"encoder.layer.{number}.{name}.bias", part.bias))
        return pairs

    def hidden(self, batch: Batch) -> Tensor:
        """Vectors of the last layer, (batch, tokens, hidden)."""
        places = torch.arange(batch.ids.shape[1])
        x = self.words(batch.ids) + self.places(places) + self.segments(batch.kinds)
        x = self.dropout(self.norm(x))
        bias = (1.0 - batch.mask[:, None, None, :].float()) * -10_000.0
        for layer in self._layers:
            x = layer(x, bias)
        return x

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Logits of each head, (batch, classes)."""
        x = self.hidden(batch)
        text = batch.kinds[:, :, None].float()
        mean = (x * text).sum(1) / text.sum(1)
        pooled = self.dropout(torch.cat([x[:, 0], mean], dim=1))
        return {name: head(pooled) for name, head in self._heads.items()}

    def exported(self) -> tuple[dict[str, np.ndarray[Any, Any]], list[Head]]:
        """Tensors under their published names, and the heads, as float32 arrays."""
        trained = {name: p.detach().numpy().astype(np.float32) for name, p in self._named()}
        heads = [
            Head(name, head.weight.detach().numpy().T.copy(), head.bias.detach().numpy().copy())
            for name, head in self._heads.items()
        ]
        return self.published | trained, heads
