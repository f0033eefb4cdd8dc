"""Which ledger a collection belongs to: one point of its own says it, in every kind of store.

An index is one ledger's copy. A process with another ledger would take every entry for an orphan
and delete it.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from bmo.index.entries import Entry, EntryStore
from bmo.index.errors import IndexOfAnother

OWNER_POINT: Final = str(uuid.uuid5(uuid.NAMESPACE_URL, "bmo:the ledger of this index"))
"""Id of the point that names the ledger. It has no user: no search finds it."""

SAMPLE: Final = 1000
"""Entries of an index without owner that a ledger is asked about; their ids are random."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexOwner:
    """The ledger that an index is opened for.

    Attributes:
        ledger_id: The ledger's id.
        knows: Whether the ledger has, or is erasing, one of some facts or turns.
        take_over: Make the index this ledger's, whoever it belongs to (``bmo reindex
            --take-over``).
    """

    ledger_id: str
    knows: Callable[[Collection[str]], bool]
    take_over: bool = False


def check_owner(store: EntryStore, owner: IndexOwner, collection: str, dims: int) -> None:
    """Makes sure that a collection belongs to a ledger; what belongs to nobody is taken.

    An empty collection is taken by the first, one that an earlier version wrote by the ledger that
    knows its entries.

    Args:
        store: An open store.
        owner: The ledger.
        collection: Its name, for the sentence.
        dims: Length of its vectors.

    Raises:
        IndexOfAnother: It is another ledger's; nothing was changed.
    """
    found = _owner_of(store)
    if found == owner.ledger_id:
        return
    if not owner.take_over and (found is not None or not _nobody_elses(store, owner)):
        raise _refusal(collection)
    mark = [1.0, *[0.0] * (dims - 1)]
    store.insert([mark], [{"mode": "owner", "ledger_id": owner.ledger_id}], [OWNER_POINT])
    if _owner_of(store) != owner.ledger_id:  # another process took it in the same moment
        raise _refusal(collection)
    logger.info("the index is this ledger's now", extra={"taken_over": found is not None})


def is_owner(entry: Entry) -> bool:
    """Whether an entry names the owner, and is no memory."""
    return entry.id == OWNER_POINT


def _owner_of(store: EntryStore) -> str | None:
    found = store.found([OWNER_POINT])
    return str(found[0].payload.get("ledger_id")) if found else None


def _nobody_elses(store: EntryStore, owner: IndexOwner) -> bool:
    """Whether an index without owner is empty, or holds what the ledger knows."""
    payloads = [entry.payload for entry in store.page({}, SAMPLE)[0]]
    ids = {str(p.get("fact_id") or p.get("turn_id") or "") for p in payloads} - {""}
    return not payloads or owner.knows(sorted(ids))


def _refusal(collection: str) -> IndexOfAnother:
    return IndexOfAnother(
        f"The index {collection} belongs to another ledger and is left alone; set BMO_LEDGER_URL "
        "(or BMO_HOME) to that ledger, or QDRANT_URL to another server, or "
        "run `bmo reindex --take-over` to make the index anew from this ledger."
    )
