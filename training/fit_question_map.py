"""Fits the map that turns a question's vector towards the memories that answer it.

    python -m training.fit_question_map           # prints how well it finds held-out kinds
    python -m training.fit_question_map --write   # and writes bmo/recall/question_map.json

Data: ``recall_pairs.txt``, kinds of memories and the questions they answer. Loss: of all memories
those of the question's kind (softmax over cosines), with a penalty on the map's size, so that it
changes little where the data say nothing. Folds leave whole kinds out.
"""

from __future__ import annotations

import argparse
import base64
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from bmo.index.embedders import LocalEmbedder

PAIRS = Path("training/recall_pairs.txt")
TARGET = Path("bmo/recall/question_map.json")
RANK = 32
STEPS = 150
RATE = 3e-3
TEMPERATURE = 0.06
PENALTY = 0.03
"""Of the squared size of U V^T. .01 to .1 find held-out kinds alike; smaller fits the kinds seen
and loses the others."""
FOLDS = 4


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of one side with the number of their kind and their vectors."""

    vectors: torch.Tensor
    kinds: torch.Tensor

    def among(self, kinds: list[int], *, inside: bool) -> Texts:
        """Those whose kind is (or is not) among ``kinds``."""
        keep = torch.isin(self.kinds, torch.tensor(kinds)) == inside
        return Texts(self.vectors[keep], self.kinds[keep])


def read_kinds(path: Path = PAIRS) -> list[tuple[list[str], list[str]]]:
    """(memories, questions) of every kind."""
    kinds = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            memories, *questions = line.split(" ? ")
            kinds.append((memories.split(" | "), questions))
    return kinds


def fitted(memories: Texts, questions: Texts) -> tuple[np.ndarray, np.ndarray]:
    """U and V^T of the map."""
    torch.manual_seed(0)
    dims = memories.vectors.shape[1]
    into = torch.nn.Parameter(torch.randn(dims, RANK) * 0.02)
    onto = torch.nn.Parameter(torch.randn(RANK, dims) * 0.02)
    descent = torch.optim.AdamW([into, onto], lr=RATE, weight_decay=1e-2)
    right = (questions.kinds[:, None] == memories.kinds[None, :]).float()
    share = right / right.sum(1, keepdim=True)
    for _ in range(STEPS):
        turned = questions.vectors + questions.vectors @ onto.T @ into.T
        odds = torch.log_softmax(turned @ memories.vectors.T / TEMPERATURE, 1)
        loss = -(odds * share).sum(1).mean() + PENALTY * ((into @ onto) ** 2).sum()
        descent.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        descent.step()
    return into.detach().numpy(), onto.detach().numpy()


def mean_reciprocal_rank(memories: Texts, questions: Texts, into: object, onto: object) -> float:
    """Of the first memory of a question's kind among all memories."""
    asked = questions.vectors.numpy()
    scores = (asked + asked @ np.asarray(onto).T @ np.asarray(into).T) @ memories.vectors.numpy().T
    right = questions.kinds.numpy()[:, None] == memories.kinds.numpy()[None, :]
    best = np.where(right, scores, -np.inf).max(1, keepdims=True)
    return float(np.mean(1.0 / (1 + (scores > best).sum(1))))


def main() -> None:
    """Fits, prints and, if asked, writes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help=f"write {TARGET}")
    write = parser.parse_args().write
    embedder = LocalEmbedder.open()
    kinds = read_kinds()
    sides = []
    for side in (0, 1):
        texts = [(text, n) for n, kind in enumerate(kinds) for text in kind[side]]
        vectors = torch.tensor(embedder.embed([text for text, _ in texts]))
        sides.append(Texts(vectors, torch.tensor([n for _, n in texts])))
    memories, questions = sides
    order = np.random.RandomState(0).permutation(len(kinds))
    nothing = np.zeros((embedder.dims, 1)), np.zeros((1, embedder.dims))
    for fold in range(FOLDS):
        held = order[fold::FOLDS].tolist()
        seen = memories.among(held, inside=False), questions.among(held, inside=False)
        unseen = questions.among(held, inside=True)
        factors = fitted(*seen)
        before = mean_reciprocal_rank(memories, unseen, *nothing)
        after = mean_reciprocal_rank(memories, unseen, *factors)
        print(f"kinds left out, fold {fold}: reciprocal rank {before:.3f} -> {after:.3f}")
    into, onto = fitted(memories, questions)
    if write:
        table = {
            "embedder": embedder.name,
            "dims": embedder.dims,
            "rank": RANK,
            "fitted_on": {"kinds": len(kinds), "questions": len(questions.kinds)},
            "into": _coded(into),
            "onto": _coded(onto),
        }
        TARGET.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def _coded(matrix: np.ndarray) -> dict[str, object]:
    scale = float(np.abs(matrix).max()) / 127
    codes = np.round(matrix / scale).astype(np.int8)
    return {"scale": scale, "codes": base64.b64encode(codes.tobytes()).decode()}


if __name__ == "__main__":
    main()
