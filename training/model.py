"""The encoder in torch: MiniLM with linear heads, under Hugging Face's tensor names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bmo.turn import CATEGORIES
from training.data import RELATION_NAMES, VERDICTS
from training.encoder_graph import EncoderShape, Head

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
    """Encoded inputs of equal length with what is annotated of them.

    Attributes:
        ids, mask, kinds: (batch, tokens) int64; ``kinds`` is 1 for the turn.
        wanted: The annotation of a head, (batch,) or (batch, classes); negative where none is.
    """

    ids: Tensor
    mask: Tensor
    kinds: Tensor
    wanted: dict[str, Tensor]

    def to(self, device: str) -> Batch:
        """The same on another device."""
        wanted = {name: value.to(device) for name, value in self.wanted.items()}
        return Batch(self.ids.to(device), self.mask.to(device), self.kinds.to(device), wanted)


def linear_heads(hidden: int) -> dict[str, nn.Linear]:
    """The classifiers on two vectors of an encoder side by side; they start near zero."""
    heads = {name: nn.Linear(2 * hidden, classes) for name, classes in HEADS.items()}
    for head in heads.values():
        nn.init.normal_(head.weight, std=0.02)
        nn.init.zeros_(head.bias)
    return heads


def pooled(x: Tensor, kinds: Tensor) -> Tensor:
    """The first token's vector beside the mean of the turn's, (batch, 2 x hidden)."""
    turn = kinds[:, :, None].to(x.dtype)
    return torch.cat([x[:, 0], (x * turn).sum(1) / turn.sum(1)], dim=1)


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
        self.shape = shape
        words = torch.from_numpy(weights["embeddings.word_embeddings.weight"])
        places = torch.from_numpy(weights["embeddings.position_embeddings.weight"])
        self.words = nn.Embedding(words.shape[0], words.shape[1], _weight=words.clone())
        self.places = nn.Embedding(places.shape[0], places.shape[1], _weight=places, _freeze=True)
        self.segments = nn.Embedding(2, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.layer_norm_eps)
        self._layers = [_Layer(shape, dropout) for _ in range(shape.layers)]
        self.layers = nn.ModuleList(self._layers)
        self._heads = linear_heads(shape.hidden)
        self.heads = nn.ModuleDict(self._heads)
        self.dropout = nn.Dropout(dropout)
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
        return self.layered(batch.ids, batch.kinds, batch.mask)[-1]

    def layered(self, ids: Tensor, kinds: Tensor, mask: Tensor | None = None) -> list[Tensor]:
        """Vectors of each layer, (batch, tokens, hidden) each; without ``mask`` all is read."""
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.words(ids) + self.places(places) + self.segments(kinds)
        x = self.dropout(self.norm(x))
        read = torch.ones_like(ids) if mask is None else mask
        bias = (1.0 - read[:, None, None, :].float()) * -10_000.0
        found: list[Tensor] = []
        for layer in self._layers:
            x = layer(x, bias)
            found.append(x)
        return found

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Logits of each head, (batch, classes)."""
        vectors = self.dropout(pooled(self.hidden(batch), batch.kinds))
        return {name: head(vectors) for name, head in self._heads.items()}

    def load(self, weights: Mapping[str, np.ndarray[Any, Any]], heads: Sequence[Head]) -> None:
        """Takes other weights, as ``exported`` gives them, heads included."""
        with torch.no_grad():
            for name, parameter in self._named():
                parameter.copy_(torch.from_numpy(weights[name]))
            for head in heads:
                self._heads[head.name].weight.copy_(torch.from_numpy(head.weight.T.copy()))
                self._heads[head.name].bias.copy_(torch.from_numpy(head.bias.copy()))

    def exported(self) -> tuple[dict[str, np.ndarray[Any, Any]], list[Head]]:
        """Tensors under their published names, and the heads, as float32 arrays."""
        trained = {name: p.detach().cpu().numpy().astype(np.float32) for name, p in self._named()}
        heads = [
            Head(
                name,
                head.weight.detach().cpu().numpy().T.copy(),
                head.bias.detach().cpu().numpy().copy(),
            )
            for name, head in self._heads.items()
        ]
        return self.published | trained, heads
