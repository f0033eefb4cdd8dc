"""The judge's training goes on where it was broken off.

Only where torch is installed; on a small encoder with weights by chance, for the published ones
are fetched when a judge is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.learnt import learnt_turns

pytest.importorskip("torch", reason="training's own dependency (training/requirements.txt)")

import torch  # from here on only where it is installed

from training import fitting
from training.fitting import Recipe, _state_of, fit
from training.minilm_graph import EncoderShape

pytestmark = pytest.mark.unit

RECIPE = Recipe(epochs=3, batch=8)
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
def small_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The training takes a small encoder for the published one."""
    monkeypatch.setattr(fitting, "published_weights", weights_by_chance)
    monkeypatch.setattr(fitting, "EncoderShape", lambda: SHAPE)


def weights_of(model: Any) -> list[Any]:
    """All weights of a model, copied."""
    return [p.detach().clone() for p in model.parameters()]


def test_a_training_that_was_broken_off_gives_the_same_weights(tmp_path: Path) -> None:
    whole = weights_of(fit(TURNS, RECIPE))
    kept = weights_of(fit(TURNS, RECIPE, tmp_path))
    states = [tmp_path / f"{_state_of(TURNS, RECIPE, number)}.pt" for number in range(3)]
    for state in states[1:]:
        state.unlink()
    resumed = weights_of(fit(TURNS, RECIPE, tmp_path))
    rows = zip(whole, kept, resumed, strict=True)
    assert all(torch.equal(a, b) and torch.equal(a, c) for a, b, c in rows)
    assert all(state.exists() for state in states)


def test_another_line_or_recipe_is_another_state() -> None:
    state = _state_of(TURNS, RECIPE, 0)
    assert state == _state_of(list(TURNS), Recipe(epochs=3, batch=8), 0)
    others = (
        _state_of(TURNS[:-1], RECIPE, 0),
        _state_of(TURNS, replace(RECIPE, seed=1), 0),
        _state_of(TURNS, RECIPE, 1),
        _state_of([replace(TURNS[0], text="hi"), *TURNS[1:]], RECIPE, 0),
    )
    assert len({state, *others}) == 5
