"""The judge's model, opened and asked: (assistant's words, turn) to probabilities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bmo.judge.encoding import encode_pair
from bmo.models import (
    MODELS,
    ModelFileError,
    ModelSession,
    WordPiece,
    checked_bytes,
    open_session,
    read_manifest,
)
from bmo.turn import CATEGORIES, Assessment

MODEL = MODELS / "judge"
"""Folder of the judge shipped in the package."""

_PUNCTUATION = re.compile(r"[^\w\s]")
"""Each mark is a piece of its own: "I'm fine. Everybody's fine." would look like no English."""

OUTPUTS = ("verdict", "categories", "read_need")


class JudgeUnavailable(RuntimeError):
    """The judge cannot be opened or asked; the message names the fix."""


@dataclass(frozen=True, slots=True)
class JudgeThresholds:
    """Probabilities from which the judge's word counts; chosen for precision at training.

    Attributes:
        allow: P(allow) from which a turn is allowed.
        discard: P(discard) from which it is discarded; between the two it is held.
        read: Read-need from which memory is searched.
    """

    allow: float
    discard: float
    read: float


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """Turns raw answers into probabilities that mean what they say.

    Temperature for the verdict (Guo et al. 2017), scale and shift for the two-way heads (Platt
    1999), fitted on turns the model had not seen.

    Attributes:
        verdict: Divides the verdict's logits.
        categories: Divides the categories' logits.
        read_scale: Multiplies the read-need logit.
        read_shift: Added to it afterwards.
    """

    verdict: float
    categories: float
    read_scale: float
    read_shift: float


class Judge:
    """The local judge. Safe from several threads; a call blocks about 2 ms a turn."""

    def __init__(
        self,
        session: ModelSession,
        tokenizer: WordPiece,
        version: str,
        thresholds: JudgeThresholds,
        calibration: JudgeCalibration,
    ) -> None:
        """Wraps an open session; use ``open``."""
        self.version = version
        """Version of the model; part of every decision it makes."""
        self.thresholds = thresholds
        """Where allow, discard and read-need begin, as chosen at training."""
        self._session: ModelSession | None = session
        self._tokenizer = tokenizer
        self._calibration = calibration

    @classmethod
    def open(cls, path: Path | None = None) -> Judge:
        """Opens a judge, after comparing its file's SHA-256.

        Args:
            path: Folder with ``model.json`` and the model; None takes the one in the package.

        Raises:
            JudgeUnavailable: A file is missing or damaged, or onnxruntime cannot run it.
        """
        folder = path or MODEL
        try:
            manifest = read_manifest(folder)
            model = folder / manifest["file"]
            checked_bytes(model, manifest["sha256"])
            thresholds = JudgeThresholds(**manifest["thresholds"])
            calibration = JudgeCalibration(**manifest["calibration"])
            session = open_session(model, manifest["name"])
            judge = cls(session, WordPiece.open(), manifest["version"], thresholds, calibration)
        except (KeyError, TypeError) as error:
            raise JudgeUnavailable(
                f"{str(folder / 'model.json')!r} does not describe a judge ({error!r}): "
                "reinstall the package, or make the model again (make judge)."
            ) from error
        except ModelFileError as error:
            raise JudgeUnavailable(f"No judge: {error}") from error
        judge.assess([("", "hello")])
        return judge

    def assess(self, turns: Sequence[tuple[str, str]]) -> list[Assessment]:
        """Probabilities for each (assistant's words before, user's words).

        One turn at a time, so that an answer does not depend on what else is asked (int8
        activations are scaled over a batch).

        Raises:
            JudgeUnavailable: The judge is closed, or onnxruntime failed.
        """
        session = self._session
        if session is None:
            raise JudgeUnavailable("The judge is closed: open it again with Judge.open().")
        return [self._assess(session, before, text) for before, text in turns]

    def _assess(self, session: ModelSession, before: str, text: str) -> Assessment:
        pair = encode_pair(self._tokenizer, before, text)
        feed = {
            "input_ids": np.array([pair.ids], dtype=np.int64),
            "token_type_ids": np.array([pair.kinds], dtype=np.int64),
        }
        try:
            verdict, categories, read = session.run(list(OUTPUTS), feed)
        except Exception as error:  # onnxruntime's errors share no base class but Exception
            raise JudgeUnavailable(
                f"onnxruntime failed on a turn of {len(pair.ids)} tokens ({error}): reinstall "
                "onnxruntime, or set GATEKEEPER_MODE=pattern."
            ) from error
        set_by = self._calibration
        allow, hold, discard = softmax(verdict[0] / set_by.verdict)
        kinds = sigmoid(categories[0] / set_by.categories)
        need = sigmoid(read[0] * set_by.read_scale + set_by.read_shift)
        return Assessment(
            allow=float(allow),
            hold=float(hold),
            discard=float(discard),
            categories=dict(zip(CATEGORIES, map(float, kinds), strict=True)),
            read_need=float(need[0]),
            version=self.version,
        )

    def pieces_per_word(self, text: str) -> float:
        """How many word pieces a word of ``text`` takes.

        Returns:
            About 1.1 in English, 1.6 in German, over 2 in languages the vocabulary does not
            have; 0 for a text of fewer than four words, which tells nothing.
        """
        spoken = _PUNCTUATION.sub("", text)
        words = len(spoken.split())
        return len(self._tokenizer.pieces(spoken)) / words if words >= 4 else 0.0

    def close(self) -> None:
        """Lets go of the model; asking it again is an error."""
        self._session = None


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities of exclusive classes from their logits, (classes,)."""
    powers = np.exp(logits.astype(np.float64) - logits.max())
    total: NDArray[np.float64] = powers / powers.sum()
    return total


def sigmoid(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities of independent classes from their logits."""
    result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-logits.astype(np.float64)))
    return result
