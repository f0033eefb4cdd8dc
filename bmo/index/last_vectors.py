"""Vectors of the texts that were compared last: a fact is compared before it is added."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

import numpy as np
from numpy.typing import NDArray

MOST: Final = 32
"""Texts kept: a fact is added right after the turn that told it was recorded."""


class LastVectors:
    """A few vectors by text, so that none is made twice within a moment. Safe from any thread."""

    def __init__(self) -> None:
        """Empty."""
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, text: str, vector: NDArray[np.float32]) -> None:
        """Takes a vector; the oldest goes."""
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > MOST:
                self._vectors.popitem(last=False)

    def take(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a text, which is forgotten here; None when it is not here."""
        with self._lock:
            return self._vectors.pop(text, None)

    def clear(self) -> None:
        """Forgets all: a text that is forgotten must not stay here."""
        with self._lock:
            self._vectors.clear()
