"""The judge's training goes on where it was broken off.

Only where torch is installed; on a small encoder with weights by chance, for the published ones
are fetched when a judge is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.learnt import FIRST, SECOND, learnt_turns
from training.reading import batches_read
from training.recipe import Recipe
from training.turns import TrainingTurn

pytest.importorskip("torch", reason="training's own dependency (training/requirements.txt)")

import torch  # from here on only where it is installed

from training import fitting
from training.fitting import _state_of, fit
from training.minilm_graph import EncoderShape

pytestmark = pytest.mark.unit

RECIPES = [replace(training.recipe, batch=8) for training in (FIRST, SECOND)]
TURNS = learnt_turns()[::250]
SHAPE = EncoderShape(layers=1, hidden=24, heads=2)


def weights_by_chance() -> Mapping[str, np.ndarray[Any, Any]]:
    """Tensors of a small encoder under the published names."""
    rng, hidden = np.random.default_rng(1), SHAPE.hidden
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (30_522, hidden),
        "embeddings.position_embeddings.weight": (512, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
    }
    names = ["embeddings.LayerNorm"]
    sizes = {"intermediate.dense": (4 * hidden, hidden), "output.dense": (hidden, 4 * hidden)}
    for part in ("self.query", "self.key", "self.value", "output.dense"):
        sizes[f"attention.{part}"] = (hidden, hidden)
    for name, size in sizes.items():
        shapes[f"encoder.layer.0.{name}.weight"] = size
        shapes[f"encoder.layer.0.{name}.bias"] = size[:1]
    names += [f"encoder.layer.0.{part}.LayerNorm" for part in ("attention.output", "output")]
    made = {name: rng.normal(0, 0.1, size).astype(np.float32) for name, size in shapes.items()}
    for name in names:
        made[f"{name}.weight"] = np.ones(hidden, np.float32)
        made[f"{name}.bias"] = np.zeros(hidden, np.float32)
    return made


@pytest.fixture(autouse=True)
def small_encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The training takes a small encoder for the published one, and one thread."""
    monkeypatch.setattr(fitting, "published_weights", weights_by_chance)
    monkeypatch.setattr(fitting, "EncoderShape", lambda: SHAPE)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def weights_of(model: Any) -> list[Any]:
    """All weights of a model, copied."""
    return [p.detach().clone() for p in model.parameters()]


def state(recipe: Recipe, number: int, turns: Sequence[TrainingTurn] = TURNS) -> str:
    """Name of what is kept after an epoch."""
    return _state_of(recipe, batches_read(turns, recipe)[: number + 1])


@pytest.mark.parametrize("recipe", RECIPES, ids=("first", "second"))
def test_a_training_that_was_broken_off_gives_the_same_weights(
    recipe: Recipe, tmp_path: Path
) -> None:
    whole = weights_of(fit(TURNS, recipe))
    kept = weights_of(fit(TURNS, recipe, tmp_path))
    states = [tmp_path / f"{state(recipe, number)}.pt" for number in range(3)]
    for path in states[1:]:
        path.unlink()
    resumed = weights_of(fit(TURNS, recipe, tmp_path))
    rows = zip(whole, kept, resumed, strict=True)
    assert all(torch.equal(a, b) and torch.equal(a, c) for a, b, c in rows)
    assert all(path.exists() for path in states)


def test_what_is_kept_is_the_moving_average() -> None:
    last, mean = (
        weights_of(fit(TURNS, replace(RECIPES[1], averaging=averaging)))
        for averaging in (0.0, 0.995)
    )
    assert not all(torch.equal(a, b) for a, b in zip(last, mean, strict=True))


def test_words_that_never_occur_stay_as_published_without_decay() -> None:
    never = 30_000  # no turn has this word piece
    published = torch.from_numpy(weights_by_chance()["embeddings.word_embeddings.weight"])[never]
    first, second = (fit(TURNS, recipe).words.weight[never].detach() for recipe in RECIPES)
    assert torch.equal(second, published)
    assert not torch.equal(first, published)


def test_another_line_or_recipe_is_another_state() -> None:
    recipe = RECIPES[0]
    known = state(recipe, 0)
    assert known == state(replace(recipe), 0, list(TURNS))
    others = (
        state(recipe, 0, TURNS[:-1]),
        state(replace(recipe, seed=1), 0),
        state(recipe, 1),
        state(recipe, 0, [replace(TURNS[0], text="hi"), *TURNS[1:]]),
    )
    assert len({known, *others}) == 5
