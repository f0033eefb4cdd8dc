"""The LiveKit worker: what ``bmo console``, ``bmo dev`` and ``bmo start`` run.

``server`` is the module's ``AgentServer``; LiveKit's own tools find it too (``lk agent``,
``python -m livekit.agents start bmo/worker.py``).

The embedded store has one owner, so jobs run as threads of this process; with ``QDRANT_URL`` each
job gets a process of its own.
"""

from __future__ import annotations

import errno
import functools
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from livekit.agents import (
    AgentServer,
    AgentSession,
    JobContext,
    JobExecutorType,
    cli,
    room_io,
)

from bmo.agent import (
    MemoryAgent,
    end_memory,
    memory_for,
    prepare,
    prewarm,
    shared_service,
    user_turn,
)
from bmo.agent.models import ModelsUnavailable, VoiceModels, model_family, voice_models
from bmo.settings import Settings, load_settings
from bmo.telemetry import share_metrics_of_processes

INSTRUCTIONS = (
    "You are BMO, a friendly voice assistant who remembers what matters about the person you "
    "talk with. Speak in one to three short sentences, without lists or markup. Use what is "
    "remembered when it helps; never claim to remember what is not there."
)

PRELOAD = "bmo.agent.preload"
"""What the processes of calls share."""

HEALTH_PORT = 8081
"""LiveKit's default in production (``AgentServer.port``)."""


def run_worker(command: str, arguments: Sequence[str], settings: Settings) -> int:
    """Runs ``console``, ``dev`` or ``start`` with LiveKit's own command line.

    Returns:
        Exit code; 2 when something is missing (a sentence each on standard error).
    """
    missing = missing_for(command, settings, arguments) or barred_ports(command, settings)
    if not missing and not {"--help", "--list-devices"} & set(arguments):
        missing = _closed_memory(settings)
    for sentence in missing:
        print(f"bmo: {sentence}", file=sys.stderr)
    if missing:
        return 2
    _export(settings)
    sys.argv = ["bmo", command, *arguments]
    made = make_server(settings)
    fell = _watch(made)
    try:
        cli.run_app(made)
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    else:
        code = 0
    for error in fell:
        print(
            f"bmo: the worker ended: {error}; LIVEKIT_URL={settings.livekit_url}.", file=sys.stderr
        )
    return code or int(bool(fell))


def _watch(server: AgentServer) -> list[Exception]:
    """What ends a server that runs; LiveKit's command line logs it and ends with 0."""
    fell: list[Exception] = []
    own = server.run

    @functools.wraps(own)
    async def run(**options: Any) -> None:
        try:
            await own(**options)
        except Exception as error:
            fell.append(error)
            raise

    vars(server)["run"] = run
    return fell


def missing_for(command: str, settings: Settings, arguments: Sequence[str] = ()) -> list[str]:
    """What a command lacks, a sentence each."""
    if "--help" in arguments:
        return []
    if command == "console" and "--list-devices" in arguments:
        return _missing_audio(devices=False)
    missing = []
    try:
        model_family(settings)
    except ModelsUnavailable as error:
        missing.append(str(error))
    if command == "console":
        missing += _missing_audio(devices="--text" not in arguments)
    else:
        missing += [
            f"`bmo {command}` needs {name}: set it to {what}."
            for name, value, what in (
                ("LIVEKIT_URL", settings.livekit_url, "the address of your LiveKit server"),
                ("LIVEKIT_API_KEY", settings.livekit_api_key, "its API key"),
                ("LIVEKIT_API_SECRET", settings.livekit_api_secret, "its API secret"),
            )
            if value is None
        ]
    return missing


def barred_ports(command: str, settings: Settings) -> list[str]:
    """Which of the ports that a worker listens on it cannot have, a sentence each."""
    wanted = [
        (
            settings.bmo_metrics_port if command != "console" else None,
            "is BMO_METRICS_PORT: set it to a free port, or to 0 for any",
        ),
        (
            HEALTH_PORT if command == "start" else None,
            "is where LiveKit answers health checks: stop the worker that runs there, or start "
            "this one on another machine or in a container of its own",
        ),
    ]
    barred = [(port, _barred(port), what) for port, what in wanted if port]
    return [f"Port {port}, {why}, {what}." for port, why, what in barred if why]


def _closed_memory(settings: Settings) -> list[str]:
    """Why the memory cannot be opened, as one sentence; a job would find out when somebody calls.

    Jobs that are threads get what is opened here; those that are processes open their own.
    """
    from bmo.memory import MemoryUnavailable, open_ledger

    try:
        if settings.qdrant_url is None:
            shared_service(settings)
        else:
            open_ledger(settings).close()
    except MemoryUnavailable as error:
        return [str(error)]
    return []


_WHY_BARRED = {
    errno.EADDRINUSE: "taken by another process",
    errno.EACCES: "not allowed to this user",
}


def _barred(port: int) -> str | None:
    """Why a port cannot be listened on, or None."""
    with socket.socket() as listener:
        # As asyncio binds: what only waits to be closed does not count.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("0.0.0.0", port))
            listener.listen()
        except OSError as error:
            return _WHY_BARRED.get(error.errno or 0, error.strerror)
    return None


def _missing_audio(*, devices: bool) -> list[str]:
    """What keeps this machine from hearing and speaking."""
    try:
        import sounddevice
    except (ImportError, OSError):
        return [
            "`bmo console` needs PortAudio: install it (Debian: libportaudio2; macOS: brew install "
            "portaudio), or use `bmo chat`."
        ]
    if not devices:
        return []
    try:
        known = list(sounddevice.query_devices())
    except sounddevice.PortAudioError:
        known = []
    lacking = [
        name
        for name, channels in (
            ("microphone", "max_input_channels"),
            ("speaker", "max_output_channels"),
        )
        if not any(device[channels] > 0 for device in known)
    ]
    if not lacking:
        return []
    return [
        f"`bmo console` needs a {' and a '.join(lacking)} and this machine has none: connect "
        f"{'one' if len(lacking) == 1 else 'them'}, or use `bmo chat`."
    ]


def _export(settings: Settings) -> None:
    """LiveKit and its job processes read keys from the environment; a ``.env`` is not in it."""
    for name in ("livekit_url", "livekit_api_key", "livekit_api_secret", "google_api_key"):
        value = getattr(settings, name)
        if value is not None:
            text = value if isinstance(value, str) else value.get_secret_value()
            os.environ.setdefault(name.upper(), text)


# -- the server -----------------------------------------------------------------------------------


async def serve(context: JobContext) -> None:
    """One job: a conversation with one participant."""
    await context.connect()
    memory = await memory_for(context)
    models = voice_models(memory.settings)
    agent = MemoryAgent(
        memory=memory,
        instructions=INSTRUCTIONS,
        memory_tools=("recall",) if models.realtime else (),
    )
    await prepare(agent)
    session = make_session(models)
    await session.start(
        agent,
        room=context.room,
        room_options=room_io.RoomOptions(
            text_input=room_io.TextInputOptions(text_input_cb=typed_in_room)
        ),
    )
    session.on("close", lambda event: _close_devices())


def _close_devices() -> None:
    """Closes microphone and speaker of ``bmo console`` while their event loop still runs.

    LiveKit leaves them open at Ctrl-C; their callbacks then find the loop closed, and each prints a
    traceback over the end of the conversation.
    """
    console: Any = cli.AgentsConsole.get_instance()
    # The console with devices comes from a module that only ``bmo console`` loads (0.15 s).
    own = sys.modules.get("livekit.agents.cli._legacy")
    if own is not None and isinstance(console, own.AgentsConsole):
        console.set_microphone_enabled(False)
        console.set_speaker_enabled(False)


def make_session(models: VoiceModels) -> AgentSession[Any]:
    """An ``AgentSession`` of these models."""
    if models.stt is None or models.tts is None:
        return AgentSession(llm=models.llm)
    return AgentSession(llm=models.llm, stt=models.stt, tts=models.tts)


async def typed_in_room(session: AgentSession[Any], event: room_io.TextInputEvent) -> None:
    """Room chat goes the way speech goes, through the hook."""
    await session.interrupt()
    await user_turn(session, event.text, participant=event.participant)


def make_server(
    settings: Settings, entrypoint: Callable[[JobContext], Awaitable[None]] = serve
) -> AgentServer:
    """A worker for these settings.

    Args:
        settings: ``QDRANT_URL`` decides between threads and processes, ``BMO_METRICS_PORT`` opens
            a Prometheus port.
        entrypoint: What a job does; a function of a module, so that a job's process finds it.
    """
    embedded = settings.qdrant_url is None
    port = settings.bmo_metrics_port
    made = AgentServer(
        job_executor_type=JobExecutorType.THREAD if embedded else JobExecutorType.PROCESS,
        setup_fnc=prewarm,
        preload_modules=None if embedded else [PRELOAD],
        prometheus_port=port,
        prometheus_multiproc_dir=(
            share_metrics_of_processes() if port is not None and not embedded else None
        ),
    )
    made.rtc_session(entrypoint, on_session_end=end_memory)
    return made


server = make_server(load_settings())
