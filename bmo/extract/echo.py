"""Echo-proof: what was given to the assistant in a visit must not come back as news.

A memory is put before the assistant's model, the assistant says it aloud, the user nods, and a
model that reads the conversation finds the memory again. Stored or confirmed, it would feed on
itself. Fingerprints of what was given tell such an echo from news.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from bmo.ledger.values import content_words, stem

OVERLAP = 0.8
"""Share of a fact's words of meaning in one given memory from which it is its echo."""


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """What was given in a visit: hashes of words, no words.

    Attributes:
        memories: One set of word hashes a memory.
    """

    memories: tuple[frozenset[str], ...] = ()

    def echoes(self, text: str) -> bool:
        """Whether a canonical text repeats one of the memories."""
        found = _hashed(text)
        if not found:
            return False
        return any(len(found & memory) / len(found) >= OVERLAP for memory in self.memories)


def fingerprints(injected: Iterable[str]) -> Fingerprints:
    """Fingerprints of memories' texts; a block of several lines is one memory a line."""
    lines = (line for text in injected for line in text.splitlines())
    return Fingerprints(tuple(found for line in lines if (found := _hashed(line))))


def _hashed(text: str) -> frozenset[str]:
    return frozenset(
        hashlib.blake2b(stem(word).encode(), digest_size=8).hexdigest()
        for word in content_words([text])
    )
