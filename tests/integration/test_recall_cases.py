"""Recall cases over a real ledger, a real store and the real embedder: what is live is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmo.evaluation.corpora import CorpusMissing
from bmo.evaluation.recall_cases import case_figures, live_figures, read_cases
from bmo.index import open_embedder
from bmo.recall import ReadGate
from bmo.settings import load_settings
from tests.cli import bmo

pytestmark = pytest.mark.integration

CASES = Path(__file__).parents[1] / "recall_cases"
SCENARIOS = Path(__file__).parents[1] / "scenarios"


@pytest.mark.parametrize(
    ("name", "given", "fits"), [("developed", 0.8, 0.6), ("kept_apart", 0.75, 0.5)]
)
def test_wanted_memories_are_given_and_little_else(
    name: str, given: float, fits: float, tmp_path: Path
) -> None:
    """The bars lie under the measured figures (docs/measuring.md): they catch a fall."""
    settings = load_settings(bmo_home=tmp_path)
    people = read_cases(CASES / f"{name}.yaml")
    figures = case_figures(
        people, ReadGate.from_settings(settings), open_embedder(settings), settings
    )
    assert figures.shares["wanted given"].value >= given
    assert figures.shares["given that fits"].value >= fits
    assert figures.shares["kept empty"].value >= 0.9
    assert figures.shares["wanted given"].total == sum(
        len(question.wanted) for person in people for question in person.questions
    )


def test_played_conversations_count_only_what_was_live(tmp_path: Path) -> None:
    figures = live_figures(SCENARIOS, load_settings(bmo_home=tmp_path), "kitchen-and-allergies*")
    wanted, given = figures.shares["wanted and live"], figures.shares["recall given live"]
    assert wanted.total >= given.total == wanted.hits > 0
    assert figures.shares["omits respected"].value == 1.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- person: ana\n  memories: []\n  questions: [{ask: hi, wanted: [a]}]\n", "['a']"),
        ("- person: ana\n", "memories"),
        ("[", "cannot be read"),
    ],
)
def test_a_malformed_file_of_cases_is_named(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(content)
    with pytest.raises(CorpusMissing) as raised:
        read_cases(path)
    assert "cases.yaml" in str(raised.value) and said in str(raised.value)


def test_the_command_names_a_missing_file(tmp_path: Path) -> None:
    ran = bmo(tmp_path, "eval", "read", "--cases", "nowhere.yaml")
    assert ran.code != 0
    assert "nowhere.yaml" in ran.sentence
