"""Splits words into the pieces that the models know.

WordPiece (Schuster and Nakajima 2012) as BERT uses it: lower case, accents off. The vocabulary is
the published pieces, which are English, and behind them words of the other languages that the
encoder was taught (``training/glossary.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bmo.encoder.files import ModelFileError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = Path(__file__).parent / "vocab.txt"
"""One piece a line; the line number is the id."""

CLS, SEP = 101, 102
"""Ids that open a sequence and close a segment."""

MAX_CHARACTERS = 4096
"""Longer texts are cut before tokenising: 256 pieces never reach further in spoken language, and
a hostile text must not cost time."""


class WordPiece:
    """The encoder's tokenizer; safe to use from several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Wraps a tokenizer without special tokens, truncation or padding."""
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, vocabulary: Path = VOCABULARY) -> WordPiece:
        """Reads the vocabulary (about 10 ms).

        The package's own is read once a process and shared (7 MB).

        Raises:
            ModelFileError: The file is missing or ``tokenizers`` cannot be imported.
        """
        return cls(
            _shipped() if vocabulary == VOCABULARY else _tokenizer(read_vocabulary(vocabulary))
        )

    @classmethod
    def of(cls, pieces: Sequence[str]) -> WordPiece:
        """A tokenizer of these pieces; a piece's place is its id."""
        return cls(_tokenizer(pieces))

    def pieces(self, text: str) -> list[int]:
        """The ids of a text's pieces, without special tokens.

        Lone surrogates, which no encoder accepts, are read as question marks; control characters
        are dropped.
        """
        ids: list[int] = self._tokenizer.encode(_clean(text), add_special_tokens=False).ids
        return ids

    def begins(self, text: str) -> list[int]:
        """Where each of a text's pieces begins in it, in characters."""
        encoded = self._tokenizer.encode(_clean(text), add_special_tokens=False)
        return [begin for begin, _ in encoded.offsets]


def _clean(text: str) -> str:
    """What the tokenizer reads of a text; of the same length as far as it goes."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


@cache
def _shipped() -> Tokenizer:
    return _tokenizer(read_vocabulary())


def read_vocabulary(vocabulary: Path = VOCABULARY) -> list[str]:
    """The pieces in the order of their ids.

    Raises:
        ModelFileError: The file is missing or another one.
    """
    try:
        pieces = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except OSError as error:
        raise ModelFileError(
            f"{str(vocabulary)!r} cannot be read ({error}): reinstall the package."
        ) from error
    if pieces[CLS : SEP + 1] != ["[CLS]", "[SEP]"]:
        raise ModelFileError(
            f"{str(vocabulary)!r} is not the encoder's vocabulary: reinstall the package."
        )
    return pieces


def _tokenizer(pieces: Sequence[str]) -> Tokenizer:
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    except ImportError as error:
        raise ModelFileError(
            f"The local models need tokenizers, which cannot be imported ({error}): "
            "pip install tokenizers."
        ) from error
    tokenizer = Tokenizer(
        models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer
