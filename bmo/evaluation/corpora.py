"""Lines written by others, read where they lie. They measure; none of them is part of BMO."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class CorpusError(ValueError):
    """A corpus file cannot be used; the message is one sentence that names it and the fix."""


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """One line of a corpus.

    Attributes:
        text: The words.
        label: "store", "discard", "search", "skip", "attack", "benign", ...
        source: Which data set it is from.
        reply: The assistant's words after it, or "".
    """

    text: str
    label: str
    source: str
    reply: str


def read_corpus(file: Path) -> Iterator[CorpusRow]:
    """Reads a file of JSON lines.

    Raises:
        CorpusError: A line is no row.
    """
    with file.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                text, label, source = (str(row[name]) for name in ("text", "label", "source"))
                read = CorpusRow(text, label, source, str(row.get("reply") or ""))
            except KeyError as missing:
                why = f"the row has no {missing}; see docs/measuring.md"
                raise CorpusError(f"{file}, line {number}: {why}") from None
            except (ValueError, TypeError, RecursionError):
                raise CorpusError(f"{file}, line {number}: is no JSON object") from None
            yield read
