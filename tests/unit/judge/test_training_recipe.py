"""What a recipe says of the learning rate, of the lines of an epoch, and of the mean of weights."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from training.learnt import SECOND
from training.reading import batches_read, writings
from training.recipe import Recipe, rate_share
from training.soup import mean_weights

pytestmark = pytest.mark.unit

BATCHES = (30, 40, 50)
TURNS = SECOND.turns()[::40]


def shares(recipe: Recipe) -> list[float]:
    """The learning rate's share at every batch."""
    return [
        rate_share(recipe, BATCHES, number, place)
        for number, batches in enumerate(BATCHES)
        for place in range(batches)
    ]


def test_by_steps_the_rate_rises_for_a_tenth_of_them_and_falls_to_nothing() -> None:
    found = shares(Recipe())
    assert found[:12] == pytest.approx([(step + 1) / 12 for step in range(12)])
    assert found[-1] == pytest.approx(1 / 108)
    assert all(a > b for a, b in itertools.pairwise(found[12:]))


def test_by_epochs_each_is_a_third_of_the_way() -> None:
    found = shares(Recipe(pace="epochs"))
    assert found[8] == pytest.approx(1)  # a tenth of three epochs, in the first of 30 batches
    assert found[29] == pytest.approx((1 - 1 / 3) / 0.9)
    assert found[69] == pytest.approx((1 - 2 / 3) / 0.9)
    assert found[-1] == pytest.approx(0)


def test_files_come_when_they_are_due_and_patterns_by_halves() -> None:
    recipe = SECOND.recipe
    read = [writings(TURNS, recipe, number, random.Random(1)) for number in range(3)]
    files = [{turn.file for turn in lines} for lines in read]
    assert files[0] == set(SECOND.files) - set("stu")
    assert files[1] == set(SECOND.files) - {"u"}
    assert files[2] == set(SECOND.files)
    halves = [[t.text for t in TURNS if t.file in "lm"], [t.text for t in read[0]]]
    patterned = [text for text in halves[1] if text in halves[0]]
    assert 0.35 < len(patterned) / len(halves[0]) < 0.65
    assert [t for t in read[0] if t.file not in "lm"] == [t for t in TURNS if t.file not in "lmstu"]


def test_an_epoch_with_chance_of_its_own_does_not_depend_on_the_one_before() -> None:
    recipe = replace(SECOND.recipe, later=())
    longer = batches_read([*TURNS, replace(TURNS[0], file="s", text="a line more")], SECOND.recipe)
    known = batches_read(TURNS, SECOND.recipe)
    assert known[0] == longer[0]  # the first does not read "s"
    assert known[1] != longer[1]
    assert batches_read(TURNS, recipe) == batches_read(TURNS, recipe)


def test_the_mean_of_weights_counts_each_model_by_its_share() -> None:
    one = {"a": np.array([1.0, 2.0], np.float32), "b": np.array([[0.25]], np.float32)}
    two = {"a": np.array([3.0, -2.0], np.float32), "b": np.array([[0.25]], np.float32)}
    made = mean_weights([one, two], [0.25, 0.75])
    assert made["a"].tolist() == [2.5, -1.0] and made["a"].dtype == np.float32
    assert made["b"].tolist() == [[0.25]] and made["b"].shape == (1, 1)


def test_what_is_alike_in_all_models_stays_to_the_last_bit() -> None:
    places = np.random.default_rng(1).normal(0, 0.2, (64, 64)).astype(np.float32)
    assert (mean_weights([{"a": places}] * 2, [0.4, 0.6])["a"] == places).all()


def test_models_that_do_not_fit_have_no_mean() -> None:
    one = {"a": np.ones(2, np.float32)}
    with pytest.raises(ValueError, match=r"together 0\.9"):
        mean_weights([one, one], [0.4, 0.5])
    with pytest.raises(ValueError, match="same tensors"):
        mean_weights([one, {"b": one["a"]}], [0.4, 0.6])
    with pytest.raises(ValueError, match="share for each"):
        mean_weights([one, one], [1.0])
