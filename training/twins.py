"""Writes out the patterns of near-twins: ``python -m training.twins``.

``twins.toml`` holds lines that look alike and are not ("how long can i keep rice", "how do i like
my rice"); each is written out with other words a few times, with a fixed seed, into
``data/l.jsonl``.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.turns import DATA

PATTERNS = Path(__file__).parent / "twins.toml"
TARGET = DATA / "l.jsonl"
SEED = 20260304

_CHOICE = re.compile(r"\{([^{}]+)\}")


def written_out(
    line: str, words: Mapping[str, Sequence[str]], rng: random.Random
) -> tuple[str, str]:
    """One writing of a line: the user's words and the memory ("" without " => ").

    A name chosen in the user's words is the same in the memory.
    """
    chosen: dict[str, str] = {}

    def pick(match: re.Match[str]) -> str:
        key = match[1]
        if key not in chosen:
            chosen[key] = rng.choice(words[key] if key in words else key.split("|"))
        return chosen[key]

    said, _, memory = line.partition(" => ")
    said, memory = said.strip(), memory.strip()
    while _CHOICE.search(said) or _CHOICE.search(memory):  # a choice may hold a word to choose
        said, memory = _CHOICE.sub(pick, said), _CHOICE.sub(pick, memory)
    return said, memory[:1].upper() + memory[1:]


def rows(patterns: Mapping[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """Every line of every kind in ``take`` different writings (fewer where it has fewer)."""
    found: list[dict[str, Any]] = []
    for kind in patterns["kind"]:
        for line in kind["lines"]:
            taken = {written_out(line, patterns["words"], rng) for _ in range(kind["take"])}
            for said, memory in sorted(taken):
                found.append(
                    {
                        "user": said,
                        "assistant": "",
                        "verdict": kind["verdict"],
                        "facts": [[kind["category"], memory]] if "category" in kind else [],
                        "recall": kind["recall"],
                    }
                )
    rng.shuffle(found)
    return [{"c": f"l-{n:04}", "s": 0, **row} for n, row in enumerate(found, 1)]


def main() -> None:
    """Reads the patterns, writes the lines."""
    written = rows(tomllib.loads(PATTERNS.read_text("utf-8")), random.Random(SEED))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written)
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(written)} lines")


if __name__ == "__main__":
    main()
