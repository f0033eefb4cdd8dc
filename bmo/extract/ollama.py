"""Ollama behind the gate: its HTTP API, ``/api/chat`` with a JSON schema as format."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bmo.extract.model import (
    CLOSED,
    TIMEOUT_S,
    Answer,
    ExtractionFailed,
    LibraryClient,
    Request,
    seconds_of,
)

if TYPE_CHECKING:
    import httpx

PROBE_TIMEOUT_S = 1.0
"""Longest the probe of /api/tags is waited for."""
PROBED_FOR_S = 30.0
"""How long its result counts."""
MODEL_TIMEOUT_S = 4 * TIMEOUT_S
"""A model on this machine may first have to be loaded."""


class OllamaClient(LibraryClient["httpx.Client"]):
    """One model of an Ollama server; see ``ModelClient``. httpx is imported at first use.

    Attributes:
        problem: Why the last probe found it unavailable, or "".
    """

    cost = 0.0

    def __init__(self, model: str, host: str, *, timeout_s: float = MODEL_TIMEOUT_S) -> None:
        """Nothing is sent yet."""
        super().__init__()
        self.model = model
        self.name = f"ollama:{model}"
        self.problem = ""
        self._host = address_of(host)
        self._timeout_s = timeout_s
        self._probed_at = -PROBED_FOR_S

    def is_available(self) -> bool:
        """Whether the server answers a short probe and has the model; asked at most every 30 s."""
        if time.monotonic() - self._probed_at >= PROBED_FOR_S:
            self.problem, self._probed_at = self._probe(), time.monotonic()
        return not self.problem and not self.closed

    def _make(self) -> httpx.Client:
        import httpx

        return httpx.Client(base_url=self._host)

    def ask(self, request: Request, schema: Mapping[str, Any]) -> Answer:
        """See ``ModelClient.ask``."""
        import httpx

        body = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": request.instructions},
                {"role": "user", "content": request.content},
            ],
            "format": dict(schema),
            "stream": False,
            "think": False,
            "options": {"temperature": 0},
        }
        try:
            response = self.call(
                lambda made: made.post("/api/chat", json=body, timeout=self._timeout_s)
            )
        except httpx.HTTPError as error:
            raise ExtractionFailed(f"Ollama did not answer ({type(error).__name__})") from error
        except RuntimeError as error:  # httpx: the client was closed meanwhile
            raise ExtractionFailed(CLOSED) from error
        if response.status_code != 200:
            raise self._refused(response)
        try:
            answered = response.json()
            text = answered["message"]["content"]
            read, wrote = answered.get("prompt_eval_count", 0), answered.get("eval_count", 0)
        except (ValueError, KeyError, TypeError) as error:
            raise ExtractionFailed(f"Ollama's answer is broken ({type(error).__name__})") from error
        if not isinstance(text, str) or not text.strip():
            raise ExtractionFailed("Ollama answered without text")
        return Answer(text, int(read or 0), int(wrote or 0))

    def _probe(self) -> str:
        import httpx

        start = f"start it (ollama serve) or correct OLLAMA_HOST={self._host!r}"
        try:
            response = self.opened().get("/api/tags", timeout=PROBE_TIMEOUT_S)
            names = {one["name"] for one in response.json()["models"]}
        except httpx.HTTPError as error:
            return f"Ollama does not answer ({type(error).__name__}): {start}."
        except (ValueError, KeyError, TypeError):
            return f"What answers is not Ollama: {start}."
        except ExtractionFailed as error:
            return str(error)
        there = self.model in names or f"{self.model}:latest" in names
        return "" if there else self._no_model()

    def _refused(self, response: httpx.Response) -> ExtractionFailed:
        if response.status_code == 404:
            return ExtractionFailed(self._no_model(), lasting=True)
        wait_s = seconds_of(response.headers.get("retry-after"))
        return ExtractionFailed(f"Ollama answered {response.status_code}", retry_after_s=wait_s)

    def _no_model(self) -> str:
        return f"Ollama has no model {self.model!r}: run ollama pull {self.model}."


def address_of(host: str) -> str:
    """OLLAMA_HOST as an address: ``127.0.0.1``, ``box:11434`` and full addresses are understood."""
    scheme, found, rest = host.strip().rstrip("/").rpartition("://")
    name = rest.rpartition("@")[2]
    has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]")
    port = "" if found or has_port else ":11434"
    return f"{scheme or 'http'}://{rest or '127.0.0.1'}{port}"
