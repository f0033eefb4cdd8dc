"""What the shipped judge learnt, kept as it was while the data goes on."""

from __future__ import annotations

import hashlib

import pytest

from training.learnt import FILES, LEARNT, learnt_clauses, learnt_turns
from training.turns import LEFT_OUT, TrainingTurn, read_turns

pytestmark = pytest.mark.unit

TURNS = learnt_turns()
CLAUSES = learnt_clauses()


def learnt(turns: list[TrainingTurn]) -> str:
    """A digest of all that the training sees of turns."""
    known = hashlib.sha256()
    for turn in turns:
        row = (turn.context, turn.text, turn.verdict, turn.categories, turn.recall)
        known.update(repr(row).encode())
    return known.hexdigest()[:16]


def test_it_is_what_the_shipped_weights_learnt() -> None:
    assert (len(TURNS), learnt(TURNS)) == (18599, "b40cdb90f929f086")
    assert (len(CLAUSES), learnt(CLAUSES)) == (2197, "c1f78e5f94369f72")


def test_labels_made_alike_since_are_learnt_as_they_were() -> None:
    today = [t for t in read_turns(left_out=LEARNT / "left_out.txt") if t.file in FILES]
    assert [turn.text for turn in today] == [turn.text for turn in TURNS]
    other = sum(a.categories != b.categories for a, b in zip(TURNS, today, strict=True))
    assert other == len((LEARNT / "labels.jsonl").read_text("utf-8").splitlines()) == 17


def test_what_was_left_out_then_still_is() -> None:
    then, now = ((path / "left_out.txt").read_text().split() for path in (LEARNT, LEFT_OUT.parent))
    assert set(then) < set(now)
    assert {turn.file for turn in TURNS} == set(FILES)


def test_a_clause_is_of_a_conversation_that_is_trained_on() -> None:
    known = {(turn.file, turn.conversation) for turn in TURNS}
    assert {(clause.file, clause.conversation) for clause in CLAUSES} <= known
    assert all((clause.categories is None) == (clause.verdict == 2) for clause in CLAUSES)
