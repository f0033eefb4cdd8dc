"""``bmo gate`` and ``bmo plan`` as a program would call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bmo.turn import CATEGORIES
from tests.cli import bmo, bmo_process

pytestmark = pytest.mark.integration


def test_gate_reads_json_lines_and_keeps_their_ids(tmp_path: Path) -> None:
    source = tmp_path / "turns.jsonl"
    source.write_text(
        '{"id": "a", "text": "my brother is sam"}\n'
        '{"id": 7, "text": "my name is glenn", "assistant_before": "Hello?"}\n'
        '{"id": null, "text": "thanks a lot", "at": "2026-03-01T09:00:00Z"}\n'
    )
    done = bmo(tmp_path, "gate", "--jsonl", str(source))
    assert done.code == 0, done.err
    rows = done.rows
    assert [row["id"] for row in rows] == ["a", 7, None]
    assert [row["verdict"] for row in rows] == ["allow", "allow", "discard"]
    assert rows[0]["facts"][0] | {"slot": "-"} == {
        "text": "Has a brother named Sam",
        "asked": "",
        "category": "relationships",
        "domain": "family",
        "slot": "-",
        "value": "Sam",
        "subject": "user.brother:sam",
        "polarity": "positive",
        "kind": "fact",
        "entities": ["sam"],
        "op": "assert",
    }
    assert "Glenn" in rows[1]["facts"][0]["text"] and rows[1]["facts"][0]["asked"] == "Hello?"
    assert {"signals", "reason", "confidence", "elapsed_us"} <= set(rows[0])


def test_plan_reads_json_lines(tmp_path: Path) -> None:
    stdin = b'{"id": 1, "text": "who is my brother"}\n{"id": 2, "text": "set a timer"}\n'
    rows = bmo(tmp_path, "plan", "--jsonl", "-", stdin=stdin).rows
    assert [(row["id"], row["recall"]) for row in rows] == [(1, True), (2, False)]
    assert rows[1]["budget_tokens"] == 0
    assert {"trigger", "complexity", "intent"} <= set(rows[0])


@pytest.mark.parametrize(
    "bad",
    [
        b"not json\n",
        b'["a list"]\n',
        b'{"id": 1}\n',
        b'{"id": 1, "text": 5}\n',
        b'{"id": 1, "text": "hi", "at": "yesterday"}\n',
        b'{"id": 1, "text": "hi", "user_id": "*"}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_bad_line_is_named_and_the_others_go_on(tmp_path: Path, bad: bytes) -> None:
    done = bmo(tmp_path, "gate", "--jsonl", "-", stdin=bad + b'{"id": 2, "text": "hello"}\n')
    assert done.code == 1
    assert [row["id"] for row in done.rows] == [2]
    assert "line 1" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "text",
    ["", "   ", "x" * 100_000, "\ud800 hello", "a\x00b", "🙂" * 50, "مرحبا كيف حالك", "\xff\xfe"],
)
def test_strange_text_is_handled(tmp_path: Path, text: str) -> None:
    stdin = json.dumps({"id": 1, "text": text}).encode() + b"\n"
    done = bmo(tmp_path, "gate", "--jsonl", "-", stdin=stdin)
    assert done.code == 0, done.err
    assert done.rows[0]["verdict"] in ("hold", "discard")
    assert "Traceback" not in done.err


def test_invalid_utf8_on_stdin_is_handled(tmp_path: Path) -> None:
    done = bmo_process(tmp_path, "gate", "--json", stdin=b"my name is \xff\xfe zo\xeb")
    assert done.code == 0, done.err
    assert done.rows[0]["verdict"] in ("allow", "hold", "discard")


def test_a_wrong_setting_is_one_sentence_and_exit_2(tmp_path: Path) -> None:
    done = bmo_process(tmp_path, "gate", "hello", GATEKEEPER_MODE="psychic")
    assert done.code == 2
    assert done.err.strip().splitlines() == [
        "bmo: GATEKEEPER_MODE='psychic' is not allowed: "
        "allowed are local, pattern, hybrid, llm, disabled."
    ]


def test_empty_words_and_a_mode_without_a_model_are_said(tmp_path: Path) -> None:
    empty = bmo(tmp_path, "gate", " ")
    assert (empty.code, empty.err.strip()) == (
        2,
        "bmo: the words are empty; say what the user says.",
    )
    unasked = bmo(tmp_path, "gate", "i like tea", GATEKEEPER_MODE="hybrid")
    assert unasked.code == 0
    assert "needs GOOGLE_API_KEY" in unasked.err


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    done = bmo(tmp_path, "gate", "--jsonl", str(tmp_path / "absent.jsonl"))
    assert done.code == 2
    assert "absent.jsonl" in done.err
    assert "Traceback" not in done.err


JUDGED = "im keeping the cat obviously biscotti was mine from the start"


@pytest.mark.parametrize("mode", ["local", "hybrid", "llm"])
def test_gate_shows_what_the_encoder_says(tmp_path: Path, mode: str) -> None:
    done = bmo(
        tmp_path, "gate", "--json", JUDGED, "--asked", "Who gets the cat?", "--mode", mode,
        GATEKEEPER_MODE="pattern",
    )  # fmt: skip
    (row,) = done.rows
    assert row["verdict"] == "allow" and row["extraction_method"].startswith("encoder:")
    (fact,) = row["facts"]
    assert (fact["text"], fact["asked"]) == (JUDGED, "Who gets the cat?")
    odds = row["judge"]
    assert odds["allow"] + odds["hold"] + odds["discard"] == pytest.approx(1, abs=0.001)
    assert set(odds["categories"]) == set(CATEGORIES)


def test_gate_shows_words_as_a_quotation(tmp_path: Path) -> None:
    shown = bmo(tmp_path, "gate", JUDGED, columns=200, GATEKEEPER_MODE="local").out
    assert f'+ "{JUDGED}"' in shown and "read-need" in shown


def test_gate_shows_no_probabilities_where_nobody_asked(tmp_path: Path) -> None:
    (row,) = bmo(tmp_path, "gate", "--json", "thanks a lot", GATEKEEPER_MODE="local").rows
    assert "judge" not in row


def test_a_rule_file_that_is_wrong_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("skip:\n  - pattern: x\n", encoding="utf-8")
    ran = bmo(tmp_path / "home", "gate", "--rules", str(file), "i live in leeds")
    assert (ran.code, ran.out) == (2, "")
    assert f"bmo: {file}:1:1: unknown key 'skip'" in ran.err
    for command in ("gate", "plan"):
        ran = bmo(tmp_path, command, "hi", GATEKEEPER_CUSTOM_RULES_PATH="/nowhere.yaml")
        assert (ran.code, "/nowhere.yaml:1:1: cannot be read" in ran.err) == (0, True)
    talked = bmo(tmp_path / "home", "chat", stdin="/quit\n", GATEKEEPER_CUSTOM_RULES_PATH=str(file))
    assert "unknown key 'skip'" in " ".join((talked.out + talked.err).split())
