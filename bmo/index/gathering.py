"""Many entries in one write: Mem0 makes them one by one, the store gets them all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class GatheringStore:
    """What Mem0 writes to while entries are gathered."""

    def __init__(self) -> None:
        """Nothing gathered."""
        self._vectors: list[Sequence[float]] = []
        self._payloads: list[dict[str, Any]] = []

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Keeps points; the ids that Mem0 made for them are not used."""
        self._vectors += vectors
        self._payloads += payloads or ()

    def take(self) -> tuple[list[Sequence[float]], list[dict[str, Any]]]:
        """Vectors and payloads of what was gathered, which is forgotten here."""
        taken = self._vectors, self._payloads
        self._vectors, self._payloads = [], []
        return taken
