"""Weights are rounded as the first graph of the judge held them."""

from __future__ import annotations

import numpy as np
import pytest

from training.rounding import by_output, by_table

pytestmark = pytest.mark.unit

MATRIX = np.random.default_rng(1).normal(0, 0.2, (40, 7)).astype(np.float32)


def test_an_output_has_its_own_steps() -> None:
    made = by_output(MATRIX)
    steps = np.abs(MATRIX).max(axis=0) / 127
    assert made.dtype == np.float32
    assert (np.abs(made - MATRIX) <= steps * 0.501).all()
    assert np.allclose(np.abs(made).max(axis=0), np.abs(MATRIX).max(axis=0), rtol=1e-6)


def test_a_table_has_one_step_and_keeps_zero() -> None:
    table = np.vstack([MATRIX, np.zeros((1, 7), np.float32), np.full((1, 7), 1.5, np.float32)])
    made = by_table(table)
    step = (table.max() - table.min()) / 255
    assert (np.abs(made - table) <= step * 1.001).all()
    assert (made[40] == 0).all()
    assert len(np.unique(made)) <= 256


def test_what_is_rounded_stays_when_rounded_again() -> None:
    once = by_output(MATRIX)
    assert np.allclose(by_output(once), once, rtol=1e-6)
