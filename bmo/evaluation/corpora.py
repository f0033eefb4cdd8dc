"""Lines written by others, read where they lie. They measure; none of them is part of BMO."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class CorpusError(ValueError):
    """A corpus file cannot be used; the message is one sentence that names it and the fix."""


class _Fields(dict[str, Any]):
    """The fields of a row; one that is missing ends in a sentence."""

    where: str

    def __missing__(self, name: str) -> Any:
        raise CorpusError(f"{self.where}: the row has no {name!r}; see docs/measuring.md")


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """One line of a corpus.

    Attributes:
        id: Its id in the corpus.
        text: The words.
        label: "store", "discard", "search", "skip", "attack", "benign", ...
        source: Which data set it is from.
        category: Which kind of line within it, or "".
        extra: All fields.
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
        CorpusError: The file is not there, or a line is no row; a row that lacks a field raises it
            where the field is asked for.
    """
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        raise CorpusError(f"no corpus at {str(path)!r}: point --corpora to the folder with it")
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}, line {number}"
            try:
                row = json.loads(line, object_hook=_Fields)
            except ValueError:
                row = None
            if not isinstance(row, _Fields):
                raise CorpusError(f"{where}: is no JSON object")
            row.where = where
            yield CorpusRow(
                id=row["id"],
                text=str(row["text"]),
                label=row["label"],
                source=row["source"],
                category=row.get("category") or "",
                extra=row,
            )
