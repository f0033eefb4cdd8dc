"""One meaning for thresholds, whichever embedder: the fit, its data, and the shipped table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from bmo.index import Embedder, open_embedder
from bmo.recall import Calibration, calibration_for
from bmo.recall.calibration import KNEE, reference_calibration
from bmo.settings import load_settings
from tests.fakes.gemini_embeddings import crowded_gemini
from training.calibrate_embedder import cosines, fit

pytestmark = pytest.mark.unit

CROWDING = 0.7


@pytest.fixture(scope="module")
def local() -> Embedder:
    return open_embedder(load_settings(bmo_embedder="local"))


@pytest.fixture(scope="module")
def crowded(local: Embedder) -> Iterator[Embedder]:
    with crowded_gemini(local, CROWDING) as embedder:
        yield embedder


def test_the_shipped_local_row_is_what_the_script_fits(local: Embedder) -> None:
    midpoint, slope = fit(*cosines(local))
    shipped = calibration_for(local.name)
    assert shipped == reference_calibration()
    assert shipped.midpoint == pytest.approx(midpoint, abs=0.01)
    assert shipped.slope == pytest.approx(slope, rel=0.05)


def test_a_service_that_crowds_its_cosines_gets_the_same_thresholds(
    local: Embedder, crowded: Embedder
) -> None:
    """Unrelated texts have .7 there: with raw cosines every memory would pass every threshold."""
    right, wrong = cosines(local)
    far_right, far_wrong = cosines(crowded)
    assert float(np.median(far_wrong)) > 0.65
    curve = Calibration("crowded", *fit(far_right, far_wrong))
    mine = Calibration("local", *fit(right, wrong))
    for here, there in zip([*right, *wrong[:500]], [*far_right, *far_wrong[:500]], strict=True):
        assert curve.share(float(there)) == pytest.approx(mine.share(float(here)), abs=0.01)
        if mine.share(float(here)) < KNEE:
            moved = curve.on_reference(float(there))
            assert moved == pytest.approx(float(here), abs=0.02)
    assert curve.floor > 0.65 and mine.floor < 0.2


@pytest.mark.parametrize("name", ["minilm-l6-v2-int8", "gemini-embedding-001", "never-measured"])
def test_the_scale_keeps_order_and_its_ends(name: str) -> None:
    curve = calibration_for(name)
    steps = [curve.on_reference(float(c)) for c in np.linspace(0.0, 1.0, 200)]
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(1.0)
    assert curve.on_reference(curve.midpoint) == pytest.approx(reference_calibration().midpoint)


def test_geminis_default_tells_googles_own_example_apart() -> None:
    """Unmeasured: anchored on the cosines of the embeddings guide's example."""
    gemini = calibration_for("gemini-embedding-001")
    assert gemini != reference_calibration()
    assert gemini.share(0.948) > 0.99
    assert gemini.share(0.747) < 0.05 and gemini.share(0.737) < 0.05
    assert gemini.floor > 0.75
