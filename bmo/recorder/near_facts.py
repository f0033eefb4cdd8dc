"""Facts near in meaning, for reconciliation: asked of the index, and done without in time."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bmo import telemetry
from bmo.index import EmbedderUnavailable, IndexUnavailable, MemoryIndex
from bmo.recall import calibration_for
from bmo.recorder.bounded import BoundedCalls

NEAR_TOP_K = 5
NEAR_THRESHOLD = 0.4
"""How many similar facts reconciliation looks at, and from which cosine similarity."""

NEAR_TIMEOUT_S = 1.0
"""Longest wait for them, in seconds; then the turn is recorded without."""

logger = logging.getLogger(__name__)


class NearFacts:
    """What the ledger asks while it records a turn. Used from the recorder's thread."""

    def __init__(self, index: MemoryIndex, bounded: BoundedCalls) -> None:
        """Asks one index."""
        self._index = index
        self._bounded = bounded

    def __call__(self, user_id: str, text: str) -> Sequence[tuple[str, float]]:
        """(fact id, similarity) of a user's facts near a text; none when the index fails."""
        index = self._index
        if index.unavailable:
            return ()
        try:
            found = self._bounded.call(
                lambda: index.near(user_id, text, top_k=NEAR_TOP_K, threshold=NEAR_THRESHOLD),
                NEAR_TIMEOUT_S,
            )
            # The ledger's thresholds are cosines of the local embedder.
            scale = calibration_for(index.embedder.name)
            moved = [(str(fact_id), scale.on_reference(float(score))) for fact_id, score in found]
            return [(fact_id, score) for fact_id, score in moved if score >= NEAR_THRESHOLD]
        except (IndexUnavailable, EmbedderUnavailable) as error:
            logger.warning("recorded without near facts", extra={"error": str(error)})
        except Exception as error:  # the turn must reach the ledger, whatever the index does
            logger.exception("near facts failed", extra={"error": type(error).__name__})
            telemetry.note_fault("index")
        return ()
