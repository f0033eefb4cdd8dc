"""Scenario files are read strictly: every fault is a sentence with file, line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmo.replay.scenario import ScenarioError, find_scenarios, load_scenario

pytestmark = pytest.mark.unit

GOOD = """\
id: small
about: one turn
style: asr
language: en
user: glenn
sessions:
  - at: 2026-03-01T09:00:00Z
    turns:
      - user: "my brother is sam"
        assistant: "Good to know."
        verdict: allow
        facts:
          - category: relationships
            contains: [brother, Sam]
        recall: false
ends:
  keeps: [[brother, Sam]]
  drops: [Tom]
"""


def written(folder: Path, text: str, name: str = "small.turns.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_is_read(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path, GOOD))
    assert scenario.sessions[0].turns[0].facts[0].contains == ("brother", "Sam")
    assert scenario.sessions[0].at.utcoffset() is not None
    assert scenario.sessions[0].profile is None
    assert scenario.ends.drops == ("Tom",)


BOMB = "\n".join(["about: &a0 [x, x]", *(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}]" for n in range(40))])
"""Forty lines for a million million words."""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("verdict: allow", "verdict: keep", "line 11: sessions.0.turns.0.verdict is 'keep'"),
        ("recall: false", "recal: false", "line 15: sessions.0.turns.0.recal is not a field"),
        ("category: relationships", "category: people", "line 13: sessions.0.turns.0.facts.0.cat"),
        ("[brother, Sam]\n        recall", "[brother, 7]\n        recall", "put it in quotes"),
        ("[brother, Sam]\n        recall", "[]\n        recall", "line 14"),
        ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00", "the time needs a zone"),
        ("verdict: allow", "verdict: hold", "facts need the verdict allow, not hold"),
        ("recall: false", "recall: false\n        injects: [[Sam]]", "injects needs recall: true"),
        ("user: glenn", 'user: "*"', "line 5: user '*': user id '*' is not allowed"),
        ("id: small\n", "", "id is missing"),
        ("language: en", "language: nl", "allowed are 'en', 'de', 'fr' or 'es'"),
        ("about: one turn", "about: [one", "is no YAML"),
        ("about: one turn", "about: " + "[" * 5_000, "nested too deeply"),
        ("about: one turn", BOMB, "line 3: is no YAML: an alias is not allowed"),
        ("about: one turn", "about: " + "x" * (1 << 20), "larger than 1 MiB"),
        (GOOD, "- a list", "must be a mapping"),
        (GOOD, "", "must be a mapping"),
        ("2026-03-01T", "2026-13-01T", "month must be in 1..12"),
    ],
)
def test_a_fault_is_one_sentence(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith(".")


def test_sessions_must_be_in_time_order(tmp_path: Path) -> None:
    start = GOOD.index("  - at:")
    session = GOOD[start : GOOD.index("ends:")]
    path = written(tmp_path, GOOD[:start] + session + session + GOOD[GOOD.index("ends:") :])
    with pytest.raises(ScenarioError, match="must come after"):
        load_scenario(path)


def test_bytes_that_are_no_utf8_are_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.turns.yaml"
    path.write_bytes(b"id: \xff\xfe")
    with pytest.raises(ScenarioError, match=r"cannot be read: is not UTF-8\."):
        load_scenario(path)


def test_scenarios_are_found_in_order_and_once(tmp_path: Path) -> None:
    second, first = written(tmp_path, GOOD, "b.turns.yaml"), written(tmp_path, GOOD, "a.turns.yaml")
    assert find_scenarios([tmp_path, first]) == [first, second]
    with pytest.raises(ScenarioError, match="there is no such file"):
        find_scenarios([tmp_path / "none"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ScenarioError, match=r"has no \*\.turns\.yaml files"):
        find_scenarios([tmp_path / "empty"])


def test_every_scenario_of_the_repository_is_valid() -> None:
    files = find_scenarios([Path(__file__).parents[2] / "scenarios"])
    scenarios = [load_scenario(file) for file in files]
    assert len(scenarios) >= 24
    for file, scenario in zip(files, scenarios, strict=True):
        assert file.name == f"{scenario.id}.turns.yaml"
