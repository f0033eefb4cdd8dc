"""What a cosine means: other embedders' similarities put on the local embedder's scale.

Embedders spread their cosines differently, and every threshold here was chosen with the local one.
Another one's cosines are moved and stretched until the same share of them answers, by one logistic
curve an embedder.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

KNEE = 0.999
"""Share above which two texts say the same and the curve tells nothing any more."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve from cosine to probability.

    Attributes:
        midpoint: Cosine at which the share is one half.
        slope: Steepness at the midpoint, per unit of cosine.
    """

    midpoint: float
    slope: float

    @property
    def knee(self) -> float:
        """The cosine at which the share is ``KNEE``."""
        return self.midpoint + math.log(KNEE / (1.0 - KNEE)) / self.slope

    def on_reference(self, cosine: float) -> float:
        """What ``cosine`` would be for the local embedder.

        The same share of both curves; from the share ``KNEE`` on straight up to 1, so that the
        same text is 1 with every embedder.
        """
        if self == LOCAL:
            return cosine
        if cosine <= self.knee:
            return LOCAL.midpoint + (cosine - self.midpoint) * self.slope / LOCAL.slope
        return LOCAL.knee + (cosine - self.knee) * (1.0 - LOCAL.knee) / (1.0 - self.knee)


LOCAL = Calibration(0.2836, 22.717)
"""The curve of all-MiniLM-L6-v2, whose cosines the encoder's vector learnt
(``training/vectors.py``)."""

GEMINI = Calibration(0.8132, 60.2)
"""Not measured: the local curve laid through the cosines that the example of Google's embeddings
guide prints."""


def calibration_for(embedder: str) -> Calibration:
    """The curve of an embedder, by its name; one that was never measured gets the local curve."""
    return GEMINI if embedder.startswith("gemini-embedding-001") else LOCAL
