"""No call waits for memory or dies of it, whenever it comes and whatever is wrong."""

from __future__ import annotations

import pytest

from tests.rooms.stage import Stage, needs_rooms, until

pytestmark = [pytest.mark.rooms, needs_rooms]

TELLS, ASKS, SAM = "my brother is called sam", "what is my brother called", "It is Sam."
BROTHER = "Has a brother named Sam"
NOTHING = "I do not know."


def test_a_call_that_comes_before_memory_is_open_is_given_it_later(bare: Stage) -> None:
    told = bare.folder / "open"
    worker = bare.worker(ready=False, BMO_TEST_OPENS_AT=str(told))
    short = bare.join("short", "sue")
    worker.until("memory", room="short")
    short.leave()  # hangs up while memory opens
    ana = bare.call("early", "ana")
    assert ana.asks(TELLS) == NOTHING
    assert ana.asks(ASKS) == NOTHING
    assert "memory is open" not in worker.log
    told.touch()
    bare.until_known("ana", BROTHER)  # what was said before was kept
    assert ana.asks(ASKS) == SAM
    ana.leave()
    assert worker.faults() == []


def test_the_example_remembers(bare: Stage) -> None:
    """The README's lines as they are, without a line for what a test wants."""
    worker = bare.worker("example")
    reply = ""
    for room in ("one", "two"):
        ana = bare.join(room, "ana")
        ana.until("track")
        reply = ana.asks(TELLS if room == "one" else ASKS)
        bare.until_known("ana", BROTHER)
        ana.leave()
    assert reply == SAM
    assert worker.faults() == []


def test_without_the_threads_line_calls_go_on_and_the_log_names_it(bare: Stage) -> None:
    worker = bare.worker("processes", ready=False)
    ana, ben = bare.call("first", "ana"), bare.call("second", "ben")
    for caller in (ana, ben):
        caller.asks(TELLS)
    until(lambda: bare.known("ana") | bare.known("ben"), "the memory of the first")
    until(worker.faults, "the sentence")
    (said,) = worker.faults()
    assert "has no memory" in said
    assert "in use by process" in said
    assert "AgentServer(job_executor_type=JobExecutorType.THREAD" in said
    assert [ana.asks(ASKS), ben.asks(ASKS)].count(SAM) == 1


def test_a_store_that_cannot_be_opened_ends_no_call(bare: Stage) -> None:
    (bare.folder / "file").touch()
    worker = bare.worker(ready=False, BMO_HOME=str(bare.folder / "file" / "home"))
    ana = bare.call("broken", "ana")
    assert ana.asks(TELLS) == NOTHING
    assert ana.asks(f"look up {ASKS}") == NOTHING
    (said,) = worker.faults()
    assert "has no memory" in said
    assert "BMO_HOME=" in said
    assert "is a file: name a folder" in said
    assert "Traceback" not in said
