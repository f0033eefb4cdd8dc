"""Faults of model services, with the real clients: no turn is lost, whatever comes back.

google-genai and httpx are real and pointed at a server that speaks the services' protocols.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator

import pytest

from bmo.extract import (
    GeminiClient,
    Known,
    ModelClient,
    OllamaClient,
    Orchestrator,
    Settlement,
)
from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn
from tests.fakes.model_server import (
    FAULTS,
    INPUT_TOKENS,
    KEY,
    OLLAMA_MODEL,
    OUTPUT_TOKENS,
    FakeModelServer,
    Fault,
)

pytestmark = pytest.mark.integration

SERVICES = ("gemini", "ollama")
SAIL = "mum taught me to sail on the clyde"
GOATS = "we keep two goats called bean and cob"
SCRIPT = {
    SAIL: [
        {
            "quote": SAIL,
            "statement": "Was taught by their mother to sail on the Clyde",
            "category": "relationships",
            "confidence": 0.9,
        }
    ],
    GOATS: [
        {
            "quote": GOATS,
            "statement": "Keeps two goats called Bean and Cob",
            "category": "relationships",
            "confidence": 0.9,
        }
    ],
}


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    with FakeModelServer(script=SCRIPT) as running:
        yield running


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="pattern"), load_encoder=False)


LONG_S, SHORT_S = 60.0, 0.5
"""How long a client waits: so long that a busy machine is no fault, and where it must give up."""


def client(
    service: str, server: FakeModelServer, *, key: str = KEY, timeout_s: float = LONG_S
) -> ModelClient:
    if service == "ollama":
        return OllamaClient(OLLAMA_MODEL, server.ollama_url, timeout_s=timeout_s)
    url = server.gemini_url
    return GeminiClient("gemini-3.1-flash-lite", key, base_url=url, timeout_s=timeout_s)


@pytest.fixture(params=SERVICES)
def orchestrator(
    request: pytest.FixtureRequest, server: FakeModelServer, gate: WriteGate
) -> Iterator[Orchestrator]:
    hangs = request.node.callspec.params.get("fault") == "slow"
    timeout_s = SHORT_S if hangs else LONG_S
    made = Orchestrator([client(request.param, server, timeout_s=timeout_s)], gate)
    yield made
    made.close()


def settle(orchestrator: Orchestrator, *texts: str) -> Settlement:
    return orchestrator.extract([Turn(text=text) for text in texts], Known())


def test_a_good_answer_of_the_real_client(
    orchestrator: Orchestrator, server: FakeModelServer
) -> None:
    settlement = settle(orchestrator, SAIL, "the fog was thick")
    kept, nothing = settlement.outcomes
    assert kept.decision.verdict == "allow"
    assert kept.decision.extraction_method == orchestrator.clients[0].name
    assert "sail on the Clyde" in kept.decision.facts[0].text
    assert (nothing.status, nothing.decision.verdict) == ("settled", "discard")
    (call,) = settlement.calls
    assert (call.input_tokens, call.output_tokens) == (INPUT_TOKENS, OUTPUT_TOKENS)
    (asked,) = server.asked()
    assert [one["user"] for one in asked.conversation] == [SAIL, "the fog was thick"]


def test_the_requests_ask_for_the_schema(gate: WriteGate, server: FakeModelServer) -> None:
    for service in SERVICES:
        made = Orchestrator([client(service, server)], gate)
        settle(made, SAIL)
        made.close()
    gemini, ollama = server.asked("gemini")[0].body, server.asked("ollama")[0].body
    config = gemini["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["required"] == ["turns"]
    assert ollama["format"]["required"] == ["turns"]
    assert ollama["stream"] is False
    fact, turn = (ollama["format"]["$defs"][name]["required"] for name in ("Candidate", "_Turn"))
    assert {"quote", "statement", "category", "slot", "value", "ends", "confidence"} == {*fact}
    assert {"turn", "durable", "facts"} == {*turn}


def test_gemini_costs_what_its_tokens_cost(gate: WriteGate, server: FakeModelServer) -> None:
    made = Orchestrator([client("gemini", server)], gate)
    settlement = settle(made, SAIL)
    made.close()
    expected = (INPUT_TOKENS * 0.25 + OUTPUT_TOKENS * 1.50) / 1e6
    assert settlement.cost == pytest.approx(expected)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_the_turns_held_and_the_next_try_settles_them(
    orchestrator: Orchestrator,
    server: FakeModelServer,
    gate: WriteGate,
    fault: Fault,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.always = fault
    with caplog.at_level(logging.DEBUG, "bmo"):
        settlement = settle(orchestrator, SAIL, GOATS)
    assert [one.status for one in settlement.outcomes] == ["failed", "failed"]
    for outcome, text in zip(settlement.outcomes, (SAIL, GOATS), strict=True):
        decision = outcome.decision
        assert (decision.verdict, decision.fallback, decision.text) == ("hold", True, text)
        assert decision.facts == ()
        assert "goats" not in decision.reason
    assert all(call.error for call in settlement.calls if fault != "left_out")
    assert "goats" not in caplog.text
    server.always = None
    service = orchestrator.clients[0].name.partition(":")[0]
    again = Orchestrator([client(service, server)], gate)  # its circuits are closed
    settlement = settle(again, SAIL, GOATS)
    again.close()
    assert [one.decision.verdict for one in settlement.outcomes] == ["allow", "allow"]


def test_the_time_a_service_asks_for_is_given(
    orchestrator: Orchestrator, server: FakeModelServer
) -> None:
    server.retry_after = "1800"
    server.fault("429")
    settle(orchestrator, SAIL)
    assert orchestrator.ready_in() == pytest.approx(1800, abs=600)
    assert settle(orchestrator, SAIL).calls == ()
    assert len(server.asked()) == 1


def test_a_wrong_key_is_left_alone_and_named(gate: WriteGate, server: FakeModelServer) -> None:
    made = Orchestrator([client("gemini", server, key="wrong")], gate)
    settle(made, SAIL)
    settle(made, SAIL)
    made.close()
    assert "GOOGLE_API_KEY" in made.why_not()
    assert len(server.asked()) == 1


def test_nobody_listens(gate: WriteGate) -> None:
    with FakeModelServer() as gone:
        url = gone.url
    clients: list[ModelClient] = [
        GeminiClient("gemini-3.1-flash-lite", KEY, base_url=url),
        OllamaClient(OLLAMA_MODEL, url),
    ]
    made = Orchestrator(clients, gate)
    settlement = settle(made, SAIL)
    made.close()
    assert settlement.outcomes[0].status == "failed"


def test_the_dearer_one_is_asked_when_the_cheaper_fails(
    gate: WriteGate, server: FakeModelServer
) -> None:
    made = Orchestrator([client(service, server) for service in SERVICES], gate)
    server.fault("500")
    settlement = settle(made, SAIL)
    made.close()
    assert [one.service for one in server.asked()] == ["ollama", "gemini"]
    assert settlement.outcomes[0].decision.verdict == "allow"


class TestOllama:
    def test_it_is_probed_shortly_and_seldom(self, server: FakeModelServer) -> None:
        one = OllamaClient(OLLAMA_MODEL, server.ollama_url)
        assert one.is_available()
        assert one.is_available()
        assert [request.path for request in server.requests] == ["/api/tags"]
        one.close()
        assert not one.is_available()

    def test_a_model_that_is_not_there_names_the_fix(self, server: FakeModelServer) -> None:
        one = OllamaClient("large:400b", server.ollama_url)
        assert not one.is_available()
        assert "ollama pull large:400b" in one.problem
        one.close()

    @pytest.mark.parametrize(
        ("host", "address"),
        [
            ("127.0.0.1", "http://127.0.0.1:11434"),
            ("box:8080", "http://box:8080"),
            ("http://box:8080/", "http://box:8080"),
            ("https://ollama.example.org", "https://ollama.example.org"),
            ("[::1]", "http://[::1]:11434"),
        ],
    )
    def test_its_address_is_read_as_ollama_does(self, host: str, address: str) -> None:
        from bmo.extract.ollama import address_of

        assert address_of(host) == address


@pytest.mark.parametrize("service", SERVICES)
def test_closing_while_it_hangs_ends_soon(
    gate: WriteGate, server: FakeModelServer, service: str
) -> None:
    made = Orchestrator([client(service, server)], gate)
    server.fault("slow")
    found: list[Settlement] = []
    thread = threading.Thread(target=lambda: found.append(settle(made, SAIL)))
    thread.start()
    while not server.asked() and thread.is_alive():
        time.sleep(0.01)
    made.close()
    thread.join(LONG_S / 2)
    assert found[0].outcomes[0].status == "failed"
    assert "the connection is closed" in found[0].outcomes[0].decision.reason
    assert settle(made, SAIL).outcomes[0].status == "failed"


@pytest.mark.skipif(
    os.environ.get("BMO_TEST_GEMINI") != "1", reason="BMO_TEST_GEMINI=1 asks the real Gemini"
)
def test_the_real_gemini_settles_a_turn(gate: WriteGate) -> None:
    settings = load_settings()
    assert settings.google_api_key is not None, "BMO_TEST_GEMINI=1 needs GOOGLE_API_KEY"
    key = settings.google_api_key.get_secret_value()
    made = Orchestrator([GeminiClient(settings.gemini_model, key)], gate)
    settlement = settle(made, SAIL, "what time is it in lisbon")
    made.close()
    kept, nothing = settlement.outcomes
    assert kept.decision.verdict == "allow", settlement
    assert any("clyde" in fact.text.lower() for fact in kept.decision.facts)
    assert nothing.decision.facts == ()
    assert settlement.calls[0].input_tokens > 0
