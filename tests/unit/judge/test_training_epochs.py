"""What each epoch of the judge's training reads; only where torch is installed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from training.turns import read_turns

pytest.importorskip("torch", reason="training's own dependency (training/requirements.txt)")

from training.fitting import Recipe, _state_of, _writings, rate_share  # after torch is known

pytestmark = pytest.mark.unit

RECIPE = Recipe()
TURNS = read_turns()[::60]


def read_in(number: int) -> set[str]:
    """The files that an epoch reads."""
    return {turn.file for turn, _ in _writings(TURNS, RECIPE, number)}


def test_the_files_written_last_come_with_later_epochs() -> None:
    early, late = RECIPE.later
    assert not read_in(0) & set(early + late)
    assert set(early) <= read_in(1) and not read_in(1) & set(late)
    assert set(early + late) <= read_in(2)


def test_an_epoch_is_the_same_whatever_a_later_one_adds() -> None:
    without = [turn for turn in TURNS if turn.file not in RECIPE.later[-1]]
    epochs = [[_writings(some, RECIPE, number) for number in (0, 1)] for some in (TURNS, without)]
    assert _state_of(RECIPE, epochs[0]) == _state_of(RECIPE, epochs[1])
    assert _state_of(RECIPE, epochs[0]) != _state_of(replace(RECIPE, seed=1), epochs[0])
    assert _state_of(RECIPE, epochs[0]) != _state_of(RECIPE, epochs[0][:1])


def test_a_patterns_lines_are_read_every_second_time() -> None:
    lines = [turn for turn in read_turns() if turn.file in "lo"]
    every = sum(turn.file == "l" for turn in lines)
    for number in range(RECIPE.epochs):
        read = sum(turn.file == "l" for turn, _ in _writings(lines, RECIPE, number))
        assert 0.4 * every < read < 0.6 * every


def test_the_rate_rises_and_falls_to_nothing() -> None:
    shares = [rate_share(step / 100) for step in range(101)]
    assert max(shares) == shares[10] == 1.0
    assert shares[:11] == sorted(shares[:11]) and shares[10:] == sorted(shares[10:], reverse=True)
    assert shares[0] == shares[100] == 0.0
