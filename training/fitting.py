"""Fits the judge and asks it: losses and the loop."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bmo.judge.encoding import EncodedPair, encode_pair
from bmo.models import WordPiece
from training.build_embedder import published_weights
from training.encoder import Batch, JudgeModel
from training.minilm_graph import EncoderShape
from training.reading import Line, batches_read
from training.recipe import Recipe, rate_share
from training.turns import TrainingTurn

Array = np.ndarray[Any, Any]


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
    epochs = batches_read(turns, recipe)
    run = _Run(recipe, [len(batches) for batches in epochs])
    states = [_state_of(recipe, epochs[: number + 1]) for number in range(recipe.epochs)]
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
        loss = run.epoch(epochs[number], number)
        spent = time.process_time() - begun
        print(f"  epoch {number + 1}: loss {loss:.3f}, {spent:.0f} s of CPU", flush=True)
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
            run.save(kept / f"{states[number]}.pt")
    run.settle()
    return run.model.eval()


class _Run:
    """A training under way: the model, the optimiser, the moving average of the weights."""

    def __init__(self, recipe: Recipe, batches: Sequence[int]) -> None:
        self.recipe, self.batches = recipe, batches
        torch.manual_seed(recipe.seed)
        self.model = JudgeModel(published_weights(), EncoderShape(), recipe.dropout)
        self.trained = [p for p in self.model.parameters() if p.requires_grad]
        groups = _groups(self.model, recipe)
        self.rates = [float(group["lr"]) for group in groups]
        self.optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        self.average = [p.detach().clone() for p in self.trained]

    def epoch(self, batches: Sequence[Sequence[Line]], number: int) -> float:
        """Reads the batches of an epoch once; returns the mean loss."""
        if self.recipe.chance == "epoch":
            torch.manual_seed(self.recipe.seed + number)
        total = 0.0
        for place, lines in enumerate(batches):
            share = rate_share(self.recipe, self.batches, number, place)
            for group, rate in zip(self.optimiser.param_groups, self.rates, strict=True):
                group["lr"] = rate * share
            total += self._step(lines) * len(lines)
            if self.recipe.averaging:
                step = sum(self.batches[:number]) + place + 1
                kept = min(self.recipe.averaging, step / (step + 10))
                torch._foreach_lerp_(self.average, [p.detach() for p in self.trained], 1 - kept)
        return total / sum(len(lines) for lines in batches)

    def _step(self, lines: Sequence[Line]) -> float:
        """Learns from a batch; returns its loss."""
        # bfloat16 halves the time of a step and costs nothing that could be measured.
        with torch.autocast("cpu", dtype=torch.bfloat16):
            answers = self.model(_tensors([pair for _, pair in lines]))
        turns = [turn for turn, _ in lines]
        loss = _loss({name: a.float() for name, a in answers.items()}, turns, self.recipe)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimiser.step()
        return loss.item()

    def settle(self) -> None:
        """Gives the model the average of its weights, where the recipe keeps one."""
        if self.recipe.averaging:
            with torch.no_grad():
                for parameter, mean in zip(self.trained, self.average, strict=True):
                    parameter.copy_(mean)

    def save(self, path: Path) -> None:
        """Writes everything that the next epoch begins with."""
        state = {
            "weights": [p.detach() for p in self.trained],
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
            "torch": torch.get_rng_state(),
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
        torch.set_rng_state(state["torch"])


def _state_of(recipe: Recipe, epochs: Sequence[Sequence[Sequence[Line]]]) -> str:
    """Name of the state after some epochs: another recipe or another line, another name."""
    made = (recipe, torch.__version__, torch.get_num_threads())
    known = hashlib.sha256(repr(made).encode())
    for batches in epochs:
        for turn, pair in chain.from_iterable(batches):
            row = (pair.ids, pair.kinds, turn.verdict, turn.categories, turn.recall)
            known.update(repr(row).encode())
    return known.hexdigest()[:16]


def _groups(model: JudgeModel, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with their learning rate: the nearer to the words, the lower."""
    depths = model.by_depth()
    rates = [recipe.rate * recipe.layer_decay ** (len(depths) - 1 - i) for i in range(len(depths))]
    words = list(model.words.parameters())
    return [
        {"params": words, "lr": rates[0], "weight_decay": recipe.word_decay},
        {"params": depths[0][len(words) :], "lr": rates[0]},
        *({"params": part, "lr": rate} for part, rate in zip(depths[1:], rates[1:], strict=True)),
        {"params": list(model.heads.parameters()), "lr": recipe.head_rate},
    ]


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


def _tensors(pairs: Sequence[EncodedPair]) -> Batch:
    longest = max(len(pair.ids) for pair in pairs)
    ids, mask, kinds = (torch.zeros((len(pairs), longest), dtype=torch.int64) for _ in range(3))
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        kinds[row, : len(pair.ids)] = torch.tensor(pair.kinds)
        mask[row, : len(pair.ids)] = 1
    return Batch(ids, mask, kinds)
