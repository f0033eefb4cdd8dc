"""Batches of training examples: turns and pairs apart, encoded and padded."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.utils.data import Dataset

from bmo.encoder import WordPiece
from bmo.encoder.encoding import Encoded, encode_memory_pair, encode_turn
from bmo.turn import CATEGORIES
from training.augmentation import vary, vary_text
from training.data import PairExample, TurnExample
from training.model import Batch

POOL = 40
"""Batches' worth of examples that are sorted by length together."""
PATTERNED = ("l ", "m ")
"""Groups written out from patterns: an epoch reads every second line of theirs."""

Example = TurnExample | PairExample


def encode(tokenizer: WordPiece, example: Example) -> Encoded:
    """An example as the encoder's input."""
    if isinstance(example, TurnExample):
        return encode_turn(tokenizer, example.asked, example.text, example.before)
    return encode_memory_pair(
        tokenizer, (example.memory_asked, example.memory), (example.asked, example.text)
    )


class Epoch(Dataset[Batch]):
    """The batches of an epoch: turns and pairs apart, lengths alike, in random order.

    Other writings depend on seed, epoch and place only, so that the number of processes that make
    them has no part in the result.
    """

    def __init__(self, examples: Sequence[Example], size: int, seed: int, epoch: int) -> None:
        """Parts the examples into batches; nothing is encoded yet.

        Args:
            examples: What is learnt.
            size: Examples a batch.
            seed: Of the order and the other writings.
            epoch: Number of the epoch, from 0; the first reads the examples as they are.
        """
        self.seed, self.epoch = seed, epoch
        rng = random.Random(f"{seed} {epoch}")
        self.strangers = sorted(
            {
                e.asked
                for e in examples
                if isinstance(e, TurnExample) and e.asked and "?" not in e.asked
            }
        )
        due = [
            e
            for number, e in enumerate(examples)
            if not e.group.startswith(PATTERNED) or number % 2 == epoch % 2
        ]
        self.batches: list[list[Example]] = []
        for kind in (TurnExample, PairExample):
            some = [e for e in due if isinstance(e, kind)]
            rng.shuffle(some)
            for start in range(0, len(some), size * POOL):
                near = sorted(some[start : start + size * POOL], key=length_of)
                self.batches += [list(near[at : at + size]) for at in range(0, len(near), size)]
        rng.shuffle(self.batches)

    def __len__(self) -> int:
        """Number of batches."""
        return len(self.batches)

    def __getitem__(self, place: int) -> Batch:
        """One batch, encoded."""
        examples = self.batches[place]
        if self.epoch:
            rng = random.Random(f"{self.seed} {self.epoch} {place}")
            examples = [_varied(example, rng, self.strangers) for example in examples]
        return batch_of(examples)


def length_of(example: Example) -> int:
    """Characters of all that is encoded, by which examples of like length come together."""
    said = len(example.text) + len(example.asked)
    if isinstance(example, PairExample):
        return said + len(example.memory) + len(example.memory_asked)
    return said + len(example.before)


def _varied(example: Example, rng: random.Random, strangers: Sequence[str]) -> Example:
    if isinstance(example, TurnExample):
        return vary(example, rng, strangers)
    return replace(
        example, text=vary_text(example.text, rng), memory=vary_text(example.memory, rng)
    )


def batch_of(examples: Sequence[Example]) -> Batch:
    """Turns, or pairs, padded to one length, with their annotation."""
    tokenizer = WordPiece.open()
    encoded = [encode(tokenizer, example) for example in examples]
    longest = max(len(one.ids) for one in encoded)
    ids, mask, kinds = (torch.zeros((len(encoded), longest), dtype=torch.int64) for _ in range(3))
    for row, one in enumerate(encoded):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        kinds[row, : len(one.ids)] = torch.tensor(one.kinds)
        mask[row, : len(one.ids)] = 1
    return Batch(ids, mask, kinds, _wanted(examples))


def _wanted(examples: Sequence[Example]) -> dict[str, Tensor]:
    """What is annotated, by head; -1 where nothing is."""
    turns = [e for e in examples if isinstance(e, TurnExample)]
    if turns:
        none = (-1,) * len(CATEGORIES)
        return {
            "verdict": torch.tensor([-1 if e.verdict is None else e.verdict for e in turns]),
            "categories": torch.tensor([e.categories or none for e in turns], dtype=torch.float32),
            "read_need": torch.tensor([[float(e.recall)] for e in turns]),
            "steers": torch.tensor([[_truth(e.steers)] for e in turns]),
        }
    pairs = [e for e in examples if isinstance(e, PairExample)]
    return {
        "relation": torch.tensor([-1 if e.relation is None else e.relation for e in pairs]),
        "answers": torch.tensor([[_truth(e.answers)] for e in pairs]),
    }


def _truth(annotated: bool | None) -> float:
    return -1.0 if annotated is None else float(annotated)
