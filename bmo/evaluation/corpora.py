"""Lines written by others, read where they lie. They measure; none of them is part of BMO."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class CorpusMissing(FileNotFoundError):
    """A corpus file is not there; the message names the path and the option that sets it."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """One line of a corpus.

    Attributes:
        id: Its id in the corpus.
        text: The words.
        label: "store", "discard", "search", "skip", "attack", "benign", ...
        source: Which data set it is from.
        category: Which kind of line within it, or "".
        extra: Every other field.
    """

    id: str
    text: str
    label: str
    source: str
    category: str
    extra: dict[str, Any]


def read_corpus(folder: Path, name: str) -> Iterator[CorpusRow]:
    """Reads ``folder/name.jsonl``.

    Raises:
        CorpusMissing: The file is not there.
    """
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        raise CorpusMissing(f"no corpus at {str(path)!r}: point --corpora to the folder with it")
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield CorpusRow(
                id=row.pop("id"),
                text=row.pop("text"),
                label=row.pop("label"),
                source=row.pop("source"),
                category=row.pop("category", "") or "",
                extra=row,
            )
