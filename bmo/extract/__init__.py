"""Model services behind the gate: what they propose is held against the user's words.

Never on the voice path. Client libraries are imported when a model is first asked.
"""

from bmo.extract.acceptance import CONFIDENCE_CAP, Accepted, accept
from bmo.extract.answer import Candidate
from bmo.extract.circuit import Circuit
from bmo.extract.gemini import GeminiClient
from bmo.extract.model import Answer, Budget, ExtractionFailed, ModelClient, Request
from bmo.extract.ollama import OllamaClient
from bmo.extract.orchestrator import SPENT, Orchestrator
from bmo.extract.scripted import ScriptedClient
from bmo.extract.settlement import Call, Known, Refusal, Settlement, TurnOutcome

__all__ = [
    "CONFIDENCE_CAP",
    "SPENT",
    "Accepted",
    "Answer",
    "Budget",
    "Call",
    "Candidate",
    "Circuit",
    "ExtractionFailed",
    "GeminiClient",
    "Known",
    "ModelClient",
    "OllamaClient",
    "Orchestrator",
    "Refusal",
    "Request",
    "ScriptedClient",
    "Settlement",
    "TurnOutcome",
    "accept",
]
