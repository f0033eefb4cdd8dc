"""Fits the judge and asks it: batches, losses, the loop."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bmo.judge.encoding import EncodedPair, encode_pair
from bmo.models import WordPiece
from training.augmentation import vary
from training.build_embedder import published_weights
from training.chat import companions
from training.encoder import Batch, JudgeModel
from training.minilm_graph import EncoderShape
from training.turns import TrainingTurn

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what a training run gives.

    Attributes:
        seed: Seed of every source of chance.
        epochs: Times every turn is seen, each time in another writing.
        batch: Turns a step.
        rate: Highest learning rate of the encoder (linear warm-up and decay).
        head_rate: The same for the heads.
        dropout: Share of activations dropped.
        smoothing: Label smoothing of the verdict.
        category_weight: Weight of the category loss.
        read_weight: Weight of the read-need loss.
        train_words: Whether the word vectors learn too.
    """

    seed: int = 20260301
    epochs: int = 3
    batch: int = 32
    rate: float = 1.5e-4
    head_rate: float = 6e-4
    dropout: float = 0.1
    smoothing: float = 0.05
    category_weight: float = 1.0
    read_weight: float = 1.0
    train_words: bool = True


@dataclass(frozen=True, slots=True)
class Logits:
    """Raw answers, one row a turn: verdict (n, 3), categories (n, 6), read_need (n,)."""

    verdict: Array
    categories: Array
    read_need: Array


def fit(turns: Sequence[TrainingTurn], recipe: Recipe) -> JudgeModel:
    """Trains a judge.

    Args:
        turns: What to learn from.
        recipe: How.

    Returns:
        The model in evaluation mode.
    """
    torch.manual_seed(recipe.seed)
    rng = random.Random(recipe.seed)
    tokenizer = WordPiece.open()
    model = JudgeModel(published_weights(), EncoderShape(), recipe.dropout, recipe.train_words)
    heads = list(model.heads.parameters())
    ids = {id(p) for p in heads}
    body = [p for p in model.parameters() if p.requires_grad and id(p) not in ids]
    groups = [{"params": body, "lr": recipe.rate}, {"params": heads, "lr": recipe.head_rate}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    steps = recipe.epochs * -(-len(turns) // recipe.batch)
    warm = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
    )
    strangers = sorted({t.context for t in turns if t.context and "?" not in t.context})
    chatter = companions()
    model.train()
    for epoch in range(recipe.epochs):
        begun, total = time.monotonic(), 0.0
        varied = [vary(turn, rng, strangers, chatter) if epoch else turn for turn in turns]
        for chunk, batch in _batches(varied, tokenizer, recipe.batch, rng):
            # bfloat16 halves the time of a step and costs nothing that could be measured.
            with torch.autocast("cpu", dtype=torch.bfloat16):
                answers = model(batch)
            loss = _loss({name: a.float() for name, a in answers.items()}, chunk, recipe)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(body + heads, 1.0)
            optimiser.step()
            schedule.step()
            total += loss.item() * len(chunk)
        spent = time.monotonic() - begun
        print(f"  epoch {epoch + 1}: loss {total / len(turns):.3f}, {spent:.0f} s", flush=True)
    return model.eval()


def ask(model: JudgeModel, turns: Sequence[TrainingTurn]) -> Logits:
    """The model's raw answers, in the order of ``turns``."""
    tokenizer = WordPiece.open()
    pairs = [encode_pair(tokenizer, turn.context, turn.text) for turn in turns]
    order = sorted(range(len(turns)), key=lambda i: len(pairs[i].ids))
    parts: dict[str, Array] = {}
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            rows = order[start : start + 64]
            for name, logits in model(_tensors([pairs[i] for i in rows])).items():
                place = parts.setdefault(name, np.empty((len(turns), logits.shape[1]), np.float32))
                place[rows] = logits.numpy()
    return Logits(parts["verdict"], parts["categories"], parts["read_need"][:, 0])


def _loss(logits: dict[str, Tensor], turns: Sequence[TrainingTurn], recipe: Recipe) -> Tensor:
    verdict = functional.cross_entropy(
        logits["verdict"],
        torch.tensor([turn.verdict for turn in turns]),
        label_smoothing=recipe.smoothing,
    )
    read = functional.binary_cross_entropy_with_logits(
        logits["read_need"][:, 0], torch.tensor([float(turn.recall) for turn in turns])
    )
    total = verdict + recipe.read_weight * read
    rows = [i for i, turn in enumerate(turns) if turn.categories is not None]
    if rows:
        wanted = torch.tensor([turns[i].categories for i in rows], dtype=torch.float32)
        total = total + recipe.category_weight * functional.binary_cross_entropy_with_logits(
            logits["categories"][rows], wanted
        )
    return total


def _batches(
    turns: Sequence[TrainingTurn], tokenizer: WordPiece, size: int, rng: random.Random
) -> Iterator[tuple[list[TrainingTurn], Batch]]:
    """Batches of about equal length in random order, so that little is padding."""
    pairs = [encode_pair(tokenizer, turn.context, turn.text) for turn in turns]
    order = list(range(len(turns)))
    rng.shuffle(order)
    pool = size * 40
    for start in range(0, len(order), pool):
        near = sorted(order[start : start + pool], key=lambda i: len(pairs[i].ids))
        groups = [near[at : at + size] for at in range(0, len(near), size)]
        rng.shuffle(groups)
        for rows in groups:
            yield [turns[i] for i in rows], _tensors([pairs[i] for i in rows])


def _tensors(pairs: Sequence[EncodedPair]) -> Batch:
    longest = max(len(pair.ids) for pair in pairs)
    ids, mask, kinds = (torch.zeros((len(pairs), longest), dtype=torch.int64) for _ in range(3))
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        kinds[row, : len(pair.ids)] = torch.tensor(pair.kinds)
        mask[row, : len(pair.ids)] = 1
    return Batch(ids, mask, kinds)
