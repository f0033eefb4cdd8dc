"""Words of other languages with the vectors of what they mean in English.

The published models know English: of German, French and Spanish they see fragments. Words of these
languages join the vocabulary, and each begins with the mean vector of the pieces of its meaning
(``data/glossary/<language>.tsv``: word, tab, meaning in English), as WECHSEL does with translations
(Minixhofer et al. 2022). So "schlüssel" is read as "key" is, before anything is learnt.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from bmo.encoder.wordpiece import VOCABULARY, WordPiece, read_vocabulary
from training.data import DATA

GLOSSARY = DATA / "glossary"
WORDS = "embeddings.word_embeddings.weight"

Array = np.ndarray[Any, Any]


def read_glossary() -> dict[str, list[str]]:
    """Meanings by word, in the order of words; a word of several languages has several.

    Words are written as the tokenizer reads them: lower case, accents off.

    Raises:
        SystemExit: A line is not a word, a tab and a meaning.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(GLOSSARY.glob("*.tsv")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            word, tab, meaning = line.partition("\t")
            if not (word.isalpha() and tab and meaning.strip()):
                raise SystemExit(f"{path}:{number}: {line!r} is not a word, a tab and its meaning.")
            found.setdefault(as_read(word), []).append(meaning)
    return dict(sorted(found.items()))


def as_read(word: str) -> str:
    """A word as the tokenizer's normaliser leaves it."""
    parts = unicodedata.normalize("NFD", word.lower())
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def vocabulary(pieces: Sequence[str]) -> list[str]:
    """The pieces so far, and behind them the words of the glossary that are none of them.

    A piece keeps its place, so that an encoder of ours can be taught further.
    """
    known = set(pieces)
    return [*pieces, *(word for word in read_glossary() if word not in known)]


def with_glossary(weights: dict[str, Array], pieces: Sequence[str]) -> dict[str, Array]:
    """Weights whose table of word vectors has a row for each piece of the vocabulary.

    Args:
        weights: Tensors under Hugging Face's BERT names. Rows that the table has stay.
        pieces: The vocabulary, the published pieces first.
    """
    table, glossary = weights[WORDS], read_glossary()
    english = WordPiece(pieces[: len(table)])
    added = [
        np.mean([table[english.pieces(meaning)].mean(0) for meaning in glossary[word]], axis=0)
        for word in pieces[len(table) :]
    ]
    return weights | {
        WORDS: np.concatenate([table, np.array(added, np.float32).reshape(-1, table.shape[1])])
    }


def main() -> None:
    """Writes the vocabulary: the pieces that ship, and behind them new words of the glossary."""
    pieces = vocabulary(read_vocabulary())
    VOCABULARY.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    print(f"{VOCABULARY}: {len(pieces)} pieces")


if __name__ == "__main__":
    main()
