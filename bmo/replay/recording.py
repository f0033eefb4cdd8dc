"""A replay written down as rows (``rows.py``), and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bmo.gate import mask
from bmo.quotation import dated_quotation, quotation
from bmo.replay.compare import ScenarioResult, Stored, TurnResult
from bmo.replay.rows import (
    FORMAT,
    FORMAT_NAME,
    FORMAT_VERSION,
    EndedRow,
    Place,
    RecallRow,
    RecordedScenario,
    Row,
    ScenarioRow,
    ScoredRow,
    StoredRow,
    TurnRow,
)
from bmo.replay.scenario import ScenarioError
from bmo.turn import Recall, RecalledMemory

SUFFIXES = (".json", ".jsonl")
"""What the name of a recording ends with."""

MAX_FILE_BYTES = 256 << 20
"""Some 50,000 turns: a recording is read as a whole."""

_RowT = TypeVar("_RowT", bound=Row)


class RecordingError(ScenarioError):
    """A recording cannot be used; the message is one sentence that names the fix."""


def recorded(result: ScenarioResult) -> RecordedScenario:
    """A scenario that was just played, in the words of the format."""
    places = {turn.turn_id: (turn.session, turn.turn) for turn in result.turns if turn.turn_id}
    return RecordedScenario(
        turns=tuple(turn_row(turn, places) for turn in result.turns),
        end=ScenarioRow(
            scenario=result.scenario,
            live=tuple(fact.text for fact in result.live),
            mismatches=result.mismatches,
            format=FORMAT,
            about=result.about,
            language=result.language,
            mode=result.mode,
            elapsed_s=round(result.elapsed_s, 3),
        ),
    )


def turn_row(turn: TurnResult, places: Mapping[str, Place] | None = None) -> TurnRow:
    """One turn in the words of the format.

    Args:
        turn: As it went.
        places: Turn id -> where it was said, to tell where memories came from.
    """
    said = places or {}
    decision = turn.decision
    written = decision.text if decision and decision.text else mask(turn.user)[0]
    return TurnRow(
        scenario=turn.scenario,
        session=turn.session,
        turn=turn.turn,
        user=turn.user,
        verdict=decision.verdict if decision else None,
        signals=decision.signals if decision else (),
        reason=decision.reason if decision else "",
        rule=decision.rule_id if decision else "",
        confidence=round(decision.confidence, 4) if decision else None,
        stored=tuple(_stored_row(stored) for stored in turn.stored),
        ended=tuple(
            EndedRow(
                text=ended.text,
                why=ended.why,
                replaced_by=ended.replaced_by,
                said=said.get(ended.turn_id or ""),
            )
            for ended in turn.ended
        ),
        recall=_recall_row(turn.recall, said),
        profile=None if turn.profile is None else tuple(quotation(fact) for fact in turn.profile),
        mismatches=turn.mismatches,
        hook_ms=round(turn.hook_ms, 3),
        at=turn.at.isoformat() if turn.at else None,
        written=written if written != turn.user else None,
        assistant=turn.assistant,
        extraction_method=decision.extraction_method if decision else "",
        gate_version=decision.gate_version if decision else "",
        fallback=decision.fallback if decision else False,
        gate_ms=round(decision.elapsed_us / 1000, 3) if decision else None,
        profile_context=turn.profile_context,
    )


def json_lines(scenario: RecordedScenario) -> Iterator[str]:
    """The rows of a scenario, one JSON object a line: its turns, then the closing row."""
    for row in (*scenario.turns, scenario.end):
        yield json.dumps(row.model_dump(mode="json"), ensure_ascii=False)


def load_recording(path: Path) -> list[RecordedScenario]:
    """Reads what ``bmo replay --json`` wrote.

    Args:
        path: The file.

    Raises:
        RecordingError: It cannot be read, is no recording, is cut off or of a later version.
    """
    turns: list[TurnRow] = []
    done: dict[str, RecordedScenario] = {}
    for number, data in _objects(path):
        if "diff" in data and "scenario" not in data:
            continue  # ``--json --baseline`` ends with it
        if "turn" in data:
            turns.append(_checked(TurnRow, data, path, number))
            continue
        end = _checked(ScenarioRow, data, path, number)
        _check_version(end, path, number)
        if end.scenario in done:
            raise RecordingError(
                f"{path}, line {number}: scenario {end.scenario!r} is there twice; "
                "keep one recording a file."
            )
        strangers = [turn.scenario for turn in turns if turn.scenario != end.scenario]
        if strangers:
            raise RecordingError(_cut_off(path, strangers[0]))
        done[end.scenario] = RecordedScenario(tuple(turns), end)
        turns = []
    if turns:
        raise RecordingError(_cut_off(path, turns[0].scenario))
    if not done:
        raise RecordingError(f"{path}: has no scenarios; write it with bmo replay PATHS --json.")
    return list(done.values())


def _stored_row(stored: Stored) -> StoredRow:
    fact = stored.fact
    return StoredRow(
        text=fact.text,
        asked=fact.asked,
        category=fact.category,
        slot=fact.slot,
        kind=fact.kind,
        confirmed=stored.confirmed,
        subject=fact.subject,
        rule=fact.rule_id,
        extraction_method=fact.extraction_method,
    )


def _recall_row(recall: Recall | None, said: Mapping[str, Place]) -> RecallRow:
    if recall is None:
        return RecallRow(triggered=False, trigger="", memories=(), context="")
    return RecallRow(
        triggered=recall.plan.recall,
        trigger=recall.plan.trigger,
        memories=tuple(dated_quotation(memory.fact) for memory in recall.memories),
        selected=tuple(_scored_row(memory, said) for memory in recall.memories),
        left_out=tuple(_scored_row(memory, said) for memory in recall.left_out),
        context=recall.context,
        tokens=recall.tokens,
        budget_tokens=recall.plan.budget_tokens,
        elapsed_ms=round(recall.elapsed_ms, 3),
        fallback=recall.fallback,
    )


def _scored_row(memory: RecalledMemory, said: Mapping[str, Place]) -> ScoredRow:
    parts = memory.parts
    return ScoredRow(
        text=memory.fact.text,
        why=memory.why,
        score=round(memory.score, 4),
        parts={
            name: round(value, 4)
            for name, value in (
                ("semantic", parts.semantic),
                ("recency", parts.recency),
                ("domain", parts.domain),
                ("usage", parts.usage),
                ("kind", parts.kind),
            )
            if value
        },
        said=said.get(memory.fact.turn_id or ""),
    )


def _objects(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    """Line number and JSON object of every line that is not empty."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise RecordingError(f"{path}: is larger than {MAX_FILE_BYTES >> 20} MiB: split it.")
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}.") from None
    # PowerShell's ">" writes UTF-16 with a mark at the start.
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise RecordingError(f"{path}: cannot be read: is not UTF-8.") from None
    # Not splitlines(): words may hold U+2028, which is no line end in JSON lines.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            raise RecordingError(
                f"{path}, line {number}: is no JSON; write it with bmo replay PATHS --json."
            ) from None
        if not isinstance(data, dict):
            raise RecordingError(f"{path}, line {number}: {_not_a_row()}")
        yield number, data


def _checked(kind: type[_RowT], data: dict[str, Any], path: Path, number: int) -> _RowT:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        said = "is missing" if first["type"] == "missing" else f"is {first['input']!r:.60}"
        raise RecordingError(f"{path}, line {number}: {_not_a_row(f'{field} {said}')}") from None


def _check_version(end: ScenarioRow, path: Path, number: int) -> None:
    name, _, version = end.format.rpartition("/")
    if name != FORMAT_NAME or not version.isdecimal():
        raise RecordingError(f"{path}, line {number}: {_not_a_row(f'format {end.format!r}')}")
    if int(version) > FORMAT_VERSION:
        raise RecordingError(
            f"{path}, line {number}: is written as {end.format}, this BMO reads up to {FORMAT}; "
            "upgrade bmo-voice or make the recording anew."
        )


def _not_a_row(why: str = "") -> str:
    found = f" ({why})" if why else ""
    return f"is no row of a recording{found}; write one with bmo replay PATHS --json."


def _cut_off(path: Path, scenario: str) -> str:
    return (
        f"{path}: is cut off inside scenario {scenario!r}; "
        "write it anew with bmo replay PATHS --json."
    )
