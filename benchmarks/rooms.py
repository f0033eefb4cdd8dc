"""Calls in real rooms: what a caller notices of memory, on and off turn about.

    python -m benchmarks.rooms [TURNS]

Needs livekit-server and flite (``tests/rooms``). One server and two workers in turn, with the
README's five lines and without memory. Of each spoken turn: from the end of speech to the first
sound of the reply at the caller, and calls of the model. Of each worker: seconds from its start to
a memory that is open, from a job's start to the first sound (first call and later ones), stalls of
the event loop that LiveKit logs, and resident memory before and with six rooms.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.rooms.stage import Caller, Process, Stage, livekit_server, stage_in, until

ROUNDS = 1
ASKS = "what is my brother called"
ROOMS = 6


def main(turns: int) -> None:
    if livekit_server() is None:
        sys.exit("benchmarks.rooms needs livekit-server: see tests/rooms/stage.py")
    reply: dict[str, list[float]] = {"plain": [], "five": []}
    first: dict[str, list[float]] = {"plain": [], "five": []}
    later: dict[str, list[float]] = {"plain": [], "five": []}
    with tempfile.TemporaryDirectory() as folder, stage_in(Path(folder)) as stage:
        for number in range(ROUNDS):
            for which in reply:
                name = f"{which}{number}"
                began = time.time()
                worker = stage.worker(which, ready=False)
                known = time.time() - began
                first[which].append(_first_sound(stage, worker, f"{name}-first"))
                if which == "five":
                    until(lambda log=worker: "memory is open" in log.log, "memory")  # type: ignore[misc]
                    opened = time.time() - began
                    print(f"{name}: registered after {known:.1f} s, memory open after {opened:.1f}")
                later[which] += [_first_sound(stage, worker, f"{name}-{n}") for n in range(2)]
                before = _resident(worker)
                caller = stage.call(f"{name}-talk", "ana")
                caller.asks("my brother is called sam")
                calls = len(worker.of("model"))
                reply[which] += [_reply(caller) for _ in range(turns)]
                made = len(worker.of("model")) - calls
                caller.leave()
                stalls = worker.log.count("event loop blocked")
                many = [stage.call(f"{name}-many{n}", f"u{n}") for n in range(ROOMS)]
                each = (_resident(worker) - before) / ROOMS
                for one in many:
                    one.leave()
                print(
                    f"{name}: {turns} turns, {made} calls of the model, "
                    f"{stalls} stalls over 100 ms, {before:.0f} MB, {each:.0f} MB a room"
                )
                worker.kill()
    for title, figures in (
        ("end of speech to first sound at the caller", reply),
        ("job's start to first sound, a worker's first call", first),
        ("job's start to first sound, later calls", later),
    ):
        for which, values in figures.items():
            memory = "on" if which == "five" else "off"
            median, most = statistics.median(values) * 1000, max(values) * 1000
            print(f"{title}, memory {memory}:", end=" ")
            print(f"median {median:.0f} ms, most {most:.0f} (n {len(values)})")


def _reply(caller: Caller) -> float:
    """One spoken question: seconds from its end to the reply's first sound."""
    sounds, said, quiet = (len(caller.of(one)) for one in ("sound", "said", "silence"))
    caller.do("say", words=ASKS)
    caller.until("sound", sounds + 1)
    caller.until("silence", quiet + 1)
    return float(caller.of("sound")[sounds]["at"] - caller.of("said")[said]["at"])


def _first_sound(stage: Stage, worker: Process, room: str) -> float:
    """Seconds from a job's start to the first sound of its greeting at the caller."""
    caller = stage.join(room, f"caller-{room}")
    caller.until("sound")
    began = worker.until("job", room=room)["at"]
    caller.leave()
    return float(caller.of("sound")[0]["at"] - began)


def _resident(worker: Process) -> float:
    """Megabytes of a worker's process."""
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
