"""A worker whose ears, voice and model need no network; everything else of it is the real one.

LiveKit's console starts this file (see ``console_peer``). BMO_TEST_WORKER says which worker:
``bmo`` (default) is BMO's own entrypoint, ``example`` the one in ``examples/``. A SIGUSR1 ends the
conversation in the way BMO_TEST_END names, as LiveKit does it:

- ``room``: the participant leaves, and the room is closed;
- ``job``: the job is shut down from inside;
- ``drain``: the worker drains (``start`` does it on SIGTERM) while the conversation goes on for a
  second; then the participant leaves and the worker closes.
"""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from livekit.agents import AgentServer, AgentSession, JobContext, get_job_context
from livekit.agents.voice.events import CloseReason

from bmo import worker
from bmo.agent.models import VoiceModels
from bmo.chat.responder import OfflineResponder
from bmo.settings import Settings, load_settings
from tests.fakes.spoken_ears import PocketsphinxSTT
from tests.fakes.spoken_voice import FliteTTS
from tests.fakes.spoken_words import SENTENCES

STAYS_S = 1.0
"""Seconds a conversation goes on while the worker drains."""

_JOBS: list[tuple[JobContext, asyncio.AbstractEventLoop]] = []


def offline_models(settings: Settings) -> VoiceModels:
    """Ears, voice and model for the job that runs."""
    _JOBS.append((get_job_context(), asyncio.get_running_loop()))
    return VoiceModels("inference", OfflineResponder(), PocketsphinxSTT(SENTENCES), FliteTTS())


def _leave(job: JobContext) -> None:
    """What RoomIO and the room do when the only participant leaves."""
    session = job._primary_agent_session
    assert session is not None
    session._close_soon(reason=CloseReason.PARTICIPANT_DISCONNECTED)
    # The console's room is a mock; the job's own handler is the one it was given for this event.
    registered: Any = job.room.on
    index = [call.args[0] for call in registered.call_args_list].index("disconnected")
    registered.return_value.call_args_list[index].args[0]()


async def _drain(job: JobContext, loop: asyncio.AbstractEventLoop) -> None:
    drained = asyncio.ensure_future(server.drain())
    await asyncio.sleep(STAYS_S)
    assert not drained.done()
    loop.call_soon_threadsafe(_leave, job)
    await drained
    await server.aclose()


def _end(number: int, frame: object) -> None:
    job, loop = _JOBS[-1]
    way = os.environ["BMO_TEST_END"]
    if way == "room":
        loop.call_soon_threadsafe(_leave, job)
    elif way == "job":
        loop.call_soon_threadsafe(job.shutdown, "the test said so")
    else:
        assert way == "drain"
        asyncio.run_coroutine_threadsafe(_drain(job, loop), server._loop)


def _example() -> AgentServer:
    import existing_agent

    def offline_session(**models: str) -> AgentSession[Any]:
        return worker.make_session(offline_models(load_settings()))

    # Its models are LiveKit's cloud: that line is all that differs.
    vars(existing_agent).update(AgentSession=offline_session)
    return existing_agent.server


vars(worker).update(voice_models=offline_models)
server = _example() if os.environ.get("BMO_TEST_WORKER") == "example" else worker.server
signal.signal(signal.SIGUSR1, _end)
