"""Memory for LiveKit jobs: a session a job, of the right user, and no call that dies of it."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, cast

from livekit.agents import JobContext, JobExecutorType

from bmo.agent.attachment import end_visit
from bmo.agent.late import LateSession
from bmo.agent.process_memory import AS_THREADS, opening
from bmo.agent.speakers import USER_ATTRIBUTE, attribute_of, identity_in_room
from bmo.ids import identity_of, user_id_for
from bmo.settings import Settings, SettingsError, load_settings, memory_required
from bmo.telemetry import flush_traces

if TYPE_CHECKING:
    from bmo.memory import MemoryService, MemorySession

logger = logging.getLogger("bmo.agent")

GRACE_S = 0.2
"""Longest wait of a call for a memory that is being opened, in seconds; it then goes on without,
and is given memory when that is ready."""

NOBODY = "nobody"
"""The user of a call whose caller left before he was known; nothing is kept of him."""

_MEMORIES: dict[str, list[MemorySession]] = {}


async def memory_for(
    context: JobContext, *, user_id: str | None = None, participant: object = None
) -> MemorySession:
    """Starts the memory of one job, or of one of several users in it.

    It is this participant's from now on: whoever else speaks in the room is a guest. Whatever of
    memory fails, the call goes on without: one sentence in the log, and the counter
    ``bmo_faults``. A memory that is not open yet comes later.

    Args:
        context: The job.
        user_id: Whose memory; None asks the job and the room (see ``user_of``).
        participant: The user's participant in the room, or his identity; None is the first one.

    Returns:
        The memory session; give it to ``attach`` or ``MemoryAgent``, and ``end_memory`` to
        ``rtc_session(on_session_end=...)``.

    Raises:
        MemoryUnavailable: The memory cannot be opened, and BMO_MEMORY_REQUIRED is set.
    """
    opened, someone = opening(), None
    try:
        settings = load_settings()
    except SettingsError as error:
        required = memory_required()
        settings = Settings.model_construct(bmo_memory_required=required)
        opened = _failed(error)
    try:
        if not context.is_fake_job():
            someone = await _in_room(context, participant)
        own = user_id_for(user_id) if user_id else await user_of(context, settings, someone)
    except Exception as error:  # the caller hung up, say
        opened, own = _failed(error), NOBODY
    identity = identity_in_room(someone)
    # Nobody waits for an answer in the console, and its first words are kept with the others.
    patient = context.is_fake_job() or settings.bmo_memory_required
    if not opened.done():
        await asyncio.to_thread(wait, (opened,), None if patient else GRACE_S)
    if settings.bmo_memory_required:
        _raise_unless_open(opened)
    memory = _session(context, opened, settings, own)
    memory.participant = identity
    _MEMORIES.setdefault(context.job.id, []).append(memory)
    context.log_context_fields = {**context.log_context_fields, "bmo_user": identity_of(own)}
    return memory


async def end_memory(context: JobContext) -> None:
    """Writes down what is still in flight; LiveKit gives ``on_session_end`` five minutes."""
    visits = (end_visit(memory) for memory in _MEMORIES.pop(context.job.id, ()))
    for error in await asyncio.gather(*visits, return_exceptions=True):
        if error is not None:
            logger.error("a visit was not ended", exc_info=error)
    await asyncio.to_thread(flush_traces)


async def user_of(context: JobContext, settings: Settings, participant: object = None) -> str:
    """Whose memory a job uses: its user's id.

    The console has no real participant (its identity and attributes are mocks): there it is
    BMO_USER_ID. Else it is what the application set in the job's metadata, as
    ``{"bmo.user_id": "..."}``, or the identity in the participant's token. The participant's
    attribute ``bmo.user_id`` counts only with BMO_TRUST_PARTICIPANT_ATTRIBUTES.
    """
    if context.is_fake_job():
        return settings.bmo_user_id
    named = _named_in(context.job.metadata)
    if named is None:
        participant = participant or await context.wait_for_participant()
        if settings.bmo_trust_participant_attributes:
            named = attribute_of(participant)
        named = named or identity_in_room(participant)
    if not named:
        raise ValueError("the participant has no identity")
    return user_id_for(named)


async def _in_room(context: JobContext, participant: object) -> Any:
    if isinstance(participant, str):
        return await context.wait_for_participant(identity=participant)
    return participant or await context.wait_for_participant()


def _named_in(metadata: str) -> str | None:
    """The user the application named in a job's metadata, if it is such."""
    try:
        named = json.loads(metadata)[USER_ATTRIBUTE]
    except (ValueError, TypeError, LookupError):
        return None  # metadata is the application's own; anything may stand there
    return named if isinstance(named, str) and named else None


def _session(
    context: JobContext, opened: Future[MemoryService], settings: Settings, user_id: str
) -> MemorySession:
    """A session of the open service, or one that begins without."""
    if opened.done() and not opened.exception():
        try:
            return opened.result().session(user_id=user_id, session_id=context.job.id)
        except Exception as error:
            opened = _failed(error)
    in_process = context.proc.executor_type is JobExecutorType.PROCESS
    advice = AS_THREADS if in_process and settings.qdrant_url is None else ""
    late = LateSession(opened, settings, user_id=user_id, session_id=context.job.id, advice=advice)
    return cast("MemorySession", late)


def _raise_unless_open(opened: Future[MemoryService]) -> None:
    from bmo.memory import MemoryUnavailable

    error = opened.exception()
    if isinstance(error, SettingsError):
        raise MemoryUnavailable(str(error)) from error
    if error is not None:
        raise error


def _failed(error: Exception) -> Future[MemoryService]:
    failed: Future[MemoryService] = Future()
    failed.set_exception(error)
    return failed
