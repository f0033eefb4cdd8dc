"""MEM0_SETTING=NORMAL: Mem0's own extraction by Gemini with a key, words as said without one.

Everything is real but the service: Mem0, its Gemini provider, google-genai, Qdrant Edge, SQLite.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import pytest

from bmo.index import MemoryIndex
from bmo.memory import MemoryService, MemorySession
from bmo.recorder import outbox_worker
from bmo.settings import Settings, load_settings
from bmo.turn import Turn
from tests.fakes.model_server import KEY, FakeModelServer, Fault
from tests.integration.memory_parts import bytes_with

pytestmark = pytest.mark.integration

BROTHER = "User has a brother named Sam"


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is put off is tried again when it is due, not at the next of few looks."""
    monkeypatch.setattr("bmo.recorder.upkeep.POLL_S", 0.1)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModelServer]:
    with FakeModelServer(memories=[BROTHER]) as running:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", running.gemini_url)
        yield running


def normal(home: Path, **more: Any) -> Settings:
    return load_settings(
        bmo_home=home,
        mem0_setting="NORMAL",
        google_api_key=KEY,
        bmo_recall_deadline_ms=20_000,
        **more,
    )


@asynccontextmanager
async def visit(settings: Settings) -> Any:
    service = await MemoryService.open(settings)
    try:
        yield service.session(user_id="glenn")
    finally:
        await service.aclose()


async def say(session: MemorySession, text: str) -> Turn:
    turn = Turn(text=text)
    await session.on_turn(turn)
    return turn


async def until(holds: Callable[[], bool]) -> None:
    """Waits for what another thread does, a minute at most."""
    deadline = time.monotonic() + 60
    while not holds() and time.monotonic() < deadline:  # noqa: ASYNC110 - the thread has no event
        await asyncio.sleep(0.05)


def texts(session: MemorySession) -> list[str]:
    index = session.service.index
    assert index is not None
    return sorted(entry.text for entry in index.entries("glenn"))


async def test_mem0_extracts_from_every_turn(tmp_path: Path, server: FakeModelServer) -> None:
    settings = normal(tmp_path)
    async with visit(settings) as session:
        assert [(n.part, settings.gemini_model in n.message) for n in session.service.notices] == [
            ("mode", True)
        ]
        await say(session, "my brother is called sam by the way")
        await session.flush()
        assert texts(session) == [BROTHER]
        recall = await session.recall(Turn(text="who is my brother"))
        assert BROTHER in recall.context
        await say(session, "hello there")
        await session.flush()
        assert texts(session) == [BROTHER]  # found again, stored once
    asked = server.asked("gemini")
    assert len(asked) == 2
    assert asked[0].path.endswith(f"/models/{settings.gemini_model}:generateContent")
    assert asked[0].body["generationConfig"]["responseMimeType"] == "application/json"
    assert "my brother is called sam" in str(asked[0].body["contents"])
    assert BROTHER in str(asked[1].body["contents"])  # Mem0 shows the model what is there


async def test_without_a_key_the_words_are_stored_and_that_is_said(tmp_path: Path) -> None:
    settings = load_settings(bmo_home=tmp_path, mem0_setting="NORMAL")
    async with visit(settings) as session:
        (notice,) = session.service.notices
        assert "GOOGLE_API_KEY" in notice.message
        assert "as it was said" in notice.message
        await say(session, "my brother is called sam by the way")
        await session.flush()
        assert texts(session) == ["my brother is called sam by the way"]


async def test_behind_the_gates_nothing_is_said_and_no_model_is_asked(
    tmp_path: Path, server: FakeModelServer
) -> None:
    settings = load_settings(bmo_home=tmp_path, google_api_key=KEY)
    async with visit(settings) as session:
        assert session.service.notices == ()
        await say(session, "my brother is called sam")
        await session.flush()
    assert server.requests == []


FAULTS: tuple[Fault, ...] = (
    "429",
    "500",
    "reset",
    "short_body",
    "broken_body",
    "rubbish",
    "truncated",
    "wrong_schema",
    "no_json",
    "empty",
    "blocked",
)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_puts_a_turn_off_and_loses_nothing(
    tmp_path: Path, server: FakeModelServer, fault: Fault
) -> None:
    server.fault(fault)
    async with visit(normal(tmp_path)) as session:
        turn = await say(session, "my brother is called sam")
        assert await session.recorded(turn.id) is not None
        await until(lambda: bool(texts(session)))
        assert texts(session) == [BROTHER]
    assert [one.fault for one in server.asked()] == [fault, ""]


async def test_a_model_that_hangs_delays_neither_turn_nor_recall_nor_the_end(
    tmp_path: Path, server: FakeModelServer
) -> None:
    async with visit(normal(tmp_path)) as session:
        server.fault("slow")
        first = await say(session, "my brother is called sam")
        second = await say(session, "and he lives in leeds")
        assert await session.recorded(first.id) is not None
        assert await session.recorded(second.id) is not None
        recall = await session.recall(Turn(text="who is my brother"))
        assert not recall.fallback
        await until(lambda: bool(server.asked()))
        service = session.service
        assert service.recorder.flush(0.2) is False
    async with visit(normal(tmp_path)) as later:
        await later.flush()
        assert texts(later) == [BROTHER]


async def test_a_model_that_never_answers_leaves_the_words_as_they_were_said(
    tmp_path: Path, server: FakeModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_worker, "INFERENCE_ATTEMPTS", 2)
    server.always = "500"
    async with visit(normal(tmp_path)) as session:
        await say(session, "my brother is called sam")
        await until(lambda: bool(texts(session)))
        assert texts(session) == ["my brother is called sam"]
    assert len(server.asked()) == 2


async def test_a_user_who_is_erased_while_the_model_thinks_stays_erased(
    tmp_path: Path, server: FakeModelServer
) -> None:
    server.memories = ["User plays the theremin"]
    entered, leave = asyncio.Event(), asyncio.Event()
    async with visit(normal(tmp_path)) as session:
        service = session.service
        index = service.index
        assert index is not None
        loop = asyncio.get_running_loop()
        real = index.add_inferred

        def held_up(turn: Turn, text: str, before: list[str]) -> list[str]:
            loop.call_soon_threadsafe(entered.set)
            asyncio.run_coroutine_threadsafe(leave.wait(), loop).result(60)
            found: list[str] = real(turn, text, before)
            return found

        index.add_inferred = held_up
        await say(session, "i play the theremin")
        await asyncio.wait_for(entered.wait(), 60)
        await asyncio.to_thread(
            service.recorder.call(service.ledger.erase_user, "glenn").result, 60
        )
        leave.set()
        await session.flush()
        assert texts(session) == []
    assert bytes_with(tmp_path, "theremin") == []


async def test_geminis_embedder_has_its_dimensions_in_mem0_too(
    tmp_path: Path, server: FakeModelServer
) -> None:
    settings = normal(tmp_path, bmo_embedder="gemini")
    async with visit(settings) as session:
        await say(session, "my brother is called sam")
        await session.flush()
        assert texts(session) == [BROTHER]
        assert BROTHER in (await session.recall(Turn(text="a brother named sam"))).context
    embedded = [one for one in server.requests if one.service == "embedding"]
    assert embedded
    sizes = {
        request["outputDimensionality"]
        for one in embedded
        for request in one.body.get("requests", [one.body])
    }
    assert sizes == {768}


@pytest.mark.parametrize("embedder", ["local", "gemini"])
async def test_the_end_gives_the_connections_back(
    tmp_path: Path, server: FakeModelServer, embedder: str
) -> None:
    gc.disable()  # or a collection in the meantime would give them back
    try:
        async with visit(normal(tmp_path, bmo_embedder=embedder)) as session:
            await say(session, "my brother is called sam")
            await session.flush()
            assert server.connections == (2 if embedder == "gemini" else 1)
        await until(lambda: server.connections == 0)
        assert server.connections == 0
    finally:
        gc.enable()


async def test_an_embedder_that_fails_meanwhile_stores_nothing_by_half(
    tmp_path: Path, server: FakeModelServer
) -> None:
    server.memories = [BROTHER, "User likes oysters"]
    async with visit(normal(tmp_path)) as session:
        index = session.service.index
        assert index is not None
        real, calls = index.embedder.embed, []

        def fails_once(words: Any) -> Any:
            calls.append(tuple(words))
            if words == ["User likes oysters"] and calls.count(("User likes oysters",)) <= 2:
                raise OSError("the embedder is away")
            return real(words)

        index.embedder.embed = fails_once
        await say(session, "my brother is called sam and i like oysters")
        await until(lambda: len(texts(session)) == 2)
        assert texts(session) == [BROTHER, "User likes oysters"]
    assert len(server.asked()) == 2


def test_the_default_model_is_one_that_exists() -> None:
    # Where google-genai lists the models it knows (3.4); other versions may not.
    listed = pytest.importorskip("google.genai._gaos.types.interactions.model")
    known = get_args(get_args(listed.Model)[0])
    assert load_settings().gemini_model in known


def test_mem0s_configuration_names_model_and_dimensions(tmp_path: Path) -> None:
    settings = normal(tmp_path)
    index = MemoryIndex.open(settings)
    try:
        memory = index.memory()
        assert memory.llm.config.model == settings.gemini_model
        assert memory.config.embedder.config["embedding_dims"] == index.embedder.dims == 384
    finally:
        index.close()


async def test_the_words_given_to_mem0_have_no_secret_in_them(
    tmp_path: Path, server: FakeModelServer
) -> None:
    async with visit(normal(tmp_path)) as session:
        await say(session, "my card number is 4012 8888 8888 1881")
        await session.flush()
        await say(session, "i play the theremin")
        await session.flush()
    asked = server.asked("gemini")
    assert len(asked) == 2
    sent = str([one.body for one in asked])
    assert "my card number is" in str(asked[1].body)  # shown as what was said before
    assert "i play the theremin" in sent
    # Groups of the number, not its digits: an id or a date may hold any four of them.
    assert "8888 1881" not in sent and "4012 8888" not in sent
    assert "4012888888881881" not in sent
    assert bytes_with(tmp_path, "8888 1881") == []


async def test_the_model_is_shown_what_was_said_before_and_mem0_keeps_none_of_it(
    tmp_path: Path, server: FakeModelServer
) -> None:
    async with visit(normal(tmp_path)) as session:
        for text in ("i bought a theremin", "it arrives on monday", "it will be loud"):
            await say(session, text)
            await session.flush()
        await asyncio.to_thread(session.service.ledger.erase_user, "glenn")
        await session.flush()
        await say(session, "hello again")
        await session.flush()
    asked = [str(one.body["contents"]) for one in server.asked("gemini")]
    assert [asked[2].count(text) for text in ("i bought a theremin", "it arrives on monday")] == [
        1,
        1,
    ]
    assert asked[2].index("i bought a theremin") < asked[2].index("it arrives on monday")
    assert "theremin" not in asked[3]
    assert bytes_with(tmp_path, "theremin") == []
