"""Processor time of a recorded turn and of a recall; ``python -m benchmarks.turn_cpu [REPEATS]``.

What a turn holds of the interpreter is what other sessions wait for, so this counts processor time
of one thread and not the clock: the annotated conversations' turns are decided first, then recorded
on a real ledger and a real Edge index, all parts called on this thread one after the other, as the
recorder and the recall threads do. What the embedder computes is counted apart: it gives the
interpreter away meanwhile. The best of ``REPEATS`` fresh memories counts.

``python -m benchmarks.turn_cpu 1 write`` (or ``read``) shows where it goes, function by function.
"""

from __future__ import annotations

import cProfile
import gc
import itertools
import logging
import pstats
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import yaml

from bmo.memory import MemoryService
from bmo.memory.visit import read_known
from bmo.recorder.near_facts import NearFacts
from bmo.recorder.upkeep import Upkeep
from bmo.settings import load_settings
from bmo.turn import Decision, DialogueContext, Recall, Turn, utc_now

SCENARIOS = Path(__file__).resolve().parent.parent / "tests" / "scenarios"
TURNS = 300
USERS = 4
EMBEDDER = "embedder"
QUESTIONS = (
    "what is my brother called",
    "suggest a dinner for me",
    "what do you know about me",
    "what should i get my brother for his birthday",
    "where do i work now",
    "what is my dog called",
)

_T = TypeVar("_T")


class Clock:
    """Processor time of this thread by what was done, in seconds."""

    def __init__(self) -> None:
        """Nothing counted."""
        self.spent: dict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Counts what the block takes, without the embedder."""
        began, embedded = time.thread_time(), self.spent[EMBEDDER]
        try:
            yield
        finally:
            embedded = self.spent[EMBEDDER] - embedded
            self.spent[part] += time.thread_time() - began - embedded

    def embedding(self, embed: Callable[[Any], _T]) -> Callable[[Any], _T]:
        """The embedder's call, counted apart."""

        def counted(texts: Any) -> _T:
            began = time.thread_time()
            try:
                return embed(texts)
            finally:
                self.spent[EMBEDDER] += time.thread_time() - began

        return counted


class Inline:
    """Calls the index on this thread, where its time is counted."""

    def call(self, fn: Callable[[], _T], timeout_s: float) -> _T:
        """Calls ``fn``."""
        return fn()

    def close(self) -> None:
        """Nothing to end."""


def said() -> list[tuple[str, str]]:
    """(assistant's words before, user's words) of English turns."""
    found: list[tuple[str, str]] = []
    for path in sorted(SCENARIOS.glob("*.turns.yaml")):
        story = yaml.safe_load(path.read_text("utf-8"))
        if story.get("language", "en") != "en":
            continue
        before = ""
        for session in story["sessions"]:
            for turn in session["turns"]:
                found.append((before, turn["user"]))
                before = turn.get("assistant", "")
    return found[:: max(1, len(found) // TURNS)][:TURNS]


def decided(service: MemoryService) -> list[tuple[Turn, Decision]]:
    """Every turn with the gate's word on it."""
    pairs: list[tuple[Turn, Decision]] = []
    now = utc_now()
    for number, (before, text) in enumerate(said()):
        turn = Turn(
            text,
            user_id=f"user{number % USERS}",
            session_id=f"visit{number % USERS}",
            at=now + timedelta(seconds=number),
            assistant_before=before,
        )
        pairs.append((turn, service.write_gate.decide(turn, DialogueContext())))
    return pairs


class Pass:
    """One fresh memory that is talked to, part by part, on this thread."""

    def __init__(self, service: MemoryService, clock: Clock) -> None:
        """Nothing is said yet.

        Args:
            service: An open one that was warmed up.
            clock: Counts.
        """
        self.counts: dict[str, int] = defaultdict(int)
        self._service = service
        self._clock = clock
        self._given: Recall | None = None
        self._questions = itertools.cycle(QUESTIONS)
        index: Any = service.index
        inline: Any = Inline()
        self._near = NearFacts(index, inline)
        self._upkeep = Upkeep(service.ledger, index, inline, keep_days=30, raw_elsewhere=False)
        self._upkeep.catch_up()

    def record(self, turn: Turn, decision: Decision) -> None:
        """What the recorder's thread does for a turn."""
        clock, counts, ledger = self._clock, self.counts, self._service.ledger
        with clock.of("record"):
            recorded = ledger.record(turn, decision, near=self._near, mode="local")
        with clock.of("note reply"):
            ledger.note_reply(turn.user_id, turn.id, "I see, thanks.")
        if self._given is not None and self._given.memories:
            with clock.of("note recall"):
                ledger.record_recall(turn, self._given)
            counts["note recall"] += 1
        with clock.of("catch up"):
            self._upkeep.catch_up()
            self._upkeep.sleep_s()
        counts["facts"] += len(recorded.added)
        for part in ("record", "note reply", "catch up"):
            counts[part] += 1

    def ask(self, said: Turn) -> None:
        """What a recall thread does for a question."""
        service, counts = self._service, self.counts
        asked = Turn(next(self._questions), user_id=said.user_id, at=said.at)
        familiar = partial(service.recaller.familiarity, user_id=said.user_id, now=said.at)
        with self._clock.of("recall"):
            plan = service.read_gate.plan(asked, familiar=familiar)
            if not plan.recall:
                plan = replace(plan, recall=True, budget_tokens=200, query=asked.text)
            self._given = service.recaller.recall(plan, said.user_id, said.at)
        with self._clock.of("dialogue"):
            read_known(service, said.user_id)
        counts["recall"] += 1
        counts["dialogue"] += 1
        counts["memories"] += len(self._given.memories)

    def end(self) -> None:
        """Ends the upkeep's threads."""
        self._upkeep.release()


def one_pass(
    clock: Clock, writing: cProfile.Profile | None = None, reading: cProfile.Profile | None = None
) -> dict[str, int]:
    """Records all turns in a fresh memory and asks a question after each fifth.

    Args:
        clock: Counts the parts.
        writing: Looks at what is done for turns.
        reading: Looks at what is done for questions.

    Returns:
        How often each part was done.
    """
    with tempfile.TemporaryDirectory() as home:
        service = MemoryService.open_blocking(load_settings(bmo_home=Path(home)))
        try:
            service.warm_up()
            pairs = decided(service)
            index: Any = service.index
            index.embedder.embed = clock.embedding(index.embedder.embed)
            for number in range(USERS):
                index.preload(f"user{number}")
            talk = Pass(service, clock)
            gc.collect()
            gc.disable()
            for number, (turn, decision) in enumerate(pairs):
                with writing or nullcontext():
                    talk.record(turn, decision)
                if number % 5 == 4:
                    with reading or nullcontext():
                        talk.ask(turn)
            gc.enable()
            talk.end()
        finally:
            service.close_blocking()
    return talk.counts


def main() -> None:
    """Prints milliseconds of processor time a turn, part by part."""
    logging.getLogger("bmo").setLevel(logging.ERROR)
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    if len(sys.argv) > 2:
        profile = cProfile.Profile(time.thread_time)
        write = sys.argv[2] == "write"
        one_pass(Clock(), profile if write else None, None if write else profile)
        stats = pstats.Stats(profile)
        stats.sort_stats("tottime").print_stats(45)
        stats.sort_stats("cumulative").print_stats(90)
        return
    best: dict[str, float] = {}
    counts: dict[str, int] = {}
    for _ in range(repeats):
        clock = Clock()
        counts = one_pass(clock)
        for part, spent in clock.spent.items():
            best[part] = min(best.get(part, spent), spent)
    turns = counts["record"]
    print(f"{turns} turns, {counts['facts']} facts, {counts['recall']} recalls", end="; ")
    print(f"{counts['memories']} memories given")
    for part, spent in best.items():
        times = counts.get(part, turns)
        print(f"{part:12} {1000 * spent / times:8.3f} ms each of {times}")
    written = sum(best[p] for p in ("record", "note reply", "note recall", "catch up") if p in best)
    print(f"a recorded turn, all in: {1000 * written / turns:.3f} ms")


if __name__ == "__main__":
    main()
