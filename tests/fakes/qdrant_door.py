"""The door of a Qdrant server for tests: HTTP on a port of this machine, and what came through it.

Behind it are the collections of a fake (``qdrant_server``) or a part of a real server's
(``qdrant_forwarding``). It notes requests, and can be closed and opened again.
"""

from __future__ import annotations

import ssl
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient

from bmo.index import server_client
from bmo.settings import Settings

API_KEY = "key for tests"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Attributes:
        method: ``GET``, ``PUT``, ...
        target: Path and query.
        body: Its bytes, whole.
        key: The API key it came with, if any.
    """

    method: str
    target: str
    body: bytes
    key: str | None

    @property
    def path(self) -> list[str]:
        """The segments of the path; none for ``/``."""
        return [part for part in urlsplit(self.target).path.split("/") if part]

    @property
    def makes_collection(self) -> bool:
        """Whether it asks for a new collection."""
        return self.method == "PUT" and len(self.path) == 2


@dataclass(frozen=True, slots=True)
class Answered:
    """What a server says to a request."""

    status: int
    body: bytes
    type: str = "application/json"


REFUSED = Answered(
    HTTPStatus.UNAUTHORIZED,
    b"Must provide an API key or an Authorization bearer token",
    "text/plain; charset=utf-8",
)
"""What a server with a key says to who has another or none, in words and not in JSON."""


class QdrantDoor(ABC):
    """A Qdrant server as tests see it.

    Attributes:
        requests: What came through, oldest first: ``"PUT /collections/bmo-hashing-64"``.
        beaten: Each collection is made by another process a moment before it is asked for here.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """Opens it on a free port, with https if a certificate is given."""
        self._tls = tls
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self._port = 0
        self.requests: list[str] = []
        self.beaten = False
        self.start()

    @abstractmethod
    def answer(self, asked: Asked) -> Answered:
        """What the server behind the door says."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Opens it, on the same port as before."""
        self._server = _Server(self, self._port, self._tls)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Refuses connections from now on; what is behind it stays. Safe to call twice."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._server = self._thread = None

    def close(self) -> None:
        """Stops and forgets."""
        self.stop()

    @contextmanager
    def client(self) -> Iterator[QdrantClient]:
        """A client of its own, to look at what is there."""
        given = {"qdrant_url": self.url, "qdrant_api_key": API_KEY}
        client = server_client(Settings(**given, _env_file=None), 60)  # type: ignore[arg-type,call-arg]
        try:
            yield client
        finally:
            client.close()

    def lose(self) -> None:
        """Loses its storage, as a server does that comes back without its volume."""
        with self.client() as client:
            for one in client.get_collections().collections:
                client.delete_collection(one.name)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, door: QdrantDoor, port: int, tls: ssl.SSLContext | None) -> None:
        self.door = door
        super().__init__(("127.0.0.1", port), _Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing is said of a client that died before it had its answer; a server does not."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:  # the client died half-way: there is nobody to answer
            self.close_connection = True
            return
        door = self.server.door
        asked = Asked(self.command, self.path, body, self.headers.get("api-key"))
        door.requests.append(f"{asked.method} {urlsplit(asked.target).path}")
        if door.beaten and asked.makes_collection:
            door.answer(asked)
        answered = door.answer(asked)
        self.send_response(answered.status)
        self.send_header("Content-Type", answered.type)
        self.send_header("Content-Length", str(len(answered.body)))
        self.end_headers()
        self.wfile.write(answered.body)

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = _answer

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read ``requests`` instead."""
