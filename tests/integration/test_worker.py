"""The worker: what is missing is said before anything starts, jobs get the right user's memory."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
from livekit.agents import AgentServer, JobContext, JobExecutorType, llm
from livekit.agents.testing import fake_job_context

from bmo.agent import close_shared_service, user_of
from bmo.agent.models import ModelsUnavailable, model_family, voice_models
from bmo.memory import MemoryService
from bmo.settings import Settings
from bmo.worker import make_server, missing_for, run_worker
from tests.cli import bmo

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


def settings(**values: Any) -> Settings:
    return Settings(_env_file=None, **values)  # type: ignore[call-arg]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("LIVEKIT_", "GOOGLE_", "BMO_", "QDRANT_")):
            monkeypatch.delenv(name)
    for name in ("LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "")  # the worker sets them: so they are taken out again
        monkeypatch.delenv(name)


KEYS = {
    "GOOGLE_API_KEY": "k",
    "LIVEKIT_URL": "ws://127.0.0.1:1",
    "LIVEKIT_API_KEY": "k",
    "LIVEKIT_API_SECRET": "s" * 32,
}
"""Nothing is missing; nobody listens there."""


def test_everything_that_is_missing_is_said_in_sentences() -> None:
    said = missing_for("dev", settings())
    assert [sentence.split(":")[0] for sentence in said] == [
        "No models",
        "`bmo dev` needs LIVEKIT_URL",
        "`bmo dev` needs LIVEKIT_API_KEY",
        "`bmo dev` needs LIVEKIT_API_SECRET",
    ]
    assert all(sentence.endswith(".") for sentence in said)
    keys = {"livekit_api_key": "k", "livekit_api_secret": "s" * 32}
    assert missing_for("start", settings(livekit_url="wss://x.livekit.cloud", **keys)) == []
    # A server of one's own has no models in it.
    (models,) = missing_for("start", settings(livekit_url="ws://127.0.0.1:7880", **keys))
    assert models.startswith("No models: LIVEKIT_URL=ws://127.0.0.1:7880 is a server of your own")
    assert "set GOOGLE_API_KEY" in models
    own = settings(livekit_url="ws://127.0.0.1:7880", google_api_key="k", **keys)
    assert missing_for("start", own) == []


@pytest.mark.parametrize("command", ["dev", "start"])
def test_the_command_ends_before_anything_starts(command: str, tmp_path: Path) -> None:
    done = bmo(tmp_path / "home", command)
    assert done.code == 2, done.err
    assert "needs LIVEKIT_URL" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "home").exists()


def test_a_worker_that_never_reached_livekit_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def server_that_gives_up_soon(chosen: Settings) -> AgentServer:
        made = make_server(chosen)
        made.update_options(max_retry=0)
        return made

    monkeypatch.setattr("bmo.worker.make_server", server_that_gives_up_soon)
    monkeypatch.setattr("bmo.worker.HEALTH_PORT", 0)
    chosen = settings(
        livekit_url="ws://127.0.0.1:1",
        livekit_api_key="k",
        livekit_api_secret="s" * 32,
        google_api_key="k",
        bmo_home=tmp_path,
    )
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(sys, "argv", ["bmo", "start"])
    try:
        assert run_worker("start", [], chosen) == 1
    finally:
        close_shared_service()
        for one, handler in before.items():
            signal.signal(one, handler)
    assert "LIVEKIT_URL=ws://127.0.0.1:1" in capsys.readouterr().err


def test_a_port_that_another_process_holds_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = bmo(tmp_path / "home", "dev", **KEYS, BMO_METRICS_PORT=str(port))
    assert done.code == 2, done.err
    assert done.sentence == (
        f"Port {port}, taken by another process, is BMO_METRICS_PORT: set it to a free port, or to "
        "0 for any."
    )


@pytest.mark.parametrize("fault", ["no folder", "in use"])
@pytest.mark.parametrize("command", [("console", "--text"), ("start",)])
def test_a_memory_that_cannot_be_opened_is_said_before_anything_starts(
    command: tuple[str, ...], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job would find out when somebody calls, and LiveKit's console would wait for ever."""
    home = tmp_path / "home"
    # PortAudio, which the console asks for first, is on few machines that run tests.
    sounds = ModuleType("sounddevice")
    sounds.PortAudioError = OSError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sounddevice", sounds)
    with ExitStack() as held:
        if fault == "no folder":
            (tmp_path / "file").touch()
            home, said = tmp_path / "file" / "home", "is a file: name a folder"
        else:
            service = MemoryService.open_blocking(settings(bmo_home=home))
            held.callback(service.close_blocking)
            said = f"in use by process {os.getpid()}"
        done = bmo(home, *command, **KEYS)
    assert done.code == 2, done.err
    assert said in done.sentence


DEVICES = {
    "microphone": {"max_input_channels": 1, "max_output_channels": 0},
    "speaker": {"max_input_channels": 0, "max_output_channels": 2},
}


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ((), "needs a microphone and a speaker and this machine has none: connect them"),
        (("speaker",), "needs a microphone and this machine has none: connect one"),
        (("microphone",), "needs a speaker and this machine has none: connect one"),
        (("microphone", "speaker"), ""),
    ],
)
def test_the_console_says_what_it_cannot_hear_or_speak_with(
    there: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds = ModuleType("sounddevice")
    sounds.query_devices = lambda: [DEVICES[name] for name in there]  # type: ignore[attr-defined]
    sounds.PortAudioError = OSError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sounddevice", sounds)
    models = settings(google_api_key="k")
    sentences = missing_for("console", models)
    assert [sentence for sentence in sentences if said not in sentence] == []
    assert len(sentences) == (1 if said else 0)
    assert all(sentence.endswith("or use `bmo chat`.") for sentence in sentences)
    assert missing_for("console", models, ["--text"]) == []
    assert missing_for("console", settings(), ["--list-devices"]) == []


def test_the_console_names_portaudio_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    (sentence,) = missing_for("console", settings(google_api_key="k"))
    assert sentence.startswith("`bmo console` needs PortAudio: install it (Debian: libportaudio2")
    assert missing_for("console", settings(), ["--help"]) == []


def test_bmo_console_without_portaudio_says_so_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the real module does on a machine without the library; found first in the directory.
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    done = bmo(tmp_path / "home", "console", GOOGLE_API_KEY="k")
    assert done.code == 2, done.err
    assert done.sentence.startswith("`bmo console` needs PortAudio: install it")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ({"google_api_key": "k"}, "google"),
        ({"google_api_key": "k", "bmo_models": "google-live"}, "google-live"),
        ({"livekit_api_key": "k", "livekit_api_secret": "s"}, "inference"),
        ({"google_api_key": "k", "livekit_api_key": "k", "livekit_api_secret": "s"}, "google"),
    ],
)
def test_the_family_of_models(values: dict[str, Any], family: str) -> None:
    assert model_family(settings(**values)) == family


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "bmo chat` needs neither"),
        ({"bmo_models": "google"}, "BMO_MODELS=google needs GOOGLE_API_KEY"),
        ({"bmo_models": "google-live"}, "BMO_MODELS=google-live needs GOOGLE_API_KEY"),
        ({"bmo_models": "inference", "google_api_key": "k"}, "needs LIVEKIT_API_KEY"),
    ],
)
def test_a_missing_key_is_named(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelsUnavailable, match=said):
        model_family(settings(**values))


async def test_models_are_made_from_the_settings() -> None:
    google = voice_models(settings(google_api_key="k", bmo_llm="gemini-x"))
    assert not google.realtime
    assert getattr(google.llm, "model", "") == "gemini-x"
    assert google.stt is not None
    assert google.tts is not None
    live = voice_models(settings(google_api_key="k", bmo_models="google-live"))
    assert live.realtime
    assert (live.stt, live.tts) == (None, None)
    assert isinstance(live.llm, llm.RealtimeModel)
    assert live.llm.capabilities.user_transcription
    connect = live.llm._opts  # type: ignore[attr-defined]  # the plugin shows them nowhere else
    assert connect.context_window_compression.sliding_window is not None
    strings = voice_models(settings(livekit_api_key="k", livekit_api_secret="s", bmo_tts="a/b"))
    assert (strings.llm, strings.tts) == ("google/gemini-2.5-flash", "a/b")


def test_jobs_are_threads_on_the_embedded_store_and_processes_on_a_server() -> None:
    embedded = make_server(settings())
    assert embedded._job_executor_type is JobExecutorType.THREAD
    remote = make_server(settings(qdrant_url="http://127.0.0.1:6333"))
    assert remote._job_executor_type is JobExecutorType.PROCESS


def test_livekits_own_tools_find_the_server() -> None:
    from livekit.agents.__main__ import _discover_server

    found = _discover_server(str(ROOT / "bmo" / "worker.py"))
    assert isinstance(found, AgentServer)


async def test_in_the_console_the_user_is_the_settings_one() -> None:
    with fake_job_context() as context:
        assert await user_of(context, settings(bmo_user_id="glenn")) == "glenn"
        # LiveKit removes a job's directory at the end of the job.
        await context._on_cleanup()


@pytest.mark.parametrize(
    ("identity", "metadata", "trusted", "user"),
    [
        ("ana@example.org", "", False, "ana@example.org"),
        ("*", "", False, "id:::2a:"),
        ("device-7", "", False, "device-7"),
        ("device-7", "", True, "victim"),
        ("device-7", '{"bmo.user_id": "zoë"}', True, "id::zo:eb:"),
        ("device-7", '{"bmo.user_id": 7}', False, "device-7"),
        ("device-7", "[1]", False, "device-7"),
    ],
)
async def test_in_a_room_the_user_is_who_the_token_or_the_application_says(
    identity: str, metadata: str, trusted: bool, user: str
) -> None:
    """A participant may have set his attributes himself: they count by a setting alone."""
    participant = SimpleNamespace(identity=identity, attributes={"bmo.user_id": "victim"})

    async def wait_for_participant() -> SimpleNamespace:
        return participant

    fake = SimpleNamespace(
        is_fake_job=lambda: False,
        wait_for_participant=wait_for_participant,
        job=SimpleNamespace(metadata=metadata),
    )
    chosen = settings(bmo_trust_participant_attributes=trusted)
    assert await user_of(cast(JobContext, fake), chosen) == user
