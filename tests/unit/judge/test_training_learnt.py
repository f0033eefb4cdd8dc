"""What the trainings behind the judge learnt, kept as it was while the data goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import pytest

from training.learnt import FIRST, SECOND, TRAININGS, Training, learnt_clauses, learnt_turns
from training.reading import batches_read
from training.turns import LEFT_OUT, TrainingTurn, digest, is_held_out, read_turns

pytestmark = pytest.mark.unit

EACH = pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.name)


def learnt(turns: Iterable[TrainingTurn]) -> str:
    """A digest of all that the training sees of turns."""
    known = hashlib.sha256()
    for turn in turns:
        row = (turn.context, turn.text, turn.verdict, turn.categories, turn.recall)
        known.update(repr(row).encode())
    return known.hexdigest()[:16]


@pytest.mark.parametrize(
    ("training", "turns", "clauses"),
    [
        (FIRST, (18599, "b40cdb90f929f086"), (2197, "c1f78e5f94369f72")),
        (SECOND, (24641, "39e6634256eebafa"), (3847, "2ca32a8bbc3471fc")),
    ],
    ids=("first", "second"),
)
def test_it_is_what_the_weights_learnt(
    training: Training, turns: tuple[int, str], clauses: tuple[int, str]
) -> None:
    assert (len(training.turns()), learnt(training.turns())) == turns
    assert (len(training.clauses()), learnt(training.clauses())) == clauses


@pytest.mark.parametrize(("training", "corrected"), [(FIRST, 17), (SECOND, 0)])
def test_labels_made_alike_since_are_learnt_as_they_were(
    training: Training, corrected: int
) -> None:
    left_out = training.folder / "left_out.txt"
    today = [t for t in read_turns(left_out=left_out) if t.file in training.files]
    then = training.turns()
    assert [turn.text for turn in today] == [turn.text for turn in then]
    other = sum(a.categories != b.categories for a, b in zip(then, today, strict=True))
    kept = (training.folder / "labels.jsonl").read_text("utf-8").splitlines()
    assert other == len(kept) == corrected


@EACH
def test_what_was_left_out_then_still_is(training: Training) -> None:
    then, now = (
        set((folder / "left_out.txt").read_text().split())
        for folder in (training.folder, LEFT_OUT.parent)
    )
    assert then <= now
    assert {turn.file for turn in training.turns()} == set(training.files)


@EACH
def test_no_line_is_of_a_conversation_that_is_held_out(training: Training) -> None:
    turns, clauses = training.turns(), training.clauses()
    known = {(turn.file, turn.conversation) for turn in turns}
    assert {(clause.file, clause.conversation) for clause in clauses} <= known
    assert not any(is_held_out(line) for line in training.lines())
    assert all((clause.categories is None) == (clause.verdict == 2) for clause in clauses)
    held = sum(map(is_held_out, turns))
    assert len(training.lines()) == len(turns) - held + len(clauses)


def test_the_shares_are_one_together_and_what_is_learnt_is_told() -> None:
    assert sum(training.share for training in TRAININGS) == pytest.approx(1)
    left_out = set((SECOND.folder / "left_out.txt").read_text().split())
    told = {turn.text for turn in learnt_turns()}
    assert all(digest(t.text) in left_out for t in FIRST.turns() if t.text not in told)
    assert len(learnt_clauses()) == len(set(learnt_clauses()))


@pytest.mark.parametrize(
    ("training", "read"),
    [(FIRST, "bf20907b332961bc"), (SECOND, "a43d8f42a4bbf425")],
    ids=("first", "second"),
)
def test_the_epochs_read_what_they_read_then(training: Training, read: str) -> None:
    """Other writings of turns, and their order, on every fiftieth line."""
    known = hashlib.sha256()
    for epoch in batches_read(training.lines()[::50], training.recipe):
        for turn, pair in (line for batch in epoch for line in batch):
            known.update(repr((pair.ids, pair.kinds, turn.verdict)).encode())
    assert known.hexdigest()[:16] == read
