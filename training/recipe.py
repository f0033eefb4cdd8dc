"""How a judge is trained: all that decides what a training gives, besides what is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
        layer_decay: What a layer learns slower than the one above it.
        word_decay: Weight decay of the word vectors; without it those of words that never occur
            stay as published.
        patterned: Files written out from patterns, of which an epoch reads every second turn.
        later: Files that the first epoch does not read: what the second adds, then the third.
        averaging: Decay of the moving average of the weights, which is what is kept; 0 for none.
        chance: "one" stream for the whole training, or one of its own for each "epoch".
        pace: What the learning rate follows: "steps", or "epochs", each of which is the same share
            of the way however many lines it reads.
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
    layer_decay: float = 1.0
    word_decay: float = 0.01
    patterned: str = ""
    later: tuple[str, ...] = ()
    averaging: float = 0.0
    chance: Literal["one", "epoch"] = "one"
    pace: Literal["steps", "epochs"] = "steps"


def rate_share(recipe: Recipe, batches: Sequence[int], number: int, place: int) -> float:
    """Share of the highest learning rate: a linear rise over a tenth of the way, then a fall.

    Args:
        recipe: How to train.
        batches: Batches of each epoch.
        number: Of the epoch, from 0.
        place: Of the batch in it, from 0.
    """
    if recipe.pace == "epochs":
        progress = (number + (place + 1) / batches[number]) / len(batches)
        return min(progress / WARM_UP, (1.0 - progress) / (1.0 - WARM_UP))
    steps, step = sum(batches), sum(batches[:number]) + place
    warm = max(1, int(steps * WARM_UP))
    return min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
