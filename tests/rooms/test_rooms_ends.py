"""How calls end, and what is lost then: nothing that was said. What stays behind: nothing."""

from __future__ import annotations

import asyncio
import json
import signal

import pytest
from livekit import api

from tests.rooms.stage import KEY, LONGEST_S, SECRET, Caller, Stage, needs_rooms, until

pytestmark = [pytest.mark.rooms, needs_rooms]

TELLS, ASKS, SAM = "my brother is called sam", "what is my brother called", "It is Sam."
BROTHER = "Has a brother named Sam"


def from_the_server(stage: Stage, room: str, identity: str) -> None:
    """Ends a call by LiveKit's API: the participant is removed, or with "" the room is deleted."""

    async def end() -> None:
        async with api.LiveKitAPI(stage.url.replace("ws", "http"), KEY, SECRET) as livekit:
            if identity:
                who = api.RoomParticipantIdentity(room=room, identity=identity)
                await livekit.room.remove_participant(who)
            else:
                await livekit.room.delete_room(api.DeleteRoomRequest(room=room))

    asyncio.run(end())


WAYS = ("leaves", "dies", "removed", "deleted", "session", "job")


def test_calls_end_in_six_ways_and_nothing_is_lost_or_left(stage: Stage) -> None:
    """The words are said right before the end, in six rooms at once."""
    callers: dict[str, Caller] = {}
    for way in WAYS:
        callers[way] = stage.join(f"end-{way}", f"u-{way}")
        # One after the other: a server takes back a call that a busy machine answers too late.
        stage.workers[0].until("started", room=f"end-{way}")
    for way, caller in callers.items():
        caller.do("type", words=TELLS)
        stage.workers[0].until("heard", room=f"end-{way}")
        if way == "leaves":
            caller.leave()
        elif way == "dies":
            caller.kill()
        elif way in ("session", "job"):
            caller.do("call", method="end", payload=way)
        else:
            from_the_server(stage, f"end-{way}", caller.identity if way == "removed" else "")
    for way, caller in callers.items():
        stage.until_known(caller.identity, BROTHER)
        assert stage.known(caller.identity) == {BROTHER}
        if way in ("session", "removed", "job"):
            caller.leave()
    assert stage.workers[0].faults() == []
    last = stage.call("end-last", "zed")

    def left() -> bool:
        last.do("call", method="alive")
        conversations, memories, sessions = json.loads(last.of("answer")[-1]["text"])
        # LiveKit keeps a session of a job that waits for its caller to come back.
        return bool(conversations <= sessions and memories <= sessions)

    until(left, "the end of what belongs to the calls that ended")


def test_a_server_and_a_worker_that_die_lose_nothing(bare: Stage) -> None:
    """The server dies and is back; the worker is killed, and another ends as it should."""
    first = bare.worker()
    ana = bare.call("before", "ana")
    ana.asks(TELLS)
    assert bare.server is not None
    bare.server.kill()
    bare.until_known("ana", BROTHER)
    bare.start_server()
    until(lambda: first.log.count("registered worker") > 1, "the worker, again")
    ana = bare.call("back", "ana")
    assert ana.asks(ASKS) == SAM
    ana.asks("my sister is called kate")
    bare.until_known("ana", "Has a sister named Kate")  # nobody can write after what comes
    first.kill(signal.SIGKILL)
    second = bare.worker()
    ana = bare.call("after", "ana")
    assert "Sam and Kate" in ana.asks("who are my brother and my sister")
    second.process.send_signal(signal.SIGTERM)
    ana.asks("i live in london")  # the worker drains, and the call goes on
    ana.leave()
    assert second.process.wait(LONGEST_S) == 0
    assert "Lives in London" in bare.known("ana")
    assert len(bare.known("ana")) == 3
