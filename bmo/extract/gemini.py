"""Gemini behind the gate: google-genai, structured output by a JSON schema."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from bmo.extract.model import (
    TIMEOUT_S,
    Answer,
    ExtractionFailed,
    LibraryClient,
    Request,
    seconds_of,
)

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError

TYPICAL_TOKENS = (1600, 400)
"""Tokens in and out of a usual call (instructions, a batch of turns), for the order of models."""

MAX_OUTPUT_TOKENS = 4096
"""An answer about a full batch takes some 1,500."""

_WRONG_KEY = "Gemini refused the key ({said}): correct GOOGLE_API_KEY."
_LASTING = {
    401: _WRONG_KEY,
    403: _WRONG_KEY,
    404: "Gemini has no model {model!r} ({said}): correct GATEKEEPER_LLM_MODEL.",
}
"""Status -> what somebody has to do."""


class GeminiClient(LibraryClient["Client"]):
    """One Gemini model by an API key; see ``ModelClient``. The library is imported at first use.

    ``GOOGLE_GEMINI_BASE_URL`` is honoured by google-genai itself (a proxy, a test server).
    """

    def __init__(
        self, model: str, api_key: str, *, base_url: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Nothing is sent yet; ``timeout_s`` is the longest wait between two bytes."""
        super().__init__()
        self.model = model
        self.name = f"gemini:{model}"
        self.cost = price(model, *TYPICAL_TOKENS)
        self._key = api_key
        self._base_url = base_url
        self._timeout_s = timeout_s

    def _make(self) -> Client:
        from google import genai
        from google.genai import types

        # Without retry options google-genai sends once: retrying is the settler's part.
        timeout_ms = int(self._timeout_s * 1000)
        options = types.HttpOptions(base_url=self._base_url, timeout=timeout_ms)
        return genai.Client(vertexai=False, api_key=self._key, http_options=options)

    def is_available(self) -> bool:
        """Whether there is a key; the network is not asked."""
        return bool(self._key) and not self.closed

    def ask(self, request: Request, schema: Mapping[str, Any]) -> Answer:
        """See ``ModelClient.ask``."""
        from google.genai import errors, types

        from bmo.index import gemini_service_errors

        config = types.GenerateContentConfig(
            system_instruction=request.instructions,
            response_mime_type="application/json",
            response_json_schema=dict(schema),
            temperature=0.0,
            max_output_tokens=MAX_OUTPUT_TOKENS,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        try:
            response = self.call(
                lambda made: made.models.generate_content(
                    model=self.model, contents=request.content, config=config
                )
            )
        except errors.APIError as error:
            raise self._refused(error) from error
        except gemini_service_errors() as error:
            raise ExtractionFailed(f"Gemini did not answer ({type(error).__name__})") from error
        except ValueError as error:  # a body that is no JSON, or no response of this API
            raise ExtractionFailed(f"Gemini's answer is broken ({type(error).__name__})") from error
        usage = response.usage_metadata or types.GenerateContentResponseUsageMetadata()
        read = usage.prompt_token_count or 0
        wrote = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        answer = Answer(response.text or "", read, wrote, price(self.model, read, wrote))
        if not answer.text:
            why = "Gemini answered without text (blocked, or cut off)"
            raise ExtractionFailed(why, spent=answer)
        return answer

    def _refused(self, error: APIError) -> ExtractionFailed:
        said = f"{error.code} {error.status or ''}".strip()
        # Google says 400, not 401, to a key it does not know.
        wrong_key = error.code == 400 and "api key" in (error.message or "").lower()
        fix = _LASTING.get(401 if wrong_key else error.code)
        if fix is not None:
            return ExtractionFailed(fix.format(said=said, model=self.model), lasting=True)
        headers = getattr(error.response, "headers", None) or {}
        wait_s = seconds_of(headers.get("retry-after"))
        return ExtractionFailed(f"Gemini answered {said}", retry_after_s=wait_s)


def price(model: str, input_tokens: int, output_tokens: int) -> float:
    """US dollars of a call; an unknown model is counted like the dearest known one."""
    table = _prices()
    prefix = max((name for name in table if model.startswith(name)), key=len, default=None)
    rows = table.values() if prefix is None else [table[prefix]]
    read, wrote = (max(row[side] for row in rows) for side in ("input", "output"))
    return (input_tokens * read + output_tokens * wrote) / 1_000_000


@cache
def _prices() -> Mapping[str, Mapping[str, float]]:
    source = resources.files(__package__) / "data" / "prices.toml"
    table: Mapping[str, Mapping[str, float]] = tomllib.loads(source.read_text("utf-8"))["gemini"]
    return table
