"""Every part of a real memory made to raise and to hang, under a real AgentSession.

The reply always comes, every turn stays in the conversation, and the ledger says what happened (or,
where it is the ledger that is broken, counters and log do).
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from livekit.agents import AgentSession, llm
from prometheus_client import REGISTRY

from bmo.agent import MemoryAgent
from bmo.memory import MemoryService
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from tests.fakes.broken_parts import PARTS, Break, Fault
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak, until

pytestmark = pytest.mark.integration

BEFORE = "my brother is called sam"
DURING = ("what is my brother called", "i live in leeds", "the allotment has been mine since may")
AFTER = "i am allergic to nuts"


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Break]:
    broken = Break(monkeypatch)
    yield broken
    broken.mend()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryService]:
    """One for all cells: what broke must work for the next."""
    with pytest.MonkeyPatch.context() as patch:
        # Guards against what never comes back; the tests need not wait that long.
        patch.setattr("bmo.memory.visit.DIALOGUE_DEADLINE_S", 0.1)
        patch.setattr("bmo.recorder.recorder.NEAR_TIMEOUT_S", 0.1)
        defaults = OutboxWorker.__init__.__kwdefaults__
        assert defaults is not None
        patch.setitem(defaults, "timeout_s", 0.1)
        settings = Settings.model_construct(
            bmo_home=tmp_path_factory.mktemp("home"), bmo_recall_deadline_ms=60
        )
        opened = MemoryService.open_blocking(settings)
        opened.warm_up()
        yield opened
        opened.close_blocking()


def faults_counted() -> float:
    """What the counters say went wrong so far."""
    return sum(
        sample.value
        for metric in REGISTRY.collect()
        if metric.name in ("bmo_faults", "bmo_recall_fallbacks", "bmo_write_failures")
        for sample in metric.samples
        if sample.name.endswith("_total")
    )


def rows(service: MemoryService, query: str, user: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(service.settings.bmo_home / "ledger.sqlite3") as connection:
        return connection.execute(query, (user,)).fetchall()


@pytest.mark.parametrize("fault", get_args(Fault))
@pytest.mark.parametrize("part", PARTS)
async def test_the_reply_comes_and_nothing_is_lost(
    part: str,
    fault: Fault,
    service: MemoryService,
    breaks: Break,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if part.startswith("gate") or part == "judge":
        monkeypatch.setattr("bmo.memory.deciding.HANGS_S", 0.5)
    user = f"{part}-{fault}".replace(" ", "-")
    memory = service.session(user_id=user)
    model, ears = RuleLLM("Okay."), ScriptedRecogniser("en")
    agent = MemoryAgent(memory=memory, instructions="You are BMO.")
    counted = faults_counted()
    try:
        async with running(agent, model, ears) as session:
            await speak(session, ears, BEFORE)
            await agent.conversation.flush()
            with caplog.at_level(logging.WARNING, "bmo"):
                breaks.part(service, part, fault)
                for words in DURING:
                    await speak(session, ears, words)
                said = [text for role, text in history(session) if role == "assistant"]
                asked = [text for role, text in history(session) if role == "user"]
                assert said == ["Okay."] * 4, "a reply did not come while memory was broken"
                assert asked == [BEFORE, *DURING], "a turn is missing from the history"
                await decided(agent)
                if part.startswith(("index", "embedder")):
                    await on_disk(agent)
                    assert "Lives in Leeds" in known(service, user), "the index held up the ledger"
                    await until(lambda: breaks.calls > 0)
                    await until(lambda: faults_counted() > counted)
                breaks.mend()
            await agent.conversation.flush()
            await speak(session, ears, AFTER)
            await agent.conversation.flush()
        await agent.conversation.aclose()
        live = known(service, user)
    finally:
        breaks.mend()
    assert breaks.calls, "the fault was never met"
    assert {"Has a brother named Sam", "Is allergic to nuts"} <= live, "it did not recover"
    written = rows(
        service,
        "SELECT text, fallback, verdict FROM turns JOIN decisions ON turns.id = decisions.turn_id "
        "WHERE turns.user_id = ? ORDER BY seq, decisions.id",
        user,
    )
    # What the gate fell back on has a second decision, of the visit's end.
    said_texts = [*dict.fromkeys(text for text, *_ in written)]
    assert said_texts == [BEFORE, *DURING, AFTER], "a turn was lost"
    fell_back = {text for text, fallback, _ in written if fallback}
    if part in ("gate", "gate rules"):
        assert set(DURING) <= fell_back <= {*DURING, AFTER}  # on a slow machine AFTER is late
        assert {one for text, late, one in written if text in DURING and late} == {"hold"}
    elif part == "judge":
        assert fell_back <= {*DURING, AFTER}
        assert DURING[2] in fell_back
    else:
        assert "Lives in Leeds" in live
    if part in ("read gate", "recaller"):
        mine = "SELECT reason FROM recalls WHERE user_id = ?"
        reasons = [reason for (reason,) in rows(service, mine, user)]
        assert any(reasons), "the ledger does not say that recall failed"
    noted = [record.getMessage() for record in caplog.records if record.name.startswith("bmo")]
    if (part, fault) not in UNSEEN:
        assert faults_counted() > counted
        assert noted


UNSEEN = {("ledger writes", "hang"), ("ledger", "hang")}
"""A ledger that hangs shows as a queue that grows (``bmo_recorder_queue``) until it comes back."""


async def decided(agent: MemoryAgent) -> None:
    """Waits until every turn has its decision."""
    for heard in agent.conversation.turns:
        assert heard.decision is not None
        await asyncio.wait_for(asyncio.shield(heard.decision), 60)


async def on_disk(agent: MemoryAgent) -> None:
    """Waits until every turn is in the ledger."""
    for heard in agent.conversation.turns:
        await asyncio.wait_for(agent.conversation.memory.recorded(heard.turn.id), 60)


def known(service: MemoryService, user: str = "glenn") -> set[str]:
    return {fact.text for fact in service.ledger.live_facts(user)}


class BrokenLLM(RuleLLM):
    """A model that fails at the turns that are told to it."""

    def __init__(self, fault: str) -> None:
        super().__init__(self._answer)
        self.fault = fault

    def _answer(self, context: llm.ChatContext) -> str | llm.FunctionToolCall:
        words = [m.text_content or "" for m in context.messages() if m.role == "user"][-1]
        if "leeds" not in words:
            return "Okay."
        if self.fault == "raise":
            raise RuntimeError("the model is broken")
        if self.fault == "unknown tool":
            return llm.FunctionToolCall(name="no_such", arguments="{not json", call_id="call_1")
        return ""


@pytest.mark.parametrize("fault", ["raise", "unknown tool", "says nothing"])
async def test_a_broken_model_leaves_memory_consistent(fault: str, tmp_path: Path) -> None:
    """What LiveKit makes of it is LiveKit's; the words were said and are remembered."""
    settings = Settings.model_construct(bmo_home=tmp_path, bmo_recall_deadline_ms=5000)
    service = await MemoryService.open(settings)
    model, ears = BrokenLLM(fault), ScriptedRecogniser("en")
    agent = MemoryAgent(memory=service.session(user_id="glenn"), instructions="You are BMO.")
    try:
        async with running(agent, model, ears) as session:
            for words in (BEFORE, "i live in leeds", AFTER, "what is my brother called"):
                await speak(session, ears, words)
            await agent.conversation.flush()
            said = {heard.turn.text: heard.reply for heard in agent.conversation.turns}
        await agent.conversation.aclose()
        assert known(service) == {
            "Has a brother named Sam",
            "Lives in Leeds",
            "Is allergic to nuts",
        }
        written = [turn.text for turn in service.ledger.turns("glenn")]
        assert sorted(written) == sorted(
            [BEFORE, "i live in leeds", AFTER, "what is my brother called"]
        )
    finally:
        await service.aclose()
    assert said["i live in leeds"] == ""
    assert said["what is my brother called"] == "Okay."
    assert any("Has a brother named Sam" in text for _, text in model.last_texts)


async def test_a_model_that_hangs_is_interrupted_and_the_turn_is_remembered(
    tmp_path: Path,
) -> None:
    settings = Settings.model_construct(bmo_home=tmp_path)
    service = await MemoryService.open(settings)
    model, ears = RuleLLM("Okay.", delay_s=3600), ScriptedRecogniser("en")
    agent = MemoryAgent(memory=service.session(user_id="glenn"), instructions="You are BMO.")
    try:
        async with running(agent, model, ears) as session:
            ears.will_hear(BEFORE)
            await session.commit_user_turn(transcript_timeout=60)
            await until(lambda: len(model.contexts) == 1)
            await session.interrupt()
            model.delay_s = 0.0
            await speak(session, ears, AFTER)
        await agent.conversation.aclose()
        assert known(service) == {"Has a brother named Sam", "Is allergic to nuts"}
    finally:
        await service.aclose()


def history(session: AgentSession[Any]) -> list[tuple[str, str]]:
    return [(m.role, m.text_content or "") for m in session.history.messages()]
