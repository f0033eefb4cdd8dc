"""Writes the judge's model card from what was measured: ``python -m training.model_card``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from bmo.judge import MODEL
from training.learnt import FIRST, SECOND, TRAININGS, Training, learnt_clauses, learnt_turns
from training.turns import VERDICTS, TrainingTurn

CARD = """# judge {version}

The local judge of BMO's gates: MiniLM-L6 (22.7 million parameters) fine-tuned on the assistant's
last words and the user's turn, with three linear heads: verdict (allow, hold, discard), category
(six, independent of each other) and read-need. One int8 ONNX file of {megabytes:.1f} MB, opened
on one thread; its SHA-256 is in `model.json` and compared at every load.

## What it is for
It decides what the rules leave open: whether a turn carries a durable fact about the person, and
whether a good reply needs what is remembered of them. It is not asked where rules vouch, and it
cannot allow what the factuality, sensitive and injection stages forbid.

## Data
{turns:,} annotated turns in {files} files ({verdicts}; {recall:,} need memory), written for this
project with language models by several independent writers with themes of their own, and free to
use under the project's licence (Apache-2.0): **all of it is synthetic**. `l.jsonl` is written out
from patterns of near-twins (`training/twins.toml`), `m.jsonl` is long written chat put together
from sentences (`training/chat.toml`), `n.jsonl` and `q.jsonl` to `u.jsonl` are natural speech of
kinds that measurements showed weak (`training/talk.toml` and others): their memories only name the
category. {clauses:,} clauses are learnt as turns of their own (`training/data/learnt`): the binding
asks about clauses.
English above all; German, French and Spanish in {foreign}.
No public corpus was used.
{left_out} turns near to a measuring set were left out (`python -m training.near_duplicates`),
{fewer} of them by the first training, before the newest of these sets.
Starting weights: all-MiniLM-L6-v2 of the sentence-transformers project (Apache-2.0, `LICENSE`).

## How it is made
`make judge` (`python -m training.judge`): the mean of the weights (a "model soup", Wortsman et al.
2022) of {trainings}.
Each reads other writings of each turn (case, punctuation, fillers,
recogniser-like errors, chatter around it, with and without context); one conversation in twelve is
unseen, for calibration. Then int8 per channel, compared with the float model. On one thread of
torch the same versions give the same bytes.

## Figures
On {unseen_turns} unseen turns of the same writers (they flatter it):

| | |
|---|---|
{unseen}

Thresholds: allow from {allow}, discard from {discard}, read-need from {read}.
{by_author}
On lines by others, the judge alone, without rules (share, cases, 95% bootstrap interval):

| | |
|---|---|
{strangers}

## Time and memory
{timing}
## Reliability
What it says and what came true, on the unseen turns.

{reliability}

## Limits
- Turns of the same kind of writer are easier than strangers' (see above); the share that real
  speakers get right will be nearer to the second table.
- Of the lines by others, kinds that went wrong were looked at before data of those kinds was
  written (none of the lines was used): new sources will do somewhat worse.
- English word pieces: German, French and Spanish are understood less well, other languages not.
- Attacks are not its business: the injection firewall stands before it.
- It reads 96 word pieces: the end of a long turn is not seen.
- It sees one line of context. "Yes" to a question two turns ago means nothing to it.
"""


BY_AUTHOR = """
With whole authors (files) unseen, {groups} held out in turn, trainings of {epochs} epochs (the
judge that ships has more), thresholds chosen on the answers
(`python -m training.by_author --held-out {groups} --epochs {epochs}`):

| | |
|---|---|
{table}
"""


def table(rows: dict[str, Any]) -> str:
    """Rows of a Markdown table with two columns."""
    return "\n".join(f"| {name.replace('_', ' ')} | {value} |" for name, value in rows.items())


def reliability_table(bins: dict[str, list[tuple[float, float, int]]]) -> str:
    """Mean probability, share that came true and cases of each bin, for each output."""
    lines = ["| output | said | came true | cases |", "|---|---|---|---|"]
    for name, rows in bins.items():
        lines += [f"| {name} | {said:.2f} | {true:.2f} | {cases} |" for said, true, cases in rows]
    return "\n".join(lines)


def card(folder: Path, turns: list[TrainingTurn]) -> str:
    """The card's text for the judge in ``folder``."""
    manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    known = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    strangers = json.loads((folder / "strangers.json").read_text(encoding="utf-8"))
    if strangers.pop("version") != manifest["version"]:
        raise SystemExit("strangers.json is of another judge: run python -m training.strangers")
    unseen = known["unseen"]
    count = Counter(VERDICTS[turn.verdict] for turn in turns)
    return CARD.format(
        version=manifest["version"],
        megabytes=manifest["bytes"] / 1e6,
        turns=len(turns),
        files=len({turn.file for turn in turns}),
        verdicts=", ".join(f"{number:,} {name}" for name, number in count.items()),
        recall=sum(turn.recall for turn in turns),
        foreign="the files i, k, l, n, o, q, t and u",
        clauses=len(learnt_clauses()),
        left_out=_left_out(SECOND),
        fewer=_left_out(FIRST),
        trainings="\nand ".join(
            f"{training.share:.0%} of a training on {len(training.files)} files "
            f"({training.recipe.epochs} epochs, seed {training.recipe.seed})"
            for training in TRAININGS
        ),
        unseen_turns=unseen["turns"],
        unseen=table({name: value for name, value in unseen.items() if name != "turns"}),
        strangers=table(strangers),
        timing=_timing(folder / "timing.json"),
        by_author=_by_author(folder / "by_author.json"),
        reliability=reliability_table(known["reliability"]),
        **manifest["thresholds"],
    )


def _left_out(training: Training) -> int:
    """How many turns a training left out."""
    return len((training.folder / "left_out.txt").read_text().split())


def _by_author(path: Path) -> str:
    """Figures of ``training.by_author``, or nothing when they were not measured for this judge."""
    if not path.exists():
        return ""
    known = json.loads(path.read_text(encoding="utf-8"))
    files = {f"verdicts right ({name})": value for name, value in known["by_file"].items()}
    return BY_AUTHOR.format(
        groups=" ".join(known["held_out"]),
        epochs=known["epochs"],
        table=table(known["unseen"] | files),
    )


def _timing(path: Path) -> str:
    """What ``python -m benchmarks.judge --write`` measured."""
    if not path.exists():
        return "Not measured for this judge (`python -m benchmarks.judge --write`).\n"
    rows = table(json.loads(path.read_text(encoding="utf-8")))
    said = "On two cores shared with others at work (`python -m benchmarks.judge`):"
    return f"{said}\n\n| | |\n|---|---|\n{rows}\n"


def main() -> None:
    """Writes ``MODEL_CARD.md`` beside the judge."""
    (MODEL / "MODEL_CARD.md").write_text(card(MODEL, learnt_turns()), encoding="utf-8")
    print(MODEL / "MODEL_CARD.md")


if __name__ == "__main__":
    main()
