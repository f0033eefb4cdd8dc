"""Gemini as an extractor's model: google-genai, structured output by a JSON schema."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bmo.extract.extractor import ExtractionFailed
from bmo.extract.model_extractor import TIMEOUT_S, Answer
from bmo.extract.prices import TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS, price
from bmo.extract.request import Request
from bmo.extract.retry_after import seconds_of

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.errors import APIError

MAX_OUTPUT_TOKENS = 4096
"""An answer about a full batch takes some 1,500."""

_LASTING = {
    401: "Gemini refused the key ({said}): correct GOOGLE_API_KEY.",
    403: "Gemini refused the key ({said}): correct GOOGLE_API_KEY.",
    404: "Gemini has no model {model!r} ({said}): correct GATEKEEPER_LLM_MODEL.",
}
"""Status -> what somebody has to do."""


class GeminiClient:
    """One Gemini model by an API key. The library is imported, and the client made, at first use.

    ``GOOGLE_GEMINI_BASE_URL`` is honoured by google-genai itself (a proxy, a test server).

    Attributes:
        model: Model name.
        name: "gemini:<model>".
        cost: US dollars of a usual call.
        estimated_latency_ms: Milliseconds of a usual call.
    """

    estimated_latency_ms = 1500.0

    def __init__(
        self, model: str, api_key: str, *, base_url: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Nothing is sent yet.

        Args:
            model: Model name.
            api_key: Google API key.
            base_url: Address of the service; None is Google's.
            timeout_s: Longest a request may take between two bytes, in seconds.
        """
        self.model = model
        self.name = f"gemini:{model}"
        self.cost = price(model, TYPICAL_INPUT_TOKENS, TYPICAL_OUTPUT_TOKENS)
        self._api_key = api_key
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._closed = False

    def is_available(self) -> bool:
        """Whether there is a key; the network is not asked."""
        return bool(self._api_key) and not self._closed

    def warm_up(self) -> None:
        """Imports google-genai (a second of work, for which a conversation should not wait)."""
        self._opened()

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
            response = self._opened().models.generate_content(
                model=self.model, contents=request.content, config=config
            )
        except errors.APIError as error:
            raise self._refused(error) from error
        except gemini_service_errors() as error:
            raise ExtractionFailed(f"Gemini did not answer ({type(error).__name__})") from error
        except ValueError as error:  # a body that is no JSON, or no response of this API
            raise ExtractionFailed(f"Gemini's answer is broken ({type(error).__name__})") from error
        usage = response.usage_metadata
        read = (usage.prompt_token_count or 0) if usage else 0
        wrote = 0
        if usage:
            wrote = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        cost = price(self.model, read, wrote)
        if not response.text:
            raise ExtractionFailed(
                "Gemini answered without text (blocked, or cut off)",
                content=True,
                input_tokens=read,
                output_tokens=wrote,
                cost=cost,
            )
        return Answer(response.text, read, wrote, cost)

    def close(self) -> None:
        """Closes the connections; a request under way fails. Safe to call twice."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> Client:
        from google import genai
        from google.genai import types

        with self._lock:
            if self._closed:
                raise ExtractionFailed("the extractor is closed")
            if self._client is None:
                # Without retry options google-genai sends once: retrying is the settler's part.
                options = types.HttpOptions(
                    base_url=self._base_url, timeout=int(self._timeout_s * 1000)
                )
                self._client = genai.Client(
                    vertexai=False, api_key=self._api_key, http_options=options
                )
            return self._client

    def _refused(self, error: APIError) -> ExtractionFailed:
        said = f"{error.code} {error.status or ''}".strip()
        headers = getattr(error.response, "headers", None) or {}
        retry_after_s = seconds_of(headers.get("retry-after"))
        # Google says 400, not 401, to a key it does not know.
        wrong_key = error.code == 400 and "api key" in (error.message or "").lower()
        fix = _LASTING.get(401 if wrong_key else error.code)
        if fix is not None:
            return ExtractionFailed(fix.format(said=said, model=self.model), lasting=True)
        return ExtractionFailed(
            f"Gemini answered {said}", retry_after_s=retry_after_s, content=error.code == 400
        )
