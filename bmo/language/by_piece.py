"""What each piece of a text tells, read once: pieces are what stands between two blanks.

People say the same words again and again. What a word tells a stage does not change, so that what
was learned of the pieces seen before answers for a whole turn in one pass, without a line of Python
for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Told = TypeVar("_Told")

LONGEST_PIECE = 40
"""Longer pieces are no words of speech; what they tell is not kept."""
_KNOWN_PIECES = 20_000
"""So many pieces are kept; a vocabulary of speech is smaller, hostile text begins anew."""


class ByPiece(dict[str, _Told]):
    """A table that reads a piece when it is first asked for it.

    ``map(table.__getitem__, text.split(" "))`` gives what each piece of a text tells.
    """

    def __init__(self, read: Callable[[str], _Told]) -> None:
        """An empty table.

        Args:
            read: What a piece tells; the same at every call.
        """
        super().__init__()
        self._read = read

    def __missing__(self, piece: str) -> _Told:
        """Reads a piece that was not seen before, and keeps what it tells."""
        told = self._read(piece)
        if len(piece) <= LONGEST_PIECE:
            if len(self) >= _KNOWN_PIECES:
                self.clear()
            self[piece] = told
        return told


class PiecesThat:
    """The pieces that fit, of those seen before: one set operation for most turns."""

    def __init__(self, fit: Callable[[str], bool]) -> None:
        """An empty set.

        Args:
            fit: Whether a piece fits; the same at every call.
        """
        self._fitting: set[str] = set()
        self._fits = ByPiece(fit)

    def hold_all(self, pieces: Sequence[str]) -> bool:
        """Whether every piece fits."""
        fitting = self._fitting
        if fitting.issuperset(pieces):
            return True
        for piece in pieces:
            if piece not in fitting:
                if not self._fits[piece]:
                    return False
                if len(fitting) >= _KNOWN_PIECES:
                    fitting.clear()
                if len(piece) <= LONGEST_PIECE:
                    fitting.add(piece)
        return True
