"""Words of other languages that joined the vocabulary."""

from __future__ import annotations

import numpy as np
import pytest

from bmo.encoder import WordPiece
from bmo.index.embedders import LocalEmbedder
from training.glossary import read_glossary


def test_every_word_of_the_glossary_is_one_piece() -> None:
    tokenizer = WordPiece.open()
    parted = [word for word in read_glossary() if len(tokenizer.pieces(word)) != 1]
    assert len(read_glossary()) > 5000
    assert not parted


@pytest.mark.parametrize(
    ("word", "meaning", "other"),
    [
        ("Schlüssel", "key", "dog"),
        ("umgezogen", "moved", "eaten"),
        ("déménagé", "moved", "eaten"),
        ("hermana", "sister", "car"),
    ],
)
def test_a_word_lies_near_its_meaning(word: str, meaning: str, other: str) -> None:
    own, near, far = LocalEmbedder.open().embed([word, meaning, other])
    assert np.dot(own, near) > np.dot(own, far) + 0.2
