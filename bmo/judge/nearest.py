"""Training turns near to a text, so that a person can see where the judge's word comes from.

A few thousand annotated turns with their vectors are shipped beside the judge. The vectors are the
local embedder's, scaled to int8; the caller embeds the text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bmo.judge.judge import MODEL, JudgeUnavailable
from bmo.models import ModelFileError, checked_bytes
from bmo.turn import Verdict

SCALE = 127.0
"""A vector's component 1.0 as int8."""


@dataclass(frozen=True, slots=True)
class NearTurn:
    """An annotated training turn and how near it is.

    Attributes:
        text: The user's words.
        assistant_before: The assistant's words before it.
        verdict: As annotated.
        read_need: As annotated.
        similarity: Cosine with the text asked for, -1..1.
    """

    text: str
    assistant_before: str
    verdict: Verdict
    read_need: bool
    similarity: float


class NearestTurns:
    """The shipped training turns, searched by brute force (well under a millisecond)."""

    def __init__(self, rows: list[dict[str, Any]], vectors: NDArray[np.float32]) -> None:
        """Takes turns and their vectors, (turns, dims) of length 1."""
        self._rows = rows
        self._vectors = vectors

    @classmethod
    def open(cls, folder: Path | None = None) -> NearestTurns:
        """Reads the turns shipped beside the judge.

        Args:
            folder: The judge's folder; None takes the one in the package.

        Raises:
            JudgeUnavailable: The files are missing or do not fit each other.
        """
        place = folder or MODEL
        try:
            text = (place / "nearest.jsonl").read_text(encoding="utf-8")
            rows = [json.loads(line) for line in text.splitlines()]
            head = rows.pop(0)
            raw = np.frombuffer(checked_bytes(place / "nearest.i8", head["sha256"]), np.int8)
            vectors = raw.reshape(len(rows), int(head["dims"])).astype(np.float32) / SCALE
        except (OSError, ModelFileError, ValueError, KeyError, IndexError) as error:
            raise JudgeUnavailable(
                f"The training turns in {str(place)!r} cannot be read ({error}): reinstall the "
                "package, or make the model again (make judge)."
            ) from error
        return cls(rows, vectors)

    def find(self, vector: NDArray[np.float32], count: int = 3) -> list[NearTurn]:
        """The turns nearest to a vector of the local embedder, nearest first.

        Args:
            vector: (dims,) float32 of length 1.
            count: How many.
        """
        scores = self._vectors @ vector
        best = np.argsort(-scores, kind="stable")[:count]
        return [
            NearTurn(
                text=self._rows[i]["text"],
                assistant_before=self._rows[i]["before"],
                verdict=self._rows[i]["verdict"],
                read_need=self._rows[i]["read"],
                similarity=float(scores[i]),
            )
            for i in best
        ]
