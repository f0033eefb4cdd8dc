"""What a cosine means: raw similarities of an embedder mapped to 0..1.

Embedders spread their cosines differently: for MiniLM the right memory of a question has .34 at
the median and the wrong ones stay under .18 (p95); for others right answers begin at .6. The
score's semantic part is therefore the calibrated share: the probability that a memory with this
cosine answers the question, fitted on ``training/calibration_pairs.jsonl`` by
``training/calibrate_embedder.py`` (logistic regression, one feature). So .3 means the same
whichever embedder is used. Thresholds that are cosines (near duplicates, what a request to forget
means) were chosen with the local embedder; another one's cosines are put on its scale first.

The row of Gemini's embedder was not measured (``"pairs": 0``; no key was at hand): it is the local
curve, moved and stretched so that the three cosines printed in the example of Google's embeddings
guide (.948 for two ways to ask the same, .747 and .737 for unrelated questions, semantic
similarity; quoted from memory) fall on the local embedder's for the same texts (.641, .126, .065).
Run the script with a key to measure it: ``python training/calibrate_embedder.py --embedder gemini
--write``.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources


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

    def share(self, cosine: float) -> float:
        """Calibrated similarity of ``cosine``, 0..1."""
        return 1.0 / (1.0 + math.exp(-self.slope * (cosine - self.midpoint)))

    def cosine(self, share: float) -> float:
        """The cosine at which the share is ``share`` (0 < share < 1)."""
        return self.midpoint + math.log(share / (1.0 - share)) / self.slope

    def on_reference(self, cosine: float) -> float:
        """What ``cosine`` would be for the embedder that every other threshold was chosen with.

        The same share of this curve and of the reference's; from the share ``KNEE`` on straight
        up to 1, so that the same text is 1 with every embedder and near duplicates stay near it.
        """
        reference = reference_calibration()
        if self == reference:
            return cosine
        knee = self.cosine(KNEE)
        if cosine <= knee or knee >= 1.0:
            return reference.midpoint + (cosine - self.midpoint) * self.slope / reference.slope
        top = reference.cosine(KNEE)
        return top + (cosine - knee) * (1.0 - top) / (1.0 - knee)

    @property
    def floor(self) -> float:
        """Cosine below which a hit is not worth asking the index for (share under 5%)."""
        return max(0.0, self.cosine(0.05))


KNEE = 0.999
"""Share above which two texts say the same and the curve tells nothing any more."""


def reference_calibration() -> Calibration:
    """The local embedder's curve, the first of the table: thresholds are cosines of its scale."""
    return next(iter(_table().values()))


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
    return table[max(fitting, key=len)] if fitting else reference_calibration()
