"""A process to be killed: records facts as fast as it can and says which are acknowledged.

Usage: ``python -m tests.integration.crash_writer HOME RUN``. Each line on stdout names a fact
whose future was done ("add <text>", "end <text>"), or what is about to be asked for
("ask <text>": forgetting it may happen without having been acknowledged).
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from tests.fakes.speaker import allowed, fact, forget, gone, lives_in, turn
from tests.integration.memory_parts import open_parts


def main(home: Path, run: str) -> None:
    """Records until it is killed."""
    with open_parts(home) as parts:
        for number in count():
            word = f"r{run}n{number}"
            said = f"Collects stamps of {word}"
            told = fact(said, "preferences", slot="collects", value=word)
            recorded = parts.say(turn(said), allowed(said, told))
            print(f"add {said}", flush=True)
            if number % 5 == 1:
                old = parts.ledger.live_facts("ana", slots=["lives_in"])
                parts.say(
                    turn(word),
                    allowed(word, lives_in(f"Place {word}", ends=tuple(one.id for one in old))),
                )
                print(f"add Lives in Place {word}", flush=True)
                for fact_before in old:
                    print(f"end {fact_before.text}", flush=True)
            if number % 7 == 6:
                request = gone(recorded.added[0], scope="memory")
                print(f"ask {said}", flush=True)
                parts.say(turn(f"forget {word}"), forget(f"forget {word}", request))
                print(f"end {said}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
