"""Which mode the gate works in while nobody set one: by what can really be asked."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bmo.memory import MemoryService
from bmo.memory.opening import choose_mode
from bmo.settings import Settings, load_settings
from bmo.turn import Turn
from tests.fakes.model_server import OLLAMA_MODEL, FakeModelServer

pytestmark = pytest.mark.integration

OLLAMA = f"ollama/{OLLAMA_MODEL}"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*Settings.model_fields, "gemini_api_key"):
        if name.startswith(("gatekeeper", "google", "gemini", "ollama", "mem0")):
            monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


@contextmanager
def trickling() -> Iterator[str]:
    """A server that sends a byte now and then and never ends its answer."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not ended.wait(0.2):
                connection.sendall(b"x")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        thread.join()
        listener.close()


def test_without_a_model_it_is_local_as_it_always_was() -> None:
    chosen = choose_mode(load_settings())
    assert (chosen.mode, chosen.why) == ("local", "no GOOGLE_API_KEY")


def test_a_key_makes_it_hybrid_and_the_network_is_not_asked() -> None:
    chosen = choose_mode(load_settings(google_api_key="k"))
    assert (chosen.mode, chosen.why) == ("hybrid", "gemini-3.1-flash-lite can be asked")


def test_an_ollama_that_answers_and_has_the_model_makes_it_hybrid() -> None:
    with FakeModelServer() as server:
        there = load_settings(gatekeeper_llm_model=OLLAMA, ollama_host=server.url)
        other = load_settings(gatekeeper_llm_model="ollama/large:400b", ollama_host=server.url)
        assert choose_mode(there).mode == "hybrid"
        without = choose_mode(other)
        both = other.model_copy(update={"gatekeeper_llm_model": f"ollama/large:400b,{OLLAMA}"})
        assert choose_mode(both).mode == "hybrid", "one of several is enough"
        assert server.asked() == [], "no model is asked anything"
    assert without.mode == "local"
    assert "ollama pull large:400b" in without.why
    gone = choose_mode(there)
    assert gone.mode == "local"
    assert "OLLAMA_HOST" in gone.why


def test_a_server_that_never_ends_its_answer_is_not_waited_for() -> None:
    with trickling() as host:
        chosen = choose_mode(load_settings(gatekeeper_llm_model=OLLAMA, ollama_host=host))
    assert chosen.mode == "local"
    assert "does not answer" in chosen.why


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ({"gatekeeper_mode": "local"}, "local"),
        ({"gatekeeper_mode": "pattern"}, "pattern"),
        ({"gatekeeper_enabled": False}, "disabled"),
        ({"mem0_setting": "NORMAL"}, "local"),
    ],
)
def test_what_is_set_stays_whatever_can_be_asked(given: dict[str, Any], mode: str) -> None:
    chosen = choose_mode(load_settings(google_api_key="k", **given))
    assert (chosen.mode, chosen.why) == (mode, "")


async def test_the_service_works_in_the_mode_and_the_ledger_says_so(tmp_path: Path) -> None:
    with FakeModelServer() as server:
        asks: dict[str, Any] = {"gatekeeper_llm_model": OLLAMA, "ollama_host": server.url}
        for more, mode in ((asks, "hybrid"), ({}, "local")):
            service = await MemoryService.open(load_settings(bmo_home=tmp_path / mode, **more))
            try:
                assert (service.settler is not None) is (mode == "hybrid")
                session = service.session(user_id="ana")
                turn = Turn("my brother is sam")
                await session.on_turn(turn)
                await session.recorded(turn.id)
                (logged,) = service.ledger.turns("ana")
                assert logged.mode == service.settings.effective_mode == mode
            finally:
                await service.aclose()


async def test_a_named_ollama_that_is_away_is_said(tmp_path: Path) -> None:
    with FakeModelServer() as gone:
        host = gone.url
    settings = load_settings(bmo_home=tmp_path, gatekeeper_llm_model=OLLAMA, ollama_host=host)
    service = await MemoryService.open(settings)
    try:
        (notice,) = [one for one in service.notices if one.part == "mode"]
        assert "OLLAMA_HOST" in notice.message
        assert "GATEKEEPER_MODE is local" in notice.message
        assert service.settler is None
    finally:
        await service.aclose()
