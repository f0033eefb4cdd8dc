"""A part of a real Qdrant server, for one test: ``BMO_TEST_QDRANT_URL`` names the server.

Requests are passed on as they are; only the names of collections get a prefix of this test's own,
so that tests share a server with each other and with whoever uses it.
"""

from __future__ import annotations

import json
import os
import uuid
from http import HTTPStatus
from typing import Final

import httpx

from tests.fakes.qdrant_door import API_KEY, REFUSED, Answered, Asked, QdrantDoor

URL: Final = os.environ.get("BMO_TEST_QDRANT_URL", "").rstrip("/")
KEY: Final = os.environ.get("BMO_TEST_QDRANT_API_KEY", "")

PREFIX: Final = "bmo-test-"
"""What the names of all collections of tests begin with on a real server."""


class ForwardedQdrant(QdrantDoor):
    """The collections of a real server that this test made."""

    def __init__(self, url: str = URL, key: str = KEY) -> None:
        """Opens a door to a server.

        Args:
            url: The server.
            key: Its API key; empty if it asks for none.

        Raises:
            RuntimeError: It does not let tests in.
        """
        self._prefix = f"{PREFIX}{uuid.uuid4().hex}-"
        self._key = key
        found = httpx.get(f"{url}/collections", headers=self._headers(API_KEY))
        if found.status_code != HTTPStatus.OK:
            raise RuntimeError(
                f"BMO_TEST_QDRANT_URL={url!r} answers {found.status_code} ({found.text[:80]}); "
                "BMO_TEST_QDRANT_API_KEY is its key."
            )
        self._behind = httpx.Client(base_url=url, timeout=60)
        super().__init__()

    def close(self) -> None:
        """Removes what the test made."""
        if self._server is None:
            self.start()
        self.lose()
        super().close()
        self._behind.close()

    def answer(self, asked: Asked) -> Answered:
        """See ``QdrantDoor.answer``."""
        if asked.path and not self._key and asked.key != API_KEY:
            return REFUSED  # the server would let everybody in
        found = self._behind.request(
            asked.method,
            asked.target.replace("/collections/", f"/collections/{self._prefix}", 1),
            content=asked.body,
            headers=self._headers(asked.key),
        )
        body = found.content
        if asked.path == ["collections"] and found.status_code == HTTPStatus.OK:
            body = self._own(body)
        return Answered(found.status_code, body, found.headers.get("Content-Type", ""))

    def _headers(self, given: str | None) -> dict[str, str]:
        """The server's key in the place of the tests'; a wrong one stays wrong."""
        key = self._key if given == API_KEY else given
        return {"Content-Type": "application/json"} | ({"api-key": key} if key else {})

    def _own(self, listed: bytes) -> bytes:
        """The list of collections without those of others."""
        answer = json.loads(listed)
        answer["result"]["collections"] = [
            one | {"name": one["name"].removeprefix(self._prefix)}
            for one in answer["result"]["collections"]
            if one["name"].startswith(self._prefix)
        ]
        return json.dumps(answer).encode()
