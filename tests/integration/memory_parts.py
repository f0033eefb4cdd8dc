"""Ledger, index and recorder of one home, opened and closed together, for tests."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from bmo.index import IndexOwner, MemoryIndex
from bmo.ledger import Ledger, Recorded
from bmo.ledger.schema import fact_vectors, metadata
from bmo.recorder import Recorder
from bmo.settings import Settings
from bmo.turn import Decision, Turn
from tests.fakes.embedder import HashingEmbedder
from tests.homes import files_with


@dataclass(frozen=True)
class Parts:
    settings: Settings
    ledger: Ledger
    index: MemoryIndex
    recorder: Recorder

    def say(self, turn: Turn, decision: Decision) -> Recorded:
        return self.recorder.submit(turn, decision).result(30)

    def settled(self) -> None:
        assert self.recorder.flush(60.0), self.ledger.backlog()

    def is_behind(self) -> bool:
        """Whether what was said is in the ledger alone: the index was tried and cannot be used."""
        self.recorder.call(lambda: None).result(30)
        eventually(lambda: bool(self.index.unavailable))
        return self.ledger.backlog().depth > 0

    def mended(self) -> None:
        """Waits until the index holds what the ledger says."""
        self.settled()
        eventually(lambda: not difference(self.ledger, self.index))


def eventually(true: Callable[[], bool]) -> None:
    """Waits for something that others do; a minute is long enough to be sure that nobody does."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def difference(ledger: Ledger, index: MemoryIndex) -> Counter[str]:
    """How often a live fact is missing in the index (-1), and how often an entry is too much."""
    found = Counter(entry.fact_id for entry in index.entries() if entry.fact_id)
    found.subtract(fact.id for user in ledger.users() for fact in ledger.live_facts(user))
    return Counter({fact_id: count for fact_id, count in found.items() if count})


def rows_of(ledger: Ledger, table: str, user_id: str | None = None) -> int:
    """Number of rows of a table, of one user or of all."""
    found = metadata.tables[table]
    query = sa.select(sa.func.count()).select_from(found)
    with ledger.reading() as connection:
        mine = query if user_id is None else query.where(found.c.user_id == user_id)
        return int(connection.execute(mine).scalar_one())


def drop_vectors(connection: sa.Connection) -> None:
    """Makes a ledger one of the version before vectors."""
    server = connection.dialect.name == "postgresql"
    for statement in (
        f"DROP TRIGGER drop_fact_vector{' ON facts' if server else ''}",
        *(["DROP FUNCTION drop_fact_vector"] if server else []),
        "DROP TABLE fact_vectors",
        "UPDATE meta SET value = '0050' WHERE key = 'schema'",
    ):
        connection.execute(sa.text(statement))


def forget_vectors(url: str) -> None:
    """Has every vector made anew when its memory is written into an index."""
    ledger = Ledger.open(url)
    with ledger.writing() as connection:
        connection.execute(sa.delete(fact_vectors))
    ledger.close()


@contextmanager
def open_parts(home: Path, *, dims: int = 64, **settings: object) -> Iterator[Parts]:
    """Opens everything on a real SQLite file and a real Qdrant Edge store in ``home``."""
    chosen = Settings(bmo_home=home, _env_file=None, **settings)  # type: ignore[arg-type,call-arg]
    ledger = Ledger.open(chosen.ledger_url)
    owner = IndexOwner(ledger.identity(), ledger.knows)
    index = MemoryIndex.open(chosen, HashingEmbedder(dims), owner=owner)
    recorder = Recorder(ledger, index, chosen)
    try:
        yield Parts(chosen, ledger, index, recorder)
    finally:
        recorder.close()
        index.close()
        ledger.close()


def bytes_with(home: Path, word: str) -> list[str]:
    """Files below ``home`` that have ``word`` in their raw bytes, in any case."""
    return [str(file.relative_to(home)) for file in files_with(home, word)]
