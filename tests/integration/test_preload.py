"""What the processes of calls share: loaded in the fork server, whole and without threads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bmo.settings import load_settings
from bmo.worker import PRELOAD, make_server

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
FORK_SERVER = """
import multiprocessing, sys, threading

import tests.integration.test_preload as calls

if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([calls.PRELOAD])
    told = context.Queue()
    one = context.Process(target=calls.call, args=(sys.argv[1], told))
    one.start()
    print(told.get(timeout=120))
    one.join(60)
    print(one.exitcode)
"""


def call(home: str, told: object) -> None:
    """What a forked call finds, and that memory works in it."""
    loaded = {name for name in ("mem0", "qdrant_client", "onnxruntime") if name in sys.modules}
    from bmo.memory import MemoryService
    from bmo.turn import Turn

    service = MemoryService.open_blocking(load_settings(bmo_home=Path(home)))
    verdict = service.write_gate.decide(Turn("my brother is called sam")).verdict
    index = service.index
    assert index is not None
    service.close_blocking()
    told.put((sorted(loaded), verdict, index.backend))  # type: ignore[attr-defined]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LiveKit forks on Linux only")
def test_a_forked_call_finds_libraries_and_rules_and_memory_works_in_it(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FORK_SERVER, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        cwd=ROOT,
    )
    assert ran.stdout.splitlines() == ["(['mem0', 'qdrant_client'], 'allow', 'edge')", "0"], ran


def test_nothing_that_is_preloaded_starts_a_thread() -> None:
    looked = f"import {PRELOAD}, threading; print(threading.active_count())"
    ran = subprocess.run(
        [sys.executable, "-c", looked], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout.strip() == "1"


def test_wrong_settings_are_left_to_the_calls(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BMO_RECALL_TOP_K=many")
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    ran = subprocess.run(
        [sys.executable, "-c", f"import {PRELOAD}"], cwd=tmp_path, env=environment, check=False
    )
    assert ran.returncode == 0


def test_only_processes_preload() -> None:
    embedded = load_settings(qdrant_url=None)
    assert make_server(embedded)._preload_modules == []
    assert make_server(load_settings(qdrant_url="http://127.0.0.1:6333"))._preload_modules == [
        PRELOAD
    ]
