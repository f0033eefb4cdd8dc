"""Where memory goes in a chat context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from livekit.agents import llm

from bmo.agent.placement import (
    last_user_message,
    memory_blocks,
    place_profile,
    place_recall,
    words_of_assistant_before,
)

pytestmark = pytest.mark.unit

ROLES = st.sampled_from(["system", "user", "assistant", "call", "output"])


def context_of(roles: list[str]) -> llm.ChatContext:
    context = llm.ChatContext.empty()
    for number, role in enumerate(roles):
        if role == "call":
            context.items.append(llm.FunctionCall(call_id=f"c{number}", name="f", arguments="{}"))
        elif role == "output":
            context.items.append(
                llm.FunctionCallOutput(call_id=f"c{number}", name="f", output="o", is_error=False)
            )
        else:
            context.items.append(
                llm.ChatMessage(role=role, content=[f"{role} {number}"])  # type: ignore[arg-type]
            )
    return context


@given(st.lists(ROLES, max_size=8), st.sampled_from(["system", "assistant"]))
def test_placing_twice_is_placing_once_and_taking_away_leaves_nothing(
    roles: list[str], role: str
) -> None:
    context = context_of([*roles, "user"])
    before = [(item.id, item.type) for item in context.items]
    message = context.messages()[-1]
    for _ in range(2):
        place_profile(context, "P", role)  # type: ignore[arg-type]
        place_recall(context, "R", role, before=message)  # type: ignore[arg-type]
    assert sorted(memory_blocks(context)) == ["P", "R"]
    assert context.items[-1] is message
    assert memory_blocks(llm.ChatContext(context.items[-2:]))[-1:] == ["R"]
    place_profile(context, "", role)  # type: ignore[arg-type]
    place_recall(context, "", role, before=message)  # type: ignore[arg-type]
    assert [(item.id, item.type) for item in context.items] == before


def test_the_profile_joins_gemini_system_instruction() -> None:
    context = context_of(["system", "user", "assistant", "user"])
    place_profile(context, "Lives in Leeds", "system")
    place_recall(context, "Has a brother", "system", before=context.messages()[-1])
    turns, data = context.to_provider_format("google")
    assert data.system_messages == ["system 0\nLives in Leeds"]
    assert [turn["role"] for turn in turns] == ["user", "model", "user"]
    assert "Has a brother" in turns[-1]["parts"][0]["text"]
    assert turns[-1]["parts"][-1]["text"] == "user 3"


def test_dynamic_instructions_of_the_agent_stay() -> None:
    from livekit.agents.llm.chat_context import DYNAMIC_INSTRUCTIONS_MESSAGE_ID

    context = context_of(["system", "user"])
    own = llm.ChatMessage(
        id=DYNAMIC_INSTRUCTIONS_MESSAGE_ID, role="system", content=["It is Monday."]
    )
    context.items.insert(1, own)
    place_profile(context, "Lives in Leeds", "system")
    place_profile(context, "Lives in York", "system")
    assert context.items[1].content == ["It is Monday.", "Lives in York"]  # type: ignore[union-attr]
    assert own.content == ["It is Monday."], "the agent's own message is shared and must not change"
    place_profile(context, "", "system")
    assert context.items[1].content == ["It is Monday."]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("roles", "number", "answered"),
    [
        (["system", "user"], 1, False),
        (["user", "assistant"], 0, True),
        (["user", "assistant", "user"], 2, False),
        (["user", "call", "output"], 0, False),
        (["user", "assistant", "call", "output"], 0, False),
        (["user", "call", "output", "assistant"], 0, True),
        (["system"], None, False),
    ],
)
def test_the_last_user_message(roles: list[str], number: int | None, answered: bool) -> None:
    context = context_of(roles)
    message, was_answered = last_user_message(context)
    expected = None if number is None else context.items[number]
    assert (message, was_answered) == (expected, answered)


def test_the_assistants_words_before_a_message_are_not_memorys() -> None:
    context = context_of(["system", "assistant", "user"])
    message = context.messages()[-1]
    place_recall(context, "R", "assistant", before=message)
    assert words_of_assistant_before(context, message) == "assistant 1"
    assert words_of_assistant_before(context, None) == "assistant 1"
