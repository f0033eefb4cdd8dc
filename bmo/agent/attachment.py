"""``MemoryAgent``, and ``attach`` for an agent that exists already.

Both work the same way: the agent *instance* gets its hooks wrapped, so memory is there whether a
subclass overrides a hook, calls ``super()`` or not, and in whichever order classes are mixed.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from livekit.agents import Agent, llm
from livekit.agents.voice import ModelSettings

from bmo.agent.conversation import ConversationMemory
from bmo.agent.live_transcripts import is_realtime
from bmo.agent.speakers import NameSpeaker
from bmo.agent.tool_names import ToolName
from bmo.agent.tools import memory_tools

if TYPE_CHECKING:
    from bmo.memory import MemorySession

_AgentOrClass = TypeVar("_AgentOrClass", bound=Agent | type[Agent])

_CONVERSATION = "_bmo_conversation"
"""Where an agent with memory has its conversation."""


class MemoryAgent(Agent):
    """A LiveKit agent that remembers.

    Takes everything ``livekit.agents.Agent`` takes, and a memory session::

        memory = service.session(user_id=participant.identity)
        await session.start(MemoryAgent(memory=memory, instructions="You are BMO."), room=ctx.room)

    Hooks, nodes and tools of a subclass work as they do on ``Agent``: its
    ``on_user_turn_completed`` and ``llm_node`` run inside memory's, with or without ``super()``.
    """

    def __init__(
        self,
        *,
        memory: MemorySession,
        memory_tools: Sequence[ToolName] = (),
        name_speaker: NameSpeaker | None = None,
        **agent: Any,
    ) -> None:
        """Makes the agent with all that ``Agent`` takes, and attaches the memory (``attach``)."""
        super().__init__(**agent)
        attach(self, memory, tools=memory_tools, name_speaker=name_speaker)
        self.conversation: ConversationMemory = conversation_of(self)
        """What memory did with each turn of this conversation."""


def attach(
    agent: _AgentOrClass,
    memory: MemorySession,
    *,
    tools: Sequence[ToolName] = (),
    name_speaker: NameSpeaker | None = None,
) -> _AgentOrClass:
    """Gives an agent a memory; its own hooks, nodes, tools and instructions keep working.

    Args:
        agent: An agent, or a class of agents (a subclass of it is returned, whose instances have
            the memory).
        memory: One visit of one user. Attach the same session to every agent of a hand-over.
        tools: Tools the model may call: any of "remember", "forget", "recall", "explain_memory",
            "off_the_record".
        name_speaker: For a recogniser that tells voices apart: gives the user id of the person a
            label ("S1") stands for, or None. Without it the first voice heard is the user's and
            the others are guests (``BMO_GUESTS``). The first agent of a hand-over decides.

    Raises:
        TypeError: What is given is no agent, or no memory session.
        ValueError: The agent has another memory session already, a tool is unknown, or the agent
            runs already and cannot be given tools. Nothing was changed then.
    """
    if not hasattr(memory, "submit_turn"):  # a MemorySession, or what stands for one
        hint = ": await memory_for(ctx)" if inspect.isawaitable(memory) else ""
        raise TypeError(f"attach needs a memory session, and {memory!r} is none{hint}")
    if isinstance(agent, type) and issubclass(agent, Agent):
        made = _attached_class(agent, memory, tuple(tools), name_speaker)
        return cast("_AgentOrClass", made)
    # An alias such as ``AgentTask[str]`` would pass what is set on it to its class, for everybody.
    if not isinstance(agent, Agent):
        raise TypeError(f"attach needs an Agent or a class of them, and {agent!r} is neither")
    known: ConversationMemory | None = getattr(agent, _CONVERSATION, None)
    if known is not None and known.memory is not memory:
        raise ValueError(
            f"agent {agent.id!r} already has a memory of user {known.memory.user_id!r}: "
            "make a new agent for another memory session"
        )
    conversation = memory.shared_by_agents
    if not isinstance(conversation, ConversationMemory):
        conversation = memory.shared_by_agents = ConversationMemory(memory, name_speaker)
    _add_tools(agent, memory_tools(conversation, tools), again=known is not None)
    if known is not None:
        return agent
    conversation.admit(agent)
    setattr(agent, _CONVERSATION, conversation)
    _wrap_hooks(agent, conversation)
    if _runs(agent):
        conversation.joined(agent, agent.session)
    return agent


def conversation_of(agent: Agent) -> ConversationMemory:
    """The conversation an agent takes part in.

    Raises:
        LookupError: The agent has no memory.
    """
    conversation: ConversationMemory | None = getattr(agent, _CONVERSATION, None)
    if conversation is None:
        raise LookupError(f"agent {agent.id!r} has no memory: call attach(agent, memory) first")
    return conversation


async def end_visit(memory: MemorySession) -> None:
    """Writes down what is in flight of a memory session and of its guests, and ends them."""
    conversation = memory.shared_by_agents
    if isinstance(conversation, ConversationMemory):
        await conversation.aclose()
    else:
        await memory.aclose()


async def prepare(agent: Agent) -> None:
    """Loads the profile before a session starts, so that not even a first reply waits for it.

    A realtime model, which ignores what is put into the context later, is then told it before it
    is connected. Call it right before ``session.start``. Safe to call twice.
    """
    await conversation_of(agent).ready()


def _attached_class(
    agent_class: type[Agent],
    memory: MemorySession,
    tools: tuple[ToolName, ...],
    name_speaker: NameSpeaker | None,
) -> type[Agent]:
    def make(self: Agent, *args: Any, **kwargs: Any) -> None:
        agent_class.__init__(self, *args, **kwargs)
        attach(self, memory, tools=tools, name_speaker=name_speaker)

    namespace = {
        "__init__": functools.wraps(agent_class.__init__)(make),
        "__doc__": agent_class.__doc__,
        "__module__": agent_class.__module__,
        "__qualname__": agent_class.__qualname__,
    }
    return type(agent_class.__name__, (agent_class,), namespace)


def _wrap_hooks(agent: Agent, conversation: ConversationMemory) -> None:
    """Puts memory around the hooks of one agent. LiveKit calls them on the instance."""
    own_enter: Callable[[], Awaitable[None]] = agent.on_enter
    own_hook: Callable[..., Awaitable[None]] = agent.on_user_turn_completed
    own_node: Callable[..., Any] = agent.llm_node
    own_update: Callable[..., Awaitable[None]] = agent.update_instructions

    @functools.wraps(own_enter)
    async def on_enter() -> None:
        conversation.joined(agent, agent.session)
        await conversation.live_profile.tell(agent)
        await own_enter()

    @functools.wraps(own_update)
    async def update_instructions(*args: Any, **kwargs: Any) -> None:
        await own_update(*args, **kwargs)
        if _runs(agent):
            await conversation.live_profile.tell(agent, again=True)

    @functools.wraps(own_hook)
    async def on_user_turn_completed(
        turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
    ) -> None:
        await conversation.through_hook(agent, own_hook, turn_ctx, new_message)

    @functools.wraps(own_node)
    async def llm_node(
        chat_ctx: llm.ChatContext, tools: list[llm.Tool], model_settings: ModelSettings
    ) -> Any:
        # A coroutine, not a generator: LiveKit takes over what an agent's own coroutine did to
        # ``tools`` when the coroutine ends.
        conversation.bind(agent.session)
        await conversation.before_model(agent, chat_ctx)
        reply = own_node(chat_ctx, tools, model_settings)
        return await reply if inspect.iscoroutine(reply) else reply

    vars(agent).update(
        on_enter=on_enter,
        on_user_turn_completed=on_user_turn_completed,
        llm_node=llm_node,
        update_instructions=update_instructions,
    )


def _add_tools(agent: Agent, tools: list[llm.Tool | llm.Toolset], *, again: bool) -> None:
    """Gives an agent memory's tools; ``again``: what it has of them it has from an earlier call."""
    names = {tool.id for tool in agent.tools}
    own = [tool.id for tool in tools if tool.id in names]
    if own and not again:
        raise ValueError(
            f"agent {agent.id!r} has a tool {own[0]!r} of its own: rename it, or leave it out of "
            "the memory's tools"
        )
    tools = [tool for tool in tools if tool.id not in own]
    if not tools:
        return
    if _runs(agent) and is_realtime(agent):
        raise ValueError(
            f"agent {agent.id!r} already runs: attach its memory tools before session.start"
        )
    update = agent.update_tools([*agent.tools, *tools])
    # It only waits for a realtime model that runs; else it ends at its first step.
    with contextlib.suppress(StopIteration):
        update.send(None)
    update.close()


def _runs(agent: Agent) -> bool:
    try:
        return agent.session is not None
    except RuntimeError:
        return False
