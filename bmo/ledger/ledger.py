"""The ledger: the one class that other rooms speak to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from bmo.ledger import erasure, fact_writing
from bmo.ledger.engine import open_engine
from bmo.ledger.exchange import Guard, Imported, export_lines, import_rows, read_export
from bmo.ledger.fact_queries import FactQueries
from bmo.ledger.forgetting import Forgetting
from bmo.ledger.index_side import IndexSide
from bmo.ledger.model_side import ModelSide
from bmo.ledger.recall_log import RecallLog
from bmo.ledger.recording import record_turn, similar_facts, store_fact, wants_near
from bmo.ledger.records import NearDuplicates, Receipt, Recorded
from bmo.settings import CONNECTIONS, GatekeeperMode
from bmo.turn import Decision, Fact, Turn, utc_now

__all__ = ["Ledger"]


class Ledger(FactQueries, Forgetting, IndexSide, ModelSide, RecallLog):
    """Facts, their sources and their validity, in SQL. Safe from any thread.

    Every call takes a connection of its own; every writing call is one transaction. User ids are
    checked at every call: nothing of one user is readable or changeable through another's id.
    """

    @classmethod
    def open(
        cls,
        url: str,
        connections: int = CONNECTIONS,
        *,
        check: bool = True,
        make_folder: bool = True,
    ) -> Ledger:
        """Opens a ledger and brings its schema up to date.

        Args:
            url: ``sqlite:///<path>`` or ``postgresql+psycopg://user:password@host/database``.
            connections: Connections to a PostgreSQL server, at most; the threads take turns.
            check: Look for damage inside of a SQLite file first.
            make_folder: Make the folder of a SQLite file; False for a path that a person typed.

        Raises:
            LedgerUnavailable: One sentence that names the path and the fix.
        """
        ledger = cls(open_engine(url, connections, check=check, make_folder=make_folder))
        with ledger.reading() as connection:
            prepared = erasure.is_prepared(connection)
        if not prepared:
            with ledger.writing() as connection:
                erasure.prepare(connection)
        return ledger

    def user_of(self, receipt: Receipt) -> str | None:
        """The user of a receipt of this ledger, or of the one it was restored for.

        None: he was wiped, and nothing of him is here.
        """
        if not receipt.user_id.startswith(erasure.HASHED):
            return receipt.user_id
        users = self.users()
        with self.reading() as connection:
            return erasure.named(connection, receipt.user_id, users)

    def record(
        self,
        turn: Turn,
        decision: Decision,
        *,
        near: NearDuplicates | None = None,
        source_type: str = "gate",
        raw: bool = False,
        mode: GatekeeperMode | None = None,
    ) -> Recorded:
        """Writes a turn, its decision, its facts and the outbox in one transaction.

        Args:
            turn: The turn; what is written of its text is ``decision.text``.
            decision: The gate's word. Recording a known turn again adds a decision and whatever
                facts are new; it doubles nothing.
            near: Finds similar facts, for near duplicates and for retractions in other words.
            source_type: gate, tool, model, import or manual.
            raw: The turn's words go to the index as they are (MEM0_SETTING=NORMAL).
            mode: The gate's mode: in hybrid and llm more than held turns wait for a model.

        Returns:
            What was added, confirmed, ended and erased.

        Raises:
            ValueError: The user id is not allowed, or the turn's id is another user's.
        """
        similar = similar_facts(turn.user_id, decision, near)
        with self.writing(turn.user_id) as connection:
            return record_turn(
                connection, turn, decision, similar, source_type=source_type, raw=raw, mode=mode
            )

    def rehearse(self, turn: Turn, decision: Decision) -> None:
        """Goes through recording a turn and takes all of it back; nothing is written.

        The statements are compiled on the way, which takes 20 ms of processor time that the first
        real turn is spared.
        """
        with self.writing(turn.user_id) as connection, connection.begin_nested() as savepoint:
            record_turn(connection, turn, decision, {})
            savepoint.rollback()

    def add_imported(
        self, user_id: str, fact: Fact, *, at: datetime | None, near: NearDuplicates | None = None
    ) -> Recorded:
        """Stores a memory that comes from elsewhere, reconciled with what is known.

        Args:
            user_id: Whose memory.
            fact: The memory.
            at: When it was known; None when nobody knows: it then orders with nothing, and a
                slot that holds one other value has a conflict.
            near: Finds similar facts.
        """
        similar = dict(near(user_id, fact.text)) if near is not None and wants_near(fact) else {}
        stamp = fact_writing.Stamp(user_id, at or utc_now(), None, "import", "")
        with self.writing(user_id) as connection:
            return store_fact(connection, stamp, fact, similar, dated=at is not None)

    def export(self, user_id: str) -> Iterator[str]:
        """A user's memory as JSON lines (see ``exchange``)."""
        with self.reading(user_id) as connection:
            yield from export_lines(connection, user_id)

    def import_export(
        self, lines: Iterable[str], *, user_id: str | None = None, guard: Guard | None = None
    ) -> Imported:
        """Reads an export back, all of it or nothing.

        Args:
            lines: The lines.
            user_id: Whose memory it becomes; None for the user in the file.
            guard: The gate; None for a file that is trusted: one's own backup.

        Raises:
            ExchangeError: A line is wrong; the message names it.
            ValueError: The user id is not allowed.
        """
        export = read_export(lines, user_id=user_id, guard=guard)
        with self.writing(export.user_id) as connection:
            return import_rows(connection, export)
