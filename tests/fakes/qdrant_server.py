"""A Qdrant server for tests: Qdrant's REST protocol in front of qdrant-client's local mode.

It answers the requests MemoryIndex makes, asks for the API key as a server does, and can be
stopped and started again on the same port without losing its collections.
"""

from __future__ import annotations

import importlib.metadata
import json
import ssl
import threading
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient, models

API_KEY = "key for tests"


class FakeQdrantServer:
    """Collections in memory, served over HTTP."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """Starts it on a free port of this machine, with https if a certificate is given."""
        self._tls = tls
        self._collections = QdrantClient(":memory:")
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self._port = 0
        self.requests: list[str] = []
        self.beaten = False
        self.version = importlib.metadata.version("qdrant-client")
        self.layouts: dict[str, dict[str, Any]] = {}
        self.payload_indexes: dict[str, dict[str, dict[str, Any]]] = {}
        self.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Serves, on the same port as before."""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else {}
                path = urlsplit(self.path).path
                fake.requests.append(f"{self.command} {path}")
                if self.headers.get("api-key") != API_KEY:
                    self._send(401, {"status": {"error": "Unauthorized"}})
                    return
                if path == "/":
                    self._send(
                        200, {"title": "qdrant - vector search engine", "version": fake.version}
                    )
                    return
                try:
                    with fake._lock:
                        result = fake._handle(self.command, path.strip("/").split("/"), body)
                except ValueError as error:
                    taken = "already exists" in str(error)
                    self._send(409 if taken else 404, {"status": {"error": str(error)}})
                    return
                self._send(200, {"result": result, "status": "ok", "time": 0.0})

            do_GET = do_PUT = do_POST = do_DELETE = _answer

            def _send(self, status: int, answer: dict[str, Any]) -> None:
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Tests read ``requests`` instead."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._server.daemon_threads = True
        if self._tls is not None:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Refuses connections from now on; what it holds stays. Safe to call twice."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._server = self._thread = None

    def lose(self) -> None:
        """Loses its storage, as a server does that comes back without its volume."""
        with self._lock:
            for one in self._collections.get_collections().collections:
                self._collections.delete_collection(one.name)
            self.payload_indexes.clear()

    def close(self) -> None:
        """Stops and forgets."""
        self.stop()
        self._collections.close()

    def _handle(self, method: str, path: list[str], body: dict[str, Any]) -> Any:
        client, name, rest = self._collections, path[1] if len(path) > 1 else "", path[2:]
        if method == "GET" and not name:
            found = client.get_collections().collections
            return {"collections": [{"name": one.name} for one in found]}
        if rest == ["exists"]:
            return {"exists": client.collection_exists(name)}
        if method == "PUT" and not rest:
            vectors = models.VectorParams(**body["vectors"])
            client.create_collection(name, vectors_config=vectors)
            self.layouts[name], self.payload_indexes[name] = body, {}
            if self.beaten:  # as if another process had made it a moment before
                raise ValueError(f"Wrong input: Collection `{name}` already exists!")
            return True
        if method == "GET" and not rest:
            return self._described(name)
        if method == "DELETE" and not rest:
            return client.delete_collection(name)
        if rest == ["index"]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # local mode says that it keeps no index
                client.create_payload_index(
                    name, body["field_name"], models.PayloadSchemaType.KEYWORD
                )
            self.payload_indexes[name][body["field_name"]] = body["field_schema"]
            return {"operation_id": 0, "status": "completed"}
        return self._points(method, name, rest, body)

    def _described(self, name: str) -> dict[str, Any]:
        found = self._collections.get_collection(name).model_dump(mode="json", exclude_none=True)
        found["config"]["hnsw_config"].update(self.layouts[name].get("hnsw_config") or {})
        found["payload_schema"] = {
            key: {"data_type": "keyword", "params": schema, "points": found["points_count"]}
            for key, schema in self.payload_indexes[name].items()
        }
        return found

    def _points(self, method: str, name: str, rest: list[str], body: dict[str, Any]) -> Any:
        client = self._collections
        chosen = models.Filter(**body["filter"]) if body.get("filter") else None
        if method == "PUT" and rest == ["points"]:
            client.upsert(name, models.Batch(**body["batch"]))
            return {"operation_id": 0, "status": "completed"}
        if rest == ["points"]:
            return [_dump(one) for one in client.retrieve(name, body["ids"], with_payload=True)]
        if rest == ["points", "query"]:
            hits = client.query_points(
                name, query=body["query"]["nearest"], query_filter=chosen, limit=body["limit"]
            )
            return {"points": [_dump(one) for one in hits.points]}
        if rest == ["points", "scroll"]:
            records, offset = client.scroll(
                name, scroll_filter=chosen, limit=body["limit"], offset=body.get("offset")
            )
            return {"points": [_dump(one) for one in records], "next_page_offset": offset}
        if rest == ["points", "count"]:
            return {"count": client.count(name, count_filter=chosen).count}
        if rest == ["points", "delete"]:
            listed = models.PointIdsList(points=body.get("points", []))
            client.delete(name, models.FilterSelector(filter=chosen) if chosen else listed)
            return {"operation_id": 0, "status": "completed"}
        raise ValueError(f"this server does not know {method} {'/'.join(rest)}")


def _dump(point: models.Record | models.ScoredPoint) -> dict[str, Any]:
    return point.model_dump(mode="json", exclude_none=True)
