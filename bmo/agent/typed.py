"""A typed turn the way a spoken one goes: through the agent's hook, then to a reply."""

from __future__ import annotations

from typing import Any

from livekit.agents import AgentSession, StopResponse, llm
from livekit.agents.voice import SpeechHandle

from bmo.agent.speakers import SPEAKER_KEY, TYPED_KEY, identity_in_room


async def user_turn(
    session: AgentSession[Any], text: str, *, participant: object = None
) -> SpeechHandle | None:
    """Gives typed words to a session as a full turn.

    LiveKit calls ``on_user_turn_completed`` for speech only; ``session.run``, room chat and
    ``console --text`` go around it. This calls the hook first. In a room pass it on::

        TextInputOptions(
            text_input_cb=lambda session, event: user_turn(
                session, event.text, participant=event.participant
            )
        )

    Args:
        session: A session that runs.
        text: What was typed.
        participant: Who typed it, in a room of several people; None: whom the session listens to.

    Returns:
        The reply's handle (await it for the end of the reply), or None when a hook of the agent
        raised ``StopResponse``.
    """
    agent = (await session.wait_for_idle()).agent
    speaker = identity_in_room(participant)
    extra: dict[str, Any] = {TYPED_KEY: True}
    if speaker is not None:
        extra[SPEAKER_KEY] = speaker
    message = llm.ChatMessage(role="user", content=[text], extra=extra)
    context = agent.chat_ctx.copy()
    try:
        await agent.on_user_turn_completed(context, new_message=message)
    except StopResponse:
        return None
    return session.generate_reply(user_input=message, chat_ctx=context)
