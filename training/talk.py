"""Writes natural speech of the kinds that measurements showed weak: ``python -m training.talk``.

``talk.toml`` holds lines by what is right for them; each is written out a few times with other
words, with a fixed seed, into ``data/n.jsonl``. Memories only name the category.
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

LINES = Path(__file__).parent / "talk.toml"
TARGET = DATA / "n.jsonl"
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


def rows(lines: Mapping[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """Every line in ``take`` different writings (fewer where it has fewer)."""
    found: list[dict[str, Any]] = []
    for kind in ("allow", "hold", "discard", "recall"):
        for line in lines[kind]:
            coded = _CODED.match(line) if kind == "allow" else None
            if kind == "allow" and coded is None:
                raise SystemExit(f"{LINES}: no category before {line!r}; write one of {CODES}")
            facts = [[CODES[code], ""] for code in coded[1]] if coded else []
            words = coded[2] if coded else line
            taken = {written_out(words, {}, rng)[0] for _ in range(lines["take"])}
            found += [_row(said, kind, facts) for said in sorted(taken)]
    rng.shuffle(found)
    return [{"c": f"n-{n:04}", "s": 0, **row} for n, row in enumerate(found, 1)]


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
    written = rows(tomllib.loads(LINES.read_text("utf-8")), random.Random(SEED))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written)
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(written)} lines")


if __name__ == "__main__":
    main()
