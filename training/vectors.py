"""Makes the encoder's sentence vector, by which memories are searched.

``python -m training.vectors`` makes it anew for an encoder that is there; ``training.train`` makes
it at its end. Everything below the vector stays as it is: a linear head reads what six layers made
of a text. It learns from the annotated pairs that a question is near the memory that answers it,
and a turn near the memory that it ends or says again (InfoNCE, van den Oord et al. 2018; the others
of a batch are the negatives), and from a published embedder how near any two texts are (relational
distillation, Park et al. 2019): without that it knows nothing of what our authors do not talk of.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from onnxruntime import InferenceSession, SessionOptions
from torch import Tensor, nn
from torch.nn import functional

from bmo.encoder import MODEL, WordPiece
from bmo.encoder.encoder import VECTOR_SIZE
from bmo.encoder.encoding import encode_turn
from bmo.encoder.model_file import SLOWER_FUSED
from training.data import PairExample, TurnExample, is_held_out, read_data
from training.encoder_base import SHAPE, published_encoder, write_manifest
from training.encoder_graph import (
    FEATURES,
    VECTOR,
    Array,
    Head,
    add_over,
    read_encoder_graph,
    write_encoder_graph,
)
from training.over import over_head
from training.teacher import teacher_vectors

Said = tuple[str, str]
"""The assistant's words before a text, and the text."""

SEED = 20261124
STEPS = 700
BATCH = 384
RATE = 2e-3
DROPOUT = 0.1
DECAY = 0.02
OTHER_TURNS = 9000
"""Turns that belong to no pair, of which only the teacher's distances are learnt."""
TEACHER = 300.0
"""Weight of the squared difference between the head's cosines and the teacher's. Without it, or
with a third of it, questions about the talk of strangers find less."""
RELATED = 0.5
"""Weight of a memory that a turn ends or says again, beside one that answers a question."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What is learnt, by places in a list of texts.

    Attributes:
        texts: The texts.
        pairs: (pairs, 2): places of a turn and of its memory.
        weights: (pairs,): how much each counts.
        alone: Places of texts that are read without what stands before them.
    """

    texts: list[Said]
    pairs: Tensor
    weights: Tensor
    alone: Tensor


def positives(turns: Sequence[TurnExample], pairs: Sequence[PairExample]) -> Pairs:
    """The texts and pairs of the repository's data that are not kept from the training."""
    places: dict[Said, int] = {}

    def place(asked: str, text: str) -> int:
        return places.setdefault((asked, text), len(places))

    related = [
        (place("", p.text), place(p.memory_asked, p.memory), 1.0 if p.answers else RELATED)
        for p in pairs
        if (p.answers or p.relation) and not is_held_out(p.group)
    ]
    others = [turn for turn in turns if not is_held_out(turn.group)]
    for turn in random.Random(SEED).sample(others, OTHER_TURNS):
        place("", turn.text)
    alone = [number for (asked, _), number in places.items() if not asked]
    return Pairs(
        list(places),
        torch.tensor([(turn, memory) for turn, memory, _ in related]),
        torch.tensor([weight for _, _, weight in related]),
        torch.tensor(alone),
    )


def features(
    weights: dict[str, Array], heads: Sequence[Head], texts: Sequence[Said]
) -> np.ndarray[Any, Any]:
    """What the layers make of texts, (texts, features) float16, by the int8 graph that ships."""
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "features.onnx"
        write_encoder_graph(weights, heads, graph, SHAPE)
        options = SessionOptions()
        options.intra_op_num_threads = 1
        session = InferenceSession(
            str(graph),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=[*SLOWER_FUSED],
        )
    tokenizer = WordPiece.open()
    rows = []
    for asked, text in texts:
        encoded = encode_turn(tokenizer, asked, text)
        feed = {
            "input_ids": np.array([encoded.ids], np.int64),
            "token_type_ids": np.array([encoded.kinds], np.int64),
        }
        rows.append(session.run([FEATURES], feed)[0][0].astype(np.float16))
    return np.stack(rows)


def fit(read: np.ndarray[Any, Any], data: Pairs, teacher: np.ndarray[Any, Any]) -> Head:
    """Learns the head.

    Args:
        read: Features of ``data.texts``.
        data: What is near what.
        teacher: (texts, size) float32: the published embedder's vectors of the same texts, each
            alone and of length 1.
    """
    torch.manual_seed(SEED)
    x, near = torch.from_numpy(read.astype(np.float32)), torch.from_numpy(teacher)
    mean, spread = x.mean(0), x.std(0) + 1e-4
    x = (x - mean) / spread
    head = nn.Linear(x.shape[1], VECTOR_SIZE)
    sharpness = nn.Parameter(torch.tensor(2.7))
    groups = [
        {"params": [*head.parameters()], "weight_decay": DECAY},
        {"params": [sharpness], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=RATE)

    def placed(places: Tensor, dropout: float) -> Tensor:
        made: Tensor = head(functional.dropout(x[places], dropout))
        return functional.normalize(made, dim=1)

    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / 100) * (1.0 - step / STEPS)
        chosen = torch.randint(len(data.pairs), (BATCH,))
        turn, memory = data.pairs[chosen].T
        scores = placed(turn, DROPOUT) @ placed(memory, DROPOUT).T * sharpness.exp()
        loss = _contrast(scores, turn, memory, data.weights[chosen])
        some = data.alone[torch.randint(len(data.alone), (BATCH,))]
        ours = placed(some, DROPOUT / 2)
        loss = loss + TEACHER * ((ours @ ours.T - near[some] @ near[some].T) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step % 100 == 99:
            print(f"  vectors {step + 1}/{STEPS}: loss {loss.item():.3f}", flush=True)
    with torch.no_grad():
        weight = (head.weight / spread).T.contiguous()
        bias = head.bias - mean @ weight
    return Head(VECTOR, weight.numpy(), bias.numpy())


def _contrast(scores: Tensor, turn: Tensor, memory: Tensor, weights: Tensor) -> Tensor:
    """Cross-entropy both ways; another row of the same turn or memory is no negative."""
    same = (turn[:, None] == turn) | (memory[:, None] == memory)
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, -1e4)
    truth = torch.arange(len(scores))
    both = [functional.cross_entropy(one, truth, reduction="none") for one in (scores, scores.T)]
    return ((both[0] + both[1]) * weights).mean() / 2


def vector_head(weights: dict[str, Array], heads: Sequence[Head]) -> Head:
    """The head of the sentence vector for an encoder.

    Args:
        weights: Its tensors under Hugging Face's BERT names, float32.
        heads: Its other heads.
    """
    torch.set_num_threads(1)  # the sums of more depend on how many, and these are small
    data = positives(*read_data())
    print(f"{len(data.pairs)} pairs, {len(data.texts)} texts for the vector", flush=True)
    teacher = teacher_vectors([text for _, text in data.texts])
    return fit(features(weights, heads, data.texts), data, teacher)


def main() -> None:
    """Writes an encoder with a new sentence vector; all else of it stays as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", type=Path, dest="read_from", default=MODEL, help="the encoder")
    parser.add_argument("--to", type=Path, default=MODEL, help="folder that gets it")
    parser.add_argument("--dated", required=True, help="day of the new vector: 20261124")
    options = parser.parse_args()
    manifest = json.loads((options.read_from / "model.json").read_text(encoding="utf-8"))
    published = published_encoder()
    weights, heads = read_encoder_graph(options.read_from / "model.onnx", published, SHAPE)
    places = "embeddings.position_embeddings.weight"
    weights[places] = published[places]
    vector = vector_head(weights, heads)
    options.to.mkdir(parents=True, exist_ok=True)
    target = options.to / "model.onnx"
    write_encoder_graph(weights, heads, target, SHAPE, vector)
    add_over(target, over_head(weights, heads), target)
    kept = {key: manifest[key] for key in manifest if key not in ("file", "sha256", "bytes")}
    write_manifest(options.to, target, options.dated, **kept)


if __name__ == "__main__":
    main()
