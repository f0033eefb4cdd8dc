"""Fills a fresh home with many memories, quickly.

A recorder writes fact by fact, as people tell them: 50,000 take half an hour. Here the ledger
itself records one fact in five hundred, the others are copies of its row with their own words,
vectors are made on two threads, and the store takes pages of entries. What stands there afterwards
is what the recorder would have written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from itertools import islice
from uuid import uuid4

import sqlalchemy as sa

from bmo.index import MemoryIndex, open_embedder
from bmo.index.hits import fact_metadata
from bmo.ledger import Ledger
from bmo.ledger.schema import fact_turns, fact_words, facts, outbox
from bmo.ledger.subjects import name_of, relation_of
from bmo.ledger.values import content_words, text_key, value_key
from bmo.settings import Settings
from bmo.turn import Decision, Fact, StoredFact, Turn, new_id

BATCH = 500
"""Facts in a transaction, and entries in a page."""


def fill(settings: Settings, told: Iterable[Fact], user_id: str, at: datetime) -> int:
    """Writes memories of one user into ledger and index; returns how many there are.

    Args:
        settings: Of a home that nobody has open.
        told: The memories, all different; none takes another's place.
        user_id: Whose they are.
        at: When they were told.
    """
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings, open_embedder(settings))
    waiting, count = iter(told), 0
    try:
        with ThreadPoolExecutor(2) as pool:
            while batch := list(islice(waiting, BATCH)):
                stored = _record(ledger, batch, user_id, at)
                vectors = list(pool.map(lambda f: index.embedder.embed([f.text])[0], stored))
                ids = [str(uuid4()) for _ in stored]
                # Past Mem0, whose ``add`` takes one memory at a time.
                store = index._connection.connected().vector_store
                payloads = [_payload(fact) for fact in stored]
                store.insert([vector.tolist() for vector in vectors], payloads, ids)
                _indexed(ledger, stored, ids)
                count += len(stored)
    finally:
        index.close()
        ledger.close()
    return count


def _record(ledger: Ledger, batch: Sequence[Fact], user_id: str, at: datetime) -> list[StoredFact]:
    decision = Decision("allow", ("other",), "", 1.0, facts=(batch[0],), text="x")
    first = ledger.record(Turn("x", user_id=user_id, at=at), decision).added[0]
    with ledger.writing() as connection:
        row = connection.execute(sa.select(facts).where(facts.c.id == first.id)).one()._asdict()
        stored = [
            first,
            *(
                replace(
                    first,
                    id=new_id(),
                    text=fact.text,
                    category=fact.category,
                    slot=fact.slot,
                    value=fact.value,
                    subject=fact.subject,
                )
                for fact in batch[1:]
            ),
        ]
        rows = [
            {
                **row,
                "id": fact.id,
                "text": fact.text,
                "category": fact.category,
                "slot": fact.slot,
                "value": fact.value,
                "subject": fact.subject,
                "text_key": text_key(fact.text),
                "value_key": value_key(fact.value),
            }
            for fact in stored[1:]
        ]
        links = [
            {"fact_id": fact.id, "turn_id": fact.turn_id, "role": "stated"} for fact in stored[1:]
        ]
        words = [
            {"fact_id": fact.id, "word": word, "user_id": user_id}
            for fact in stored[1:]
            for word in sorted(_words(fact))
        ]
        for table, new in ((facts, rows), (fact_turns, links), (fact_words, words)):
            if new:
                connection.execute(sa.insert(table), new)
    return stored


def _words(fact: StoredFact) -> frozenset[str]:
    """The words the ledger finds a fact by."""
    relation = relation_of(fact.subject).replace(".", " ").replace("_", " ")
    return content_words([fact.text, fact.value, name_of(fact.subject), relation])


def _indexed(ledger: Ledger, stored: Sequence[StoredFact], ids: Sequence[str]) -> None:
    """Says that the index has them."""
    with ledger.writing() as connection:
        connection.execute(
            sa.update(facts)
            .where(facts.c.id == sa.bindparam("fact"))
            .values(index_id=sa.bindparam("entry")),
            [{"fact": fact.id, "entry": entry} for fact, entry in zip(stored, ids, strict=True)],
        )
        connection.execute(sa.delete(outbox).where(outbox.c.op == "add"))


def _payload(fact: StoredFact) -> dict[str, object]:
    """An entry as Mem0 writes it."""
    said = fact.valid_from.isoformat()
    return {
        "data": fact.text,
        "hash": hashlib.md5(fact.text.encode(), usedforsecurity=False).hexdigest(),
        "created_at": said,
        "updated_at": said,
        "user_id": fact.user_id,
        **fact_metadata(fact),
    }
