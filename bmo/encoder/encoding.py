"""How turns and pairs become the encoder's input; the same for training and use."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.encoder.wordpiece import CLS, SEP, WordPiece

MAX_TOKENS = 112
"""Longest sequence, special tokens included."""
MAX_ASKED_TOKENS = 40
"""Most of the assistant's words that are read; the last ones, where the question is."""
MAX_BEFORE_TOKENS = 24
"""Most of the user's words of the turn before that are read; the last ones."""
MAX_MEMORY_TOKENS = 40
"""Most of a memory's words that are read; the first ones."""
MAX_MEMORY_ASKED_TOKENS = 16
"""Most of the assistant's words that are read beside a memory or, in a pair, beside the turn."""
PAIR = 1
"""Id of a piece that no text has, behind the first token: the input is a pair with a memory."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One input of the encoder.

    Attributes:
        ids: Piece ids, [CLS] first, [SEP] behind each part.
        kinds: 0 for what stands before the turn, 1 for the turn and its [SEP].
    """

    ids: list[int]
    kinds: list[int]


def encode_turn(tokenizer: WordPiece, asked: str, text: str, before: str = "") -> Encoded:
    """Encodes a turn with what was said before it: [CLS] before [SEP] asked [SEP] text [SEP].

    The turn comes first when room is short; of what stands before, its end.

    Args:
        tokenizer: WordPiece with the encoder's vocabulary.
        asked: The assistant's words just before the turn, or "".
        text: The user's words.
        before: The user's words of the turn before, or "".
    """
    said = tokenizer.pieces(text)[: MAX_TOKENS - 4]
    room = MAX_TOKENS - 4 - len(said)
    asking = _last(tokenizer.pieces(asked), min(MAX_ASKED_TOKENS, room))
    earlier = _last(tokenizer.pieces(before), min(MAX_BEFORE_TOKENS, room - len(asking)))
    parts = [*earlier, SEP, *asking, SEP] if earlier else [*asking, SEP]
    return _encoded([CLS, *parts], said)


def encode_memory_pair(
    tokenizer: WordPiece, memory: tuple[str, str], turn: tuple[str, str]
) -> Encoded:
    """Encodes a turn with a memory it may end, restate or need.

    Args:
        tokenizer: WordPiece with the encoder's vocabulary.
        memory: The assistant's words before the memory's ("" for none), and the memory's words.
        turn: The same two of the turn.

    Returns:
        [CLS] [PAIR] memory's asked, memory [SEP] turn's asked [SEP] turn [SEP].
    """
    known = [
        *_last(tokenizer.pieces(memory[0]), MAX_MEMORY_ASKED_TOKENS),
        *tokenizer.pieces(memory[1])[:MAX_MEMORY_TOKENS],
    ]
    asking = _last(tokenizer.pieces(turn[0]), MAX_MEMORY_ASKED_TOKENS)
    first = [CLS, PAIR, *known, SEP, *asking, SEP]
    return _encoded(first, tokenizer.pieces(turn[1])[: MAX_TOKENS - 1 - len(first)])


def _encoded(first: list[int], said: list[int]) -> Encoded:
    second = [*said, SEP]
    return Encoded(first + second, [0] * len(first) + [1] * len(second))


def _last(pieces: list[int], count: int) -> list[int]:
    return pieces[max(0, len(pieces) - max(0, count)) :] if count > 0 else []
