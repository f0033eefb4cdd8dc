"""What a cosine means: other embedders' similarities put on the local embedder's scale.

Embedders spread their cosines differently, and every threshold here was chosen with the local one.
Another one's cosines are moved and stretched until the same share of them answers, by one logistic
curve an embedder (``calibration.json``; Gemini's was not measured, see its row).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources

KNEE = 0.999
"""Share above which two texts say the same and the curve tells nothing any more."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve from cosine to probability.

    Attributes:
        embedder: Name of the embedder it was fitted for.
        midpoint: Cosine at which the share is one half.
        slope: Steepness at the midpoint, per unit of cosine.
    """

    embedder: str
    midpoint: float
    slope: float

    def cosine(self, share: float) -> float:
        """The cosine at which the share is ``share`` (0 < share < 1)."""
        return self.midpoint + math.log(share / (1.0 - share)) / self.slope

    def on_reference(self, cosine: float) -> float:
        """What ``cosine`` would be for the local embedder.

        The same share of both curves; from the share ``KNEE`` on straight up to 1, so that the
        same text is 1 with every embedder.
        """
        reference = calibration_for("")
        if self == reference:
            return cosine
        knee = self.cosine(KNEE)
        if cosine <= knee or knee >= 1.0:
            return reference.midpoint + (cosine - self.midpoint) * self.slope / reference.slope
        top = reference.cosine(KNEE)
        return top + (cosine - knee) * (1.0 - top) / (1.0 - knee)


@cache
def _table() -> dict[str, Calibration]:
    text = resources.files("bmo.recall").joinpath("calibration.json").read_text(encoding="utf-8")
    return {
        row["embedder"]: Calibration(row["embedder"], row["midpoint"], row["slope"])
        for row in json.loads(text)["embedders"]
    }


def calibration_for(embedder: str) -> Calibration:
    """The curve of an embedder, by the longest table entry its name begins with.

    Embedders that were never measured get the first (the local embedder's) curve.
    """
    table = _table()
    fitting = [name for name in table if embedder.startswith(name)]
    return table[max(fitting, key=len)] if fitting else next(iter(table.values()))
