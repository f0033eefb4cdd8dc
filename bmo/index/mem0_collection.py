"""Reading a Mem0 collection that was made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bmo.index.backends import server_client
from bmo.index.errors import IndexUnavailable
from bmo.settings import Settings

_PAGE = 500
_OWN = {"data", "hash", "user_id", "created_at", "updated_at", "text_lemmatized", "role"}


@dataclass(frozen=True, slots=True)
class Mem0Memory:
    """One memory of a Mem0 collection.

    Attributes:
        id: Mem0's id.
        user_id: Mem0's user, as it is there; it may not be allowed here.
        text: The memory.
        created_at: When Mem0 stored it, or None when that cannot be read.
        metadata: Everything else on the entry.
    """

    id: str
    user_id: str
    text: str
    created_at: datetime | None
    metadata: Mapping[str, Any]


def read_mem0_collection(
    settings: Settings, collection: str, *, path: Path | None = None
) -> Iterator[Mem0Memory]:
    """Reads every memory of a collection in Qdrant.

    Args:
        settings: ``QDRANT_URL`` and ``QDRANT_API_KEY`` of the server, unless ``path`` is given.
        collection: Its name (Mem0's default is "mem0").
        path: Directory of a local Qdrant store (Mem0's default is /tmp/qdrant).

    Raises:
        IndexUnavailable: There is no such collection, or the store cannot be read.
    """
    from qdrant_client import QdrantClient
    from qdrant_client.http.exceptions import ApiException

    if path is None and settings.qdrant_url is None:
        raise IndexUnavailable(
            "To import from Mem0 name its store: set QDRANT_URL, or give the directory of its "
            "local store."
        )
    if path is not None and not (path / "collection").is_dir():
        raise IndexUnavailable(f"There is no local Qdrant store in {path}; check the directory.")
    try:
        client = QdrantClient(path=str(path)) if path is not None else server_client(settings)
    except RuntimeError as error:
        # qdrant-client's word for a local store that another process has open.
        raise IndexUnavailable(f"The store in {path} cannot be opened: {error}") from None
    try:
        names = [found.name for found in client.get_collections().collections]
        if collection not in names:
            raise IndexUnavailable(
                f"There is no collection {collection!r}; there are {sorted(names)!r}."
            )
        offset = None
        while True:
            records, offset = client.scroll(
                collection, limit=_PAGE, offset=offset, with_payload=True
            )
            for record in records:
                payload = record.payload or {}
                if isinstance(payload.get("data"), str) and payload["data"].strip():
                    yield _memory(str(record.id), payload)
            if offset is None:
                return
    except (ApiException, OSError) as error:
        raise IndexUnavailable(f"The collection {collection!r} cannot be read ({error}).") from None
    finally:
        client.close()


def _memory(memory_id: str, payload: Mapping[str, Any]) -> Mem0Memory:
    rest = {key: value for key, value in payload.items() if key not in _OWN}
    return Mem0Memory(
        id=memory_id,
        user_id=str(payload.get("user_id") or ""),
        text=str(payload["data"]),
        created_at=_moment(payload.get("created_at")),
        metadata=rest,
    )


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
