"""Opening a store: Qdrant Edge, qdrant-client's local mode, or a server."""

from __future__ import annotations

import logging
import re
import ssl
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from bmo.index.embedders import Embedder
from bmo.index.entries import EntryStore
from bmo.index.errors import IndexUnavailable
from bmo.settings import Settings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


Backend = Literal["edge", "local", "server"]
"""Qdrant Edge, qdrant-client's local mode where Edge has no wheel, or a server."""

SERVER_TIMEOUT_S = 2
"""Longest a request to a Qdrant server may take, in seconds."""

_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")

logger = logging.getLogger(__name__)


def collection_name(embedder: Embedder) -> str:
    """Name of the collection for an embedder: another model never reads its vectors."""
    slug = re.sub(r"[^a-z0-9]+", "-", embedder.name.lower()).strip("-")
    return f"bmo-{slug}-{embedder.dims}"


def backend_of(settings: Settings) -> Backend:
    """Where the settings keep the index: on a server, or in the store that this platform has."""
    if settings.qdrant_url is not None:
        return "server"
    try:
        import qdrant_edge  # noqa: F401  # only whether there is a wheel for this platform
    except ImportError:
        return "local"
    return "edge"


def open_store(settings: Settings, backend: Backend, collection: str, dims: int) -> EntryStore:
    """A collection of the server that ``QDRANT_URL`` names, or in a directory of its own."""
    store: EntryStore
    directory = settings.bmo_home / f"qdrant-{backend}" / collection
    if backend == "edge":
        from bmo.index.edge_store import EdgeStore

        return EdgeStore(directory, dims)
    from bmo.index.qdrant_store import LocalStore, ServerStore

    if backend == "local":
        from qdrant_client import QdrantClient

        store = LocalStore(QdrantClient(path=str(directory)), collection, dims, directory)
        return store
    client = server_client(settings)
    try:
        on_disk = settings.qdrant_vectors_on_disk
        store = ServerStore(collection, dims, client=client, on_disk=on_disk)
    except BaseException:
        client.close()
        raise
    return store


def server_client(settings: Settings, timeout_s: int = SERVER_TIMEOUT_S) -> QdrantClient:
    """A client of the server that ``QDRANT_URL`` names, with a timeout of our own.

    Raises:
        IndexUnavailable: ``QDRANT_CA_FILE`` cannot be read.
    """
    from qdrant_client import QdrantClient

    url, key = settings.qdrant_url or "", settings.qdrant_api_key
    parts = urlsplit(url)
    if key is not None and parts.scheme == "http" and parts.hostname not in _THIS_MACHINE:
        extra = {"host": parts.hostname}
        logger.warning("QDRANT_API_KEY is sent unencrypted; use https", extra=extra)
    with warnings.catch_warnings():
        # qdrant-client warns of every key without TLS, also on this machine; see above.
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        return QdrantClient(
            url=url,
            api_key=key.get_secret_value() if key is not None else None,
            timeout=timeout_s,
            # It would ask the server for its version, and wait for it, at construction.
            check_compatibility=False,
            verify=_trusted(settings.qdrant_ca_file),
        )


def _trusted(ca_file: Path | None) -> ssl.SSLContext | bool:
    """The certificates a server's may be signed by: the system's, and those of a file."""
    if ca_file is None:
        return True
    try:
        context = ssl.create_default_context()
        context.load_verify_locations(ca_file)
    except OSError as error:  # what is no certificate is an SSLError, which is one
        raise IndexUnavailable(
            f"QDRANT_CA_FILE={str(ca_file)!r} cannot be read ({error.strerror or error}); name a "
            "file with certificates in PEM."
        ) from None
    return context


@dataclass(frozen=True, slots=True)
class Inference:
    """The model of Mem0's own extraction.

    Attributes:
        model: A Gemini model.
        api_key: Google API key.
    """

    model: str
    api_key: str = field(repr=False)


def inference_of(settings: Settings) -> Inference | None:
    """The model that the settings give Mem0: in NORMAL with a key one, otherwise none."""
    if settings.mem0_setting != "NORMAL" or settings.google_api_key is None:
        return None
    return Inference(settings.gemini_model, settings.google_api_key.get_secret_value())
