"""Annotated turns as training rows: reading them, their context, and what is left out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bmo.turn import CATEGORIES

DATA = Path(__file__).parent / "data"
LEFT_OUT = DATA / "left_out.txt"
"""Digests of turns too near to a measuring set; written by ``training.near_duplicates``."""

VERDICTS = ("allow", "hold", "discard")
HELD_OUT = 12
"""One conversation of so many is not trained on; calibration and thresholds are chosen on it."""
TESTED = {"v": 3, "y": 3}
"""Files of which one conversation of so many is kept for tests alone, and how many."""


@dataclass(frozen=True, slots=True)
class TrainingTurn:
    """One annotated turn.

    Attributes:
        file: Stem of the file it is from ("a").
        conversation: Its conversation, unique within the file.
        context: The assistant's words just before it, or "".
        text: The user's words.
        verdict: Index into ``VERDICTS``.
        categories: One truth value per category, or None when no fact is annotated.
        recall: Whether a good reply needs memory.
        facts: Canonical memories as annotated.
        kinds: Of each memory its category, in the order of ``facts``.
    """

    file: str
    conversation: str
    context: str
    text: str
    verdict: int
    categories: tuple[bool, ...] | None
    recall: bool
    facts: tuple[str, ...]
    kinds: tuple[str, ...] = ()


def normal_form(text: str) -> str:
    """Lower case, letters and digits only, single spaces: what two writings of a line share."""
    return " ".join(re.findall(r"\w+", text.lower().replace("'", "").replace("’", "")))


def digest(text: str) -> str:
    """Sixteen hexadecimal digits that stand for a line in any case and punctuation."""
    return hashlib.sha256(normal_form(text).encode()).hexdigest()[:16]


def is_held_out(turn: TrainingTurn) -> bool:
    """Whether a turn's conversation is kept from every training, for calibration or tests."""
    every = TESTED.get(turn.file, HELD_OUT)
    return int(digest(f"{turn.file} {turn.conversation}"), 16) % every == 0


def read_turns(folder: Path = DATA, *, left_out: Path | None = LEFT_OUT) -> list[TrainingTurn]:
    """Reads every ``*.jsonl`` of a folder, in the order of names.

    Args:
        folder: Where the annotated turns are.
        left_out: File of digests to leave out, or None to read everything.

    Returns:
        The turns; exact repetitions (same context, same words) only once.
    """
    barred = set(left_out.read_text().split()) if left_out and left_out.exists() else set()
    seen: set[tuple[str, str]] = set()
    turns = []
    for path in sorted(folder.glob("*.jsonl")):
        for turn in _read_file(path):
            key = (normal_form(turn.context), normal_form(turn.text))
            if key not in seen and digest(turn.text) not in barred:
                seen.add(key)
                turns.append(turn)
    return turns


def _read_file(path: Path) -> Iterator[TrainingTurn]:
    visit, before = None, ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            if (row["c"], row["s"]) != visit:
                visit, before = (row["c"], row["s"]), ""
            facts = row["facts"]
            named = {category for category, _ in facts}
            if unknown := named - set(CATEGORIES):
                raise ValueError(f"unknown category {unknown.pop()!r}")
            yield TrainingTurn(
                file=path.stem,
                conversation=str(row["c"]),
                context=before or row.get("assistant_before", ""),
                text=row["user"],
                verdict=VERDICTS.index(row["verdict"]),
                categories=tuple(c in named for c in CATEGORIES) if named else None,
                recall=bool(row["recall"]),
                facts=tuple(memory for _, memory in facts),
                kinds=tuple(category for category, _ in facts),
            )
            before = row["assistant"]
        except (KeyError, ValueError, TypeError) as error:
            raise SystemExit(f"{path}:{number}: not an annotated turn ({error})") from error
