"""The encoder, opened and asked: (assistant's words, turn) to probabilities, and to a vector."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bmo.encoder.encoding import MAX_MEMORY_TOKENS, Encoded, encode_memory_pair, encode_turn
from bmo.encoder.model_file import MODEL, EncoderUnavailable, open_model, read_manifest
from bmo.encoder.wordpiece import SEP, WordPiece
from bmo.giving_way import give_way, giving_way
from bmo.turn import CATEGORIES, Assessment

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

TURN_OUTPUTS = ("verdict", "categories", "read_need", "steers")
PAIR_OUTPUTS = ("relation", "answers")
"""Heads of a (turn, memory) pair: relation is neither, restates, ends."""
OVER_OUTPUTS = ("over",)
VECTOR_OUTPUTS = ("vector",)
VECTOR_SIZE = 384
_CLOSED = "The encoder is closed: open it again with Encoder.open()."


@dataclass(frozen=True, slots=True)
class EncoderThresholds:
    """Probabilities from which the encoder's word counts; chosen for precision at training.

    Attributes:
        allow: P(allow) from which a turn is allowed.
        discard: P(discard) from which it is discarded; between the two it is held.
        read: Read-need from which memory is searched.
        steers: Probability from which a turn is held as an attack on memory.
        ends: Probability from which a turn ends a memory.
        answers: Probability from which a memory answers a turn.
    """

    allow: float
    discard: float
    read: float
    steers: float
    ends: float
    answers: float


@dataclass(frozen=True, slots=True)
class EncoderCalibration:
    """Turns raw answers into probabilities that mean what they say.

    Temperature for the verdict (Guo et al. 2017), scale and shift for the two-way heads (Platt
    1999), fitted on turns the model had not seen.

    Attributes:
        verdict: Divides the verdict's logits.
        categories: Divides the categories' logits.
        read_scale: Multiplies the read-need logit.
        read_shift: Added to it afterwards.
        relation: Divides the logits of neither, restates and ends.
        answers_scale: Multiplies the answers logit.
        answers_shift: Added to it afterwards.
    """

    verdict: float
    categories: float
    read_scale: float
    read_shift: float
    relation: float
    answers_scale: float
    answers_shift: float


class Encoder:
    """The local encoder. Safe from several threads; a call blocks some 6 ms for 32 tokens."""

    def __init__(
        self,
        session: InferenceSession,
        version: str,
        thresholds: EncoderThresholds,
        calibration: EncoderCalibration,
    ) -> None:
        """Wraps an open session; use ``open``."""
        self.version = version
        """Version of the model; part of every decision it makes."""
        self.thresholds = thresholds
        """Where allow, discard and read-need begin, as chosen at training."""
        self._session: InferenceSession | None = session
        self._tokenizer = WordPiece.open()
        self._calibration = calibration
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="bmo-encoder")

    @classmethod
    def open(cls, folder: Path | None = None) -> Encoder:
        """Opens an encoder, after comparing its file's SHA-256.

        Args:
            folder: Has ``model.json`` and the model; None takes the package's.

        Raises:
            EncoderUnavailable: A file is missing or damaged, or onnxruntime cannot run it.
        """
        folder = folder or MODEL
        manifest = read_manifest(folder)
        try:
            thresholds = EncoderThresholds(**manifest["thresholds"])
            calibration = EncoderCalibration(**manifest["calibration"])
        except (KeyError, TypeError) as error:
            raise EncoderUnavailable(
                f"{str(folder / 'model.json')!r} does not describe an encoder ({error!r}): "
                "reinstall the package, or make the model again (make models)."
            ) from error
        session = open_model(folder, manifest)
        encoder = cls(session, manifest["version"], thresholds, calibration)
        encoder.assess([("", "hello")])
        return encoder

    def assess(
        self, turns: Sequence[tuple[str, str]], befores: Sequence[str] = ()
    ) -> list[Assessment]:
        """Probabilities for each (assistant's words before, user's words).

        One turn at a time, so that an answer does not depend on what else is asked (int8
        activations are scaled over a batch).

        Args:
            turns: The assistant's words and the user's, of each turn.
            befores: The user's words of the turn before, of each turn; none when it is empty.

        Raises:
            EncoderUnavailable: The encoder is closed, or onnxruntime failed.
        """
        said = befores or [""] * len(turns)
        return [
            self._assess(encode_turn(self._tokenizer, asked, text, before))
            for (asked, text), before in zip(turns, said, strict=True)
        ]

    def _assess(self, encoded: Encoded) -> Assessment:
        verdict, categories, read, steers = self._run(TURN_OUTPUTS, encoded)
        set_by = self._calibration
        allow, hold, discard = softmax(verdict / set_by.verdict)
        kinds = sigmoid(categories / set_by.categories)
        need = sigmoid(read * set_by.read_scale + set_by.read_shift)
        return Assessment(
            allow=float(allow),
            hold=float(hold),
            discard=float(discard),
            categories=dict(zip(CATEGORIES, map(float, kinds), strict=True)),
            read_need=float(need[0]),
            version=self.version,
            steers=float(sigmoid(steers)[0]),
        )

    def relate(
        self, turn: tuple[str, str], memories: Sequence[tuple[str, str]]
    ) -> list[tuple[float, float]]:
        """What a turn does to memories: (P(restates), P(ends)) of each.

        Args:
            turn: The assistant's words before, and the user's words.
            memories: The same two of each memory; ("", text) of a canonical one.

        Raises:
            EncoderUnavailable: The encoder is closed, or onnxruntime failed.
        """
        found = []
        for memory in memories:
            pair = encode_memory_pair(self._tokenizer, memory, turn)
            odds = softmax(self._run(PAIR_OUTPUTS, pair)[0] / self._calibration.relation)
            found.append((float(odds[1]), float(odds[2])))
        return found

    def over(self, turn: tuple[str, str], memory: tuple[str, str]) -> list[tuple[int, float]]:
        """Which words of a memory are no longer so by a turn that ends it.

        Args:
            turn: The assistant's words before, and the user's words.
            memory: The same two of the memory.

        Returns:
            Of each piece of the memory's words that the model reads, where it begins and the
            probability that it is over.

        Raises:
            EncoderUnavailable: As of ``relate``.
        """
        pair = encode_memory_pair(self._tokenizer, memory, turn)
        begins = self._tokenizer.begins(memory[1])[:MAX_MEMORY_TOKENS]
        first = pair.ids.index(SEP) - len(begins)
        odds = sigmoid(self._run(OVER_OUTPUTS, pair)[0])
        return [(begin, float(odds[first + n])) for n, begin in enumerate(begins)]

    def answers(
        self,
        question: tuple[str, str],
        memories: Sequence[tuple[str, str]],
        until: float = float("inf"),
    ) -> list[float | None]:
        """P(a good reply to the turn needs the memory) of each; see ``relate``.

        Somebody waits for it: a second thread, if it is free, takes pairs from the same queue. A
        pair's answer does not depend on who weighed it.

        Args:
            question: The assistant's words before, and the user's words.
            memories: As of ``relate``, the most important first.
            until: Moment of ``time.monotonic`` from which no further one is weighed (None).

        Raises:
            EncoderUnavailable: As of ``relate``.
        """
        todo = deque(enumerate(memories))
        found: list[float | None] = [None] * len(todo)

        def weigh() -> None:
            while todo and time.monotonic() < until:
                try:
                    row, memory = todo.popleft()
                except IndexError:  # the other thread took the last one
                    return
                found[row] = self._answer(question, memory)

        try:
            beside = self._beside.submit(giving_way()(weigh))
        except RuntimeError as error:  # its pool was shut down
            raise EncoderUnavailable(_CLOSED) from error
        try:
            weigh()
        finally:
            todo.clear()
            if not beside.cancel():
                beside.result()
        return found

    def _answer(self, question: tuple[str, str], memory: tuple[str, str]) -> float:
        set_by = self._calibration
        pair = encode_memory_pair(self._tokenizer, memory, question)
        raw = self._run(PAIR_OUTPUTS, pair)[1]
        return float(sigmoid(raw * set_by.answers_scale + set_by.answers_shift)[0])

    def vectors(self, said: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Vectors for search: of a question and of the memory that answers it they are near.

        One text at a time, as ``assess``: the same text has the same vector, whatever is beside it.

        Args:
            said: The assistant's words before ("" for none), and the text, of each.

        Returns:
            (len(said), VECTOR_SIZE) float32, each of length 1.

        Raises:
            EncoderUnavailable: The encoder is closed, or onnxruntime failed.
        """
        found = np.empty((len(said), VECTOR_SIZE), dtype=np.float32)
        for row, (asked, text) in enumerate(said):
            raw = self._run(VECTOR_OUTPUTS, encode_turn(self._tokenizer, asked, text))[0]
            found[row] = raw / max(float(np.linalg.norm(raw)), 1e-12)
        return found

    def _run(self, outputs: Sequence[str], encoded: Encoded) -> list[NDArray[Any]]:
        """The logits of some heads, (classes,) each.

        Raises:
            EncoderUnavailable: It is closed, or onnxruntime failed.
        """
        session = self._session
        if session is None:
            raise EncoderUnavailable(_CLOSED)
        feed = {
            "input_ids": np.array([encoded.ids], dtype=np.int64),
            "token_type_ids": np.array([encoded.kinds], dtype=np.int64),
        }
        try:
            found = [logits[0] for logits in session.run(list(outputs), feed)]
        except Exception as error:  # onnxruntime's errors share no base class but Exception
            raise EncoderUnavailable(
                f"onnxruntime failed on a turn of {len(encoded.ids)} tokens ({error}): reinstall "
                "onnxruntime, or set GATEKEEPER_MODE=pattern."
            ) from error
        give_way()
        return found

    def close(self) -> None:
        """Lets go of the model; asking it again is an error."""
        self._session = None
        self._beside.shutdown(wait=False)


def softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities of exclusive classes from their logits, (classes,)."""
    powers = np.exp(logits.astype(np.float64) - logits.max())
    total: NDArray[np.float64] = powers / powers.sum()
    return total


def sigmoid(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities of independent classes from their logits."""
    result: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-logits.astype(np.float64)))
    return result
