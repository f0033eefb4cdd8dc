"""A deterministic embedder without a model: words become hashed directions.

Texts that share words are near each other, equal texts have cosine 1; nothing is learnt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class HashingEmbedder:
    """Bag of words on a hashed basis, L2-normalised."""

    def __init__(self, dims: int = 64, name: str = "hashing") -> None:
        self.name = name
        self.dims = dims
        self.calls = 0

    def close(self) -> None:
        """Nothing is held."""

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        """One row per text, shape (n, dims)."""
        self.calls += 1
        rows = np.zeros((len(texts), self.dims), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()) or ["\0"]:
                seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
                row += np.random.default_rng(seed).normal(size=self.dims).astype(np.float32)
            row /= np.linalg.norm(row)
        return rows
