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
from training.turns import TrainingTurn, digest

Array = np.ndarray[Any, Any]

WARM_UP = 0.1
"""Share of a training in which the learning rate rises."""


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
        later: Files that the first epoch does not read: what the second adds, then the third. They
            are short lines of a few kinds each, written last; the epochs before stay as they were.
        averaging: Decay of the moving average of the weights, which is what is kept; 0 for none.
    """

    seed: int = 20260301
    epochs: int = 3
    batch: int = 32
    rate: float = 1.8e-4
    head_rate: float = 6e-4
    dropout: float = 0.1
    smoothing: float = 0.05
    category_weight: float = 2.0
    read_weight: float = 1.0
    train_words: bool = True
    layer_decay: float = 0.95
    patterned: str = "lm"
    later: tuple[str, ...] = ("st", "u")
    averaging: float = 0.995


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
        kept: Folder that keeps the state after each epoch but the last, so that a training that
            was broken off goes on where it was; the same model comes out.

    Returns:
        The model in evaluation mode.
    """
    epochs = [_writings(turns, recipe, number) for number in range(recipe.epochs)]
    torch.manual_seed(recipe.seed)
    model = JudgeModel(published_weights(), EncoderShape(), recipe.dropout, recipe.train_words)
    run = _Run(model, recipe)
    states = [_state_of(recipe, epochs[: number + 1]) for number in range(recipe.epochs)]
    done = 0
    for number in range(recipe.epochs - 1, 0, -1):
        if kept is not None and (kept / f"{states[number - 1]}.pt").exists():
            run.load(kept / f"{states[number - 1]}.pt")
            print(f"  epoch {number}: as kept", flush=True)
            done = number
            break
    model.train()
    for number in range(done, recipe.epochs):
        begun = time.process_time()
        loss = run.epoch(epochs[number], number)
        spent = time.process_time() - begun
        print(f"  epoch {number + 1}: loss {loss:.3f}, {spent:.0f} s of CPU", flush=True)
        if kept is not None and number + 1 < recipe.epochs:
            kept.mkdir(parents=True, exist_ok=True)
            run.save(kept / f"{states[number]}.pt")
    run.settle()
    return model.eval()


class _Run:
    """A training under way: the model, the optimiser and the moving average of the weights."""

    def __init__(self, model: JudgeModel, recipe: Recipe) -> None:
        self.model = model
        self.recipe = recipe
        self.trained = [p for p in model.parameters() if p.requires_grad]
        groups = _groups(model, recipe)
        self.rates = [float(group["lr"]) for group in groups]
        self.optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        self.average = [p.detach().clone() for p in self.trained]
        self.step = 0

    def epoch(self, pairs: Sequence[tuple[TrainingTurn, EncodedPair]], number: int) -> float:
        """Reads every turn once; returns the mean loss. Its chance depends on its number alone."""
        torch.manual_seed(self.recipe.seed + number)
        rng = random.Random(f"batches {self.recipe.seed} {number}")
        batches = -(-len(pairs) // self.recipe.batch)
        total = 0.0
        for place, (chunk, batch) in enumerate(_batches(pairs, self.recipe.batch, rng)):
            share = rate_share((number + (place + 1) / batches) / self.recipe.epochs)
            for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
                group["lr"] = rate * share
            # bfloat16 halves the time of a step and costs nothing that could be measured.
            with torch.autocast("cpu", dtype=torch.bfloat16):
                answers = self.model(batch)
            loss = _loss({name: a.float() for name, a in answers.items()}, chunk, self.recipe)
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
            self.optimiser.step()
            self.step += 1
            kept = min(self.recipe.averaging, self.step / (self.step + 10))
            torch._foreach_lerp_(self.average, [p.detach() for p in self.trained], 1 - kept)
            total += loss.item() * len(chunk)
        return total / len(pairs)

    def settle(self) -> None:
        """Gives the model the average of its weights."""
        with torch.no_grad():
            for parameter, mean in zip(self.trained, self.average, strict=True):
                parameter.copy_(mean)

    def save(self, path: Path) -> None:
        """Writes everything that the next epoch begins with."""
        state = {
            "weights": [p.detach() for p in self.trained],
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
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
        self.average = state["average"]
        self.optimiser.load_state_dict(state["optimiser"])
        self.step = state["step"]


def rate_share(progress: float) -> float:
    """Share of the highest learning rate: a linear rise over a tenth of the way, then a fall.

    Args:
        progress: Share of the training that is done, 0..1.
    """
    return min(progress / WARM_UP, (1.0 - progress) / (1.0 - WARM_UP))


def _state_of(recipe: Recipe, epochs: Sequence[Sequence[tuple[TrainingTurn, EncodedPair]]]) -> str:
    """Name of the state after some epochs: another recipe or another line, another name."""
    known = hashlib.sha256(repr((recipe, torch.__version__, torch.get_num_threads())).encode())
    for epoch in epochs:
        for turn, pair in epoch:
            row = (pair.ids, pair.kinds, turn.verdict, turn.categories, turn.recall)
            known.update(repr(row).encode())
    return known.hexdigest()[:16]


def _writings(
    turns: Sequence[TrainingTurn], recipe: Recipe, number: int
) -> list[tuple[TrainingTurn, EncodedPair]]:
    """What an epoch reads: the first the turns as they are, the others other writings of them.

    A pattern's lines teach less than as many of somebody's own: an epoch reads half of them.
    """
    tokenizer = WordPiece.open()
    rng = random.Random(f"writings {recipe.seed} {number}")
    strangers = sorted({t.context for t in turns if t.context and "?" not in t.context})
    chatter = companions()
    not_yet = "".join(recipe.later[number:])
    due = [
        turn
        for turn in turns
        if (turn.file not in recipe.patterned or int(digest(turn.text), 16) % 2 == number % 2)
        and turn.file not in not_yet
    ]
    varied = [vary(turn, rng, strangers, chatter) if number else turn for turn in due]
    return [(turn, encode_pair(tokenizer, turn.context, turn.text)) for turn in varied]


def _groups(model: JudgeModel, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with their learning rate: the nearer to the words, the lower."""
    depths = model.by_depth()
    groups: list[dict[str, Any]] = [
        {"params": part, "lr": recipe.rate * recipe.layer_decay ** (len(depths) - 1 - depth)}
        for depth, part in enumerate(depths)
    ]
    words = set(model.words.parameters())
    below = [p for p in groups[0]["params"] if p not in words]
    # Without decay the vectors of words that never occur stay as published.
    unused = {"params": [p for p in depths[0] if p in words], "weight_decay": 0.0}
    groups = [{**groups[0], **unused}, {**groups[0], "params": below}, *groups[1:]]
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
