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
from training.turns import TrainingTurn, digest

Array = np.ndarray[Any, Any]

PADDING = 0
"""What fills a row of a batch up."""


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
        layer_decay: What a layer learns slower than the one above it.
        patterned: Files written out from patterns, of which an epoch reads every second turn.
        averaging: Decay of the moving average of the weights, which is what is kept; 0 for none.
    """

    seed: int = 20260301
    epochs: int = 3
    batch: int = 32
    rate: float = 1.5e-4
    head_rate: float = 6e-4
    dropout: float = 0.1
    smoothing: float = 0.05
    category_weight: float = 3.0
    read_weight: float = 1.0
    train_words: bool = True
    layer_decay: float = 0.9
    patterned: str = "lm"
    averaging: float = 0.998


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
    epochs = _writings(turns, recipe, rng)
    model = JudgeModel(published_weights(), EncoderShape(), recipe.dropout, recipe.train_words)
    seen = {i for epoch in epochs for _, pair in epoch for i in pair.ids}
    model.narrow(sorted(seen | {PADDING}))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(_groups(model, recipe), weight_decay=0.01, fused=True)
    steps = sum(-(-len(epoch) // recipe.batch) for epoch in epochs)
    warm = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
    )
    step, average = 0, [p.detach().clone() for p in trained]
    model.train()
    for number, epoch in enumerate(epochs, 1):
        begun, total = time.monotonic(), 0.0
        for chunk, batch in _batches(epoch, recipe.batch, rng):
            # bfloat16 halves the time of a step and costs nothing that could be measured.
            with torch.autocast("cpu", dtype=torch.bfloat16):
                answers = model(batch)
            loss = _loss({name: a.float() for name, a in answers.items()}, chunk, recipe)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            schedule.step()
            step += 1
            kept = min(recipe.averaging, step / (step + 10))
            torch._foreach_lerp_(average, [p.detach() for p in trained], 1 - kept)
            total += loss.item() * len(chunk)
        spent = time.monotonic() - begun
        print(f"  epoch {number}: loss {total / len(epoch):.3f}, {spent:.0f} s", flush=True)
    with torch.no_grad():
        for parameter, mean in zip(trained, average, strict=True):
            parameter.copy_(mean)
    model.widen()
    return model.eval()


def _writings(
    turns: Sequence[TrainingTurn], recipe: Recipe, rng: random.Random
) -> list[list[tuple[TrainingTurn, EncodedPair]]]:
    """What each epoch reads: the turns as they are, then other writings of them.

    A pattern's lines teach less than as many of somebody's own: an epoch reads half of them.
    """
    tokenizer = WordPiece.open()
    strangers = sorted({t.context for t in turns if t.context and "?" not in t.context})
    chatter = companions()
    epochs = []
    for number in range(recipe.epochs):
        due = [
            turn
            for turn in turns
            if turn.file not in recipe.patterned or int(digest(turn.text), 16) % 2 == number % 2
        ]
        varied = [vary(turn, rng, strangers, chatter) if number else turn for turn in due]
        epochs.append([(turn, encode_pair(tokenizer, turn.context, turn.text)) for turn in varied])
    return epochs


def _groups(model: JudgeModel, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with their learning rate: the nearer to the words, the lower."""
    depths = model.by_depth()
    groups: list[dict[str, Any]] = [
        {"params": part, "lr": recipe.rate * recipe.layer_decay ** (len(depths) - 1 - depth)}
        for depth, part in enumerate(depths)
    ]
    return [*groups, {"params": list(model.heads.parameters()), "lr": recipe.head_rate}]


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
    epoch: Sequence[tuple[TrainingTurn, EncodedPair]], size: int, rng: random.Random
) -> Iterator[tuple[list[TrainingTurn], Batch]]:
    """Batches of about equal length in random order, so that little is padding."""
    order = list(range(len(epoch)))
    rng.shuffle(order)
    pool = size * 40
    for start in range(0, len(order), pool):
        near = sorted(order[start : start + pool], key=lambda i: len(epoch[i][1].ids))
        groups = [near[at : at + size] for at in range(0, len(near), size)]
        rng.shuffle(groups)
        for rows in groups:
            yield [epoch[i][0] for i in rows], _tensors([epoch[i][1] for i in rows])


def _tensors(pairs: Sequence[EncodedPair]) -> Batch:
    longest = max(len(pair.ids) for pair in pairs)
    ids, mask, kinds = (torch.zeros((len(pairs), longest), dtype=torch.int64) for _ in range(3))
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        kinds[row, : len(pair.ids)] = torch.tensor(pair.kinds)
        mask[row, : len(pair.ids)] = 1
    return Batch(ids, mask, kinds)
