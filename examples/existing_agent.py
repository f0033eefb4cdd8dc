"""A LiveKit worker as people have them, given a memory by the five lines marked (1) to (5).

    pip install /path/to/bmo
    python examples/existing_agent.py start

Needs LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET, as the agent did before.
"""

from livekit.agents import (
    Agent,
    AgentServer,
    AgentSession,
    JobContext,
    JobExecutorType,
    cli,
    function_tool,
)

from bmo import attach, end_memory, memory_for, prewarm  # (1)


class Concierge(Agent):
    """An agent with instructions and a tool of its own; nothing in it knows of memory."""

    def __init__(self) -> None:
        """Makes it as it was before."""
        super().__init__(instructions="You are the concierge of a small hotel. Be brief.")

    @function_tool
    async def opening_hours(self, place: str) -> str:
        """Say when a part of the hotel is open.

        Args:
            place: For example "pool" or "restaurant".
        """
        return {"pool": "seven to nine", "restaurant": "noon to ten"}.get(place, "always")


# Jobs as threads, for the embedded store has one owner (with QDRANT_URL they may be processes), and
# memory that opens before the first call.
server = AgentServer(job_executor_type=JobExecutorType.THREAD, setup_fnc=prewarm)  # (2)


@server.rtc_session(on_session_end=end_memory)  # (3) writes down the last words
async def concierge(ctx: JobContext) -> None:
    """One job: one guest."""
    await ctx.connect()
    memory = await memory_for(ctx)  # (4) the participant's memory
    session: AgentSession[None] = AgentSession(
        stt="deepgram/nova-3", llm="google/gemini-2.5-flash", tts="cartesia/sonic-3"
    )
    await session.start(attach(Concierge(), memory), room=ctx.room)  # (5)


if __name__ == "__main__":
    cli.run_app(server)
