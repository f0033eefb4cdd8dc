"""A process to be killed: records facts as fast as it can and says which are acknowledged.

Forked from a process that has loaded everything. Each line it tells names a fact whose future was
done ("add <text>", "end <text>"), or what is about to be asked for ("ask <text>": forgetting it may
happen without having been acknowledged).
"""

from __future__ import annotations

from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from tests.fakes.speaker import allowed, fact, forget, gone, lives_in, turn
from tests.integration.memory_parts import open_parts


def write(home: Path, run: int, told: Connection[str, str]) -> None:
    """Records until it is killed."""
    with open_parts(home) as parts:
        for number in count():
            word = f"r{run}n{number}"
            said = f"Collects stamps of {word}"
            collects = fact(said, "preferences", slot="collects", value=word)
            recorded = parts.say(turn(said), allowed(said, collects))
            told.send(f"add {said}")
            if number % 5 == 1:
                old = parts.ledger.live_facts("ana", slots=["lives_in"])
                parts.say(
                    turn(word),
                    allowed(word, lives_in(f"Place {word}", ends=tuple(one.id for one in old))),
                )
                told.send(f"add Lives in Place {word}")
                for fact_before in old:
                    told.send(f"end {fact_before.text}")
            if number % 7 == 6:
                request = gone(recorded.added[0], scope="memory")
                told.send(f"ask {said}")
                parts.say(turn(f"forget {word}"), forget(f"forget {word}", request))
                told.send(f"end {said}")
