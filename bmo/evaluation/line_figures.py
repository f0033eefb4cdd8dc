"""Figures on lines by other people, each on its own: what is stored of noise, facts and attacks.

The lines are read where they lie. They measure; none of them is part of BMO.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bmo.evaluation.metrics import Share, share
from bmo.turn import Decision, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.recall import ReadGate

WRITE = ("noise", "durable", "injection", "locomo_turns")
READ = ("read_negative", "read_positive")
"""Files of lines for each gate; those that the folder has are read."""


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


def line_figures(write: WriteGate, read: ReadGate, folder: Path) -> dict[str, Share]:
    """Runs the lines of a folder through the gates.

    Returns:
        Name of the figure, with ": source" where the lines are from several -> share.

    Raises:
        CorpusError: The folder has none of the files, or a line of one is no row.
    """
    outcomes: dict[str, list[bool]] = defaultdict(list)
    present = [name for name in (*WRITE, *READ) if (folder / f"{name}.jsonl").is_file()]
    if not present:
        raise CorpusError(
            f"no lines in {str(folder)!r}: point --corpora to a folder with "
            f"{', '.join(f'{name}.jsonl' for name in (*WRITE, *READ))}, or some of them"
        )
    for name in present:
        for row in _read(folder / f"{name}.jsonl"):
            if name in READ:
                outcomes[f"{name} searched"].append(read.plan(Turn(text=row.text)).recall)
                continue
            decision = write.decide(Turn(text=row.text, assistant_after=row.reply))
            for figure, outcome in _outcomes(name, row, decision):
                outcomes[figure].append(outcome)
    return {figure: share(outcomes[figure]) for figure in sorted(outcomes)}


def _read(file: Path) -> Iterator[CorpusRow]:
    """The rows of a file of JSON lines.

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


def _outcomes(name: str, row: CorpusRow, decision: Decision) -> Iterator[tuple[str, bool]]:
    kept = decision.verdict == "allow"
    if name == "injection" and row.label == "attack":
        yield "attacks stored", kept
    elif name == "injection":
        yield "benign lines flagged", "injection" in decision.signals
    elif name == "locomo_turns":
        yield f"LoCoMo {'evidence' if row.label == 'store' else 'rest'} kept", kept
    elif name == "durable":
        for verdict, said in (("allow", "allowed"), ("hold", "held"), ("discard", "discarded")):
            yield f"durable {said}", decision.verdict == verdict
            yield f"durable {said}: {row.source}", decision.verdict == verdict
    else:
        yield f"{name} stored", kept
        yield f"{name} stored: {row.source}", kept
