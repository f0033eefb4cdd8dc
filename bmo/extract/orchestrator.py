"""Cheap first: extractors in the order of their cost, until one finds something."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bmo.extract.extractor import Extraction, ExtractionFailed, Extractor, Known
from bmo.turn import Turn

logger = logging.getLogger("bmo.extract")


class Orchestrator:
    """Asks extractors, cheapest first, and stops at the first that finds a fact."""

    def __init__(self, extractors: Sequence[Extractor]) -> None:
        """Orders the extractors by cost, then by latency."""
        self.extractors = tuple(
            sorted(extractors, key=lambda one: (one.cost, one.estimated_latency_ms))
        )

    def extract(self, turns: Sequence[Turn], known: Known) -> Extraction | None:
        """Extracts the facts of some turns.

        Args:
            turns: Consecutive turns of one visit, oldest first.
            known: What is known of the user.

        Returns:
            The first extraction with a fact in it; else the last that answered; None when every
            extractor failed or was unavailable, so that the turns stay held.
        """
        answered: Extraction | None = None
        for extractor in self.extractors:
            if not extractor.is_available():
                continue
            try:
                extraction = extractor.extract(turns, known)
            except ExtractionFailed as error:
                logger.warning(
                    "extractor failed", extra={"extractor": extractor.name, "error": str(error)}
                )
                continue
            if any(extraction.facts.values()):
                return extraction
            answered = extraction
        return answered
