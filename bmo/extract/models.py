"""The extractors that GATEKEEPER_LLM_MODEL names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmo.extract.extractor import Extractor
from bmo.extract.gemini import GeminiClient
from bmo.extract.model_extractor import ModelExtractor
from bmo.extract.ollama import OllamaClient
from bmo.settings import OLLAMA_PREFIX

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.settings import Settings


def extractors_of(settings: Settings, gate: WriteGate) -> tuple[list[Extractor], list[str]]:
    """One extractor a model, and a sentence for each that cannot be used.

    Args:
        settings: Models, key, Ollama's address.
        gate: Reads what models propose.
    """
    extractors: list[Extractor] = []
    notices: list[str] = []
    for name in settings.model_names:
        if name.startswith(OLLAMA_PREFIX):
            client = OllamaClient(name.removeprefix(OLLAMA_PREFIX), settings.ollama_host)
            extractors.append(ModelExtractor(client, gate))
        elif settings.google_api_key is None:
            notices.append(
                f"GATEKEEPER_LLM_MODEL={name!r} needs GOOGLE_API_KEY: set it, or name a model of "
                "Ollama (ollama/<model>); until then held turns wait."
            )
        else:
            key = settings.google_api_key.get_secret_value()
            extractors.append(ModelExtractor(GeminiClient(name, key), gate))
    if not extractors and not notices:
        notices.append("GATEKEEPER_LLM_MODEL names no model: held turns wait.")
    return extractors, notices
