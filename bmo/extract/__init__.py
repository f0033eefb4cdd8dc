"""Extractors after the gate, cheapest first; never on the voice path.

Client libraries are imported when a model is first asked.
"""

from bmo.extract.acceptance import CONFIDENCE_CAP, Accepted, accept
from bmo.extract.budget import Budget, Circuit
from bmo.extract.echo import Fingerprints, fingerprints
from bmo.extract.extractor import (
    Candidate,
    Extraction,
    ExtractionFailed,
    Extractor,
    Known,
    Refusal,
    RefusalReason,
)
from bmo.extract.gemini import GeminiClient
from bmo.extract.model_extractor import Answer, ModelClient, ModelExtractor
from bmo.extract.ollama import OllamaClient
from bmo.extract.orchestrator import Orchestrator
from bmo.extract.outcome import Call, Settlement, Status, TurnOutcome
from bmo.extract.pattern import PatternExtractor
from bmo.extract.request import MAX_TURNS
from bmo.extract.scripted import ScriptedClient, ScriptError, scripted_extractor

__all__ = [
    "CONFIDENCE_CAP",
    "MAX_TURNS",
    "Accepted",
    "Answer",
    "Budget",
    "Call",
    "Candidate",
    "Circuit",
    "Extraction",
    "ExtractionFailed",
    "Extractor",
    "Fingerprints",
    "GeminiClient",
    "Known",
    "ModelClient",
    "ModelExtractor",
    "OllamaClient",
    "Orchestrator",
    "PatternExtractor",
    "Refusal",
    "RefusalReason",
    "ScriptError",
    "ScriptedClient",
    "Settlement",
    "Status",
    "TurnOutcome",
    "accept",
    "fingerprints",
    "scripted_extractor",
]
