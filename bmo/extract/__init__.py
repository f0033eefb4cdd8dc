"""Extractors after the gate, cheapest first; never on the voice path."""

from bmo.extract.extractor import Extraction, Extractor, Known
from bmo.extract.orchestrator import Orchestrator
from bmo.extract.pattern import PatternExtractor

__all__ = ["Extraction", "Extractor", "Known", "Orchestrator", "PatternExtractor"]
