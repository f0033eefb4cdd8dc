"""Fits the curve from cosine to meaning for an embedder (``bmo/recall/calibration.json``).

Every question of ``calibration_pairs.jsonl`` (written for this project) is compared with every
memory: its own is right, the others are wrong. A logistic curve with one feature is fitted by
Newton's method; wrong pairs are weighted so that each question has ``WRONG_PER_RIGHT`` of them, as
many as a search of ten brings.

Run: python training/calibrate_embedder.py [--embedder local|gemini] [--write]
Gemini's needs GOOGLE_API_KEY and sends the sixty memories and their questions to the service once.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bmo.index import Embedder, EmbedderUnavailable, open_embedder
from bmo.settings import load_settings

PAIRS = Path(__file__).with_name("calibration_pairs.jsonl")
TABLE = Path(__file__).parents[1] / "bmo" / "recall" / "calibration.json"
WRONG_PER_RIGHT = 9.0
NEWTON_STEPS = 50


def cosines(embedder: Embedder) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosines of right and of wrong pairs."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    memories = embedder.embed([row["memory"] for row in rows])
    right: list[float] = []
    wrong: list[float] = []
    for own, row in enumerate(rows):
        for question in embedder.embed(row["questions"]):
            similar = memories @ question
            right.append(float(similar[own]))
            wrong += [float(c) for n, c in enumerate(similar) if n != own]
    return np.array(right), np.array(wrong)


def fit(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> tuple[float, float]:
    """(midpoint, slope) of the logistic curve P(right | cosine)."""
    x = np.concatenate([right, wrong])
    y = np.concatenate([np.ones_like(right), np.zeros_like(wrong)])
    weight = np.concatenate(
        [np.ones_like(right), np.full_like(wrong, WRONG_PER_RIGHT * len(right) / len(wrong))]
    )
    design = np.stack([np.ones_like(x), x], axis=1)
    beta = np.zeros(2)
    for _ in range(NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(-design @ beta))
        gradient = design.T @ (weight * (y - p))
        hessian = (design * (weight * p * (1.0 - p))[:, None]).T @ design
        step = np.linalg.solve(hessian, gradient)
        beta += step
        if float(np.abs(step).max()) < 1e-9:
            break
    slope = float(beta[1])
    return float(-beta[0] / slope), slope


def row_of(embedder: Embedder) -> dict[str, object]:
    """The embedder's row of the table, from the pairs."""
    right, wrong = cosines(embedder)
    midpoint, slope = fit(right, wrong)
    return {
        "embedder": embedder.name,
        "midpoint": round(midpoint, 4),
        "slope": round(slope, 3),
        "right_p10_p50": [round(float(q), 3) for q in np.percentile(right, [10, 50])],
        "wrong_p95_p99": [round(float(q), 3) for q in np.percentile(wrong, [95, 99])],
        "pairs": len(right),
    }


def main() -> None:
    """Fits, prints, and with ``--write`` updates the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", choices=["local", "gemini"], default="local")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    try:
        embedder = open_embedder(load_settings(bmo_embedder=arguments.embedder))
        row = row_of(embedder)
    except EmbedderUnavailable as error:
        parser.exit(2, f"{error}\n")
    print(json.dumps(row))
    if arguments.write:
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        rows = [r for r in table["embedders"] if r["embedder"] != embedder.name]
        # The local embedder's comes first: it is the reference of all thresholds.
        table["embedders"] = sorted(
            [*rows, row], key=lambda r: not r["embedder"].startswith("minilm")
        )
        TABLE.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
