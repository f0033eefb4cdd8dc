"""Whether the index holds what the ledger says, and what to do where it does not."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.index import MemoryIndex
from bmo.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where ledger and index differ.

    Attributes:
        missing: (user, fact id) of live facts without an entry.
        orphaned: (user, fact id) of entries whose fact is not live.
        doubled: (user, fact id) of facts with several entries.
    """

    missing: tuple[tuple[str, str], ...] = ()
    orphaned: tuple[tuple[str, str], ...] = ()
    doubled: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.missing or self.orphaned or self.doubled)


def compare(ledger: Ledger, index: MemoryIndex) -> Disagreement:
    """Compares all live facts with all entries; raw turns (MEM0_SETTING=NORMAL) are left out."""
    found: dict[tuple[str, str], int] = {}
    for entry in index.entries():
        if entry.fact_id:
            key = (str(entry.metadata["user_id"]), entry.fact_id)
            found[key] = found.get(key, 0) + 1
    # Read after the entries: a fact recorded meanwhile looks missing, and adding it twice is
    # harmless; the other way round it would look orphaned.
    live = {(user_id, fact_id) for fact_id, user_id in ledger.indexable().items()}
    return Disagreement(
        missing=tuple(sorted(live - found.keys())),
        orphaned=tuple(sorted(found.keys() - live)),
        doubled=tuple(sorted(key for key, count in found.items() if count > 1 and key in live)),
    )


def settle(ledger: Ledger, index: MemoryIndex) -> Disagreement:
    """Compares, and asks the index through the outbox for what is missing or too much.

    Returns:
        What was found. The recorder does the rest.
    """
    found = compare(ledger, index)
    ledger.ask_index([("add", user_id, fact_id) for user_id, fact_id in found.missing])
    ledger.ask_index([("update", user_id, fact_id) for user_id, fact_id in found.doubled])
    ledger.ask_index([("delete", user_id, fact_id) for user_id, fact_id in found.orphaned])
    return found
