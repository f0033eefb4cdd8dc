"""Splits words into the pieces that the encoder knows.

WordPiece (Schuster and Nakajima 2012) as BERT uses it: lower case, accents off. The vocabulary is
the published pieces, which are English, and behind them words of the other languages that the
encoder was taught (``training/glossary.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bmo.encoder.model_file import EncoderUnavailable

VOCABULARY = Path(__file__).parent / "vocab.txt"
"""One piece a line; the line number is the id."""

CLS, SEP = 101, 102
"""Ids that open a sequence and close a segment."""

MAX_CHARACTERS = 4096
"""Longer texts are cut before tokenising: 256 pieces never reach further in spoken language, and
a hostile text must not cost time."""


class WordPiece:
    """The encoder's tokenizer; safe to use from several threads."""

    def __init__(self, pieces: Sequence[str]) -> None:
        """A tokenizer of these pieces; a piece's place is its id.

        Raises:
            EncoderUnavailable: ``tokenizers`` cannot be imported.
        """
        try:
            from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
        except ImportError as error:
            raise EncoderUnavailable(
                f"The encoder needs tokenizers, which cannot be imported ({error}): "
                "pip install tokenizers."
            ) from error
        ids = {piece: place for place, piece in enumerate(pieces)}
        self._tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
        self._tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    @staticmethod
    @cache
    def open() -> WordPiece:
        """The tokenizer of the package's vocabulary: read once a process (10 ms, 7 MB).

        Raises:
            EncoderUnavailable: The vocabulary is missing or ``tokenizers`` cannot be imported.
        """
        return WordPiece(read_vocabulary())

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


def read_vocabulary() -> list[str]:
    """The package's pieces in the order of their ids.

    Raises:
        EncoderUnavailable: The file is missing or another one.
    """
    try:
        pieces = VOCABULARY.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except OSError as error:
        raise EncoderUnavailable(
            f"{str(VOCABULARY)!r} cannot be read ({error}): reinstall the package."
        ) from error
    if pieces[CLS : SEP + 1] != ["[CLS]", "[SEP]"]:
        raise EncoderUnavailable(
            f"{str(VOCABULARY)!r} is not the encoder's vocabulary: reinstall the package."
        )
    return pieces
