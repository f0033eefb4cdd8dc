"""Forgetting on a fleet: no worker has the words any more, not even one that died."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from bmo.index import MemoryIndex
from bmo.settings import Settings
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.qdrant_door import API_KEY, QdrantDoor
from tests.integration.memory_parts import bytes_with

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


class Worker:
    """A worker in a process of its own."""

    def __init__(self, home: Path, ledger_url: str, qdrant_url: str) -> None:
        self.home = home
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.integration.fleet_worker",
                str(home),
                ledger_url,
                qdrant_url,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert self._answer() == "ready"

    def ask(self, line: str) -> None:
        """Has something done, and waits until ledger and index have it."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert self._answer() == "done"

    def kill(self) -> None:
        """Ends it as a crash does."""
        self._process.kill()
        self._process.communicate()

    def close(self) -> None:
        """Lets it end by itself."""
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def fleet(tmp_path: Path, ledger_url: str, qdrant_url: str) -> Iterator[tuple[Worker, Worker]]:
    """Two workers with homes of their own."""
    first = Worker(tmp_path / "first", ledger_url, qdrant_url)
    try:
        second = Worker(tmp_path / "second", ledger_url, qdrant_url)
        try:
            yield first, second
        finally:
            second.kill()
    finally:
        first.kill()


def on_server(server: QdrantDoor, home: Path) -> list[str]:
    """Every memory text on the server."""
    settings = Settings(
        bmo_home=home,
        qdrant_url=server.url,
        qdrant_api_key=SecretStr(API_KEY),
        _env_file=None,  # type: ignore[call-arg]
    )
    index = MemoryIndex.open(settings, HashingEmbedder(64))
    try:
        return sorted(entry.text for entry in index.entries())
    finally:
        index.close()


def test_what_one_worker_forgets_no_worker_has(
    tmp_path: Path, ledger_url: str, server: QdrantDoor
) -> None:
    with fleet(tmp_path, ledger_url, server.url) as (first, second):
        first.ask("like zydeco")
        first.ask("like gumbo")
        second.ask("like okra")
        first.kill()
        second.ask("forget zydeco")
        assert on_server(server, tmp_path / "looking") == ["Likes gumbo", "Likes okra"]
        for word in ("zydeco", "gumbo", "okra"):
            for worker in (first, second):
                assert bytes_with(worker.home, word) == []
        assert bytes_with(tmp_path, "zydeco") == []
        second.ask("forget-all")
        assert on_server(server, tmp_path / "looking") == []
        second.close()
        for word in ("zydeco", "gumbo", "okra"):
            assert bytes_with(tmp_path, word) == []


def test_a_history_file_of_an_earlier_version_is_removed(
    tmp_path: Path, ledger_url: str, server: QdrantDoor
) -> None:
    old = tmp_path / "first" / "mem0" / "history-bmo-some-384.db"
    old.parent.mkdir(parents=True)
    old.write_text("Likes zydeco")
    with fleet(tmp_path, ledger_url, server.url):
        assert bytes_with(tmp_path, "zydeco") == []
