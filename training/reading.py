"""What a training reads, epoch by epoch: which lines, in which writing, in which batches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from bmo.judge.encoding import EncodedPair, encode_pair
from bmo.models import WordPiece
from training.augmentation import vary
from training.chat import companions
from training.recipe import Recipe
from training.turns import TrainingTurn, digest

Line = tuple[TrainingTurn, EncodedPair]

POOL = 40
"""Batches' worth of lines that are sorted by length together."""


def batches_read(turns: Sequence[TrainingTurn], recipe: Recipe) -> list[list[list[Line]]]:
    """The batches of every epoch.

    Args:
        turns: What to learn from.
        recipe: How.
    """
    tokenizer = WordPiece.open()
    rng = random.Random(recipe.seed)
    epochs = []
    for number in range(recipe.epochs):
        if recipe.chance == "epoch":
            rng = random.Random(f"writings {recipe.seed} {number}")
        lines = [
            (turn, encode_pair(tokenizer, turn.context, turn.text))
            for turn in writings(turns, recipe, number, rng)
        ]
        if recipe.chance == "epoch":
            rng = random.Random(f"batches {recipe.seed} {number}")
        epochs.append(list(_batches(lines, recipe.batch, rng)))
    return epochs


def writings(
    turns: Sequence[TrainingTurn], recipe: Recipe, number: int, rng: random.Random
) -> list[TrainingTurn]:
    """What an epoch reads: the first the turns as they are, the others other writings of them.

    Args:
        turns: What to learn from.
        recipe: How. A pattern's lines teach less than as many of somebody's own: an epoch reads
            half of those of ``patterned`` files.
        number: Of the epoch, from 0.
        rng: Source of chance.
    """
    not_yet = "".join(recipe.later[number:])
    due = [
        turn
        for turn in turns
        if (turn.file not in recipe.patterned or int(digest(turn.text), 16) % 2 == number % 2)
        and turn.file not in not_yet
    ]
    if not number:
        return due
    strangers = sorted({t.context for t in turns if t.context and "?" not in t.context})
    chatter = companions()
    return [vary(turn, rng, strangers, chatter) for turn in due]


def _batches(lines: Sequence[Line], size: int, rng: random.Random) -> Iterator[list[Line]]:
    """Batches of about equal length in random order, so that little is padding."""
    order = list(range(len(lines)))
    rng.shuffle(order)
    pool = size * POOL
    for start in range(0, len(order), pool):
        near = sorted(order[start : start + pool], key=lambda i: len(lines[i][1].ids))
        groups = [near[at : at + size] for at in range(0, len(near), size)]
        rng.shuffle(groups)
        for rows in groups:
            yield [lines[i] for i in rows]
