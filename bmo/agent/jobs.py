"""Memory for LiveKit jobs: one service a process, one session a job, the right user.

The embedded store has one owner, so jobs of a worker run as threads of one process and share the
service that the first of them opened.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from typing import TYPE_CHECKING

from livekit.agents import JobContext

from bmo.agent.attachment import end_visit
from bmo.agent.speakers import USER_ATTRIBUTE, user_id_of
from bmo.settings import USER_ID_PATTERN, Settings, load_settings
from bmo.telemetry import debug_to_stderr, export_traces, flush_traces

if TYPE_CHECKING:
    from bmo.memory import MemoryService, MemorySession

logger = logging.getLogger("bmo.agent")

_OPENING = threading.Lock()
_SERVICES: dict[int, MemoryService] = {}
_MEMORIES: dict[str, list[MemorySession]] = {}


def shared_service(settings: Settings | None = None) -> MemoryService:
    """The process's memory: opened by the first call, closed when the process ends.

    Blocks while it opens and warms up (a second or two); call it in prewarm or in a thread.

    Args:
        settings: Used by the first call; None reads environment and ``.env``.

    Raises:
        MemoryUnavailable: The store cannot be opened; the message names the fix.
    """
    from bmo.memory import MemoryService

    with _OPENING:
        service = _SERVICES.get(os.getpid())
        if service is None:
            service = MemoryService.open_blocking(settings or load_settings())
            service.warm_up()  # or the first turn's recall would miss its deadline loading rules
            _SERVICES[os.getpid()] = service
            atexit.register(close_shared_service)
            if service.settings.gatekeeper_debug:
                debug_to_stderr()
            export_traces()
            for notice in service.notices:
                extra = {"part": notice.part, "notice": notice.message}
                logger.warning("memory was opened with a limitation", extra=extra)
        return service


def close_shared_service() -> None:
    """Closes the process's memory, if it was opened; the next ``shared_service`` opens it anew."""
    with _OPENING:
        service = _SERVICES.pop(os.getpid(), None)
    if service is not None:
        service.close_blocking()


async def memory_for(context: JobContext, *, user_id: str | None = None) -> MemorySession:
    """Starts the memory of one job, or of one of several users in it.

    Args:
        context: The job, connected to its room.
        user_id: Whose memory; None asks the room (see ``user_of``).

    Returns:
        The memory session; give it to ``attach`` or ``MemoryAgent``, and ``end_memory`` to
        ``rtc_session(on_session_end=...)``.

    Raises:
        MemoryUnavailable: The store cannot be opened.
        ValueError: The participant's identity cannot be a user id.
    """
    service = await asyncio.to_thread(shared_service)
    own = user_id or await user_of(context, service.settings)
    memory = service.session(user_id=own, session_id=context.job.id)
    _MEMORIES.setdefault(context.job.id, []).append(memory)
    context.log_context_fields = {**context.log_context_fields, "bmo_user": own}
    return memory


async def end_memory(context: JobContext) -> None:
    """Writes down what is still in flight; LiveKit gives ``on_session_end`` five minutes."""
    visits = (end_visit(memory) for memory in _MEMORIES.pop(context.job.id, ()))
    for error in await asyncio.gather(*visits, return_exceptions=True):
        if error is not None:
            logger.error("a visit was not ended", exc_info=error)
    await asyncio.to_thread(flush_traces)


async def user_of(context: JobContext, settings: Settings) -> str:
    """Whose memory a job uses.

    The console has no real participant (its identity and attributes are mocks): there it is
    BMO_USER_ID. In a room it is the attribute ``bmo.user_id`` of the participant's signed token,
    else the participant's identity.

    Raises:
        ValueError: The id has characters that are not allowed.
    """
    if context.is_fake_job():
        return settings.bmo_user_id
    participant = await context.wait_for_participant()
    user_id = user_id_of(participant) or ""
    if not USER_ID_PATTERN.fullmatch(user_id):
        raise ValueError(
            f"participant identity {user_id[:40]!r} cannot be a user id: use 1 to 128 of letters, "
            f"digits and . _ : @ -, or sign the attribute {USER_ATTRIBUTE!r} into the token"
        )
    return user_id
