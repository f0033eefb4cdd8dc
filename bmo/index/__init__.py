"""The index: Mem0 on Qdrant, the copy of the ledger's live facts that is searched by meaning.

Mem0, Qdrant and the embedding model are imported when an index is opened, not before.
"""

from bmo.index.backends import collection_name
from bmo.index.embedders import Embedder, EmbedderUnavailable, open_embedder
from bmo.index.errors import IndexUnavailable, StoreInUse
from bmo.index.hits import IndexHit
from bmo.index.mem0_collection import Mem0Memory, read_mem0_collection
from bmo.index.memory_index import MemoryIndex

__all__ = [
    "Embedder",
    "EmbedderUnavailable",
    "IndexHit",
    "IndexUnavailable",
    "Mem0Memory",
    "MemoryIndex",
    "StoreInUse",
    "collection_name",
    "open_embedder",
    "read_mem0_collection",
]
