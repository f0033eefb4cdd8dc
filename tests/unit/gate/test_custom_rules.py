"""Custom rules: what compiles works, what is wrong is named with its place, nothing stalls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.gate.custom_rules import MAX_FILE_BYTES, MAX_RULES, CustomRules, load_custom_rules

pytestmark = pytest.mark.unit

Load = Callable[[str | bytes], CustomRules]

GOOD = r"""
skip_patterns:
  - pattern: "^(brb|afk|gtg)\\b"
    reason: "Common chat abbreviations"
  - pattern: "^(lol|lmao|haha)\\b"
    reason: "Laughter"
keep_patterns:
  - pattern: "\\b(critical|urgent|important)\\b"
    category: "high_priority"
  - name: blocker
    pattern: "\\bblocked by (?P<what>[a-z0-9 ]+)"
    category: decisions
    reason: a blocker
    template: "Is blocked by {what}"
"""


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def _load(text: str | bytes) -> CustomRules:
        path = tmp_path / "rules.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_custom_rules(path)

    return _load


def test_published_format_works(load: Load) -> None:
    rules = load(GOOD)
    assert rules.problems == ()
    skipped = rules.match_skip("BRB getting coffee")
    assert skipped is not None
    assert skipped.reason == "Common chat abbreviations"
    assert rules.match_skip("coffee, brb") is None
    kept = rules.match_keep("this is URGENT")
    assert kept is not None
    rule, text = kept
    assert (rule.label, rule.category, text) == ("high_priority", None, None)


def test_keep_rules_read_both_sides_and_templates_only_the_user(load: Load) -> None:
    rules = load(GOOD)
    by_reply = rules.match_keep("ok", "That is critical for the release.")
    assert by_reply is not None
    assert by_reply[1] is None
    blocked = rules.match_keep("we are blocked by the  legal team.")
    assert blocked is not None
    rule, text = blocked
    assert text == "Is blocked by the legal team"
    assert (rule.category, rule.id) == ("decisions", "custom.keep.blocker")
    assert rules.match_keep("ok", "you are blocked by legal") is None


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ("skip_patterns:\n  - pattern: '(unclosed'\n", 2, 14, "missing )"),
        ("keep_patterns:\n  - pattern: '(?=x)y'\n", 2, 14, "look-around"),
        ("keep_patterns:\n  - pattern: '(a)\\1'\n", 2, 17, "back references"),
        (
            "keep_patterns:\n  - pattern: x\n    template: 'Is {who}'\n",
            3,
            15,
            "no group (?P<who>...)",
        ),
        ("keep_patterns:\n  - pattern: x\n    template: 'Is {'\n", 3, 15, "brace"),
        ("skip_patterns:\n  - reason: none\n", 2, 5, "has no pattern"),
        ("skip_patterns:\n  - pattern: ''\n", 2, 14, "pattern is empty"),
        ("skip_patterns:\n  - pattern: 'a*'\n", 2, 14, "empty text"),
        ("skip_patterns:\n  - pattern: [a]\n", 2, 14, "must be text"),
        ("skip_patterns:\n  - pattern: x\n    template: y\n", 3, 5, "unknown key 'template'"),
        ("skip_patterns: x\n", 1, 16, "must be a list"),
        ("skips: []\n", 1, 1, "unknown key 'skips'"),
        ("- a\n", 1, 1, "must be a mapping"),
        ("skip_patterns: [\n", 2, 1, "not valid YAML"),
        (f"skip_patterns:\n  - pattern: '{'x' * 1001}'\n", 2, 14, "at most 1000"),
    ],
)
def test_a_wrong_rule_is_named_with_its_place(
    load: Load, text: str, line: int, column: int, part: str
) -> None:
    problems = load(text).problems
    assert len(problems) == 1
    assert part in str(problems[0])
    assert problems[0].line == line
    assert problems[0].column >= column
    assert "rules.yaml" in str(problems[0])


def test_the_other_rules_still_work(load: Load) -> None:
    rules = load("skip_patterns:\n  - pattern: '('\n  - name: good\n    pattern: '^ping$'\n")
    assert len(rules.problems) == 1
    assert rules.match_skip("PING") is not None


def test_names_are_unique_and_lists_bounded(load: Load) -> None:
    twice = load("skip_patterns:\n  - {name: a, pattern: x}\n  - {name: a, pattern: y}\n")
    assert [rule.id for rule in twice.skip] == ["custom.skip.a"]
    assert "used twice" in str(twice.problems[0])
    many = load("skip_patterns:\n" + "  - pattern: x\n" * (MAX_RULES + 3))
    assert len(many.skip) == MAX_RULES
    assert "the rest is left out" in str(many.problems[0])


def test_unreadable_files_are_one_sentence(load: Load, tmp_path: Path) -> None:
    assert "cannot be read" in str(load_custom_rules(tmp_path / "absent.yaml").problems[0])
    assert "cannot be read" in str(load_custom_rules(tmp_path).problems[0])
    assert "not UTF-8" in str(load(b"skip_patterns:\n  - pattern: '\xff'\n").problems[0])
    assert "larger than" in str(load(b"#" * (MAX_FILE_BYTES + 1)).problems[0])
    assert load("") == CustomRules()


def test_aliases_cannot_blow_up(load: Load) -> None:
    bomb = "a: &a [x,x]\n" + "".join(
        f"{c}: &{c} [*{p},*{p}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert load(bomb).problems


def test_no_pattern_stalls(load: Load) -> None:
    rules = load("skip_patterns:\n  - pattern: '^(a+)+$'\n")
    assert rules.match_skip("a" * 2000 + "!") is None


@settings(deadline=None)  # the first example reads the tables
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_matched(text: str, assistant: str) -> None:
    rules = load_custom_rules(Path(__file__).parent / "custom_rules_example.yaml")
    assert rules.problems == ()
    rules.match_skip(text)
    rules.match_keep(text, assistant)
