"""One memory, one person: another one in the room learns nothing of it and adds nothing to it."""

from __future__ import annotations

import pytest

from bmo.ids import user_id_for
from tests.rooms.stage import Stage, needs_rooms, until

pytestmark = [pytest.mark.rooms, needs_rooms]

TELLS, ASKS, SAM = "my brother is called sam", "what is my brother called", "It is Sam."
BROTHER = "Has a brother named Sam"
NOTHING = "I do not know."


def knows(stage: Stage, room: str, identity: str) -> None:
    """Somebody tells of his brother in a room, and leaves."""
    caller = stage.call(room, identity)
    caller.asks(TELLS)
    stage.until_known(identity, BROTHER)
    caller.leave()


def test_what_is_told_in_one_room_is_recalled_aloud_in_another(stage: Stage) -> None:
    knows(stage, "told", "olga")
    olga = stage.call("asked", "olga")
    assert olga.asks(ASKS, aloud=True) == SAM
    olga.until("sound")
    olga.leave()


def test_who_is_linked_later_is_a_guest(stage: Stage) -> None:
    """Push to talk: the user is silent, and another is linked and speaks first."""
    knows(stage, "before-push", "ana")
    ana = stage.call("push", "ana")
    ben = stage.join("push", "ben")
    ben.do("call", method="link", payload="ben")
    assert ben.asks(ASKS, aloud=True) == NOTHING
    assert ben.asks("my sister is called kate", aloud=True) == NOTHING
    assert ben.asks(f"look up {ASKS}") == NOTHING
    assert "another person" in stage.workers[0].until("tool")["text"]
    ana.do("call", method="link", payload="ana")
    assert ana.asks(ASKS) == SAM
    stage.until_known("ana", BROTHER)
    assert stage.known("ana") == {BROTHER}
    assert "ben" not in stage.users()
    ben.leave()
    ana.leave()


def test_who_is_there_when_the_user_has_left_is_a_guest(stage: Stage) -> None:
    """The user leaves between ``memory_for`` and ``session.start``."""
    knows(stage, "before-away", "ana")
    ana = stage.join("away", "ana")
    stage.workers[0].until("memory", room="away")
    ben = stage.join("away", "ben")
    ana.leave()
    stage.workers[0].until("started", room="away")
    assert ben.asks(ASKS) == NOTHING
    assert ben.asks("my sister is called kate") == NOTHING
    contexts = [one["texts"] for one in stage.workers[0].of("model")[-2:]]
    assert not [text for texts in contexts for text in texts if "Sam" in text]
    assert "ben" not in stage.users()
    ben.leave()


def test_all_that_a_second_participant_is_given_or_may_ask(stage: Stage) -> None:
    """Nothing of the user's memory but the replies that are said aloud in the room."""
    knows(stage, "before-shown", "ana")
    ana = stage.call("shown", "ana")
    eve = stage.join("shown", "eve", can_update_own_metadata=True)
    assert ana.asks("hello there") == SAM  # the model says what stands in the profile
    for asked in ("get_chat_history", "get_agent_info", "get_session_state", "get_session_usage"):
        eve.do("ask", id=f"eve-{asked}", request=asked)
        assert ana.request(asked) is not None, "the channel is the user's"
    eve.do("ask", id="put", request="run_input", text="my sister is called kate")
    eve.do("ask", id="get", request="run_input", text=ASKS)
    eve.do("type", words="my sister is called kate")
    eve.do("attributes", **{"bmo.user_id": "ana"})
    assert ana.asks(f"look up {ASKS}") == "Sam."
    stage.until_known("ana", BROTHER)
    assert stage.known("ana") == {BROTHER}
    assert "eve" not in stage.users()
    assert not eve.of("session")
    kinds = {one["event"] for one in eve.events} - {"joined", "did", "track", "came", "went"}
    assert kinds <= {"text", "attributes", "sound", "silence"}, kinds
    texts = {one["text"] for one in eve.of("text")}
    said_in_the_room = {"hello there", SAM, f"look up {ASKS}", "Sam."}
    assert texts <= said_in_the_room, texts
    assert "brother named" not in eve.given()
    assert "brother named" in (ana.request("get_chat_history") or ""), "a tool's answer"
    eve.leave()
    ana.leave()


def test_a_realtime_agent_shows_no_profile_and_loses_it_for_a_guest(stage: Stage) -> None:
    knows(stage, "before-live", "lea")
    lea = stage.call("live", "lea")
    ben = stage.join("live", "ben")
    lea.do("call", method="hears", payload="good morning")
    assert BROTHER in lea.of("answer")[-1]["text"]
    for asked in ("get_chat_history", "get_agent_info"):
        assert "Sam" not in (lea.request(asked) or "Sam")
    ben.do("call", method="link", payload="ben")
    ben.do("call", method="hears", payload="what is my brother called")
    assert BROTHER not in ben.of("answer")[-1]["text"]
    lea.do("call", method="link", payload="lea")
    lea.do("call", method="hears", payload="good morning")
    assert BROTHER in lea.of("answer")[-1]["text"]
    ben.leave()
    lea.leave()


def test_a_participant_cannot_name_himself_another(stage: Stage) -> None:
    knows(stage, "victim", "vera")
    eve = stage.join("claims", "eve2", can_update_own_metadata=True, claims="vera")
    stage.workers[0].until("started", room="claims")
    assert eve.asks(ASKS) == NOTHING
    eve.leave()


IDENTITIES = (
    "sip_+4915112345678",
    "zoë",
    "🙂🙂",
    "auth0|65f0",
    "user/17",
    "ana maria",
    "n" * 200,
)


def test_any_identity_has_a_memory_of_its_own_in_rooms_at_once(stage: Stage) -> None:
    """Seven rooms at one time; nothing crosses from one to another."""
    callers = []
    for n, identity in enumerate(IDENTITIES):
        callers.append(stage.join(f"many-{n}", identity))
        # One after the other: a server takes back a call that a busy machine answers too late.
        stage.workers[0].until("started", room=f"many-{n}")
    for n, caller in enumerate(callers):
        caller.do("type", words=TELLS if n % 2 else "my sister is called kate")
    told = [BROTHER if n % 2 else "Has a sister named Kate" for n in range(len(callers))]
    for caller, text in zip(callers, told, strict=True):
        stage.until_known(caller.identity, text)
        assert stage.known(caller.identity) == {text}
        assert len(caller.identity) > 64 or user_id_for(caller.identity) in stage.users()
        caller.leave()


def test_a_late_guest_a_second_device_and_a_return(stage: Stage) -> None:
    knows(stage, "before-late", "ida")
    ida = stage.call("late", "ida")
    assert ida.asks(ASKS) == SAM
    guest = stage.join("late", "gil")
    guest.do("type", words="my sister is called kate")  # LiveKit takes chats of the linked one
    phone = stage.call("late-phone", "ida")  # at the same time, in a room of its own
    assert phone.asks(ASKS) == SAM
    phone.asks("i live in london")
    stage.until_known("ida", "Lives in London")
    again = stage.join("late", "ida")  # the same identity again: the first connection is closed
    ida.until("left")
    assert stage.known("ida") == {BROTHER, "Lives in London"}
    assert "gil" not in stage.users()
    for caller in (phone, guest, again):
        caller.leave()
    back = stage.call("late-back", "ida")
    assert back.asks(ASKS) in ("It is Sam and London.", SAM)
    back.leave()


def test_hand_over_tools_and_interruption(stage: Stage) -> None:
    knows(stage, "before-acts", "nora")
    nora = stage.call("acts", "nora")
    assert nora.asks(f"look up {ASKS}") == "Sam."
    nora.do("call", method="hand_over")
    nora.do("type", words="tell me a story")
    nora.until("sound")
    before = len(nora.replies())
    nora.do("say", words=ASKS)
    nora.until("said")
    until(lambda: SAM in nora.replies()[before:], "a reply after the interruption")
    nora.leave()
