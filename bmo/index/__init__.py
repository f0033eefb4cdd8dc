"""The index: Mem0 on Qdrant, the copy of the ledger's live facts that is searched by meaning.

Mem0, Qdrant and the embedding model are imported when an index is opened, not before.
"""

from bmo.index.backends import collection_name, server_client
from bmo.index.embedders import (
    Embedder,
    EmbedderUnavailable,
    UnopenedEmbedder,
    gemini_service_errors,
    open_embedder,
)
from bmo.index.entries import IndexHit, Metadata, point_of
from bmo.index.errors import (
    IndexDamaged,
    IndexOfAnother,
    IndexUnavailable,
    InferenceFailed,
    StoreInUse,
    first_line,
    meaning_of,
)
from bmo.index.mem0_collection import Mem0Memory, read_mem0_collection
from bmo.index.memory_index import MemoryIndex
from bmo.index.ownership import IndexOwner

__all__ = [
    "Embedder",
    "EmbedderUnavailable",
    "IndexDamaged",
    "IndexHit",
    "IndexOfAnother",
    "IndexOwner",
    "IndexUnavailable",
    "InferenceFailed",
    "Mem0Memory",
    "MemoryIndex",
    "Metadata",
    "StoreInUse",
    "UnopenedEmbedder",
    "collection_name",
    "first_line",
    "gemini_service_errors",
    "meaning_of",
    "open_embedder",
    "point_of",
    "read_mem0_collection",
    "server_client",
]
