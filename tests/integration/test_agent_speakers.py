"""Who is speaking: what a guest says never reaches the user's memory (BMO_GUESTS)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from livekit.agents import AgentSession, llm, utils
from livekit.agents.testing import fake_job_context

from bmo.agent import (
    ConversationMemory,
    MemoryAgent,
    close_shared_service,
    end_memory,
    memory_for,
    shared_service,
    user_turn,
)
from bmo.agent.attachment import end_visit
from bmo.agent.speakers import NameSpeaker
from bmo.memory import MemoryService, MemorySession, MemoryUnavailable
from bmo.settings import Settings, load_settings
from bmo.turn import Turn
from tests.fakes.diarizing import DiarizingRecogniser, Said
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import TIMEOUT_S, spoken_session

pytestmark = pytest.mark.integration

GUEST = "glenn:guest:visit:S2"


@dataclass
class Linked:
    """Whom the session listens to."""

    identity: str = ""

    def set_participant(self, identity: str | None) -> None:
        self.identity = identity or ""

    @property
    def linked_participant(self) -> SimpleNamespace:
        return _participant(self.identity)


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> Linked:
    """A room for the session: LiveKit's own needs a server."""
    room_io = Linked()
    monkeypatch.setattr(AgentSession, "room_io", property(lambda session: room_io))
    return room_io


@dataclass
class Room:
    """A real session on a real memory, and who may speak in it."""

    service: MemoryService
    memory: MemorySession
    session: AgentSession[Any]
    conversation: ConversationMemory
    model: RuleLLM
    ears: DiarizingRecogniser

    async def hear(self, *turn: Said) -> None:
        """One turn, until its reply is out."""
        self.ears.will_hear(*turn)
        await self.session.commit_user_turn(transcript_timeout=TIMEOUT_S)
        await self.session.wait_for_idle()

    async def known(self, user_id: str) -> set[str]:
        """What is stored of somebody."""
        await self.conversation.flush()
        return {fact.text for fact in self.service.ledger.live_facts(user_id)}

    def users(self) -> set[str]:
        """Everybody of whom a turn was written down."""
        return {
            turn.user_id
            for user in ("glenn", GUEST, "ana", "mia")
            for turn in self.service.ledger.turns(user)
        }


@asynccontextmanager
async def room(
    home: Path,
    guests: str,
    name_speaker: NameSpeaker | None = None,
    agent_class: type[MemoryAgent] = MemoryAgent,
) -> AsyncIterator[Room]:
    settings = Settings.model_construct(
        bmo_home=home, bmo_guests=guests, bmo_recall_deadline_ms=5000
    )
    service = await MemoryService.open(settings)
    memory = service.session(user_id="glenn", session_id="visit")
    agent = agent_class(memory=memory, instructions="You are BMO.", name_speaker=name_speaker)
    model, ears = RuleLLM("Okay."), DiarizingRecogniser()
    session = spoken_session(model, ears)
    await session.start(agent, record=False)
    try:
        yield Room(service, memory, session, agent.conversation, model, ears)
    finally:
        await session.aclose()
        await end_visit(memory)
        await service.aclose()


@pytest.mark.parametrize("guests", ["ignore", "separate"])
async def test_a_guests_turn_is_his_own_or_nobodys(guests: str, tmp_path: Path) -> None:
    async with room(tmp_path, guests) as here:
        await here.hear(("S1", "my brother is sam"))
        await here.hear(("S2", "my cat is called tofu"))
        await here.hear(("S1", "i live in leeds"))
        assert await here.known("glenn") == {"Has a brother named Sam", "Lives in Leeds"}
        expected = {"Has a cat named Tofu"} if guests == "separate" else set()
        assert await here.known(GUEST) == expected
        assert here.users() == ({"glenn", GUEST} if guests == "separate" else {"glenn"})
        heard = list(here.conversation.turns)
        assert [(h.speaker, h.kept) for h in heard] == [
            ("", True),
            (GUEST, guests == "separate"),
            ("", True),
        ]
        assert all(h.way == "hook" for h in heard)


async def test_guests_of_two_visits_in_the_console_are_two_people(tmp_path: Path) -> None:
    """LiveKit's console names all its jobs alike in the beginning."""
    service = shared_service(
        load_settings(
            bmo_home=tmp_path,
            bmo_user_id="glenn",
            bmo_guests="separate",
            bmo_recall_deadline_ms=5000,
        )
    )
    known = {}
    try:
        for cat in ("tofu", "miso"):
            with fake_job_context(job_id=utils.shortuuid("mock-job-")) as context:
                memory, ears = await memory_for(context), DiarizingRecogniser()
                agent = MemoryAgent(memory=memory, instructions="You are BMO.")
                session = spoken_session(RuleLLM("Okay."), ears)
                await session.start(agent, record=False)
                for turn in (("S1", "hello there"), ("S2", f"my cat is called {cat}")):
                    ears.will_hear(turn)
                    await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
                    await session.wait_for_idle()
                await session.aclose()
                await end_memory(context)
                await context._on_cleanup()
            guest = agent.conversation.turns[-1].speaker
            known[guest] = {fact.text for fact in service.ledger.live_facts(guest)}
    finally:
        close_shared_service()
    assert list(known.values()) == [{"Has a cat named Tofu"}, {"Has a cat named Miso"}]


@pytest.mark.parametrize("guests", ["ignore", "separate"])
async def test_words_of_two_in_one_turn_are_told_apart(guests: str, tmp_path: Path) -> None:
    async with room(tmp_path, guests) as here:
        await here.hear(("S1", "hello there"))
        await here.hear(("S2", "i am allergic to nuts"), ("S1", "i live in leeds"))
        assert await here.known("glenn") == {"Lives in Leeds"}
        allergies = {"Is allergic to nuts"} if guests == "separate" else set()
        assert await here.known(GUEST) == allergies
        written = [turn.text for turn in here.service.ledger.turns("glenn")]
        assert written == ["hello there", "i live in leeds"]


@pytest.mark.parametrize("guests", ["ignore", "separate"])
async def test_a_guest_cannot_read_or_empty_the_users_memory(guests: str, tmp_path: Path) -> None:
    async with room(tmp_path, guests) as here:
        await here.hear(("S1", "my brother is sam"))
        await here.conversation.flush()
        await here.hear(("S2", "what is my brother called"))
        recalled = here.conversation.turns[-1].given
        assert recalled is not None
        assert recalled.memories == ()
        await here.hear(("S2", "forget everything"))
        await here.hear(("S2", "yes"))
        await here.hear(("S2", "off the record"))
        await here.hear(("S1", "i live in leeds"))
        assert await here.known("glenn") == {"Has a brother named Sam", "Lives in Leeds"}
        assert not here.memory.off_record
        await here.hear(("S1", "what is my brother called"))
        assert any("Has a brother named Sam" in text for _, text in here.model.last_texts)


async def test_off_the_record_holds_for_guests_too(tmp_path: Path) -> None:
    async with room(tmp_path, "separate") as here:
        await here.hear(("S1", "off the record"))
        await here.hear(("S2", "my cat is called tofu"))
        await here.hear(("S1", "back on the record"))
        await here.hear(("S2", "my dog is called rex"))
        assert await here.known(GUEST) == {"Has a dog named Rex"}
        assert [turn.text for turn in here.service.ledger.turns(GUEST)] == ["my dog is called rex"]


async def test_a_transcript_without_label_among_labelled_ones_is_of_nobody_known(
    tmp_path: Path,
) -> None:
    async with room(tmp_path, "ignore") as here:
        await here.hear((None, "my brother is sam"))
        await here.hear(("S1", "i live in leeds"))
        await here.hear((None, "i am allergic to nuts"))
        assert await here.known("glenn") == {"Has a brother named Sam", "Lives in Leeds"}


async def test_typed_words_are_the_users(tmp_path: Path) -> None:
    async with room(tmp_path, "ignore") as here:
        await here.hear(("S1", "hello there"))
        handle = await user_turn(here.session, "my brother is sam")
        assert handle is not None
        await handle
        await here.session.run(user_input="i live in leeds")
        assert await here.known("glenn") == {"Has a brother named Sam", "Lives in Leeds"}


async def test_a_label_can_be_named(tmp_path: Path) -> None:
    named = {"v7": "glenn", "v9": "mia"}
    async with room(tmp_path, "separate", named.get) as here:
        await here.hear(("v9", "my cat is called tofu"))
        await here.hear(("v7", "my brother is sam"))
        assert await here.known("glenn") == {"Has a brother named Sam"}
        assert await here.known("mia") == {"Has a cat named Tofu"}


async def test_words_of_two_that_the_hook_changed_are_kept_for_nobody(tmp_path: Path) -> None:
    class Redacts(MemoryAgent):
        async def on_user_turn_completed(
            self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
        ) -> None:
            new_message.content = [(new_message.text_content or "").replace("leeds", "***")]

    async with room(tmp_path, "separate", agent_class=Redacts) as here:
        await here.hear(("S1", "my brother is sam"))
        await here.hear(("S2", "my cat is tofu"), ("S1", "i live in leeds"))
        assert await here.known("glenn") == {"Has a brother named Sam"}
        assert "changed by the hook" in here.conversation.turns[-1].error


@pytest.mark.parametrize("guests", ["ignore", "separate"])
@pytest.mark.parametrize("own", ["glenn", "device-7"])
async def test_another_participant_of_the_room_is_a_guest(
    own: str, guests: str, tmp_path: Path, linked: Linked
) -> None:
    """The user's participant is the one memory was opened for, though another speaks first."""
    async with room(tmp_path, guests) as here:
        here.memory.participant = own
        linked.identity = "ana"
        await here.hear((None, "i live in leeds"))
        linked.identity = own
        await here.hear((None, "my brother is sam"))
        linked.identity = "ana"
        await here.hear((None, "what is my brother called"))
        assert not any("brother named" in text for _, text in here.model.last_texts)
        handle = await user_turn(
            here.session, "my cat is called tofu", participant=_participant("ana")
        )
        assert handle is not None
        await handle
        linked.identity = own
        await here.hear((None, "what is my brother called"))
        assert await here.known("glenn") == {"Has a brother named Sam"}
        assert any("Has a brother named Sam" in text for _, text in here.model.last_texts)
        said = {"Lives in Leeds", "Has a cat named Tofu"} if guests == "separate" else set()
        # Where the application has ids of its own nobody can tell what a guest's memory is called.
        ana = "ana" if own == "glenn" else "glenn:guest:visit:ana"
        assert await here.known(ana) == said


async def test_words_that_are_recognised_late_are_of_who_spoke(
    tmp_path: Path, linked: Linked
) -> None:
    async with room(tmp_path, "ignore") as here:
        here.memory.participant = "glenn"
        linked.identity = "ana"
        here.session._update_user_state("speaking")
        here.session._update_user_state("listening")
        linked.identity = "glenn"
        await here.hear((None, "i live in leeds"))
        assert await here.known("glenn") == set()


def _participant(identity: str) -> SimpleNamespace:
    return SimpleNamespace(identity=identity, attributes={})


@pytest.mark.parametrize("required", [False, True])
async def test_a_wrong_variable_ends_a_call_only_where_memory_is_required(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, required: bool
) -> None:
    monkeypatch.setenv("BMO_HOME", "~nouser/x")
    monkeypatch.setenv("BMO_MEMORY_REQUIRED", str(required))
    with fake_job_context(job_id=utils.shortuuid("mock-job-")) as context:
        try:
            if required:
                with pytest.raises(MemoryUnavailable, match="BMO_HOME='~nouser/x'"):
                    await memory_for(context)
            else:
                memory = await memory_for(context)
                assert (await memory.recall(Turn("where do i live"))).fallback
                await end_memory(context)
        finally:
            close_shared_service()
            await context._on_cleanup()
