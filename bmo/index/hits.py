"""What an entry says of its fact, and what a search gives back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bmo.index.entries import Entry
from bmo.turn import StoredFact

Metadata = Mapping[str, str | float | bool]
"""What is written beside a memory's text."""


@dataclass(frozen=True, slots=True)
class IndexHit:
    """One entry that a search found.

    Attributes:
        fact_id: The ledger's id; "" for a raw turn.
        index_id: Mem0's id.
        text: The memory's text.
        score: Cosine similarity to the query.
        metadata: Everything else on the entry.
    """

    fact_id: str
    index_id: str
    text: str
    score: float
    metadata: Mapping[str, Any]


def hit_of(entry: Entry) -> IndexHit:
    """An entry as it is, which no search scored."""
    payload = dict(entry.payload)
    text = payload.pop("data", "")
    return IndexHit(payload.get("fact_id", ""), entry.id, text, 0.0, payload)


def fact_metadata(fact: StoredFact) -> dict[str, str | float | bool]:
    """What every entry says of its fact; what the write gate said comes beside it."""
    return {
        "fact_id": fact.id,
        "mode": "gated",
        "category": fact.category,
        "kind": fact.kind,
        "slot": fact.slot or "",
        "subject": fact.subject,
        "polarity": fact.polarity,
        "domain": fact.domain or "",
        "valid_from": fact.valid_from.isoformat(),
        "turn_id": fact.turn_id or "",
        "extraction_version": fact.extraction_version,
        "source_type": fact.source_type,
        "write_verdict": "allow",
    }


def agrees(payload: Mapping[str, Any], text: str, fact: StoredFact, said: Metadata) -> bool:
    """Whether an entry says of a fact what is to be written of it.

    Args:
        payload: The entry's; empty where there is none.
        text: The fact's, as it is written.
        fact: The ledger's row.
        said: What the write gate said.
    """
    wanted = {**fact_metadata(fact), **said, "user_id": fact.user_id, "data": text}
    return all(_same(payload.get(key), value) for key, value in wanted.items())


def _same(there: object, wanted: object) -> bool:
    """Equal; a number may have lost its last digit on its way through a server."""
    if isinstance(wanted, float) and isinstance(there, float):
        return math.isclose(there, wanted)
    return there == wanted
