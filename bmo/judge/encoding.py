"""How a turn and the words before it become the judge's input; the same for training and use."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.models.wordpiece import CLS, SEP, WordPiece

MAX_TOKENS = 96
"""Longest sequence, special tokens included."""
MAX_CONTEXT_TOKENS = 40
"""Most of the assistant's words that are read; the last ones, where the question is."""


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """One input of the judge.

    Attributes:
        ids: [CLS] context [SEP] text [SEP].
        kinds: 0 for the first segment, 1 for the text and its [SEP].
    """

    ids: list[int]
    kinds: list[int]


def encode_pair(tokenizer: WordPiece, assistant_before: str, text: str) -> EncodedPair:
    """Encodes a turn with the assistant's words before it.

    The text comes first when room is short; of the context, its end.

    Args:
        tokenizer: WordPiece with MiniLM's vocabulary.
        assistant_before: The assistant's words just before the turn, or "".
        text: The user's words.

    Returns:
        At most ``MAX_TOKENS`` ids.
    """
    said = tokenizer.pieces(text)[: MAX_TOKENS - 3]
    room = min(MAX_CONTEXT_TOKENS, MAX_TOKENS - 3 - len(said))
    before = tokenizer.pieces(assistant_before)
    before = before[len(before) - room :] if len(before) > room else before
    first = [CLS, *before, SEP]
    second = [*said, SEP]
    return EncodedPair(first + second, [0] * len(first) + [1] * len(second))
