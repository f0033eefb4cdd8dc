"""Model services behind the gate: what they propose is held against the user's words.

Never on the voice path. Client libraries are imported when a model is first asked.
"""

from bmo.extract.gemini import GeminiClient
from bmo.extract.model import Answer, ExtractionFailed, ModelClient, Request
from bmo.extract.ollama import OllamaClient
from bmo.extract.orchestrator import SPENT, Orchestrator
from bmo.extract.settlement import Known, Settlement, TurnOutcome

__all__ = [
    "SPENT",
    "Answer",
    "ExtractionFailed",
    "GeminiClient",
    "Known",
    "ModelClient",
    "OllamaClient",
    "Orchestrator",
    "Request",
    "Settlement",
    "TurnOutcome",
]
