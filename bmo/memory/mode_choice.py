"""Which mode the write gate works in while GATEKEEPER_MODE is not set."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from bmo.settings import OLLAMA_PREFIX, GatekeeperMode, Settings

LONGEST_LOOK_S = 1.5
"""Longest an Ollama is waited for, whatever it does, in seconds."""


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """A mode, and why it is that one in words for people; "" where somebody set it."""

    mode: GatekeeperMode
    why: str


def choose_mode(settings: Settings) -> ModeChoice:
    """The mode of these settings: ``hybrid`` where a model behind the gate can be asked.

    A Gemini model can be with a key, which is not tried; an Ollama model when its server answers
    and has it. Blocking, ``LONGEST_LOOK_S`` at most; never call it on an event loop.
    """
    gated = settings.gatekeeper_enabled and settings.mem0_setting == "GATED"
    if settings.gatekeeper_mode is not None or not gated:
        return ModeChoice(settings.effective_mode, "")
    problems: dict[str, None] = {}
    for name in settings.model_names:
        problem = _problem(settings, name)
        if not problem:
            return ModeChoice("hybrid", f"{name} can be asked")
        problems[problem] = None
    return ModeChoice("local", "; ".join(problems) or "GATEKEEPER_LLM_MODEL names no model")


def _problem(settings: Settings, name: str) -> str:
    """Why a model cannot be asked, or ""."""
    if not name.startswith(OLLAMA_PREFIX):
        return "" if settings.google_api_key is not None else "no GOOGLE_API_KEY"
    from bmo.extract import OllamaClient

    client = OllamaClient(name.removeprefix(OLLAMA_PREFIX), settings.ollama_host)
    # A thread beside: a server that sends a byte now and then never exceeds httpx's own time limit.
    looking = threading.Thread(target=client.is_available, name="bmo-ollama-probe", daemon=True)
    looking.start()
    looking.join(LONGEST_LOOK_S)
    if looking.is_alive():
        return f"Ollama does not answer within {LONGEST_LOOK_S:g} s"
    problem = client.problem
    client.close()
    return problem.rstrip(".")
