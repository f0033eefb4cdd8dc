"""The parts Mem0 builds through its factories: our store, our embedder, no language model.

Mem0 makes its parts from class paths and plain configuration. What is already open here (a store,
an embedder) is handed over by a key in ``_HANDED_OVER`` for the moment of construction.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from mem0 import Memory
from mem0.configs.base import MemoryConfig
from mem0.configs.llms.gemini import GeminiConfig
from mem0.embeddings.base import EmbeddingBase
from mem0.embeddings.configs import EmbedderConfig
from mem0.llms.base import LLMBase
from mem0.llms.configs import LlmConfig
from mem0.utils import spacy_models
from mem0.utils.factory import EmbedderFactory, LlmFactory, VectorStoreFactory
from mem0.vector_stores.configs import VectorStoreConfig
from numpy.typing import NDArray
from pydantic import BaseModel

from bmo.index.backends import Inference
from bmo.index.embedders import Embedder
from bmo.index.entries import Entry, EntryStore

# Mem0 writes memories' texts into its log at INFO, and warns of what is left out here on purpose.
logging.getLogger("mem0").setLevel(logging.ERROR)
# It silences urllib3 for the whole process at import; that is not its business.
logging.getLogger("urllib3").setLevel(logging.NOTSET)
# Where spaCy is installed without its English model Mem0 downloads it at the first add: 40 s of
# waiting without network. Its only uses are BM25 and entity boosts, which are off here.
spacy_models._load_failed_full = True
spacy_models._load_failed_lemma = True

_PROVIDER = "bmo"
_INFERENCE = "bmo-gemini"
_HANDED_OVER: dict[str, tuple[EntryStore | Gathered, Embedder | Gathered]] = {}


class Gathered:
    """Many entries in one write: Mem0 makes them one by one, the store gets them all at once.

    Attributes:
        dims: Length of a vector.
        next_vector: That of the text which Mem0 is about to add.
    """

    def __init__(self, dims: int) -> None:
        """Nothing gathered."""
        self.dims = dims
        self.next_vector: NDArray[np.float16] = np.empty(0, np.float16)
        self._made: list[Sequence[float]] = []
        self._payloads: list[dict[str, Any]] = []

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float16]]:
        """The vector of the one text, made before."""
        return [self.next_vector for _ in texts]

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Keeps points; the ids that Mem0 made for them are not used."""
        self._made += vectors
        self._payloads += payloads or ()

    def take(self) -> tuple[list[Sequence[float]], list[dict[str, Any]]]:
        """Vectors and payloads of what was gathered, which is forgotten here."""
        taken = self._made, self._payloads
        self._made, self._payloads = [], []
        return taken


class StoreConfig(BaseModel):
    """What Mem0 keeps of the store's configuration."""

    collection_name: str
    key: str


class Mem0Embedder(EmbeddingBase):  # type: ignore[misc]  # mem0 ships no types
    """Our embedder under Mem0's interface."""

    def __init__(self, config: Any) -> None:
        """Takes the embedder that was handed over under ``config.model``."""
        super().__init__(config)
        _, self._embedder = _HANDED_OVER[config.model]
        self._failures = threading.local()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One text as a list of floats."""
        try:
            made = self._embedder.embed([text])[0]
        except Exception as error:
            self._failures.last = error
            raise
        vector: list[float] = made.tolist()
        return vector

    def take_failure(self) -> Exception | None:
        """What went wrong on this thread since the last call.

        Mem0's extraction goes on without a memory that could not be embedded.
        """
        failure: Exception | None = getattr(self._failures, "last", None)
        self._failures.last = None
        return failure


class NoLlm(LLMBase):  # type: ignore[misc]  # mem0 ships no types
    """No language model: memories are written as they are given (``infer=False``)."""

    def generate_response(self, messages: Any, tools: Any = None, tool_choice: Any = "auto") -> str:
        """Mem0 must never get here.

        Raises:
            RuntimeError: Always; a call with ``infer=False`` was forgotten.
        """
        raise RuntimeError("Mem0 asked for a language model: call add with infer=False")

    def close(self) -> None:
        """There is nothing to close."""


class NoEntities:
    """An empty entity store: Mem0 looks into one on every delete."""

    def list(self, filters: Any = None, top_k: Any = None) -> Sequence[Sequence[Entry]]:
        """Nothing."""
        return [[]]

    def search(self, *args: Any, **kwargs: Any) -> Sequence[Entry]:
        """Nothing."""
        return []

    def search_batch(self, queries: Any, *args: Any, **kwargs: Any) -> Sequence[Sequence[Entry]]:
        """Nothing for each query."""
        return [[] for _ in queries]

    def insert(self, *args: Any, **kwargs: Any) -> None:
        """Entities are in the ledger."""

    def reset(self) -> None:
        """There is nothing to reset."""


class NoHistory:
    """Stands where Mem0 has its ``SQLiteManager``. Safe from any thread.

    Mem0 keeps every memory's text, old and new, for ever in a file beside the process ("history"),
    and the last ten turns of each user ("messages"). On a fleet each worker would have such a
    file, out of reach of whoever forgets. Nothing reads the history (the ledger has it), and the
    turns that Mem0's extraction looks at come from the ledger with each call. So nothing is kept,
    and nothing has to be erased.
    """

    def __init__(self) -> None:
        """Nothing is kept."""
        self._call = threading.local()

    @contextmanager
    def said_before(self, turns: Sequence[str]) -> Iterator[None]:
        """What ``get_last_messages`` tells this thread meanwhile.

        Args:
            turns: The user's words before, oldest first.
        """
        self._call.messages = [{"role": "user", "content": text} for text in turns]
        try:
            yield
        finally:
            self._call.messages = []

    def get_last_messages(self, session_scope: str, limit: int = 10) -> list[dict[str, Any]]:
        """The turns handed over on this thread, the last ``limit`` of them."""
        messages: list[dict[str, Any]] = getattr(self._call, "messages", [])
        return messages[-limit:]

    def save_messages(self, messages: Sequence[Mapping[str, Any]], session_scope: str) -> None:
        """The ledger has them."""

    def add_history(self, memory_id: str, *texts: Any, **more: Any) -> None:
        """The ledger has it."""

    def batch_add_history(self, records: Sequence[Mapping[str, Any]]) -> None:
        """The ledger has it."""

    def get_history(self, memory_id: str) -> list[dict[str, Any]]:
        """None here; ``bmo memories history ID`` asks the ledger."""
        return []

    def reset(self) -> None:
        """There is nothing to reset."""

    def close(self) -> None:
        """There is nothing to close."""


def vector_store(collection_name: str, key: str) -> Any:
    """What Mem0's factory calls: our store, or none for its entities."""
    return _HANDED_OVER[key][0] if key in _HANDED_OVER else NoEntities()


def build_memory(
    store: EntryStore | Gathered,
    embedder: Embedder | Gathered,
    collection: str,
    inference: Inference | None = None,
) -> Memory:
    """A Mem0 ``Memory`` around an open store and embedder.

    Args:
        store: An open store, or what gathers entries.
        embedder: Makes the vectors, or has them.
        collection: The collection's name.
        inference: The model of Mem0's own extraction; None leaves it out.
    """
    VectorStoreFactory.provider_to_class[_PROVIDER] = f"{__name__}.vector_store"
    EmbedderFactory.provider_to_class[_PROVIDER] = f"{__name__}.Mem0Embedder"
    LlmFactory.register_provider(_PROVIDER, f"{__name__}.NoLlm")
    LlmFactory.register_provider(
        _INFERENCE, "bmo.index.mem0_inference.GeminiInference", GeminiConfig
    )
    key = uuid.uuid4().hex
    _HANDED_OVER[key] = (store, embedder)
    try:
        # model_construct: Mem0's validators know a fixed list of providers.
        memory = Memory(
            MemoryConfig.model_construct(
                vector_store=VectorStoreConfig.model_construct(
                    provider=_PROVIDER, config=StoreConfig(collection_name=collection, key=key)
                ),
                embedder=EmbedderConfig.model_construct(
                    provider=_PROVIDER, config={"model": key, "embedding_dims": embedder.dims}
                ),
                llm=_llm(inference),
                history_db_path=":memory:",
                reranker=None,
                version="v1.1",
                custom_instructions=None,
            )
        )
        memory.db.close()
        memory.db = NoHistory()
        return memory
    finally:
        # Mem0 makes its entity store on first use, much later: it finds no key then.
        del _HANDED_OVER[key]


def _llm(inference: Inference | None) -> LlmConfig:
    if inference is None:
        return LlmConfig.model_construct(provider=_PROVIDER, config={})
    from bmo.index.mem0_inference import MAX_TOKENS

    config = {
        "model": inference.model,
        "api_key": inference.api_key,
        "temperature": 0.0,
        "max_tokens": MAX_TOKENS,
        "vertexai": False,
    }
    return LlmConfig.model_construct(provider=_INFERENCE, config=config)
