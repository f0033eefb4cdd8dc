"""Importing Mem0 without qdrant-client, where Qdrant runs inside this process."""

from __future__ import annotations

import sys
from types import ModuleType


def import_mem0() -> None:
    """Imports Mem0; qdrant-client stays out until a server or a local mode asks for it.

    Mem0 imports qdrant-client for one type annotation of a configuration that is not used here
    (``mem0.configs.vector_stores.qdrant``, seen in 2.2.1), and with it gRPC and some hundred
    models: 45 MB and .5 s. While Mem0 is imported a module with nothing but that name stands in
    for it. Where either is imported already nothing is done.
    """
    if "mem0.configs.vector_stores.qdrant" in sys.modules or "qdrant_client" in sys.modules:
        return
    stand_in = ModuleType("qdrant_client")
    stand_in.__dict__["QdrantClient"] = object
    sys.modules["qdrant_client"] = stand_in
    try:
        # Mem0 makes this configuration by itself when it is constructed, to throw it away.
        import mem0.configs.vector_stores.qdrant  # noqa: F401  # the import is what is wanted
    finally:
        del sys.modules["qdrant_client"]
