"""A behaviour diff for people, programs and pull requests."""

from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bmo.replay.changes import KINDS
from bmo.replay.diff import ReplayDiff, compare_recordings
from bmo.replay.diff_output import (
    MARKDOWN_EXAMPLES,
    MARKDOWN_LIMIT,
    diff_object,
    markdown,
    print_diff,
    summary_line,
)
from tests.unit.replay.rows import recalled, said, scenario_of, stored

pytestmark = pytest.mark.unit

OLD = scenario_of(
    said("i live in leeds", "allow", stored=(stored("Lives in Leeds"),)),
    said("where do i live", recall=recalled("Lives in Leeds"), hook_ms=0.3),
)
NEW = scenario_of(
    said("i live in leeds", "hold", reason="judged uncertain", extraction_method="judge:2"),
    said("where do i live", recall=recalled(), hook_ms=0.4),
)
DIFF = compare_recordings([OLD], [NEW])
SAME = compare_recordings([OLD], [OLD])


def printed(diff: ReplayDiff, failed: dict[str, int]) -> str:
    out = io.StringIO()
    print_diff(Console(file=out, width=240, highlight=False), diff, failed)
    return out.getvalue()


def test_the_summary_is_one_line() -> None:
    assert summary_line(DIFF) == (
        "replay diff: 1 scenarios, 2 turns: stored -1, verdict ~1, recall -1, context ~1; "
        "hook p95 0.30 -> 0.40 ms"
    )
    assert "no change in behaviour" in summary_line(SAME)
    failed = {"stored": 1, "recall-": 1}
    assert summary_line(DIFF, failed).endswith("; FAILED on stored (1), recall- (1)")


def test_the_terminal_groups_by_cause_and_ends_with_the_summary() -> None:
    lines = printed(DIFF, {}).splitlines()
    assert lines[0] == "Stored: -1"
    assert lines[1] == "  lives (1)"
    assert lines[2] == (
        "    - Lives in Leeds [personal_facts] (now hold (judged uncertain)) [s 0.0] "
        "'i live in leeds'"
    )
    assert "  no longer stored: lives (1)" in lines
    assert lines[-1] == summary_line(DIFF)


def test_the_json_has_every_change_and_count() -> None:
    (data,) = json.loads(json.dumps(diff_object(DIFF, {"stored": 1}))).values()
    assert set(data["counts"]) == set(KINDS)
    assert data["counts"]["stored"] == {"+": 0, "-": 1, "~": 0}
    assert len(data["changes"]) == len(DIFF.changes)
    assert data["changes"][0]["cause"] == "lives"
    assert data["failed"] == {"stored": 1}
    assert data["latency"][0]["after"]["p95"] == 0.4


def test_the_markdown_has_a_table_and_folds() -> None:
    text = markdown(DIFF, {})
    assert text.startswith("## What this change does to memory\n\nreplay diff: ")
    assert "| Stored (`stored`) |  | 1 |  |" in text
    assert "| hook | 0.20 -> 0.20 | 0.30 -> 0.40 | 0.30 -> 0.40 |" in text
    assert text.count("<details>") == text.count("</details>") == 4
    assert "- `-` `Lives in Leeds [personal_facts]`" in text
    assert "<details>" not in markdown(SAME, {})


def test_many_changes_are_counted_and_a_huge_diff_stays_under_the_limit() -> None:
    many = range(MARKDOWN_EXAMPLES + 7)
    old = scenario_of(*(said(f"turn {n}") for n in many))
    new = scenario_of(*(said(f"turn {n}", stored=(stored(f"Fact {n}"),)) for n in many))
    assert "- and 7 more" in markdown(compare_recordings([old], [new]), {})
    long = "x" * 290
    old = scenario_of(*(said(f"{long} {n}") for n in range(300)))
    new = scenario_of(
        *(said(f"{long} {n}", stored=(stored(long, rule=f"r{n}"),)) for n in range(300))
    )
    text = markdown(compare_recordings([old], [new]), {})
    assert len(text) < MARKDOWN_LIMIT + 200
    assert text.rstrip().endswith("`bmo replay --json` has every change.")


OUTSIDE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


@given(st.text(alphabet=st.sampled_from("`<>|*_[]()#\\\n\r\t &;a\u2028"), max_size=40))
def test_no_words_are_read_as_markdown_or_html(words: str) -> None:
    old = scenario_of(said("x" + words))
    new = scenario_of(said("x" + words, stored=(stored("y" + words + "<script>"),)))
    text = markdown(compare_recordings([old], [new]), {})
    assert "<script>" in text
    bare = OUTSIDE_CODE.sub("", text)
    assert "<script>" not in bare
    assert re.sub(r"</?(details|summary)>", "", bare).count("<") == 0
