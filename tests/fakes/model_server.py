"""A model service for tests: Gemini's and Ollama's REST protocol, with faults on demand.

The real clients are pointed at it (google-genai by ``GOOGLE_GEMINI_BASE_URL`` or ``base_url``,
Ollama's by ``OLLAMA_HOST``). It answers extraction requests from a script by the turns' words,
Mem0's extraction from a list, and embeddings by the words of a text; before that it takes the
next fault that was asked for, if any.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

KEY = "key for tests"
OLLAMA_MODEL = "small:1b"
INPUT_TOKENS, OUTPUT_TOKENS = 900, 120

Fault = Literal[
    "429",
    "500",
    "503",
    "401",
    "404",
    "slow",
    "reset",
    "short_body",
    "broken_body",
    "rubbish",
    "truncated",
    "wrong_schema",
    "no_json",
    "empty",
    "blocked",
    "left_out",
]
"""What may go wrong.

- ``429``: too many requests, with Retry-After. ``500``, ``503``, ``401``, ``404``: as they are.
- ``slow``: no answer until the server is closed. ``reset``: the connection is reset.
- ``short_body``: the connection ends inside the body. ``broken_body``: the body's JSON is cut.
- ``rubbish``: a page instead of an answer.
- ``truncated``: the model's own JSON is cut. ``wrong_schema``: it is of another schema.
- ``no_json``: it is prose. ``empty``: no candidate. ``blocked``: the service's safety filter.
- ``left_out``: the answer does not speak of the turns.
"""
FAULTS: tuple[Fault, ...] = get_args(Fault)


@dataclass
class ModelRequest:
    """A request that came in."""

    service: str
    path: str
    body: dict[str, Any]
    fault: str = ""

    @property
    def conversation(self) -> list[dict[str, Any]]:
        """The conversation of an extraction request."""
        shown: list[dict[str, Any]] = _content(self.body)["conversation"]
        return shown

    @property
    def memories(self) -> list[dict[str, Any]]:
        """The older memories of an extraction request."""
        shown: list[dict[str, Any]] = _content(self.body)["memories"]
        return shown


@dataclass
class FakeModelServer:
    """The service; use as a context manager.

    Attributes:
        script: A turn's words (case and blanks aside) -> the facts a model finds in them; a turn
            that is not there holds nothing.
        memories: What Mem0's extraction finds, the same for every request.
        retry_after: Header of a 429.
        always: A fault for every request, or None.
        requests: What came in, in order.
        connections: How many are open.
    """

    script: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    memories: Sequence[str] = ()
    retry_after: str = "17"
    always: Fault | None = None
    requests: list[ModelRequest] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self._faults: deque[Fault] = deque()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Its address, for both services."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    gemini_url = ollama_url = url

    def fault(self, *faults: Fault) -> None:
        """The next requests that ask a model (not probes) fail so, one after the other."""
        with self._lock:
            self._faults.extend(faults)

    def asked(self, service: str = "") -> list[ModelRequest]:
        """Requests to a model, without probes and embeddings."""
        return [
            one
            for one in self.requests
            if one.service in ("gemini", "ollama") and service in ("", one.service)
        ]

    def close(self) -> None:
        """Ends it, and every request that still waits. Safe to call twice."""
        if not self._closing.is_set():
            self._closing.set()
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def __enter__(self) -> FakeModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_fault(self) -> Fault | None:
        with self._lock:
            return self._faults.popleft() if self._faults else self.always

    def _text(self, request: ModelRequest, fault: str) -> str:
        """What the model writes."""
        if "conversation" not in _content(request.body):
            text = json.dumps({"memory": [{"text": one} for one in self.memories]})
        else:
            known = {_key(said): facts for said, facts in self.script.items()}
            turns = [
                {"turn": one["turn"], "facts": known.get(_key(one["user"]), [])}
                for one in request.conversation
                if one["settle"]
            ]
            text = json.dumps({"turns": [] if fault == "left_out" else turns})
        if fault == "truncated":
            return text[: len(text) // 2 + 1]
        if fault == "wrong_schema":
            return json.dumps({"turns": {"facts": "three"}, "memory": 3})
        return "I found two facts." if fault == "no_json" else text


def _handler(fake: FakeModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            with fake._lock:
                fake.connections += 1

        def finish(self) -> None:
            with fake._lock:
                fake.connections -= 1
            super().finish()

        def do_GET(self) -> None:
            fake.requests.append(ModelRequest("probe", self.path, {}))
            if self.path == "/api/tags":
                self._send(200, {"models": [{"name": OLLAMA_MODEL, "model": OLLAMA_MODEL}]})
            else:
                self._send(404, {"error": "not found"})

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            path = urlsplit(self.path).path
            if path == "/api/chat":
                self._ask(ModelRequest("ollama", path, body))
            elif path.endswith(":generateContent"):
                self._ask(ModelRequest("gemini", path, body))
            elif path.endswith((":batchEmbedContents", ":embedContent")):
                fake.requests.append(ModelRequest("embedding", path, body))
                self._send(200, _embeddings(body))
            else:
                self._send(404, {"error": {"code": 404, "status": "NOT_FOUND"}})

        def _ask(self, request: ModelRequest) -> None:
            gemini = request.service == "gemini"
            fault = fake._next_fault()
            request.fault = fault or ""
            fake.requests.append(request)
            if gemini and self.headers.get("x-goog-api-key") != KEY:
                error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}
                self._send(400, {"error": error})
            elif fault in ("429", "500", "503", "401", "404"):
                headers = {"Retry-After": fake.retry_after} if fault == "429" else {}
                said = {"code": int(fault), "message": "no", "status": f"STATUS_{fault}"}
                self._send(int(fault), {"error": said if gemini else "no"}, headers)
            elif fault == "slow":
                fake._closing.wait(60)
                self.close_connection = True
            elif fault == "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
            elif fault == "rubbish":
                self._write(200, b"<html>Sign in to the network</html>", "text/html")
            else:
                text = fake._text(request, fault or "")
                answer = _gemini(text, fault) if gemini else _ollama(text, fault)
                content = json.dumps(answer).encode()
                if fault == "broken_body":
                    self._write(200, content[: len(content) // 2])
                elif fault == "short_body":
                    self._write(200, content[: len(content) // 2], length=len(content))
                    self.close_connection = True
                else:
                    self._write(200, content)

        def _send(
            self, status: int, answer: object, headers: Mapping[str, str] | None = None
        ) -> None:
            self._write(status, json.dumps(answer).encode(), headers=headers)

        def _write(
            self,
            status: int,
            content: bytes,
            kind: str = "application/json",
            *,
            length: int | None = None,
            headers: Mapping[str, str] | None = None,
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content) if length is None else length))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Tests read ``requests`` instead."""

    return Handler


def _gemini(text: str, fault: str | None) -> dict[str, Any]:
    usage = {
        "promptTokenCount": INPUT_TOKENS,
        "candidatesTokenCount": OUTPUT_TOKENS,
        "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS,
    }
    if fault == "empty":
        return {"candidates": [], "usageMetadata": usage}
    if fault == "blocked":
        return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}
    content = {"parts": [{"text": text}], "role": "model"}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
    }


def _ollama(text: str, fault: str | None) -> dict[str, Any]:
    if fault == "blocked":
        return {"error": "no"}
    return {
        "model": OLLAMA_MODEL,
        "message": {"role": "assistant", "content": "" if fault == "empty" else text},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": INPUT_TOKENS,
        "eval_count": OUTPUT_TOKENS,
    }


def _content(body: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON content of a request, or nothing where it is prose (Mem0's)."""
    if "messages" in body:
        text = body["messages"][-1]["content"]
    else:
        text = body["contents"][-1]["parts"][-1]["text"]
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    """A vector a text: a sum of one direction a word, so that shared words are near."""
    requests = body.get("requests", [body])
    made = []
    for one in requests:
        text = " ".join(part["text"] for part in one["content"]["parts"])
        vector = [0.0] * int(one.get("outputDimensionality") or 3072)
        for word in text.casefold().split():
            digest = hashlib.sha256(word.encode()).digest()
            vector[int.from_bytes(digest[:4], "big") % len(vector)] += 1.0
        made.append({"values": vector})
    return {"embeddings": made} if "requests" in body else {"embedding": made[0]}


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
