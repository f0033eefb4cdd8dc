"""A conversation spoken aloud, without network: voice -> VAD -> recogniser -> agent -> voice.

flite speaks into the microphone, LiveKit's bundled silero VAD finds the turns, pocketsphinx
recognises them, the agent's hook gates them into a real ledger and index, and what the agent says
comes out of its loudspeaker as sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from livekit.agents import AgentSession, inference

from bmo.agent import ConversationMemory, MemoryAgent
from bmo.chat.responder import OfflineResponder
from bmo.ledger import Ledger
from bmo.memory import MemoryService
from bmo.settings import load_settings
from tests.fakes.models import RuleLLM
from tests.fakes.sound_io import Loudspeaker, Microphone
from tests.fakes.spoken_ears import PocketsphinxSTT
from tests.fakes.spoken_voice import FliteTTS, loudness, needs_voice, spoken
from tests.fakes.spoken_words import SENTENCES

pytestmark = [pytest.mark.voice, needs_voice]

SPEECH_LOUDNESS = 500.0
"""Root mean square above which a sound is speech; a quiet room has 6."""

TIMEOUT_S = 60.0

# Words, what is stored of them, and what the answer must say aloud.
CONVERSATION: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("good morning", (), ""),
    ("my name is peter", ("Is named Peter",), ""),
    ("my brother is called sam", ("Has a brother named Sam",), ""),
    ("i live in oxford", ("Lives in Oxford",), ""),
    ("turn the light off", (), ""),
    ("i am allergic to peanuts", ("Is allergic to peanuts",), ""),
    ("what is my brother called", (), "sam"),
    ("actually i live in boston now", ("Lives in Boston",), ""),
    ("where do i live", (), "boston"),
)


@dataclass
class Room:
    """A running conversation."""

    service: MemoryService
    session: AgentSession[None]
    conversation: ConversationMemory
    microphone: Microphone
    loudspeaker: Loudspeaker
    ears: PocketsphinxSTT

    @property
    def replies(self) -> list[str]:
        said = self.session.history.messages()
        return [m.text_content or "" for m in said if m.role == "assistant"]


@asynccontextmanager
async def room(
    home: Path, model: OfflineResponder | RuleLLM, loudspeaker: Loudspeaker
) -> AsyncIterator[Room]:
    service = await MemoryService.open(load_settings(bmo_home=home))
    memory = service.session(user_id="peter", session_id="visit")
    agent = MemoryAgent(memory=memory, instructions="You are BMO.")
    ears, microphone = PocketsphinxSTT(SENTENCES), Microphone()
    session: AgentSession[None] = AgentSession(
        stt=ears,
        llm=model,
        tts=FliteTTS(),
        vad=inference.VAD(),
        aec_warmup_duration=None,
        turn_handling={
            "turn_detection": "vad",
            "endpointing": {"min_delay": 0.5, "max_delay": 1.0},
            "interruption": {"mode": "vad"},
        },
    )
    session.input.audio, session.output.audio = microphone, loudspeaker
    try:
        await session.start(agent, record=False)
        yield Room(service, session, agent.conversation, microphone, loudspeaker, ears)
    finally:
        await session.aclose()
        await memory.aclose()
        await service.aclose()


def on_disk(home: Path) -> tuple[list[str], list[str]]:
    """Words of the turns and texts of the live facts."""
    ledger = Ledger.open(load_settings(bmo_home=home).ledger_url)
    try:
        turns, facts = ledger.turns("peter"), ledger.live_facts("peter")
        return [turn.text for turn in turns], [fact.text for fact in facts]
    finally:
        ledger.close()


async def until(condition: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while not condition():  # noqa: ASYNC110  # sound has no event to wait for
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"not seen: {what}") from None


async def test_a_conversation_by_voice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loudspeaker = Loudspeaker(at_once=True)
    async with room(tmp_path / "home", OfflineResponder(), loudspeaker) as here:
        for number, (words, _, answer) in enumerate(CONVERSATION, 1):
            await here.microphone.hear(spoken(words, "slt"))
            await until(
                lambda n=number: len(loudspeaker.segments) == len(here.replies) == n,  # type: ignore[misc]
                f"an answer to {words!r}; heard {here.ears.heard}, said {here.replies}",
            )
            assert answer in here.replies[-1].lower()
        heard = list(here.conversation.turns)
    gated, facts = await asyncio.to_thread(on_disk, tmp_path / "home")
    loud = [loudness(segment) for segment in loudspeaker.segments]

    said = [row[0] for row in CONVERSATION]
    with capsys.disabled():
        print(
            f"\nvoice: {len(said)} turns spoken, "
            f"{sum(a == b for a, b in zip(said, here.ears.heard, strict=False))} recognised, "
            f"{len(gated)} gated, {sum(level > SPEECH_LOUDNESS for level in loud)} answered aloud"
        )
    assert here.ears.heard == said
    assert [turn.turn.text for turn in heard] == said
    assert {turn.way for turn in heard} == {"hook"}
    assert gated == said
    stored = [fact for _, kept, _ in CONVERSATION for fact in kept]
    assert set(facts) == set(stored) - {"Lives in Oxford"}
    assert len(loud) == len(said)
    assert min(loud) > SPEECH_LOUDNESS


async def test_a_turn_spoken_into_a_reply_is_gated_once(tmp_path: Path) -> None:
    """Barge-in: the reply stops, the words that stopped it are a turn, nothing is gated twice."""
    loudspeaker = Loudspeaker()
    long_reply = RuleLLM("Well, let me tell you everything I know about the weather of today. " * 2)
    async with room(tmp_path / "home", long_reply, loudspeaker) as here:
        await here.microphone.hear(spoken("good morning", "slt"))
        await until(lambda: loudspeaker.playing, "the reply")
        await here.microphone.hear(spoken("my brother is called sam", "slt"))
        await until(lambda: len(here.ears.heard) == 2 and loudspeaker.playing, "the second reply")
    spoken_s = len(loudspeaker.segments[0]) / 16_000
    assert spoken_s < 6.0, "the reply was not interrupted"
    turns, facts = await asyncio.to_thread(on_disk, tmp_path / "home")
    assert turns == ["good morning", "my brother is called sam"]
    assert facts == ["Has a brother named Sam"]
