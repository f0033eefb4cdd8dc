"""Writes natural speech of the kinds that measurements showed weak: ``python -m training.talk``.

``talk.toml`` and the files after it (``LINES``) hold lines by what is right for them; each is
written out a few times with other words, with a fixed seed, into ``n.jsonl`` and so on. Memories
only name the category.
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
from training.twins import written_out

LINES = {
    "n": "talk.toml",
    "q": "asides.toml",
    "r": "news.toml",
    "s": "reports.toml",
    "t": "borders.toml",
    "u": "world.toml",
    "x": "customs.toml",
}
"""File that gets the turns: file with the lines."""
SEED = 20260308

CODES = {
    "r": "relationships",
    "p": "preferences",
    "g": "goals",
    "f": "personal_facts",
    "w": "policies",
    "d": "decisions",
}
_CODED = re.compile(r"([rpgfwd]{1,2}): (.*)")


def rows(lines: Mapping[str, Any], rng: random.Random, name: str = "n") -> list[dict[str, Any]]:
    """Every line in ``take`` different writings (fewer where it has fewer).

    Args:
        lines: A file with lines, read; ``words`` in it are names for longer choices.
        rng: Source of chance.
        name: Of the file that gets the turns.

    Raises:
        SystemExit: A line that is to be kept names no category.
    """
    found: list[dict[str, Any]] = []
    named = lines.get("words", {})
    for kind in ("allow", "hold", "discard", "recall"):
        for line in lines[kind]:
            coded = _CODED.match(line) if kind == "allow" else None
            if kind == "allow" and coded is None:
                raise SystemExit(
                    f"{LINES[name]}: no category before {line!r}; write one of {CODES}"
                )
            facts = [[CODES[code], ""] for code in coded[1]] if coded else []
            words = coded[2] if coded else line
            taken = {written_out(words, named, rng)[0] for _ in range(lines["take"])}
            found += [_row(said, kind, facts) for said in sorted(taken)]
    rng.shuffle(found)
    return [{"c": f"{name}-{n:04}", "s": 0, **row} for n, row in enumerate(found, 1)]


def target_of(name: str) -> Path:
    """Where a file of turns lies."""
    return DATA / f"{name}.jsonl"


def _row(said: str, kind: str, facts: Sequence[Sequence[str]]) -> dict[str, Any]:
    asked, bar, answer = said.partition(" >> ")
    row = {
        "user": answer if bar else said,
        "assistant": "",
        "verdict": "discard" if kind == "recall" else kind,
        "facts": [list(fact) for fact in facts],
        "recall": kind == "recall",
    }
    return {**row, "assistant_before": asked} if bar else row


def main() -> None:
    """Reads the lines, writes the turns."""
    for name, source in LINES.items():
        lines = tomllib.loads((Path(__file__).parent / source).read_text("utf-8"))
        written = rows(lines, random.Random(SEED), name)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written)
        target_of(name).write_text(text, encoding="utf-8")
        print(f"{name}.jsonl: {len(written)} turns from {source}")


if __name__ == "__main__":
    main()
