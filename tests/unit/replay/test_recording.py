"""The rows ``bmo replay --json`` prints, and reading them again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.replay.recording import RecordingError, json_lines, load_recording
from bmo.replay.rows import FORMAT
from tests.unit.replay.rows import ended, recalled, said, scenario_of, stored

pytestmark = pytest.mark.unit

ONE = scenario_of(
    said("i live in leeds", "allow", stored=(stored("Lives in Leeds"),), profile=()),
    said("where do i live", recall=recalled("Lives in Leeds")),
    said("i moved to york", "allow", ended=(ended("Lives in Leeds", said=(0, 0)),), session=1),
    live=("Lives in York",),
)


def written(file: Path, *lines: str) -> Path:
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    other = scenario_of(said("hi"), name="other")
    file = written(tmp_path / "old.json", *json_lines(ONE), *json_lines(other))
    assert load_recording(file) == [ONE, other]


@given(st.text(), st.text())
def test_any_words_survive(words: str, text: str) -> None:
    scenario = scenario_of(said(words, "allow", stored=(stored(text),)))
    rows = [json.loads(line) for line in json_lines(scenario)]
    assert all("\n" not in line for line in json_lines(scenario))
    assert rows[0]["user"] == words
    assert rows[0]["stored"][0]["text"] == text


def test_words_with_unicode_line_ends_are_read(tmp_path: Path) -> None:
    scenario = scenario_of(said("one\u2028two\u0085three"))
    assert load_recording(written(tmp_path / "old.json", *json_lines(scenario))) == [scenario]


def test_what_powershell_writes_is_read(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text("\r\n".join(json_lines(ONE)) + "\r\n", encoding="utf-16")
    assert load_recording(file) == [ONE]
    file.write_text("\n".join(json_lines(ONE)), encoding="utf-8-sig")
    assert load_recording(file) == [ONE]


def test_rows_of_the_first_release_are_version_0(tmp_path: Path) -> None:
    turn = {
        "scenario": "s", "session": 0, "turn": 0, "user": "hi", "verdict": "discard",
        "signals": ["greeting"], "reason": "greeting", "stored": [], "ended": [],
        "recall": {"triggered": False, "trigger": "smalltalk", "memories": []},
        "profile": [], "mismatches": [], "hook_ms": 0.1,
    }  # fmt: skip
    end = {"scenario": "s", "live": [], "mismatches": []}
    (only,) = load_recording(written(tmp_path / "old.json", json.dumps(turn), json.dumps(end)))
    assert only.version == 0
    assert only.turns[0].recall.context is None
    assert only.turns[0].gate_ms is None


def test_fields_of_a_newer_bmo_are_passed_over(tmp_path: Path) -> None:
    lines = [json.dumps({**json.loads(line), "mood": "good"}) for line in json_lines(ONE)]
    assert load_recording(written(tmp_path / "old.json", *lines)) == [ONE]


def test_the_diff_at_the_end_of_a_recording_is_passed_over(tmp_path: Path) -> None:
    file = written(tmp_path / "old.json", *json_lines(ONE), json.dumps({"diff": {}}))
    assert load_recording(file) == [ONE]


LINES = list(json_lines(ONE))


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], r"has no scenarios; write it with bmo replay PATHS --json\."),
        (["{"], r"line 1: is no JSON; write it with bmo replay PATHS --json\."),
        (["[" * 9999], r"line 1: is no JSON"),
        (["[1, 2]"], r"line 1: is no row of a recording; write one with"),
        (['{"a": 1}'], r"line 1: is no row of a recording \(scenario is missing\)"),
        (LINES[:2], r"is cut off inside scenario 's'; write it anew"),
        ([LINES[0].replace('"s"', '"t"'), LINES[-1]], r"is cut off inside scenario 't'"),
        (LINES * 2, r"line 8: scenario 's' is there twice; keep one recording a file\."),
        (
            [LINES[-1].replace(FORMAT, "bmo-replay/99")],
            r"line 1: is written as bmo-replay/99, this BMO reads up to bmo-replay/1; upgrade",
        ),
        ([LINES[-1].replace(FORMAT, "bmo-gate/1")], r"format 'bmo-gate/1'\); write one with"),
        (
            [LINES[0].replace('"discard"', '"keep"').replace('"allow"', '"keep"')],
            r"line 1: is no row of a recording \(verdict is 'keep'\)",
        ),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, lines: list[str], sentence: str) -> None:
    file = written(tmp_path / "old.json", *lines)
    with pytest.raises(RecordingError, match=sentence) as caught:
        load_recording(file)
    assert str(caught.value).startswith(str(file))
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot be read: No such file or directory\.$"):
        load_recording(tmp_path / "none.json")
    with pytest.raises(RecordingError, match=r"cannot be read: Is a directory\.$"):
        load_recording(tmp_path)
    (tmp_path / "old.json").write_bytes(b"{\xff}")
    with pytest.raises(RecordingError, match=r"is not UTF-8\.$"):
        load_recording(tmp_path / "old.json")


@given(st.binary(max_size=400))
def test_no_bytes_end_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_bytes(raw)
    with pytest.raises(RecordingError):
        load_recording(file)


def test_every_field_of_the_format_is_documented() -> None:
    from bmo.replay import rows

    page = (Path(__file__).parents[3] / "docs" / "replay.md").read_text(encoding="utf-8")
    for row in ("StoredRow", "EndedRow", "ScoredRow", "RecallRow", "TurnRow", "ScenarioRow"):
        every = getattr(rows, row).model_fields
        fields = [name for name, field in every.items() if not field.exclude]
        missing = [name for name in fields if not re.search(rf"`{name}`", page)]
        assert missing == [], f"docs/replay.md does not name {missing} of {row}"
    assert FORMAT in page
