"""Taking over the memories of an existing Mem0 collection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bmo.gate import WriteGate
from bmo.index import Mem0Memory
from bmo.ledger import LONGEST_TEXT, Ledger, NearDuplicates
from bmo.settings import checked_user_id
from bmo.turn import CATEGORIES, Category, Fact


@dataclass(frozen=True, slots=True)
class MemoryImport:
    """What became of an import.

    Attributes:
        read: Memories in the collection.
        added: New facts.
        known: Memories that said what was known already.
        refused: (Mem0 id, why) of memories that were not taken.
    """

    read: int
    added: int
    known: int
    refused: tuple[tuple[str, str], ...]


def import_mem0(
    ledger: Ledger,
    memories: Iterable[Mem0Memory],
    *,
    gate: WriteGate,
    user_id: str | None = None,
    near: NearDuplicates | None = None,
) -> MemoryImport:
    """Makes facts of source ``import`` out of memories; they can be superseded like all others.

    Args:
        ledger: Where they go; the index follows through the outbox.
        memories: From ``read_mem0_collection``.
        gate: Masks secrets in them, and refuses what would steer the assistant.
        user_id: Whose they become; None keeps Mem0's users. Ids that are not allowed here are
            refused then.
        near: Finds similar facts, so that near duplicates are merged.
    """
    read = added = known = 0
    refused: list[tuple[str, str]] = []
    for memory in memories:
        read += 1
        try:
            owner = checked_user_id(user_id or memory.user_id)
        except ValueError as error:
            refused.append((memory.id, str(error)))
            continue
        text = gate.masked(" ".join(memory.text.split()))
        harmless = gate.may_hold(text)
        if not harmless or len(text) > LONGEST_TEXT:
            why = "it is too long" if harmless else "it would steer the assistant"
            refused.append((memory.id, why))
            continue
        recorded = ledger.add_imported(
            owner, _as_fact(memory, text), at=memory.created_at, near=near
        )
        added += len(recorded.added)
        known += len(recorded.confirmed)
        refused += [(memory.id, "it was erased here") for _ in recorded.suppressed]
    return MemoryImport(read, added, known, tuple(refused))


def _as_fact(memory: Mem0Memory, text: str) -> Fact:
    said = memory.metadata.get("category")
    category: Category = next((one for one in CATEGORIES if one == said), "personal_facts")
    return Fact(text=text, category=category, confidence=0.7, extraction_method="import:mem0")
