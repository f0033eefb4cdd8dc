"""The fake Qdrant server says what Qdrant's API says: its models, and a real server where one is.

The requests are those that BMO makes of a server, made by BMO's own store.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from bmo.index.entries import PAYLOAD_INDEXES
from bmo.settings import quiet_third_parties
from tests.fakes.qdrant_door import API_KEY, QdrantDoor
from tests.fakes.qdrant_forwarding import URL, ForwardedQdrant
from tests.fakes.qdrant_server import FakeQdrantServer
from tests.integration.memory_parts import eventually

if TYPE_CHECKING:
    from bmo.index.qdrant_store import ServerStore

pytestmark = pytest.mark.integration

IDS = [f"00000000-0000-0000-0000-00000000000{number}" for number in range(4)]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what was said to it.

    Attributes:
        request: Method and path.
        model: What qdrant-client takes the answer for.
        status: Its HTTP status.
        answer: Its JSON, or its words where it is none.
    """

    request: str
    model: Any
    status: int
    answer: Any


@contextmanager
def heard(client: QdrantClient) -> Iterator[list[Exchange]]:
    """What a client sends and gets, as long as the block lasts."""
    exchanges: list[Exchange] = []
    api: Any = client.http.client
    send, inner = api.send, api.send_inner
    last: list[httpx.Response] = []

    def answered(request: httpx.Request) -> httpx.Response:
        response: httpx.Response = inner(request)
        last.append(response)
        return response

    def noted(request: httpx.Request, model: Any) -> Any:
        try:
            return send(request, model)
        finally:
            response = last.pop()
            is_json = response.headers["Content-Type"] == "application/json"
            answer = response.json() if is_json else response.text
            asked = f"{request.method} {request.url.path}"
            exchanges.append(Exchange(asked, model, response.status_code, answer))

    api.send, api.send_inner = noted, answered
    yield exchanges
    del api.send, api.send_inner


def store_on(client: QdrantClient, home: Path) -> ServerStore:
    """BMO's own store, as it is opened with ``QDRANT_URL``."""
    quiet_third_parties(home)
    from bmo.index.qdrant_store import ServerStore

    return ServerStore("bmo-contract", 3, client=client)


def refused(status: int, call: Callable[[], object]) -> None:
    with pytest.raises(UnexpectedResponse) as error:
        call()
    assert error.value.status_code == status


def conversation(server: QdrantDoor, home: Path) -> list[Exchange]:
    """Everything BMO asks a server, and what becomes of it."""
    with server.client() as client, heard(client) as exchanges:
        assert client.info().version
        store = store_on(client, home)
        store.ensure()
        assert [one.name for one in client.get_collections().collections] == ["bmo-contract"]
        payloads = [{"user_id": "ana" if one < 3 else "ben", "data": "Likes"} for one in range(4)]
        vectors = [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
        store.insert(vectors, payloads, IDS)
        there = store.found([*IDS, IDS[0].replace("0", "1")])
        assert {entry.id: entry.payload for entry in there} == dict(zip(IDS, payloads, strict=True))
        hits = store.search("", [1.0, 0.0, 0.0], 2, {"user_id": "ana"})
        assert [str(hit.id) for hit in hits] == IDS[:2]
        assert hits[0].payload == payloads[0]
        first, after = store.page({"user_id": "ana"}, 2)
        rest, end = store.page({"user_id": "ana"}, 2, after)
        assert ([entry.id for entry in (*first, *rest)], end) == (IDS[:3], None)
        store.delete_many(IDS[:1])
        assert store.delete_matching({"user_id": "ana"}) == 2
        assert (store.count({}), store.delete_matching({}), store.count({})) == (1, 1, 0)
        vector = models.VectorParams(size=3, distance=models.Distance.COSINE)
        refused(409, lambda: client.create_collection("bmo-contract", vectors_config=vector))
        client.delete_payload_index("bmo-contract", "mode")
        assert "mode" not in client.get_collection("bmo-contract").payload_schema
        client.delete_payload_index("bmo-contract", "user_id")
        client.create_payload_index(
            "bmo-contract", "user_id", field_schema=models.PayloadSchemaType.KEYWORD
        )
        store.lay_out()
        laid_out = client.get_collection("bmo-contract")
        assert set(laid_out.payload_schema) == set(PAYLOAD_INDEXES)
        assert laid_out.config.hnsw_config.payload_m == 16
        client.delete_collection("bmo-contract")
        for lost in (
            lambda: client.get_collection("bmo-contract"),
            lambda: store.count({}),
            lambda: store.page({}, 1),
            lambda: store.found(IDS),
            lambda: store.search("", vectors[0], 1, {}),
            lambda: store.insert(vectors, payloads, IDS),
            lambda: store.delete_many(IDS),
            lambda: client.delete_payload_index("bmo-contract", "mode"),
        ):
            refused(404, lost)
        client.delete_collection("bmo-contract")
    stranger = QdrantClient(server.url, check_compatibility=False)
    with heard(stranger) as without_key:
        assert stranger.info().title.startswith("qdrant")
        refused(401, stranger.get_collections)
    stranger.close()
    return exchanges + without_key


def test_answers_are_those_of_the_published_models(tmp_path: Path) -> None:
    server = FakeQdrantServer()
    for one in conversation(server, tmp_path):
        if one.status == 401:
            assert isinstance(one.answer, str)
            continue
        model = TypeAdapter(one.model if one.status == 200 else models.ErrorResponse)
        read = model.validate_python(one.answer)
        # Nothing in it that the models do not know, and nothing of another type.
        assert model.dump_python(read, mode="json", exclude_unset=True) == one.answer, one.request
    server.close()


def shape(value: Any) -> Any:
    """The keys and types of JSON; of a list those of its first."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value[:1]]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


def differences(fake: Any, real: Any, where: str) -> Iterator[str]:
    """Where the fake says what the server does not; what only the server says nobody reads."""
    if "NoneType" in (fake, real):
        return  # the models say what may be null
    if isinstance(fake, dict) and isinstance(real, dict):
        for key, one in fake.items():
            if key not in real:
                yield f"{where}: no {key!r}"
            else:
                yield from differences(one, real[key], f"{where}.{key}")
    elif isinstance(fake, list) and isinstance(real, list):
        if len(fake) != len(real):
            yield f"{where}: {fake} and {real}"
        for one, other in zip(fake, real, strict=False):
            yield from differences(one, other, f"{where}[]")
    elif fake != real:
        yield f"{where}: {fake} and {real}"


@pytest.mark.skipif(not URL, reason="a real Qdrant: set BMO_TEST_QDRANT_URL")
def test_answers_have_the_shape_of_a_real_servers(tmp_path: Path) -> None:
    said = []
    for server in (FakeQdrantServer(), ForwardedQdrant()):
        said.append(conversation(server, tmp_path))
        server.close()
    fake, real = said
    assert [(one.request, one.status) for one in fake] == [
        (one.request, one.status) for one in real
    ]
    found = [
        difference
        for one, other in zip(fake, real, strict=True)
        for difference in differences(shape(one.answer), shape(other.answer), one.request)
    ]
    assert found == []


def test_broken_json_is_the_clients_fault(server: QdrantDoor) -> None:
    headers = {"api-key": API_KEY, "Content-Type": "application/json"}
    found = httpx.put(f"{server.url}/collections/bmo-x", content=b'{"vec', headers=headers)
    assert found.status_code == 400
    assert "JSON" in models.ErrorResponse(**found.json()).model_dump_json()


def test_tests_on_one_server_do_not_meet_and_leave_nothing(tmp_path: Path) -> None:
    shared = FakeQdrantServer()
    doors = [ForwardedQdrant(shared.url, API_KEY) for _ in range(2)]
    for door in doors:
        conversation(door, tmp_path)
        with door.client() as client:
            store_on(client, tmp_path)
    with shared.client() as client:
        assert len(client.get_collections().collections) == 2
        doors[0].stop()
        for door in doors:
            door.close()
        assert client.get_collections().collections == []
    with pytest.raises(RuntimeError, match="BMO_TEST_QDRANT_API_KEY is its key"):
        ForwardedQdrant(shared.url, "wrong")
    shared.close()


def request(body: bytes, length: int) -> bytes:
    lines = ("POST /collections/bmo-x/points HTTP/1.1", f"api-key: {API_KEY}")
    return "\r\n".join((*lines, f"Content-Length: {length}", "", "")).encode() + body


def test_nothing_is_said_of_a_client_that_dies(capfd: pytest.CaptureFixture[str]) -> None:
    server = FakeQdrantServer()
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    with socket.create_connection(address) as half_way:
        half_way.sendall(request(b'{"ids": ["a', 400))
        half_way.shutdown(socket.SHUT_WR)
        assert half_way.recv(1) == b""
    assert server.requests == []
    body = json.dumps({"ids": IDS}).encode()
    before = set(threading.enumerate())
    with server._lock:  # so that it is dead when its answer is ready
        with socket.create_connection(address) as impatient:
            impatient.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            impatient.sendall(request(body, len(body)))
            eventually(lambda: bool(server.requests))
        handlers = set(threading.enumerate()) - before
    for handler in handlers:
        handler.join(60)
    assert capfd.readouterr().err == ""
    server.close()
