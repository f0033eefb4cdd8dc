"""Fits the judge and asks it: batches, losses, the loop."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
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


def fit(turns: Sequence[TrainingTurn], recipe: Recipe, kept: Path | None = None) -> JudgeModel:
    """Trains a judge.

    Args:
        turns: What to learn from.
        recipe: How.
        kept: Folder that keeps the state after each epoch, so that a training that was broken off
            goes on where it was; the same model comes out.

    Returns:
        The model in evaluation mode.
    """
    run = _Run(turns, recipe)
    states = [_state_of(turns, recipe, number) for number in range(recipe.epochs)]
    done = 0
    for number in range(recipe.epochs, 0, -1):
        if kept is not None and (kept / f"{states[number - 1]}.pt").exists():
            run.load(kept / f"{states[number - 1]}.pt")
            print(f"  epoch {number}: as kept", flush=True)
            done = number
            break
    run.model.train()
    for number in range(done, recipe.epochs):
        begun = time.process_time()
        loss = run.epoch(number)
        spent = time.process_time() - begun
        print(f"  epoch {number + 1}: loss {loss:.3f}, {spent:.0f} s of CPU", flush=True)
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
            run.save(kept / f"{states[number]}.pt")
    return run.model.eval()


class _Run:
    """A training under way: the model, the optimiser, and where chance stands."""

    def __init__(self, turns: Sequence[TrainingTurn], recipe: Recipe) -> None:
        self.turns, self.recipe = turns, recipe
        torch.manual_seed(recipe.seed)
        self.rng = random.Random(recipe.seed)
        self.tokenizer = WordPiece.open()
        self.model = JudgeModel(
            published_weights(), EncoderShape(), recipe.dropout, recipe.train_words
        )
        heads = list(self.model.heads.parameters())
        known = {id(p) for p in heads}
        body = [p for p in self.model.parameters() if p.requires_grad and id(p) not in known]
        self.trained = body + heads
        self.optimiser = torch.optim.AdamW(
            [{"params": body, "lr": recipe.rate}, {"params": heads, "lr": recipe.head_rate}],
            weight_decay=0.01,
            fused=True,
        )
        steps = recipe.epochs * -(-len(turns) // recipe.batch)
        warm = max(1, steps // 10)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimiser,
            lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm))),
        )
        self.strangers = sorted({t.context for t in turns if t.context and "?" not in t.context})
        self.chatter = companions()

    def epoch(self, number: int) -> float:
        """Reads every turn once, the first time as it is; returns the mean loss."""
        varied = [
            vary(turn, self.rng, self.strangers, self.chatter) if number else turn
            for turn in self.turns
        ]
        pairs = [(turn, encode_pair(self.tokenizer, turn.context, turn.text)) for turn in varied]
        total = 0.0
        for chunk, batch in _batches(pairs, self.recipe.batch, self.rng):
            # bfloat16 halves the time of a step and costs nothing that could be measured.
            with torch.autocast("cpu", dtype=torch.bfloat16):
                answers = self.model(batch)
            loss = _loss({name: a.float() for name, a in answers.items()}, chunk, self.recipe)
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
            self.optimiser.step()
            self.schedule.step()
            total += loss.item() * len(chunk)
        return total / len(pairs)

    def save(self, path: Path) -> None:
        """Writes everything that the next epoch begins with."""
        state = {
            "weights": [p.detach() for p in self.trained],
            "optimiser": self.optimiser.state_dict(),
            "schedule": self.schedule.last_epoch,
            "torch": torch.get_rng_state(),
            "python": self.rng.getstate(),
        }
        unready = path.with_suffix(".part")
        torch.save(state, unready)
        unready.replace(path)

    def load(self, path: Path) -> None:
        """Goes on from what ``save`` wrote."""
        state = torch.load(path, weights_only=True)
        with torch.no_grad():
            for parameter, known in zip(self.trained, state["weights"], strict=True):
                parameter.copy_(known)
        self.optimiser.load_state_dict(state["optimiser"])
        self.schedule.last_epoch = state["schedule"]
        torch.set_rng_state(state["torch"])
        version, numbers, gauss = state["python"]
        self.rng.setstate((version, tuple(numbers), gauss))


def _state_of(turns: Sequence[TrainingTurn], recipe: Recipe, number: int) -> str:
    """Name of the state after an epoch: another recipe or another line, another name."""
    made = (recipe, number, torch.__version__, torch.get_num_threads())
    known = hashlib.sha256(repr(made).encode())
    for turn in turns:
        row = (turn.context, turn.text, turn.verdict, turn.categories, turn.recall)
        known.update(repr(row).encode())
    return known.hexdigest()[:16]


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
