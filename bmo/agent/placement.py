"""Where memory goes in a chat context: the profile after the instructions, recall before the words.

Pure list work on the context that is given. A context is the model's working copy of a turn, so
nothing put here reaches the conversation's history. Every function may run again on the same
context (LiveKit hands it on to the step after a tool call): what an earlier call put there is
replaced, not doubled.
"""

from __future__ import annotations

from typing import TypeGuard

from livekit.agents import llm
from livekit.agents.llm.chat_context import DYNAMIC_INSTRUCTIONS_MESSAGE_ID

from bmo.agent.tool_names import TOOL_NAMES
from bmo.settings import InjectRole

RECALL_MESSAGE_ID = "bmo.recall"
"""Id of the message that carries what was recalled for a turn."""

PROFILE_MESSAGE_ID = "bmo.profile"
"""Id of the profile's message where it cannot join the instructions."""

_MARK = "bmo.memory"


def place_profile(chat_ctx: llm.ChatContext, text: str, role: InjectRole) -> None:
    """Puts the profile right after the instructions.

    As a system message it takes the id LiveKit gives to per-call instructions: every provider
    that knows one system text (Gemini, Anthropic) then merges it into that text instead of turning
    it into words of the user, and the instructions before it stay a cacheable prefix.

    No text takes away what was placed before.
    """
    _take_away(chat_ctx, "profile")
    if not text:
        return
    place = _after_instructions(chat_ctx)
    before = chat_ctx.items[place - 1].created_at if place else None
    dynamic = chat_ctx.index_by_id(DYNAMIC_INSTRUCTIONS_MESSAGE_ID)
    if role == "system" and dynamic is not None:
        own = chat_ctx.items[dynamic]
        if isinstance(own, llm.ChatMessage):
            chat_ctx.items[dynamic] = own.model_copy(
                update={
                    "content": [*own.content, text],
                    "extra": {**own.extra, _MARK: "profile", "bmo.own": list(own.content)},
                }
            )
            return
    joins = role == "system" and place > 0
    message = llm.ChatMessage(
        id=DYNAMIC_INSTRUCTIONS_MESSAGE_ID if joins else PROFILE_MESSAGE_ID,
        role=role,
        content=[text],
        extra={_MARK: "profile"},
    )
    if before is not None:
        message.created_at = before
    chat_ctx.items.insert(place, message)


def place_recall(
    chat_ctx: llm.ChatContext, text: str, role: InjectRole, *, before: llm.ChatMessage
) -> None:
    """Puts what was recalled right before the user's words it was recalled for.

    Args:
        chat_ctx: The model's working copy; changed in place.
        text: Recall's block; "" removes one that was placed before.
        role: Role of the message.
        before: The user's message in it.
    """
    _take_away(chat_ctx, "recall")
    if not text:
        return
    message = llm.ChatMessage(
        id=RECALL_MESSAGE_ID,
        role=role,
        content=[text],
        created_at=before.created_at - 1e-6,
        extra={_MARK: "recall"},
    )
    chat_ctx.items.insert(chat_ctx.items.index(before), message)


def take_memory_away(chat_ctx: llm.ChatContext, *, before: llm.ChatMessage | None) -> None:
    """Takes out what memory put into a context, and what its tools answered in earlier turns.

    ``before``: the words that are replied to; a tool that is called for them says itself what it
    may.
    """
    _take_away(chat_ctx, "profile")
    _take_away(chat_ctx, "recall")
    place = None if before is None else chat_ctx.index_by_id(before.id)
    chat_ctx.items[:place] = [
        item
        for item in chat_ctx.items[:place]
        if not isinstance(item, llm.FunctionCall | llm.FunctionCallOutput)
        or item.name not in TOOL_NAMES
    ]


def last_user_message(chat_ctx: llm.ChatContext) -> tuple[llm.ChatMessage | None, bool]:
    """The latest words of the user, and whether the assistant already answered them.

    A step after a tool call comes with the same user message and a function's output behind it;
    that is not an answer. Words of the assistant followed by no function call are.
    """
    answered = called = False
    for item in reversed(chat_ctx.items):
        if isinstance(item, llm.FunctionCall | llm.FunctionCallOutput):
            called = True  # words before it ("let me look") are no answer yet
        elif isinstance(item, llm.ChatMessage) and item.role == "user":
            return item, answered
        elif _of_assistant(item) and not called:
            answered = True
    return None, answered


def words_of_assistant_before(chat_ctx: llm.ChatContext, message: llm.ChatMessage | None) -> str:
    """The assistant's latest words before ``message`` (before the end when it is not there)."""
    place = None if message is None else chat_ctx.index_by_id(message.id)
    for item in reversed(chat_ctx.items[:place]):
        if _of_assistant(item):
            return item.text_content or ""
    return ""


def memory_blocks(chat_ctx: llm.ChatContext) -> list[str]:
    """The blocks of memory a context holds, profile first: what a model was given."""
    blocks: list[str] = []
    for item in chat_ctx.items:
        if isinstance(item, llm.ChatMessage) and _MARK in item.extra:
            text = item.content[-1] if item.content else ""
            blocks.append(text if isinstance(text, str) else "")
    return blocks


def _of_assistant(item: llm.ChatItem) -> TypeGuard[llm.ChatMessage]:
    """Whether an item is the assistant's own words, not a block of memory in its role."""
    if not isinstance(item, llm.ChatMessage):
        return False
    return item.role == "assistant" and _MARK not in item.extra


def _after_instructions(chat_ctx: llm.ChatContext) -> int:
    """Index after the first system message that stands before any conversation, else 0."""
    for place, item in enumerate(chat_ctx.items):
        if isinstance(item, llm.ChatMessage | llm.FunctionCall | llm.FunctionCallOutput):
            instructs = item.type == "message" and item.role in ("system", "developer")
            return place + 1 if instructs else 0
    return 0


def _take_away(chat_ctx: llm.ChatContext, kind: str) -> None:
    for place in reversed(range(len(chat_ctx.items))):
        item = chat_ctx.items[place]
        if not isinstance(item, llm.ChatMessage) or item.extra.get(_MARK) != kind:
            continue
        own = item.extra.get("bmo.own")
        if own is None:
            del chat_ctx.items[place]
        else:
            extra = {k: v for k, v in item.extra.items() if k not in (_MARK, "bmo.own")}
            chat_ctx.items[place] = item.model_copy(update={"content": own, "extra": extra})
