"""The real entrypoint as a process, driven by sound over LiveKit's console protocol.

The test is the other end of ``python -m livekit.agents console ENTRYPOINT --connect-addr``: it
speaks, hears the agent's voice, types, and ends the conversation in every way a worker knows.
Words said right before the end must be on disk, whatever ended it.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from bmo.ledger import Ledger, LoggedTurn
from bmo.settings import load_settings
from bmo.turn import StoredFact
from tests.cli import bmo
from tests.fakes.console_peer import ROOT, ConsolePeer, console
from tests.fakes.spoken_voice import Sound, loudness, needs_voice, spoken

pytestmark = [pytest.mark.voice, needs_voice]

WORKER = ROOT / "tests" / "fakes" / "offline_worker.py"

SPEECH_LOUDNESS = 500.0
"""Root mean square above which a sound is speech."""

USER = "susan"


def environment(home: Path, **more: str) -> Mapping[str, str]:
    return {"BMO_HOME": str(home), "BMO_USER_ID": USER, **more}


def on_disk(home: Path) -> tuple[list[LoggedTurn], list[StoredFact], int]:
    """Turns, live facts and the writes that still wait for Mem0."""
    ledger = Ledger.open(load_settings(bmo_home=home).ledger_url)
    try:
        return ledger.turns(USER), ledger.live_facts(USER), ledger.backlog().depth
    finally:
        ledger.close()


async def ask(peer: ConsolePeer, words: str) -> tuple[str, Sound]:
    """Says something and waits for the answer: its words, and what was heard of them."""
    before, heard_before = len(peer.replies), len(peer.sound)
    await peer.say(spoken(words, "slt"))
    await peer.until(lambda: len(peer.replies) > before, f"an answer to {words!r}")
    return peer.replies[-1], peer.sound[heard_before:]


async def test_bmos_own_worker_hears_remembers_and_answers_aloud(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with console(WORKER, environment(home), tmp_path) as peer:
        await ask(peer, "my brother is called sam")
        (typed,) = await peer.type("what is my brother called")
        reply, sound = await ask(peer, "what is my brother called")
        peer.signal(signal.SIGTERM)
        assert await peer.ended() == 0, peer.log
    assert "Has a brother named Sam" in typed
    assert "Has a brother named Sam" in reply
    assert loudness(sound) > SPEECH_LOUDNESS
    assert "Traceback" not in peer.log
    turns, facts, waiting = await asyncio.to_thread(on_disk, home)
    assert [turn.text for turn in turns] == [
        "my brother is called sam",
        "what is my brother called",
        "what is my brother called",
    ]
    assert turns[0].session_id == turns[2].session_id
    assert [fact.text for fact in facts] == ["Has a brother named Sam"]
    assert waiting == 0


@pytest.mark.parametrize(
    "way",
    [
        pytest.param("sigterm", id="SIGTERM"),
        pytest.param("room", id="room-close"),
        pytest.param("job", id="job-shutdown"),
        pytest.param("drain", id="worker-drain"),
    ],
)
async def test_words_said_right_before_the_end_are_kept(way: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with console(WORKER, environment(home, BMO_TEST_END=way), tmp_path) as peer:
        await peer.type("my name is susan")
        # The recogniser has not heard the end of this sentence when the conversation ends.
        await peer.say(spoken("i work as a teacher", "slt"))
        peer.signal(signal.SIGTERM if way == "sigterm" else signal.SIGUSR1)
        if way in ("sigterm", "drain"):
            assert await peer.ended() == 0, peer.log
        else:
            # The worker lives on for the next job. What was said must be written by then: no
            # end of the process is to be relied on.
            await peer.until(lambda: "job exiting" in peer.log, "the job's end")
            peer.signal(signal.SIGKILL)
            await peer.ended()
    assert "Traceback" not in peer.log
    turns, facts, waiting = await asyncio.to_thread(on_disk, home)
    assert [turn.text for turn in turns] == ["my name is susan", "i work as a teacher"]
    assert sorted(fact.text for fact in facts) == ["Is named Susan", "Works as a teacher"]
    assert waiting == 0


async def test_words_typed_right_before_sigterm_are_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with console(WORKER, environment(home), tmp_path) as peer:
        await peer.type("my brother is sam")
        typed = asyncio.ensure_future(peer.type("my sister is anna"))
        await peer.until(lambda: ("user", "my sister is anna") in peer.items, "the last words")
        peer.signal(signal.SIGTERM)
        typed.cancel()
        assert await peer.ended() == 0, peer.log
    _, facts, waiting = await asyncio.to_thread(on_disk, home)
    assert {fact.text for fact in facts} == {"Has a brother named Sam", "Has a sister named Anna"}
    assert waiting == 0


async def test_the_example_worker_remembers_across_two_conversations(tmp_path: Path) -> None:
    """What the README's five lines promise, by the example's own file."""
    home, examples = tmp_path / "home", str(ROOT / "examples")
    worker = environment(home, BMO_TEST_WORKER="example", PYTHONPATH=f"{ROOT}:{examples}")
    async with console(WORKER, worker, tmp_path) as first:
        await ask(first, "i am allergic to peanuts")
        first.signal(signal.SIGTERM)
        assert await first.ended() == 0, first.log
    async with console(WORKER, worker, tmp_path) as second:
        reply, sound = await ask(second, "what am i allergic to")
        second.signal(signal.SIGTERM)
        assert await second.ended() == 0, second.log
    assert "peanuts" in reply
    assert loudness(sound) > SPEECH_LOUDNESS
    asked = await asyncio.to_thread(
        bmo, home, "recall", "what am i allergic to", "--user", USER, "--json"
    )
    assert any("Is allergic to peanuts" in json.dumps(row) for row in asked.rows)
