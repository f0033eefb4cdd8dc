"""A worker without LiveKit's server: BMO's own server, whose one job is a scripted conversation.

    python -m tests.fakes.scripted_worker WORDS [WORDS ...]

Prints ``metrics http://127.0.0.1:PORT/metrics`` when it listens and ``done`` when the job has
ended, and leaves when its standard input ends. Settings come from the environment, as a worker's
do.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from livekit.agents import AgentServer, JobContext

from bmo.agent import MemoryAgent, memory_for
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import load_settings
from bmo.worker import make_server
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import speak, spoken_session

SCRIPT = "BMO_TEST_SCRIPT"


async def converse(context: JobContext) -> None:
    """One job: every line of the script is spoken."""
    memory = await memory_for(context)
    agent = MemoryAgent(memory=memory, instructions="You are BMO.")
    ears = ScriptedRecogniser("en")
    session = spoken_session(RuleLLM("Okay."), ears)
    await session.start(agent, record=False)
    for words in os.environ[SCRIPT].split("\n"):
        await speak(session, ears, words)
        await memory.flush()
    await session.aclose()
    context.shutdown("the script is over")


def main() -> None:
    """Runs the worker."""
    os.environ[SCRIPT] = "\n".join(sys.argv[1:])
    asyncio.run(_serve(make_server(load_settings(), converse)))


async def _serve(server: AgentServer) -> None:
    serving = asyncio.ensure_future(server.run(devmode=True, unregistered=True))
    started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    server.once("worker_started", lambda: started.set_result(None))
    await asyncio.wait({serving, started}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
    print(f"metrics http://127.0.0.1:{_metrics_port(server)}/metrics", flush=True)
    await server.simulate_job("room", agent_identity="bmo", fake_job=True)
    while server.active_jobs:  # noqa: ASYNC110  # the server has no event for it
        await asyncio.sleep(0.05)
    print("done", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.aclose()
    serving.cancel()


def _metrics_port(server: AgentServer) -> int:
    # Port 0 gives the IPv4 and the IPv6 socket a port each.
    metrics: Any = server._prometheus_server
    (port,) = {address[1] for address in metrics._runner.addresses if "." in address[0]}
    return int(port)


if __name__ == "__main__":
    main()
