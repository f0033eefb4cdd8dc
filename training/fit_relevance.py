"""Fits the weights with which recall puts evidence together in a small memory.

    python -m training.fit_relevance           # prints weights and how well they rank
    python -m training.fit_relevance --write   # and writes bmo/recall/relevance.json

Data: the recall cases in ``tests/recall_cases/developed.yaml`` (texts written by hand) and the
annotated conversations in ``tests/scenarios``, played through the memory service: of every turn
with ``injects`` the memories that were live; and ``recall_talks.txt``, what people tell and ask
later, through the write gate. ``kept_apart.yaml`` is not read. Logistic regression
with a ridge, Newton's method.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import astuple, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bmo.evaluation.annotated import holds, read_conversations
from bmo.evaluation.recall_cases import NOW, asked_cases, played, read_cases
from bmo.index import open_embedder
from bmo.memory import MemoryService
from bmo.recall import ReadGate
from bmo.recall.relevance import SMALL, Evidence
from bmo.settings import load_settings
from bmo.turn import RecallPlan
from training.recall_talks import ASKED_AT, asked_later, read_talks

CASES = Path("tests/recall_cases/developed.yaml")
CONVERSATIONS = Path("tests/scenarios")
TARGET = Path("bmo/recall/relevance.json")
RIDGE = 2.0
NAMES = ("bias", *(field.name for field in fields(Evidence)))

Row = tuple[str, str, list[Evidence], list[int]]
"""(whose, words said, evidence of each memory, 1 wanted / 0 not / -1 may be either)."""


def rows_of_cases(home: Path) -> Iterator[Row]:
    """Evidence for the questions of the developed cases that need a memory."""
    settings = load_settings(bmo_home=home)
    gate = ReadGate.from_settings(settings)
    people = read_cases(CASES)
    for person, question, plan, recaller in asked_cases(
        people, gate, open_embedder(settings), settings
    ):
        if not question.wanted:
            continue
        ids = {memory.text: memory.id for memory in person.memories}
        weighed = recaller.weighed(needed(plan, question.ask), person.person, NOW)
        labels = [
            1 if ids[f.text] in question.wanted else -1 if ids[f.text] in question.fine else 0
            for f, _ in weighed
        ]
        yield person.person, question.ask, [row for _, row in weighed], labels


async def rows_of_conversations(home: Path) -> list[Row]:
    """Evidence for the turns of annotated conversations that want a live memory."""
    found: list[Row] = []
    settings = load_settings(bmo_home=home, bmo_recall_deadline_ms=5000)
    service = await MemoryService.open(settings)
    try:
        for name, turns in read_conversations(CONVERSATIONS):
            async for row, recall, _ in played(service, f"case-{name}", turns):
                wanted = [tuple(map(str, parts)) for parts in row.raw.get("injects") or ()]
                if not wanted:
                    continue
                plan = needed(recall.plan, row.turn.text)
                weighed = service.recaller.weighed(plan, f"case-{name}", row.turn.at)
                labels = [int(any(holds(f.text, parts) for parts in wanted)) for f, _ in weighed]
                if any(labels) and len(weighed) <= SMALL:
                    found.append((name, row.turn.text, [e for _, e in weighed], labels))
    finally:
        await service.aclose()
    return found


async def rows_of_talks(home: Path) -> list[Row]:
    """Evidence for the questions of ``recall_talks.txt`` whose memories the write gate kept."""
    found: list[Row] = []
    settings = load_settings(bmo_home=home, bmo_recall_deadline_ms=5000)
    service = await MemoryService.open(settings)
    try:
        for talker in read_talks():
            async for asking in asked_later(service, talker):
                wanted = frozenset().union(*asking.needed)
                plan = needed(asking.plan, asking.said)
                weighed = service.recaller.weighed(plan, asking.person, ASKED_AT)
                labels = [
                    1 if f.id in wanted else -1 if f.id in asking.beside else 0 for f, _ in weighed
                ]
                if 1 in labels:
                    found.append((talker.name, asking.said, [e for _, e in weighed], labels))
    finally:
        await service.aclose()
    return found


def needed(plan: RecallPlan, said: str) -> RecallPlan:
    """The plan, or where the gate saw no need, one that searches for the words."""
    return plan if plan.recall else RecallPlan(recall=True, trigger="judge", query=said)


def fitted(rows: list[Row]) -> np.ndarray:
    """Weights (bias first) of a logistic regression with a ridge, by Newton's method."""
    x, y = design(rows)
    # By the spread of each kind of evidence: the scale it is counted on must not matter.
    ridge = np.diag(RIDGE * x.var(axis=0) * len(y) / 100 + 1e-6)
    weights = np.zeros(x.shape[1])
    for _ in range(40):
        p = 1.0 / (1.0 + np.exp(-x @ weights))
        hessian = x.T @ (x * (p * (1.0 - p))[:, None]) + ridge
        weights -= np.linalg.solve(hessian, x.T @ (p - y) + ridge @ weights)
    return weights


def design(rows: list[Row]) -> tuple[np.ndarray, np.ndarray]:
    """(features with a leading 1, labels) of every memory that is wanted or not."""
    pairs = [
        ((1.0, *astuple(e)), label)
        for _, _, evidence, labels in rows
        for e, label in zip(evidence, labels, strict=True)
        if label >= 0
    ]
    return np.array([x for x, _ in pairs]), np.array([float(y) for _, y in pairs])


def ranked(rows: list[Row], weights: np.ndarray) -> str:
    """How often the memory with most evidence is a wanted one."""
    first = two = nearest = 0
    for _, _, evidence, labels in rows:
        usable = [(e, label) for e, label in zip(evidence, labels, strict=True) if label >= 0]
        scores = [float(np.dot(weights, (1.0, *astuple(e)))) for e, _ in usable]
        order = sorted(range(len(usable)), key=lambda n: -scores[n])
        first += usable[order[0]][1]
        two += any(usable[n][1] for n in order[:2])
        nearest += max(usable, key=lambda pair: pair[0].nearness)[1]
    return f"{first}/{len(rows)} (first two {two}; by nearness alone {nearest})"


def main() -> None:
    """Fits, prints and, if asked, writes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help=f"write {TARGET}")
    write = parser.parse_args().write
    with TemporaryDirectory() as one, TemporaryDirectory() as two:
        cases = list(rows_of_cases(Path(one)))
        talks = asyncio.run(rows_of_conversations(Path(two)))
    with TemporaryDirectory() as three:
        later = asyncio.run(rows_of_talks(Path(three)))
    rows = [*cases, *talks, *later]
    halves = [fitted(rows[::2]), fitted(rows[1::2])]
    print("by folds:", ranked(rows[1::2], halves[0]), ranked(rows[::2], halves[1]))
    weights = fitted(rows)
    for name, part in (("cases", cases), ("conversations", talks), ("talks", later)):
        print(f"{name}:", ranked(part, weights))
    named = {name: round(float(w), 3) for name, w in zip(NAMES, weights, strict=True)}
    print(json.dumps(named, indent=1))
    x, y = design(rows)
    odds = x @ weights
    for floor in (-2.0, -1.5, -1.0, -0.5, 0.0):
        kept = odds > floor
        print(
            f"log odds > {floor}: recall {y[kept].sum() / y.sum():.3f}, right {y[kept].mean():.3f}"
        )
    if write:
        about = {"turns": len(rows), "memories": len(y)}
        TARGET.write_text(json.dumps({"weights": named, "fitted_on": about}, indent=2) + "\n")


if __name__ == "__main__":
    main()
