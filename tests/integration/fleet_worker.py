"""One worker of a fleet: its own home, the ledger and the Qdrant server of all.

Usage: ``python -m tests.integration.fleet_worker HOME LEDGER_URL QDRANT_URL``. Each line on stdin
is done, and answered with "done", when ledger and index have it: ``like WORD``, ``forget WORD``,
``forget-all``. At the end of stdin it closes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.fakes.qdrant_door import API_KEY
from tests.fakes.speaker import allowed, forget, gone, likes, turn
from tests.integration.memory_parts import Parts, open_parts


def work(parts: Parts, command: str, word: str) -> None:
    """Does what one line asks for."""
    said = turn(f"{command} {word}")
    if command == "like":
        parts.say(said, allowed(said.text, likes(word)))
    elif command == "forget":
        known = [fact for fact in parts.ledger.live_facts("ana") if fact.value == word]
        parts.say(said, forget(said.text, gone(*known, text=word, scope="memory")))
    else:
        parts.recorder.call(parts.ledger.erase_user, "ana").result(30)
    parts.settled()


def main(home: str, ledger_url: str, qdrant_url: str) -> None:
    """Works until stdin ends."""
    network: dict[str, Any] = {
        "bmo_ledger_url": ledger_url,
        "qdrant_url": qdrant_url,
        "qdrant_api_key": API_KEY,
    }
    with open_parts(Path(home), **network) as parts:
        print("ready", flush=True)
        for line in sys.stdin:
            command, _, word = line.strip().partition(" ")
            work(parts, command, word)
            print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4])
