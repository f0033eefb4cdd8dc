"""A worker as people have them, with the README's five lines, on a real LiveKit server.

    python tests/fakes/room_worker.py start

Ears, voice and model need no network. The model answers from what it was given and prints that, as
JSON. What an application might do in a call (link another participant, hand over, end) callers ask
for by remote procedures. BMO_TEST_WORKER chooses: ``five`` (default), ``example`` (the file in
``examples/``), ``bmo`` (BMO's own worker), ``processes`` (the line with THREAD is missing),
``plain`` (no memory).
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from livekit import rtc
from livekit.agents import Agent, AgentServer, AgentSession, JobContext, JobExecutorType, cli, llm

from bmo import attach, end_memory, memory_for, prewarm
from bmo.agent import ConversationMemory, process_memory

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fakes.models import RuleLLM
from tests.fakes.realtime import FakeRealtimeModel
from tests.fakes.spoken_ears import PocketsphinxSTT
from tests.fakes.spoken_voice import FliteTTS
from tests.fakes.spoken_words import SENTENCES

KNOWN = {"Sam": "brother named Sam", "Kate": "sister named Kate", "London": "Lives in London"}
"""What the model says, and the memory it says it from."""


def tell(event: str, **what: Any) -> None:
    """One line for the test."""
    # One write: jobs are threads, and the lines of two must not mix.
    sys.stdout.write(json.dumps({"event": event, "at": time.time(), **what}) + "\n")
    sys.stdout.flush()


def answer(context: llm.ChatContext) -> str | llm.FunctionToolCall:
    """Words from memory; a tool where the caller asks for it."""
    tell("model", texts=[f"{m.role}: {m.text_content}" for m in context.messages()])
    last = context.items[-1]
    if isinstance(last, llm.FunctionCallOutput):
        tell("tool", text=last.output)
        return "Sam." if "Sam" in last.output else "I do not know."
    asked = [m.text_content or "" for m in context.messages() if m.role == "user"][-1:]
    if asked and asked[0].startswith("look up"):
        arguments = json.dumps({"question": asked[0].removeprefix("look up")})
        return llm.FunctionToolCall(name="recall", arguments=arguments, call_id=f"c{time.time()}")
    if asked and asked[0] == "tell me a story":
        return "Once upon a time there was a very long story. " * 12
    given = " ".join(m.text_content or "" for m in context.messages() if m.role == "system")
    known = [name for name, memory in KNOWN.items() if memory in given]
    return f"It is {' and '.join(known)}." if known else "I do not know."


def voices(room: rtc.Room | None) -> dict[str, Any]:
    """What an ``AgentSession`` is made of."""
    if room is not None and room.name.startswith("live"):
        model = FakeRealtimeModel()
        return {"llm": model, "vad": None, "turn_handling": {"turn_detection": "realtime_llm"}}
    return {"llm": RuleLLM(answer), "stt": PocketsphinxSTT(SENTENCES), "tts": FliteTTS()}


def offer(context: JobContext, session: AgentSession[Any], memory: Any) -> None:
    """What callers may ask the application for."""
    ending: list[asyncio.Future[None]] = []

    async def link(call: rtc.RpcInvocationData) -> str:
        session.room_io.set_participant(call.payload)
        return "linked"

    async def hears(call: rtc.RpcInvocationData) -> str:
        model = session.llm
        assert isinstance(model, FakeRealtimeModel)
        model.sessions[-1].hears(call.payload)
        await asyncio.sleep(0.5)
        return model.sessions[-1].instructions

    async def hand_over(call: rtc.RpcInvocationData) -> str:
        session.update_agent(attach(Agent(instructions="You are another."), memory))
        return "handed over"

    async def end(call: rtc.RpcInvocationData) -> str:
        if call.payload == "session":
            ending.append(asyncio.ensure_future(session.aclose()))
        else:
            context.shutdown("the caller said so")
        return "ending"

    async def alive(call: rtc.RpcInvocationData) -> str:
        from bmo.memory import MemorySession

        gc.collect()
        kinds = (ConversationMemory, MemorySession, AgentSession)
        return json.dumps([sum(isinstance(o, kind) for o in gc.get_objects()) for kind in kinds])

    for method in (link, hears, hand_over, end, alive):
        context.room.local_participant.register_rpc_method(method.__name__, method)


def open_when_told() -> None:
    """Lets memory open when the test says so: by a file, BMO_TEST_OPENS_AT."""
    told = Path(os.environ["BMO_TEST_OPENS_AT"])
    own = process_memory._open

    def wait_and_open(*arguments: Any) -> None:
        while not told.exists():
            time.sleep(0.02)
        own(*arguments)

    vars(process_memory)["_open"] = wait_and_open


if "BMO_TEST_OPENS_AT" in os.environ:
    open_when_told()
THREADS = JobExecutorType.THREAD
WORKER = os.environ.get("BMO_TEST_WORKER", "five")
if WORKER == "processes":
    THREADS = JobExecutorType.PROCESS
server = AgentServer(
    job_executor_type=THREADS,
    setup_fnc=prewarm,
    load_fnc=lambda *_: 0.0,
    port=0,
    num_idle_processes=2,
)


@server.rtc_session(on_session_end=end_memory)
async def entrypoint(ctx: JobContext) -> None:
    """One job."""
    began = time.time()
    tell("job", room=ctx.room.name)
    await ctx.connect()
    memory = None if WORKER == "plain" else await memory_for(ctx)
    tell("memory", room=ctx.room.name, seconds=time.time() - began)
    if ctx.room.name.startswith("away"):
        # The application does something else until the user has left.
        while "ana" in ctx.room.remote_participants:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    session: AgentSession[None] = AgentSession(**voices(ctx.room))
    agent = Agent(instructions="You are BMO.")
    if memory is not None:
        attach(agent, memory, tools=("recall",))
    await session.start(agent, room=ctx.room)
    session.on(
        "conversation_item_added",
        lambda event: (
            tell("heard", room=ctx.room.name) if getattr(event.item, "role", "") == "user" else None
        ),
    )
    offer(ctx, session, memory)
    if "caller-" in "".join(ctx.room.remote_participants):  # the benchmark's
        session.say("Good morning.")
    tell("started", room=ctx.room.name)


def main() -> None:
    """Runs the worker that was chosen."""
    chosen = server
    if WORKER == "example":
        sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
        import existing_agent

        # Its models are LiveKit's cloud: that line is all that differs.
        vars(existing_agent)["AgentSession"] = lambda **models: AgentSession(**voices(None))
        chosen = existing_agent.server
        chosen.update_options(num_idle_processes=2)
        chosen.load_fnc, chosen._port = (lambda *_: 0.0), 0
    cli.run_app(chosen)


if __name__ == "__main__":
    main()
