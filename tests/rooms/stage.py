"""A real LiveKit server, a worker and callers, each a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit import api

from bmo.ids import user_id_for
from bmo.ledger import Ledger
from bmo.settings import load_settings
from tests.deadlines import deadline

ROOT = Path(__file__).parents[2]
KEY, SECRET = "devkey", "secret-of-a-server-for-tests-only"
LONGEST_S = 120.0
"""Longest wait for anything: no test is about time."""

CONFIG = """
port: {port}
bind_addresses: [127.0.0.1]
keys: {{{key}: {secret}}}
rtc: {{tcp_port: {tcp}, udp_port: {udp}, use_external_ip: false, node_ip: 127.0.0.1}}
logging: {{level: warn}}
"""


def livekit_server() -> str | None:
    """The server's program: on PATH, or where ``go install`` puts it."""
    go = Path(os.environ.get("GOBIN") or Path.home() / "go" / "bin") / "server"
    return shutil.which("livekit-server") or (str(go) if go.exists() else None)


needs_rooms = pytest.mark.skipif(
    livekit_server() is None or shutil.which("flite") is None,
    reason="a real room: install livekit-server (go install "
    "github.com/livekit/livekit-server/cmd/server@v1.13.3) and flite",
)


def until(condition: Callable[[], Any], what: str, seconds: float = LONGEST_S) -> Any:
    """Waits for something of another process, and returns it."""
    ends = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < ends, f"{what} did not come"
        time.sleep(0.02)
    return found


class Process:
    """A process that prints JSON lines."""

    def __init__(self, command: list[str], log: Path, **options: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self._log = log
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                text=True,
                **options,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith('{"event"'):
                self.events.append(json.loads(line))
            else:
                with self._log.open("a") as log:
                    log.write(line)

    @property
    def log(self) -> str:
        """What it said to people."""
        return self._log.read_text(errors="replace")

    def faults(self) -> list[str]:
        """Errors of BMO's in its log, and tracebacks that go through it."""
        lines = [json.loads(line) for line in self.log.splitlines() if line.startswith("{")]
        return [
            f"{line['message']} {line.get('error', '')} {line.get('exc_info', '')}"
            for line in lines
            if (line["name"].startswith("bmo") and line["level"] == "ERROR")
            or f"{ROOT}/bmo/" in line.get("exc_info", "")
        ]

    def of(self, event: str, **fields: Any) -> list[dict[str, Any]]:
        """What it told of one kind."""
        return [
            one
            for one in tuple(self.events)
            if one["event"] == event and all(one.get(k) == v for k, v in fields.items())
        ]

    def until(self, event: str, count: int = 1, **fields: Any) -> dict[str, Any]:
        """Waits until it has told of something so many times; the latest of them."""
        what = f"{count}. {event!r} {fields} of {self.process.args!r}, log {self._log}"
        until(lambda: len(self.of(event, **fields)) >= count, what)
        return self.of(event, **fields)[-1]

    def kill(self, how: int = signal.SIGKILL) -> int:
        """Ends it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(LONGEST_S)
        finally:
            self.close()

    def close(self) -> None:
        """Ends it if it runs, and its pipes."""
        self.process.kill()
        self.process.wait(LONGEST_S)
        self._reader.join(LONGEST_S)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


class Caller(Process):
    """A participant (``tests.fakes.room_caller``)."""

    def __init__(
        self, stage: Stage, room: str, identity: str, claims: str = "", **grants: Any
    ) -> None:
        token = (
            api.AccessToken(KEY, SECRET)
            .with_identity(identity)
            .with_attributes({"bmo.user_id": claims} if claims else {})
            .with_grants(api.VideoGrants(room_join=True, room=room, **grants))
        )
        command = [sys.executable, "-m", "tests.fakes.room_caller", stage.url, token.to_jwt()]
        super().__init__(command, stage.folder / f"{room}-{len(stage.callers)}.log")
        self.identity, self._asked = identity, 0

    def do(self, command: str, **what: Any) -> None:
        """Lets the participant do something, and waits until it has."""
        done = len(self.of("did", do=command))
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": command, **what}) + "\n")
        self.process.stdin.flush()
        failed = until(
            lambda: len(self.of("did", do=command)) > done or self.of("failed"),
            f"{command} of {self.identity}",
        )
        assert failed is True, failed

    def replies(self) -> list[str]:
        """What the agent said so far, as its transcription has it."""
        texts = self.of("text", topic="lk.transcription")
        return [one["text"] for one in texts if one["who"].startswith("agent")]

    def asks(self, words: str, *, aloud: bool = False) -> str:
        """Says or types something; the agent's reply."""
        before = len(self.replies())
        self.do("say" if aloud else "type", words=words)
        until(lambda: len(self.replies()) > before, f"a reply to {words!r}")
        return self.replies()[before]

    def request(self, name: str, seconds: float = LONGEST_S, **fields: Any) -> str | None:
        """Asks the agent's session channel; None when no answer comes."""
        self._asked += 1
        asked = f"{self.identity}-{self._asked}"
        self.do("ask", id=asked, request=name, **fields)
        try:
            until(lambda: self.of("session", id=asked), name, seconds)
        except AssertionError:
            return None
        return str(self.of("session", id=asked)[0]["text"])

    def given(self) -> str:
        """All that it received, as one text."""
        return "\n".join(str(one.get("text", "")) for one in tuple(self.events))

    def leave(self) -> None:
        """Hangs up."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it was made to leave
            self.process.stdin.write('{"do": "leave"}\n')
            self.process.stdin.flush()
        self.process.wait(LONGEST_S)


class Stage:
    """A server and a worker on it, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.port = free_port()
        self.url = f"ws://127.0.0.1:{self.port}"
        self.server: Process | None = None
        self.workers: list[Process] = []
        self.callers: list[Caller] = []

    def start_server(self) -> None:
        """Starts the server, on the port it had before."""
        program = livekit_server()
        assert program is not None
        config = CONFIG.format(
            port=self.port, key=KEY, secret=SECRET, tcp=free_port(), udp=free_port()
        )
        self.server = Process([program, "--config-body", config], self.folder / "server.log")
        until(lambda: _listens(self.port), "the server")

    def worker(self, which: str = "five", *, ready: bool = True, **environment: str) -> Process:
        """Starts a worker and waits until LiveKit knows it."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("BMO_", "LIVEKIT_"))}
        given = {
            "LIVEKIT_URL": self.url,
            "LIVEKIT_API_KEY": KEY,
            "LIVEKIT_API_SECRET": SECRET,
            "BMO_HOME": str(self.home),
            "BMO_TEST_WORKER": which,
            "PYTHONPATH": str(ROOT),
        }
        started = Process(
            [sys.executable, "tests/fakes/room_worker.py", "start"],
            self.folder / f"worker-{len(self.workers)}.log",
            env={**kept, **deadline(), **given, **environment},
            start_new_session=True,
        )
        self.workers.append(started)
        until(lambda: "registered worker" in started.log, f"the worker, log {started._log}")
        if ready:
            until(lambda: "memory is open" in started.log, "memory")
        return started

    def join(self, room: str, identity: str, **grants: Any) -> Caller:
        """Lets somebody join a room."""
        caller = Caller(self, room, identity, **grants)
        self.callers.append(caller)
        caller.until("joined")
        return caller

    def call(self, room: str, identity: str, **grants: Any) -> Caller:
        """The same, and waits until the agent listens."""
        caller = self.join(room, identity, **grants)
        self.workers[-1].until("started", room=room)
        return caller

    def known(self, identity: str) -> set[str]:
        """What is in the ledger of somebody."""
        ledger = Ledger.open(load_settings(bmo_home=self.home).ledger_url)
        try:
            return {fact.text for fact in ledger.live_facts(user_id_for(identity))}
        finally:
            ledger.close()

    def users(self) -> set[str]:
        """Everybody of whom a turn is in the ledger."""
        ledger = Ledger.open(load_settings(bmo_home=self.home).ledger_url)
        try:
            return set(ledger.users())
        finally:
            ledger.close()

    def until_known(self, identity: str, *texts: str) -> None:
        """Waits until something of somebody is in the ledger."""
        until(lambda: set(texts) <= self.known(identity), f"{texts} of {identity!r}")

    def close(self) -> None:
        """Ends everything that was started."""
        for process in (*self.callers, *self.workers, self.server):
            if process is not None:
                process.close()


@contextmanager
def stage_in(folder: Path) -> Iterator[Stage]:
    """A server that runs until the end."""
    made = Stage(folder)
    try:
        made.start_server()
        yield made
    finally:
        made.close()


def free_port() -> int:
    """A port that nobody listens on, below those the system gives to connections."""
    while True:
        port = random.randint(20_000, 32_000)
        if not _listens(port):
            return port


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
