"""Mem0's own extraction by Gemini (MEM0_SETTING=NORMAL with a key), made to fail loudly.

Mem0 2.2.1 takes an answer that is no JSON for "nothing to remember" and its Gemini client waits
without end. Here both are errors, so that the turn is tried again instead of being lost.
"""

from __future__ import annotations

import json
from typing import Any

from google import genai
from google.genai import types
from mem0.configs.llms.gemini import GeminiConfig
from mem0.llms.base import LLMBase
from mem0.llms.gemini import GeminiLLM

TIMEOUT_MS = 20_000
"""Longest a request may take between two bytes, in milliseconds."""

MAX_TOKENS = 2000
"""Tokens an answer may have: Mem0's own default."""


class GeminiInference(GeminiLLM):  # type: ignore[misc]  # mem0 ships no types
    """Mem0's Gemini provider with a deadline, and without answers that are half there."""

    def __init__(self, config: GeminiConfig) -> None:
        """Makes the client; nothing is sent yet.

        Args:
            config: Model, key, and the rest of Mem0's Gemini configuration.
        """
        # Past GeminiLLM: it makes a client without a deadline, and guesses a model that is gone.
        LLMBase.__init__(self, config)
        self.client = genai.Client(
            vertexai=False,
            api_key=config.api_key,
            http_options=types.HttpOptions(timeout=TIMEOUT_MS),
        )

    def generate_response(
        self,
        messages: Any,
        response_format: Any = None,
        tools: Any = None,
        tool_choice: str = "auto",
    ) -> Any:
        """One answer of the model.

        Raises:
            ValueError: JSON was asked for, and the answer has no list of memories.
        """
        answer = super().generate_response(messages, response_format, tools, tool_choice)
        if response_format is not None and response_format["type"] == "json_object":
            _check(answer)
        return answer

    def close(self) -> None:
        """Gives the connections back."""
        self.client.close()


def _check(answer: object) -> None:
    """Refuses what Mem0 would silently read as nothing."""
    try:
        found = json.loads(answer) if isinstance(answer, str) else None
    except ValueError:
        found = None
    memories = found.get("memory") if isinstance(found, dict) else None
    if not isinstance(memories, list) or not all(
        isinstance(one, dict) and isinstance(one.get("text"), str) for one in memories
    ):
        raise ValueError("the model's answer has no list of memories")
