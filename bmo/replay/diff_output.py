"""A behaviour diff for people (terminal), programs (JSON) and pull requests (Markdown)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from bmo.replay.changes import KINDS, SIGNS, Change, ChangeKind
from bmo.replay.diff import ReplayDiff
from bmo.replay.latency import Latency

TITLES: Final[Mapping[ChangeKind, str]] = {
    "stored": "Stored",
    "ended": "Replaced, taken back, forgotten",
    "live": "Remembered at the end",
    "verdict": "Verdict",
    "signal": "Signals",
    "recall": "Recalled",
    "context": "What the model got",
    "mismatch": "Differences from the scenarios",
    "scenario": "Conversations and turns on one side only",
    "latency": "Slower",
}
"""Headings of the kinds."""

SIGN_STYLE: Final = {"+": "green", "-": "red", "~": "yellow"}
TERMINAL_EXAMPLES: Final = 5
MARKDOWN_EXAMPLES: Final = 20
"""Changes shown of a cause; the rest is counted."""
MARKDOWN_LIMIT: Final = 60_000
"""Characters of a Markdown diff: a comment on GitHub holds 65,536."""
_LINE_LIMIT: Final = 300


def summary_line(diff: ReplayDiff, failed: Mapping[str, int] | None = None) -> str:
    """One line for a log: what was compared, the counts, and what must not have changed."""
    counts = [f"{kind} {_counts(diff, kind)}" for kind in KINDS if diff.count(kind)]
    said = f"replay diff: {diff.scenarios} scenarios, {diff.turns} turns: "
    said += ", ".join(counts) or "no change in behaviour"
    hook = next((time for time in diff.latency if time.name == "hook"), None)
    if hook is not None and hook.before and hook.after:
        said += f"; hook p95 {hook.before.p95:.2f} -> {hook.after.p95:.2f} ms"
    if failed:
        said += "; FAILED on " + ", ".join(f"{name} ({count})" for name, count in failed.items())
    return said


def diff_object(diff: ReplayDiff, failed: Mapping[str, int]) -> dict[str, Any]:
    """The diff as one JSON object: ``{"diff": {summary, scenarios, turns, counts, ...}}``."""
    return {
        "diff": {
            "summary": summary_line(diff, failed),
            "scenarios": diff.scenarios,
            "turns": diff.turns,
            "counts": {kind: {sign: diff.count(kind, sign) for sign in SIGNS} for kind in KINDS},
            "changes": [asdict(change) for change in diff.changes],
            "latency": [asdict(time) for time in diff.latency],
            "notes": list(diff.notes),
            "failed": dict(failed),
        }
    }


def print_diff(console: Console, diff: ReplayDiff, failed: Mapping[str, int]) -> None:
    """Shows the diff, grouped by kind and cause; the last line is ``summary_line``."""
    for kind in KINDS:
        if not diff.count(kind):
            continue
        console.print(Text(f"{TITLES[kind]}: {_counts(diff, kind)}", "bold"))
        for cause, changes in diff.by_cause(kind):
            console.print(Text(f"  {cause} ({len(changes)})"))
            for change in changes[:TERMINAL_EXAMPLES]:
                console.print(Text(f"    {change.sign} {_line(change)}", SIGN_STYLE[change.sign]))
            if len(changes) > TERMINAL_EXAMPLES:
                console.print(Text(f"    and {len(changes) - TERMINAL_EXAMPLES} more", "dim"))
    for note in diff.notes:
        console.print(Text(f"note: {note}", "yellow"))
    console.print(Text(summary_line(diff, failed), "bold red" if failed else "bold"))


def markdown(diff: ReplayDiff, failed: Mapping[str, int]) -> str:
    """The diff for a pull request: the summary, a table of counts, then each kind, folded.

    Words and memories are shown as code, so nothing in them is read as Markdown or HTML.
    """
    head = [
        "## What this change does to memory",
        "",
        summary_line(diff, failed),
        "",
        *([f"> {_code_free(note)}" for note in diff.notes] + [""] if diff.notes else []),
        *_table(diff),
    ]
    text = "\n".join(head)
    for section in _sections(diff):
        if len(text) + len(section) > MARKDOWN_LIMIT:
            text += "\n\nThe rest does not fit here; `bmo replay --json` has every change.\n"
            break
        text += "\n" + section
    return text.rstrip() + "\n"


def _table(diff: ReplayDiff) -> Iterator[str]:
    kinds = [kind for kind in KINDS if diff.count(kind)]
    if kinds:
        yield "| what | + | - | ~ |"
        yield "|---|---:|---:|---:|"
        for kind in kinds:
            plus, minus, other = (diff.count(kind, sign) for sign in SIGNS)
            yield f"| {TITLES[kind]} (`{kind}`) | {plus or ''} | {minus or ''} | {other or ''} |"
        yield ""
    times = [time for time in diff.latency if time.before or time.after]
    if times:
        yield "| milliseconds | p50 | p95 | worst |"
        yield "|---|---:|---:|---:|"
        yield from (_time_row(time) for time in times)
        yield ""


def _time_row(time: Latency) -> str:
    def cell(name: str) -> str:
        sides = (time.before, time.after)
        return " -> ".join("?" if side is None else f"{getattr(side, name):.2f}" for side in sides)

    return f"| {time.name} | {cell('p50')} | {cell('p95')} | {cell('worst')} |"


def _sections(diff: ReplayDiff) -> Iterator[str]:
    for kind in KINDS:
        groups = diff.by_cause(kind)
        if not groups:
            continue
        yield f"<details><summary>{TITLES[kind]}: {_counts(diff, kind)}</summary>\n"
        for cause, changes in groups:
            yield _group(cause, changes)
        yield "</details>\n"


def _group(cause: str, changes: Sequence[Change]) -> str:
    rows = [f"**{_code(cause)}** ({len(changes)})", ""]
    for change in changes[:MARKDOWN_EXAMPLES]:
        where = f" {_code(_place(change))}" if change.scenario else ""
        note = f"; {_code(change.note)}" if change.note else ""
        words = f"; said {_code(change.words)}" if change.words != change.text else ""
        rows.append(
            f"- `{change.sign}` {_code(change.text)}{note}{words if change.words else ''}{where}"
        )
    if len(changes) > MARKDOWN_EXAMPLES:
        rows.append(f"- and {len(changes) - MARKDOWN_EXAMPLES} more")
    return "\n".join(rows) + "\n"


def _counts(diff: ReplayDiff, kind: ChangeKind) -> str:
    return " ".join(f"{s}{n}" for s in SIGNS if (n := diff.count(kind, s)))


def _line(change: Change) -> str:
    parts = [_short(change.text)]
    if change.note:
        parts.append(f"({_short(change.note)})")
    if change.scenario:
        parts.append(f"[{_place(change)}]")
    if change.words and change.words != change.text:
        parts.append(_short(repr(change.words)))
    return " ".join(parts)


def _place(change: Change) -> str:
    if change.session is None:
        return change.scenario
    return f"{change.scenario} {change.session}.{change.turn}"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LINE_LIMIT else one_line[: _LINE_LIMIT - 1] + "…"


def _code(text: str) -> str:
    """As inline code: fenced by more backticks than the text has in a row."""
    one_line = "".join(c if c.isprintable() else " " for c in _short(text)) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", one_line)), default=0) + 1)
    pad = " " if one_line[0] in "` " or one_line[-1] in "` " else ""
    return f"{fence}{pad}{one_line}{pad}{fence}"


def _code_free(text: str) -> str:
    """Without the characters Markdown and HTML would read."""
    return re.sub(r"([\\`*_<>\[\]|#])", r"\\\1", text)
