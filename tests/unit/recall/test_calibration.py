"""One scale of cosines for thresholds, whichever embedder."""

from __future__ import annotations

import numpy as np
import pytest

from bmo.recall import Calibration, calibration_for

pytestmark = pytest.mark.unit

LOCAL = calibration_for("encoder")


@pytest.mark.parametrize("name", ["encoder", "gemini-embedding-001", "never-measured"])
def test_the_scale_keeps_order_and_its_ends(name: str) -> None:
    curve = calibration_for(name)
    steps = [curve.on_reference(float(c)) for c in np.linspace(0.0, 1.0, 200)]
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(1.0)
    assert curve.on_reference(curve.midpoint) == pytest.approx(LOCAL.midpoint)


def test_an_embedder_that_crowds_its_cosines_is_put_on_the_local_scale() -> None:
    crowded = Calibration(0.7 + 0.3 * LOCAL.midpoint, LOCAL.slope / 0.3)
    for cosine in (0.1, 0.28, 0.4):
        assert crowded.on_reference(0.7 + 0.3 * cosine) == pytest.approx(cosine)
    assert calibration_for("never-measured") == LOCAL


def test_geminis_default_tells_googles_own_example_apart() -> None:
    """Unmeasured: anchored on the cosines of the embeddings guide's example."""
    gemini = calibration_for("gemini-embedding-001")
    assert gemini.on_reference(0.948) > 0.45
    assert gemini.on_reference(0.747) < 0.2 and gemini.on_reference(0.737) < 0.2
