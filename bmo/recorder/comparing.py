"""Whether the index holds what the ledger says, and what it takes where it does not.

Both are counted often. Where they differ, and once a day, the entry of every live memory is
compared with it, and all entries are looked for in the ledger: in pieces, by one process at a time,
and how far it got is in the ledger, so that a process that dies in the middle costs one piece.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from typing import Final, Literal

from bmo import telemetry
from bmo.ids import new_id
from bmo.index import MemoryIndex, point_of
from bmo.ledger import Ledger
from bmo.recorder.entry_writing import FactSaid, write_entries
from bmo.turn import StoredFact

CHECK_S: Final = 30.0
"""How often memories and entries are counted, by all processes together, in seconds."""

ROUND_S: Final = 24 * 3600.0
"""How often each is looked for in the other where the numbers are the same, in seconds."""

LEASE_S: Final = 30.0
"""How long a process may be silent before another goes on with its work, in seconds."""

FRUITLESS: Final = 10
"""After a round that changed nothing the next waits twice as long, so many times at most."""

PIECE: Final = 512
"""Memories or entries looked at in a piece."""

BATCH: Final = 32
"""Memories written together: Qdrant Edge keeps Python's lock for a millisecond then."""

Stage = Literal["", "missing", "surplus"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far the comparison of a collection with the ledger got; moments are seconds since 1970.

    Attributes:
        live: Live memories of the ledger, as counted last.
        entries: Their entries in the index, as counted last.
        counted: When that was.
        compared: When a round ended last, 0 for never.
        stage: What is looked for: memories whose entry is missing or wrong, entries that are too
            much; "" between two rounds.
        after: Where the stage goes on.
        looked: Memories looked for in this round.
        changed: Entries written and removed in this round.
        fruitless: Rounds in a row that changed nothing and left a difference.
        holder: Who is at it.
        until: When another may go on with it.
    """

    live: int = 0
    entries: int = 0
    counted: float = 0.0
    compared: float = 0.0
    stage: Stage = ""
    after: str = ""
    looked: int = 0
    changed: int = 0
    fruitless: int = 0
    holder: str = ""
    until: float = 0.0


def comparison_of(ledger: Ledger, collection: str) -> Comparison:
    """How far the comparison of a collection got."""
    return _read(ledger.remembered(_key(collection)))


def made_anew(ledger: Ledger, index: MemoryIndex) -> str:
    """What of an index is missing that nobody compared to the end yet, for people; else "".

    So it is after an upgrade whose encoder is another, until the first chat has made it.

    Raises:
        IndexUnavailable: The store cannot be reached.
    """
    if comparison_of(ledger, index.collection).compared:
        return ""
    live = ledger.count_indexable()
    missing = live - index.count_facts() - ledger.backlog().depth
    return f"{missing} of {live} memories are not in it yet" if missing > 0 else ""


class Comparing:
    """Compares one index with one ledger and mends it. Used from one thread.

    Attributes:
        written: Entries written so far.
    """

    def __init__(
        self,
        ledger: Ledger,
        index: MemoryIndex,
        *,
        piece: int = PIECE,
        batch: int = BATCH,
        rest: Callable[[float], None] | None = None,
        beside: Executor | None = None,
    ) -> None:
        """Compares nothing yet.

        Args:
            ledger: What is true.
            index: What is to follow it.
            piece: Memories or entries looked at before it is written down how far it got.
            batch: Memories written together.
            rest: Called with the seconds that each batch took.
            beside: Writes several batches at a time.
        """
        self.written = 0
        self._ledger = ledger
        self._index = index
        self._piece = piece
        self._batch = batch
        self._rest = rest
        self._beside = beside
        self._me = new_id()
        self._known: str | None = None
        self._state = Comparison()

    @property
    def state(self) -> Comparison:
        """How far it got, as this process knows."""
        return self._state

    def begin(self, *, now: bool = False, again: bool = False, steal: bool = False) -> bool:
        """Takes the work up if there is some and nobody else is at it.

        Args:
            now: Count also when that was done a moment ago.
            again: Look for everything, from the beginning.
            steal: Take it from whoever is at it.

        Returns:
            Whether there is a piece to do.

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        self._known = self._ledger.remembered(_key(self._index.collection))
        state, moment = _read(self._known), time.time()
        # An embedded store has one owner: a lease is a dead process's.
        others = self._index.backend == "server" and state.holder != self._me
        if others and state.until > moment and not steal:
            return False
        wait_s = CHECK_S * 2 ** min(state.fruitless, FRUITLESS)
        if not (now or again or state.stage or moment >= state.counted + wait_s):
            return False
        if not self._keep(state):
            return False
        self._index.confirm_owner()
        entries, live = self._index.count_facts(), self._ledger.count_indexable()
        telemetry.note("bmo_index_difference", live - entries)
        counted = replace(state, live=live, entries=entries, counted=moment)
        if again or not (state.stage or self._agree(counted)):
            return self._keep(replace(counted, stage="missing", after="", looked=0, changed=0))
        if not state.stage:
            self._index.drop_stale()
            counted = replace(counted, fruitless=0)
        return self._keep(counted) and bool(state.stage)

    def go_on(self) -> bool:
        """Does one piece.

        Returns:
            Whether there is more, and it is still this process's work.

        Raises:
            IndexUnavailable: The store cannot be reached.
            EmbedderUnavailable: There are no vectors now.
        """
        state = self._state
        self._index.confirm_owner()
        if state.stage == "missing":
            after, looked, changed = self._write_wrong(state.after)
            done = replace(state, after=after, looked=state.looked + looked)
            stage: Stage = "missing" if after else "surplus"
        else:
            after, changed = self._remove_surplus(state.after)
            done = replace(state, after=after)
            stage = "surplus" if after else ""
        done = replace(done, stage=stage, changed=state.changed + changed)
        if not stage:
            now = time.time()
            mended = done.changed or done.live == done.entries
            fruitless = 0 if mended else done.fruitless + 1
            # What another one lost in the middle of the round is counted at once.
            counted = now if fruitless else 0.0
            done = replace(done, compared=now, counted=counted, fruitless=fruitless)
            self._index.drop_stale()
        return self._keep(done) and bool(stage)

    def leave(self) -> None:
        """Lets another process go on."""
        if self._state.holder == self._me:
            self._write(replace(self._state, holder="", until=0.0))

    def _agree(self, state: Comparison) -> bool:
        """Whether no round is needed: what differs waits in the outbox, and all was compared."""
        same = abs(state.live - state.entries) <= self._ledger.backlog().depth
        late = state.live and state.counted >= state.compared + ROUND_S
        return same and not late

    def _keep(self, state: Comparison) -> bool:
        """Writes down how far it got; False when another process has taken it up."""
        return self._write(replace(state, holder=self._me, until=time.time() + LEASE_S))

    def _write(self, state: Comparison) -> bool:
        text = json.dumps(asdict(state))
        if not self._ledger.exchange(_key(self._index.collection), self._known, text):
            self._state = Comparison()
            return False
        self._known, self._state = text, state
        return True

    def _write_wrong(self, after: str) -> tuple[str, int, int]:
        """Writes what is missing or wrong of the next memories.

        Returns:
            Where to go on, how many memories it looked for, how many it wrote.
        """
        facts = self._ledger.live_after(after, self._piece)
        wanted = self._index.wrong(list(self._with_said(facts)))
        batches = [wanted[at : at + self._batch] for at in range(0, len(wanted), self._batch)]
        each = map if self._beside is None else self._beside.map
        deque(each(self._add, batches), maxlen=0)
        self.written += len(wanted)
        behind = f"{facts[-1].user_id} {facts[-1].id}" if len(facts) == self._piece else ""
        return behind, len(facts), len(wanted)

    def _add(self, facts: Sequence[FactSaid]) -> None:
        began = time.perf_counter()
        written = write_entries(self._ledger, self._index, facts)
        self._ledger.note_written(written)
        # A memory may end or be erased meanwhile, and its entry with it: before it was written.
        live = self._ledger.live_among(one.fact.id for one in written)
        gone = [one.index_id for one in written if one.fact.id not in live]
        if gone:
            self._index.remove_entries(gone)
        if self._rest is not None:
            self._rest(time.perf_counter() - began)

    def _with_said(self, facts: Sequence[StoredFact]) -> Iterator[FactSaid]:
        """Facts, which are in order of their users, with what the write gate said of each."""
        for user_id, group in groupby(facts, key=lambda fact: fact.user_id):
            theirs = list(group)
            said = self._ledger.gate_metadata(user_id, [fact.turn_id for fact in theirs])
            yield from ((fact, said[fact.turn_id]) for fact in theirs)

    def _remove_surplus(self, after: str) -> tuple[str, int]:
        """Removes what is too much of the next entries; returns where to go on, and how many."""
        entries, behind = self._index.entries_after(after, self._piece)
        of_facts = [entry for entry in entries if entry.metadata.get("mode") == "gated"]
        # Read after the entries: no entry is written before its fact.
        live = self._ledger.live_among(entry.fact_id for entry in of_facts)
        surplus = [
            entry.index_id
            for entry in of_facts
            if entry.fact_id not in live or entry.index_id != point_of(entry.fact_id)
        ]
        if surplus:
            self._index.remove_entries(surplus)
        return behind, len(surplus)


def _key(collection: str) -> str:
    return f"comparison:{collection}"


def _read(text: str | None) -> Comparison:
    """What is remembered; a worker of another version may have said more."""
    told = {} if text is None else json.loads(text)
    return Comparison(
        **{one.name: told[one.name] for one in fields(Comparison) if one.name in told}
    )


REBUILT_PIECE: Final = 1024
"""Memories after which it is written down how far it got."""

REBUILT_BATCH: Final = 64
"""Entries written together."""

Progress = Callable[[int, int], None]
"""(memories looked for, memories in all)"""


def rebuild(
    index: MemoryIndex,
    ledger: Ledger,
    progress: Progress | None = None,
    *,
    fresh: bool = True,
    piece: int = REBUILT_PIECE,
) -> int:
    """Brings the collection to what the ledger says, on all processors.

    An entry that says what its memory says is kept, and with it its vector: the encoder, whose name
    the collection has, would make the same. So are the vectors of what is missing, where the ledger
    keeps them. Recall goes on meanwhile, and so may workers.

    Args:
        index: The index.
        ledger: Where the facts are.
        progress: Called after each piece.
        fresh: Lay the collection out anew as well.
        piece: Memories after which it is written down how far it got: interrupted, a worker goes
            on there.

    Returns:
        Number of entries written.

    Raises:
        IndexUnavailable: The store cannot be reached.
        EmbedderUnavailable: There are no vectors now.
    """
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="bmo-rebuild") as pool:
        work = Comparing(ledger, index, piece=piece, batch=REBUILT_BATCH, beside=pool)
        try:
            more = work.begin(now=True, again=True, steal=True)
            while more:
                more = work.go_on()
                if progress is not None:
                    progress(work.state.looked, work.state.live)
        finally:
            work.leave()
    if fresh:
        index.lay_out()
    return work.written
