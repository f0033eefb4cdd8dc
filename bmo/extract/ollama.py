"""Ollama as an extractor's model: its HTTP API, ``/api/chat`` with a JSON schema as format."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bmo.extract.extractor import ExtractionFailed
from bmo.extract.model_extractor import TIMEOUT_S, Answer
from bmo.extract.request import Request
from bmo.extract.retry_after import seconds_of

if TYPE_CHECKING:
    import httpx

PROBE_TIMEOUT_S = 1.0
"""Longest the probe of /api/tags is waited for."""
PROBED_FOR_S = 30.0
"""How long its result counts."""
MODEL_TIMEOUT_S = 4 * TIMEOUT_S
"""A model on this machine may first have to be loaded."""


class OllamaClient:
    """One model of an Ollama server. The HTTP client is made at first use.

    Attributes:
        model: Model name with its tag ("qwen3:4b").
        name: "ollama:<model>".
        cost: 0 US dollars.
        estimated_latency_ms: Milliseconds of a usual call on a CPU.
        problem: Why the last probe found it unavailable, or "".
    """

    cost = 0.0
    estimated_latency_ms = 8000.0

    def __init__(self, model: str, host: str, *, timeout_s: float = MODEL_TIMEOUT_S) -> None:
        """Nothing is sent yet.

        Args:
            model: Model name, as in ``ollama list``.
            host: Address of the server; ``http://`` and port 11434 are added when missing, as
                Ollama's own clients do.
            timeout_s: Longest an answer is waited for, in seconds.
        """
        self.model = model
        self.name = f"ollama:{model}"
        self.problem = ""
        self._host = address_of(host)
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._probed: tuple[float, bool] | None = None
        self._closed = False

    def is_available(self) -> bool:
        """Whether the server answers a short probe and has the model; asked at most every 30 s."""
        if self._closed:
            return False
        if self._probed is not None and time.monotonic() - self._probed[0] < PROBED_FOR_S:
            return self._probed[1]
        self.problem = self._probe()
        self._probed = (time.monotonic(), not self.problem)
        return not self.problem

    def warm_up(self) -> None:
        """Imports the HTTP library."""
        self._opened()

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
            response = self._opened().post("/api/chat", json=body, timeout=self._timeout_s)
        except httpx.HTTPError as error:
            raise ExtractionFailed(f"Ollama did not answer ({type(error).__name__})") from error
        except RuntimeError as error:  # httpx: the client was closed meanwhile
            raise ExtractionFailed("the extractor is closed") from error
        if response.status_code != 200:
            raise self._refused(response)
        try:
            answered = response.json()
            text = answered["message"]["content"]
            read, wrote = answered.get("prompt_eval_count", 0), answered.get("eval_count", 0)
        except (ValueError, KeyError, TypeError) as error:
            raise ExtractionFailed(f"Ollama's answer is broken ({type(error).__name__})") from error
        if not isinstance(text, str) or not text.strip():
            raise ExtractionFailed("Ollama answered without text", content=True)
        return Answer(text, int(read or 0), int(wrote or 0))

    def close(self) -> None:
        """Closes the connections; a request under way fails. Safe to call twice."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._closed:
                raise ExtractionFailed("the extractor is closed")
            if self._client is None:
                self._client = httpx.Client(base_url=self._host)
            return self._client

    def _probe(self) -> str:
        import httpx

        start = f"start it (ollama serve) or correct OLLAMA_HOST={self._host!r}"
        try:
            response = self._opened().get("/api/tags", timeout=PROBE_TIMEOUT_S)
            names = {one["name"] for one in response.json()["models"]}
        except httpx.HTTPError as error:
            return f"Ollama does not answer ({type(error).__name__}): {start}."
        except (ValueError, KeyError, TypeError):
            return f"What answers is not Ollama: {start}."
        except ExtractionFailed as error:
            return str(error)
        if self.model in names or f"{self.model}:latest" in names:
            return ""
        return f"Ollama has no model {self.model!r}: run ollama pull {self.model}."

    def _refused(self, response: httpx.Response) -> ExtractionFailed:
        if response.status_code == 404:
            return ExtractionFailed(
                f"Ollama has no model {self.model!r}: run ollama pull {self.model}.", lasting=True
            )
        return ExtractionFailed(
            f"Ollama answered {response.status_code}",
            retry_after_s=seconds_of(response.headers.get("retry-after")),
        )


def address_of(host: str) -> str:
    """OLLAMA_HOST as an address: ``127.0.0.1``, ``box:11434`` and full addresses are understood."""
    given = host.strip().rstrip("/")
    scheme, found, rest = given.partition("://")
    if not found:
        scheme, rest = "http", given
    name = rest.rpartition("@")[2]
    has_port = name.rpartition(":")[2].isdigit() and not name.endswith("]")
    if not has_port and not found:
        rest = f"{rest}:11434"
    return f"{scheme}://{rest or '127.0.0.1:11434'}"
