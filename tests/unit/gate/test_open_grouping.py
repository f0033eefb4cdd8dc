from __future__ import annotations

import pytest

from bmo.gate.analysis import ClauseAnalysis, analyse
from bmo.gate.open_grouping import ClauseOdds, grouped, parted_clauses, runs, tells_event
from bmo.turn import DialogueContext, Turn

pytestmark = pytest.mark.unit


def clauses(said: str) -> list[ClauseAnalysis]:
    return analyse(Turn(text=said), DialogueContext()).clauses


def texts(groups: list[list[ClauseAnalysis]]) -> list[str]:
    return [" | ".join(clause.text for clause in group) for group in groups]


def odds(said: str, *allow: float, tied: int = -1) -> list[ClauseOdds]:
    found = clauses(said)
    assert len(found) == len(allow), [clause.text for clause in found]
    return [
        ClauseOdds(clause, p, 1 - p, tied=place == tied)
        for place, (clause, p) in enumerate(zip(found, allow, strict=True))
    ]


def test_each_clause_that_carries_is_a_memory() -> None:
    rows = odds("i keep three goats and my aunt is a painter", 0.9, 0.9)
    assert texts(grouped(rows, 0.0, 5)) == ["i keep three goats", "my aunt is a painter"]


def test_what_carries_nothing_is_left_out() -> None:
    rows = odds("the weather is awful and i keep three goats", 0.02, 0.9)
    assert texts(grouped(rows, 0.0, 5)) == ["i keep three goats"]


def test_a_clause_that_leans_is_told_with_the_one_before() -> None:
    rows = odds("i keep three goats they live behind the chapel", 0.9, 0.02)
    assert texts(grouped(rows, 0.0, 5)) == ["i keep three goats | they live behind the chapel"]


def test_a_remark_that_leans_is_not() -> None:
    rows = odds("i keep three goats it is great fun", 0.9, 0.02)
    assert texts(grouped(rows, 0.0, 5)) == ["i keep three goats"]


def test_what_it_stands_for_comes_along() -> None:
    rows = odds("the wife hates garlic so i never cook with it", 0.01, 0.98)
    assert texts(grouped(rows, 0.0, 5)) == ["the wife hates garlic | i never cook with it"]


def test_punctuation_ties() -> None:
    said = "We have one rule here: paper scores only."
    assert texts(grouped(odds(said, 0.9, 0.9, tied=1), 0.0, 5)) == [
        "We have one rule here | paper scores only"
    ]


def test_nothing_is_left_out_where_all_is_kept() -> None:
    rows = odds("the weather is awful and i keep three goats", 0.02, 0.9)
    assert sum(len(group) for group in grouped(rows, 0.0, 5, keep_all=True)) == 2


def test_a_group_must_reach_what_is_needed() -> None:
    assert grouped(odds("i keep three goats", 0.7), 0.9, 5) == []


def test_a_carried_clause_is_told_once() -> None:
    analysis = analyse(Turn(text="i've given in and got a stick"), DialogueContext())
    assert len(analysis.clauses) == 2
    assert runs(analysis.clauses, analysis.words) == [(0, 8)]


def test_runs_join_over_a_word_between() -> None:
    analysis = analyse(Turn(text="i keep three goats and my aunt is a painter"), DialogueContext())
    assert runs(analysis.clauses, analysis.words) == [(0, 10)]


@pytest.mark.parametrize(
    ("said", "event"),
    [("i sold the old one", True), ("i lived in oslo", False), ("my aunt sold hers", False)],
)
def test_events(said: str, event: bool) -> None:
    assert tells_event(clauses(said)[0]) is event


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        (
            "sold the boat, the insurance was mad, mum's off sailing anyway",
            ["sold the boat", "the insurance was mad", "mum's off sailing anyway"],
        ),
        ("i take nothing under ten pounds, people try", None),
        ("when it rains, the cellar floods", ["when it rains, the cellar floods"]),
        ("the boat, an old wooden one, leaks", ["the boat, an old wooden one, leaks"]),
        ("on sundays, my dad cooks", ["on sundays, my dad cooks"]),
    ],
)
def test_a_comma_parts_two_clauses(said: str, parts: list[str] | None) -> None:
    analysis = analyse(Turn(text=said), DialogueContext())
    found = [clause.text for clause in parted_clauses(analysis.clauses, analysis.words)]
    assert found == (parts or said.split(", "))


def test_a_clause_behind_a_comma_opens_a_memory_only_when_it_surely_is_one() -> None:
    said = clauses("we keep bees")[0], clauses("the neighbours hate them")[0]
    for allow, memories in ((0.7, 1), (0.99, 2)):
        rows = [
            ClauseOdds(said[0], 0.9, 0.1),
            ClauseOdds(
                said[1]._replace(norm=("the", "neighbours", "hate", "bees")),
                allow,
                0.0,
                listed=True,
            ),
        ]
        assert len(grouped(rows, 0.0, 5)) == memories
