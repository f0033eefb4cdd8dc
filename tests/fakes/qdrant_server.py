"""A Qdrant server for tests: Qdrant's REST protocol in front of qdrant-client's local mode.

It answers the requests MemoryIndex makes. What it says is compared with qdrant-client's models and
with a real server in ``tests/integration/test_qdrant_contract.py``.
"""

from __future__ import annotations

import importlib.metadata
import json
import ssl
import threading
import warnings
from http import HTTPStatus
from typing import Any

from qdrant_client import QdrantClient, models

from tests.fakes.qdrant_door import API_KEY, REFUSED, Answered, Asked, QdrantDoor


class FakeQdrantServer(QdrantDoor):
    """Collections in memory, served over HTTP.

    Attributes:
        version: What it says that it is.
        layouts: What each collection was made with; a test may change it.
        payload_indexes: The payload indexes of each collection, by key.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """Starts it on a free port of this machine, with https if a certificate is given."""
        self._collections = QdrantClient(":memory:")
        self._lock = threading.Lock()
        self.version = importlib.metadata.version("qdrant-client")
        self.layouts: dict[str, dict[str, Any]] = {}
        self.payload_indexes: dict[str, dict[str, dict[str, Any]]] = {}
        super().__init__(tls)

    def close(self) -> None:
        """Stops and forgets."""
        super().close()
        self._collections.close()

    def answer(self, asked: Asked) -> Answered:
        """See ``QdrantDoor.answer``."""
        if not asked.path:  # open to all, as probes ask for it
            return _json({"title": "qdrant - vector search engine", "version": self.version})
        if asked.key != API_KEY:
            return REFUSED
        try:
            body = json.loads(asked.body) if asked.body else {}
        except ValueError as error:
            return _failure(HTTPStatus.BAD_REQUEST, f"Format error in JSON body: {error}")
        try:
            with self._lock:
                result = self._handle(asked.method, asked.path, body)
        except ValueError as error:
            taken = "already exists" in str(error)
            return _failure(HTTPStatus.CONFLICT if taken else HTTPStatus.NOT_FOUND, str(error))
        return _json({"result": result, "status": "ok", "time": 0.0})

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
            return True
        if method == "GET" and not rest:
            return self._described(name)
        if method == "PATCH" and not rest:
            client.get_collection(name)
            self.layouts[name]["hnsw_config"] = body["hnsw_config"]
            return True
        if method == "DELETE" and not rest:
            self.payload_indexes.pop(name, None)
            return client.delete_collection(name)
        if rest == ["index"]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # local mode says that it keeps no index
                client.create_payload_index(
                    name, body["field_name"], models.PayloadSchemaType.KEYWORD
                )
            schema = body["field_schema"]
            self.payload_indexes[name][body["field_name"]] = (
                {"type": schema} if isinstance(schema, str) else schema
            )
            return {"operation_id": 0, "status": "completed"}
        if method == "DELETE" and rest[0] == "index":
            client.get_collection(name)
            self.payload_indexes[name].pop(rest[1], None)
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
        chosen = models.Filter(**body["filter"]) if body.get("filter") is not None else None
        payload = body.get("with_payload", True)
        if method == "PUT" and rest == ["points"]:
            client.upsert(name, models.Batch(**body["batch"]))
            return {"operation_id": 0, "status": "completed"}
        if rest == ["points"]:
            return [_dump(one) for one in client.retrieve(name, body["ids"], payload)]
        if rest == ["points", "query"]:
            hits = client.query_points(
                name, query=body["query"]["nearest"], query_filter=chosen, limit=body["limit"]
            )
            return {"points": [_dump(one) for one in hits.points]}
        if rest == ["points", "scroll"]:
            records, offset = client.scroll(
                name, chosen, body["limit"], offset=body.get("offset"), with_payload=payload
            )
            return {"points": [_dump(one) for one in records], "next_page_offset": offset}
        if rest == ["points", "count"]:
            return {"count": client.count(name, count_filter=chosen).count}
        if rest == ["points", "delete"]:
            listed = models.PointIdsList(points=body.get("points", []))
            client.delete(name, models.FilterSelector(filter=chosen) if chosen else listed)
            return {"operation_id": 0, "status": "completed"}
        raise ValueError(f"this server does not know {method} {'/'.join(rest)}")


def _json(answer: dict[str, Any], status: int = HTTPStatus.OK) -> Answered:
    return Answered(status, json.dumps(answer).encode())


def _failure(status: int, error: str) -> Answered:
    return _json({"status": {"error": error}, "time": 0.0}, status)


def _dump(point: models.Record | models.ScoredPoint) -> dict[str, Any]:
    return point.model_dump(mode="json", exclude_none=True)
