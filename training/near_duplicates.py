"""Finds training turns near a measuring set: ``python -m training.near_duplicates FOLDER...``.

Writes the digests of those turns to ``training/data/left_out.txt``, which training obeys, and
prints how many there are. The measuring sets themselves are needed only to run this. Two lines
are near when their words are the same, or when they have four words or more and share at least
``NEAR`` of their words and word pairs (Jaccard). Lines of one or two words ("thanks") belong to
nobody and stay.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import yaml

from training.turns import LEFT_OUT, digest, normal_form, read_turns

NEAR = 0.7


def measuring_lines(folder: Path) -> Iterator[str]:
    """The words of every conversation (``*.yaml``) and corpus (``*.jsonl``) in a folder."""
    for path in sorted(folder.glob("*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        sessions = data.get("sessions", ()) if isinstance(data, dict) else ()
        for session in sessions:
            yield from (turn["user"] for turn in session["turns"])
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)["text"]


def parts(text: str) -> frozenset[str]:
    """Words and neighbouring word pairs of a line."""
    words = normal_form(text).split()
    return frozenset(words) | {f"{a} {b}" for a, b in pairwise(words)}


class NearLines:
    """Measuring lines by their rarest parts, so that a look-up touches few of them."""

    def __init__(self, lines: Iterator[str]) -> None:
        """Reads the lines once."""
        self._same: set[str] = set()
        self._lines: list[frozenset[str]] = []
        self._by_part: dict[str, list[int]] = defaultdict(list)
        for line in lines:
            normal = normal_form(line)
            if normal not in self._same:
                self._same.add(normal)
                self._lines.append(parts(line))
                for part in self._lines[-1]:
                    self._by_part[part].append(len(self._lines) - 1)

    def has(self, text: str) -> bool:
        """Whether a line near to ``text`` is among them."""
        words = normal_form(text).split()
        if len(words) < 3:
            return False
        if normal_form(text) in self._same:
            return True
        if len(words) < 4:
            return False
        mine = parts(text)
        shared: dict[int, int] = defaultdict(int)
        for part in mine:
            for number in self._by_part.get(part, ()):
                shared[number] += 1
        return any(
            count / (len(mine) + len(self._lines[number]) - count) >= NEAR
            for number, count in shared.items()
        )


def main() -> None:
    """Compares, writes and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folders with measuring sets")
    folders = parser.parse_args().folders
    near = NearLines(line for folder in folders for line in measuring_lines(folder))
    turns = read_turns(left_out=None)
    found = [turn for turn in turns if near.has(turn.text)]
    LEFT_OUT.write_text("".join(f"{d}\n" for d in sorted({digest(t.text) for t in found})))
    by_file: dict[str, int] = defaultdict(int)
    for turn in found:
        by_file[turn.file] += 1
    print(f"{len(found)} of {len(turns)} training turns are left out as near a measuring line:")
    print(", ".join(f"{name} {count}" for name, count in sorted(by_file.items())))


if __name__ == "__main__":
    main()
