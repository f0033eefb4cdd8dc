"""Writes the training turns that ``bmo gate TEXT`` shows as nearest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bmo.index.embedders import LocalEmbedder
from bmo.judge.nearest import SCALE
from training.turns import VERDICTS, TrainingTurn, digest

SHIPPED = 3000
"""Turns that are shipped; more would not make the example shown much better."""


def write_nearest(folder: Path, turns: Sequence[TrainingTurn], count: int = SHIPPED) -> None:
    """Writes ``nearest.jsonl`` (a head line, then a turn a line) and ``nearest.i8``.

    Args:
        folder: The judge's folder.
        turns: All training turns; the ones shipped are spread over them by their digest.
        count: How many are shipped.
    """
    told = [turn for turn in turns if len(turn.text.split()) >= 3]
    some = sorted(told, key=lambda turn: digest(turn.text))[:count]
    vectors = LocalEmbedder.open().embed([turn.text for turn in some])
    packed = np.clip(np.round(vectors * SCALE), -127, 127).astype(np.int8).tobytes()
    (folder / "nearest.i8").write_bytes(packed)
    rows = [{"dims": int(vectors.shape[1]), "sha256": hashlib.sha256(packed).hexdigest()}]
    lines = [json.dumps(rows[0])]
    for turn in some:
        row = {
            "text": turn.text,
            "before": turn.context,
            "verdict": VERDICTS[turn.verdict],
            "read": turn.recall,
        }
        lines.append(json.dumps(row, ensure_ascii=False))
    (folder / "nearest.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
