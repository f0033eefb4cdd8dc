"""``attach`` and ``MemoryAgent``: the agent's own hooks, nodes and tools keep working."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

import pytest
from livekit.agents import Agent, AgentTask, function_tool, llm
from livekit.agents.voice import ModelSettings

from bmo.agent import MemoryAgent, attach, conversation_of, prepare, user_turn
from bmo.agent.placement import memory_blocks
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from tests.fakes.memory_session import FakeMemorySession
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak

pytestmark = pytest.mark.integration

KNOWN = {"brother": ("Has a brother named Sam",)}


class Pirate(Agent):
    """An agent with everything of its own."""

    def __init__(self) -> None:
        super().__init__(instructions="You are a pirate.")
        self.entered = 0
        self.heard: list[str] = []
        self.node_saw: list[list[str]] = []

    async def on_enter(self) -> None:
        self.entered += 1

    async def on_user_turn_completed(
        self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
    ) -> None:
        self.heard.append(new_message.text_content or "")
        new_message.content = [(new_message.text_content or "").replace("four two", "***")]

    async def llm_node(
        self, chat_ctx: llm.ChatContext, tools: list[llm.Tool], model_settings: ModelSettings
    ) -> AsyncIterable[llm.ChatChunk | str]:
        self.node_saw.append(memory_blocks(chat_ctx))
        yield "Arr. "
        async for chunk in Agent.default.llm_node(self, chat_ctx, tools, model_settings):
            if not isinstance(chunk, llm.ChatChunk | str):
                continue
            yield chunk

    @function_tool
    async def weather(self) -> str:
        """Tell the weather."""
        return "Wet."


class CallsSuper(MemoryAgent):
    """Overrides on top of memory, calling super."""

    def __init__(self, **agent: Any) -> None:
        super().__init__(**agent)
        self.order: list[str] = []

    async def on_enter(self) -> None:
        await super().on_enter()
        self.order.append("enter")

    async def on_user_turn_completed(
        self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
    ) -> None:
        await super().on_user_turn_completed(turn_ctx, new_message)
        self.order.append("hook")


class NoSuper(MemoryAgent):
    """Overrides on top of memory, never calling super."""

    async def on_enter(self) -> None:
        pass

    async def on_user_turn_completed(
        self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
    ) -> None:
        pass

    async def llm_node(
        self, chat_ctx: llm.ChatContext, tools: list[llm.Tool], model_settings: ModelSettings
    ) -> str:
        return f"{len(memory_blocks(chat_ctx))} blocks"


async def test_an_existing_agent_keeps_its_own_hooks_nodes_and_tools() -> None:
    memory, ears, model = FakeMemorySession(known=KNOWN), ScriptedRecogniser("en"), RuleLLM("Sam.")
    pirate = Pirate()
    assert attach(pirate, memory.as_session(), tools=("recall",)) is pirate
    async with running(pirate, model, ears) as session:
        await speak(session, ears, "who is my brother four two")
        said = [m.text_content for m in session.history.messages() if m.role == "assistant"]
    assert pirate.entered == 1
    assert pirate.heard == ["who is my brother four two"]
    assert "Has a brother named Sam" in pirate.node_saw[0][0]
    assert said == ["Arr. Sam."]
    assert memory.texts == ["who is my brother ***"], "memory keeps what the hook left"
    assert {tool.id for tool in pirate.tools} == {"weather", "recall"}
    assert model.last_texts[0] == ("system", "You are a pirate.")


async def test_a_class_can_be_attached() -> None:
    memory, ears = FakeMemorySession(known=KNOWN), ScriptedRecogniser("en")
    remembering = attach(Pirate, memory.as_session(), tools=("forget",))
    assert issubclass(remembering, Pirate)
    assert remembering.__name__ == "Pirate"
    pirate = remembering()
    async with running(pirate, RuleLLM(), ears) as session:
        await speak(session, ears, "my brother is sam")
    assert memory.texts == ["my brother is sam"]
    assert pirate.heard == ["my brother is sam"]
    assert {tool.id for tool in pirate.tools} == {"weather", "forget"}


@pytest.mark.parametrize("kind", [CallsSuper, NoSuper])
async def test_overrides_on_a_memory_agent_with_and_without_super(
    kind: type[MemoryAgent],
) -> None:
    memory = FakeMemorySession(known=KNOWN, profile_texts=("Lives in Leeds",))
    ears, model = ScriptedRecogniser("en"), RuleLLM("Sam.")
    agent = kind(memory=memory.as_session(), instructions="You are BMO.")
    async with running(agent, model, ears) as session:
        await speak(session, ears, "who is my brother")
        await session.run(user_input="hello there")
        said = [m.text_content for m in session.history.messages() if m.role == "assistant"]
    assert memory.texts == ["who is my brother", "hello there"]
    if isinstance(agent, CallsSuper):
        assert agent.order == ["enter", "hook"]
        assert any("Lives in Leeds" in text for _, text in model.last_texts)
    else:
        assert said == ["2 blocks", "1 blocks"]


async def test_attaching_twice_changes_nothing_and_another_memory_is_refused() -> None:
    memory, ears = FakeMemorySession(), ScriptedRecogniser("en")
    agent = Agent(instructions="You are BMO.")
    attach(agent, memory.as_session())
    attach(agent, memory.as_session())
    with pytest.raises(ValueError, match="already has a memory of user 'glenn'"):
        attach(agent, FakeMemorySession().as_session())
    with pytest.raises(LookupError, match="call attach"):
        conversation_of(Agent(instructions="Nobody."))
    with pytest.raises(ValueError, match="memory tool 'dream' is unknown"):
        attach(Agent(instructions="x"), memory.as_session(), tools=("dream",))  # type: ignore[arg-type]
    async with running(agent, RuleLLM(), ears) as session:
        await speak(session, ears, "hello there")
    assert memory.texts == ["hello there"]


async def test_an_agent_that_runs_already_can_be_attached() -> None:
    memory, ears, model = FakeMemorySession(known=KNOWN), ScriptedRecogniser("en"), RuleLLM()
    agent = Agent(instructions="You are BMO.")
    async with running(agent, model, ears) as session:
        await speak(session, ears, "before")
        attach(agent, memory.as_session())
        await speak(session, ears, "who is my brother")
    assert memory.texts == ["who is my brother"]
    assert any("Sam" in text for _, text in model.last_texts)


async def test_the_profile_keeps_the_same_bytes_and_place_for_the_whole_session() -> None:
    memory = FakeMemorySession(known=KNOWN, profile_texts=("Lives in Leeds", "Has a cat"))
    ears, model = ScriptedRecogniser("en"), RuleLLM("Okay.")
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    await prepare(agent)
    async with running(agent, model, ears) as session:
        for words in ("hello there", "who is my brother", "thanks"):
            await speak(session, ears, words)
    heads = [
        [(m.role, m.text_content) for m in context.messages()][:2] for context in model.contexts
    ]
    assert heads[0] == heads[1] == heads[2]
    assert heads[0][0] == ("system", "You are BMO.")
    assert heads[0][1] == ("system", "Known about the user:\n- Lives in Leeds\n- Has a cat")
    roles = [m.role for m in model.contexts[1].messages()]
    assert roles == ["system", "system", "user", "assistant", "system", "user"]


@pytest.mark.parametrize("role", ["system", "assistant"])
async def test_recall_stands_right_before_the_words(role: str) -> None:
    settings = Settings.model_construct(bmo_inject_role=role)
    memory = FakeMemorySession(settings=settings, known=KNOWN, profile_texts=("Lives in Leeds",))
    ears, model = ScriptedRecogniser("en"), RuleLLM()
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    async with running(agent, model, ears) as session:
        await speak(session, ears, "hello there")
        await speak(session, ears, "who is my brother")
        handle = await user_turn(session, "and my brother again")
        assert handle is not None
        await handle
        history = [m.text_content or "" for m in session.history.messages()]
    for context in model.contexts[1:]:
        messages = context.messages()
        assert messages[-1].role == "user"
        assert messages[-2].role == role
        assert "Has a brother named Sam" in (messages[-2].text_content or "")
        assert "Lives in Leeds" in (messages[1].text_content or "")
    assert not any("Known about" in text for text in history), "memory piled up in the history"


async def test_a_tool_call_sees_the_same_memory_once() -> None:
    memory, ears = FakeMemorySession(known=KNOWN, profile_texts=("Lives in Leeds",)), None
    asked = llm.FunctionToolCall(name="weather", arguments="{}", call_id="call_1")

    def rule(context: llm.ChatContext) -> str | llm.FunctionToolCall:
        done = any(isinstance(item, llm.FunctionCallOutput) for item in context.items)
        return "It is wet." if done else asked

    model = RuleLLM(rule)
    pirate = attach(Pirate(), memory.as_session())
    async with running(pirate, model, ears) as session:
        await session.run(user_input="does my brother get wet")
    assert len(model.contexts) == 2
    blocks = [memory_blocks(context) for context in model.contexts]
    assert blocks[0] == blocks[1]
    assert len(blocks[0]) == 2
    assert memory.recalls == ["does my brother get wet"]
    assert memory.texts == ["does my brother get wet"]


async def test_attached_again_with_more_tools_an_agent_has_them_all() -> None:
    memory, agent = FakeMemorySession().as_session(), Agent(instructions="")
    attach(agent, memory, tools=("recall",))
    attach(agent, memory, tools=("recall", "forget"))
    assert [tool.id for tool in agent.tools] == ["recall", "forget"]


async def test_tools_can_be_attached_while_an_agent_runs() -> None:
    memory, agent = FakeMemorySession().as_session(), Agent(instructions="")
    async with running(agent, RuleLLM()):
        attach(agent, memory, tools=("recall",))
        assert [tool.id for tool in agent.tools] == ["recall"]


class HasForget(Agent):
    @function_tool
    async def forget(self) -> str:
        """Forgets something else."""
        return "Forgotten."


@pytest.mark.parametrize(
    ("agent", "tools", "message"),
    [
        (Agent(instructions=""), ("remind",), "memory tool 'remind' is unknown"),
        (Agent(instructions=""), "recall", r"tools are a list: \('recall',\), not 'recall'"),
        (HasForget(instructions=""), ("forget",), "has a tool 'forget' of its own"),
    ],
)
async def test_what_cannot_be_attached_is_left_as_it_was(
    agent: Agent, tools: Any, message: str
) -> None:
    before = [tool.id for tool in agent.tools]
    with pytest.raises(ValueError, match=message):
        attach(agent, FakeMemorySession().as_session(), tools=tools)
    with pytest.raises(LookupError):
        conversation_of(agent)
    assert [tool.id for tool in agent.tools] == before
    assert "llm_node" not in vars(agent)


@pytest.mark.parametrize("what", [AgentTask[str], dict, "agent"])
async def test_only_agents_can_be_attached(what: Any) -> None:
    """What is set on an alias is set on its class, for every agent there is."""
    enter = AgentTask.on_enter
    with pytest.raises(TypeError, match="attach needs an Agent or a class of them"):
        attach(what, FakeMemorySession().as_session())
    assert AgentTask.on_enter is enter


async def test_what_is_no_memory_session_is_refused_with_the_fix() -> None:
    async def memory_for() -> None: ...

    forgotten: Any = memory_for()
    nothing: Any = None
    for agent in (Agent(instructions=""), Pirate):
        with pytest.raises(TypeError, match=r"and None is none"):
            attach(agent, nothing)
        with pytest.raises(TypeError, match=r"is none: await memory_for\(ctx\)"):
            attach(agent, forgotten)
    forgotten.close()
