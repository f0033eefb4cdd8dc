"""Two workers, one user: what one forgets no other says again, and neither writes twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from pydantic import SecretStr

from bmo.ledger import Ledger, Written
from bmo.memory import MemoryService, MemorySession
from bmo.settings import Settings
from bmo.turn import Fact, Recall, RecalledMemory, RecallPlan, ScoreParts, StoredFact, Turn
from tests.fakes.qdrant_door import API_KEY, QdrantDoor
from tests.fakes.speaker import START, allowed, likes, live, lives_in, turn

pytestmark = pytest.mark.integration

ASKED = "what do i like"


@pytest.fixture
async def fleet(
    tmp_path: Path, ledger_url: str, server: QdrantDoor
) -> AsyncIterator[list[MemoryService]]:
    """Two workers with homes of their own, one ledger and one server."""
    services = [
        await MemoryService.open(
            Settings(
                bmo_home=tmp_path / name,
                bmo_ledger_url=ledger_url,
                qdrant_url=server.url,
                qdrant_api_key=SecretStr(API_KEY),
                gatekeeper_mode="pattern",
                bmo_recall_deadline_ms=5000,
                _env_file=None,  # type: ignore[call-arg]
            )
        )
        for name in ("first", "second")
    ]
    yield services
    for service in services:
        await service.aclose()


async def given(session: MemorySession) -> list[str]:
    recall = await session.recall(Turn(text=ASKED))
    assert not recall.fallback, recall.reason
    return [memory.fact.text for memory in recall.memories]


@pytest.mark.parametrize("how", ["forget", "wipe"])
async def test_what_one_worker_forgets_no_other_says_again(
    fleet: list[MemoryService], how: str
) -> None:
    here, there = fleet
    told = here.ledger.record(turn("x"), allowed("x", likes("zydeco"), likes("okra"))).added
    visit = there.session(user_id="ana")
    before = await visit.profile()
    assert "zydeco" in before.context
    assert set(await given(visit)) == {"Likes zydeco", "Likes okra"}
    here.ledger.record(turn("y"), allowed("y", likes("gumbo")))
    assert (await visit.profile()) is before  # it keeps its bytes while nothing in it is gone
    visit.prefetch(ASKED)
    version = visit.profile_version
    if how == "wipe":
        here.ledger.erase_user("ana")
    else:
        here.ledger.erase("ana", [told[0].id])
    left = set() if how == "wipe" else {"Likes okra", "Likes gumbo"}
    assert set(await given(visit)) == left
    assert visit.profile_version == version + 1
    assert "zydeco" not in (await visit.profile()).context


def at_once(url: str, rounds: int, said: tuple[Fact, Fact]) -> None:
    """Two workers hear one user in the same moment, again and again."""
    together = Barrier(2)

    def work(mine: Fact, behind: timedelta) -> None:
        ledger = Ledger.open(url)
        for number in range(rounds):
            at = START + timedelta(minutes=number) + behind
            together.wait(30)
            ledger.record(turn(mine.text, user=f"u{number}", at=at), allowed(mine.text, mine))
        ledger.close()

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(work, mine, timedelta(seconds=n)) for n, mine in enumerate(said)]
        for job in jobs:
            job.result(120)


def test_two_workers_write_one_fact_and_one_home(ledger: Ledger, ledger_url: str) -> None:
    at_once(ledger_url, 30, (likes("okra"), likes("okra")))
    at_once(ledger_url, 30, (lives_in("Leeds"), lives_in("Derby")))
    for number in range(30):
        assert live(ledger, f"u{number}") == {"Likes okra", "Lives in Derby"}
        assert ledger.count_live(f"u{number}") == 2


def test_two_users_are_the_first_to_be_erased_in_the_same_moment(ledger_url: str) -> None:
    together, opened = Barrier(4), [Ledger.open(ledger_url) for _ in range(4)]

    def wipe(number: int) -> None:
        together.wait(30)
        opened[number].erase_user(f"u{number}")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(wipe, range(4))) == [None] * 4
    for one in opened:
        one.close()


def given_back(facts: Sequence[StoredFact]) -> Recall:
    """A recall that gave these memories."""
    given = (RecalledMemory(fact, 0.5, ScoreParts(semantic=0.5), "search") for fact in facts)
    return Recall(RecallPlan(True, "own"), tuple(given))


def test_a_wipe_waits_for_no_other_worker_and_none_for_it(ledger_url: str) -> None:
    users, tastes = [f"u{number}" for number in range(25)], [likes(f"t{n}") for n in range(12)]
    first, second = Ledger.open(ledger_url), Ledger.open(ledger_url)
    for user in users:
        told = turn("x", user=user)
        added = first.record(told, allowed("x", *tastes)).added
        first.record_recall(told, given_back(added[::-1]))
    together = Barrier(4)

    def wipe(user: str) -> None:
        first.erase_user(user)

    def recall(user: str) -> None:
        asked = turn("y", user=user)
        facts = second.live_facts(user)
        second.note_helpfulness(
            user, [f.id for f in facts], turn_id="y", helpful=True, at=START, source="user"
        )
        second.record_recall(asked, given_back(facts))

    def index(user: str) -> None:
        for item in worker.claim_outbox("me", 20):
            facts = worker.facts_by_id(item.user_id, [item.fact_id])
            worker.applied(item, *(Written(f, "somewhere", "hashing", b"v") for f in facts))
        worker.renew_leases("me")

    def repair(user: str) -> None:
        facts = other.live_facts(user)
        other.note_written([Written(fact, "elsewhere", "hashing", b"w") for fact in facts])
        other.drop_old_words(0)

    worker, other = Ledger.open(ledger_url), Ledger.open(ledger_url)

    def at_each(work: Callable[[str], None]) -> None:
        for user in users:
            together.wait(30)
            work(user)

    with ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(at_each, work) for work in (wipe, recall, index, repair)]:
            job.result(120)
    assert [first.count_live(user) for user in users] == [0] * len(users)
    assert {item.op for item in worker.claim_outbox("me", 500)} <= {"purge"}
    for opened in (first, second, worker, other):
        opened.close()
