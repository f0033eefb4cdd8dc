"""Leases of the outbox: kept while their worker lives, taken over soon after it died."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from bmo.index import MemoryIndex
from bmo.ledger import Ledger
from bmo.ledger.index_side import LEASE
from bmo.ledger.schema import outbox
from bmo.recorder import OutboxWorker
from bmo.recorder.bounded import BoundedCalls
from bmo.settings import Settings
from bmo.turn import utc_now
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.speaker import allowed, likes, turn

pytestmark = pytest.mark.integration


def tell(ledger: Ledger) -> None:
    ledger.record(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))


def time_passes(ledger: Ledger, passed: timedelta) -> None:
    """Moves the leases back instead of waiting."""
    with ledger.writing() as connection:
        for row in connection.execute(sa.select(outbox)).all():
            until = row.leased_until - passed
            mine = sa.update(outbox).where(outbox.c.id == row.id)
            connection.execute(mine.values(leased_until=until))


def test_what_a_dead_worker_leased_is_taken_over_within_ten_seconds(ledger: Ledger) -> None:
    assert timedelta(seconds=10) > LEASE
    tell(ledger)
    assert len(ledger.claim_outbox("dead", 5)) == 1
    assert ledger.claim_outbox("living", 5) == []
    due = ledger.backlog().first_due
    assert due is not None and due > utc_now()  # nobody looks for it before
    time_passes(ledger, LEASE)
    assert len(ledger.claim_outbox("living", 5)) == 1
    assert ledger.claim_outbox("third", 5) == []


def test_what_a_worker_still_works_on_stays_its_own(ledger: Ledger) -> None:
    tell(ledger)
    ledger.claim_outbox("slow", 5)
    time_passes(ledger, LEASE)
    ledger.renew_leases("slow")
    assert ledger.claim_outbox("other", 5) == []


@pytest.mark.parametrize("ahead_s", [-120, 5, 120])
def test_workers_of_a_fleet_whose_clocks_differ_take_nothing_from_each_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, ahead_s: int
) -> None:
    if ledger.engine.dialect.name != "postgresql":
        pytest.skip("processes that share a SQLite file share a clock")
    tell(ledger)

    def elsewhere() -> datetime:
        return utc_now() + timedelta(seconds=ahead_s)

    with monkeypatch.context() as there:
        there.setattr("bmo.ledger.index_side.utc_now", elsewhere)
        ahead = ledger.claim_outbox("ahead", 5)
    here = ledger.claim_outbox("here", 5)
    assert len(ahead) + len(here) == 1  # a clock that is behind does not see it yet


def test_a_lease_is_renewed_while_the_index_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bmo.recorder.bounded.MEANWHILE_S", 0.02)
    monkeypatch.setattr("bmo.recorder.outbox_worker.RENEW_S", 0.0)
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings, HashingEmbedder(64))
    tell(ledger)
    renewed = threading.Event()
    renew = ledger.renew_leases

    def renew_and_say(owner: str) -> None:
        renew(owner)
        renewed.set()

    def slow_live(user_id: str, ids: list[str]) -> list[object]:
        time_passes(ledger, LEASE)
        renewed.clear()
        assert renewed.wait(60), "the lease was left to end"
        assert ledger.claim_outbox("other", 5) == []
        return live(user_id, ids)  # type: ignore[return-value]

    live = ledger.live_by_ids
    monkeypatch.setattr(ledger, "renew_leases", renew_and_say)
    monkeypatch.setattr(ledger, "live_by_ids", slow_live)
    worker = OutboxWorker(ledger, index, BoundedCalls("test"), timeout_s=60.0)
    assert (worker.apply(), index.count(), ledger.backlog().depth) == (1, 1, 0)
    index.close()
    ledger.close()
