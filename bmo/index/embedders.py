"""Embedders: text to vectors, on this machine or by Gemini.

``open_embedder`` gives the one the settings name. Everything heavy is imported when an embedder is
opened.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bmo.encoder import MODEL, EncoderUnavailable, read_manifest
from bmo.encoder.encoder import VECTOR_SIZE

if TYPE_CHECKING:
    from pathlib import Path

    from bmo.encoder import Encoder
    from bmo.settings import Settings

GEMINI_MODEL = "gemini-embedding-001"
GEMINI_DIMS = 768
GEMINI_TIMEOUT_MS = 5_000
GEMINI_BATCH = 100
"""Texts the service takes in one request."""


class EmbedderUnavailable(RuntimeError):
    """No embedder, or it failed; the message names the fix."""


class Embedder(Protocol):
    """What turns texts into vectors of one fixed size."""

    @property
    def name(self) -> str:
        """Model and precision; part of the collection's name."""

    @property
    def dims(self) -> int:
        """Length of a vector."""

    def close(self) -> None:
        """Gives back what it holds; nothing is embedded afterwards. Safe to call twice."""

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        """Vectors of ``texts``: (len(texts), dims) float32, each of length 1.

        Args:
            texts: What is placed.
            asked: The assistant's words that each of them answers; none when it is empty.

        Raises:
            EmbedderUnavailable: It cannot be done now.
        """


class LocalEmbedder:
    """The encoder's sentence vector, some 5 ms a short text; safe from several threads."""

    dims = VECTOR_SIZE

    def __init__(self, encoder: Encoder) -> None:
        """Wraps an open encoder; use ``open``."""
        self.name = local_name(encoder.version)
        self._encoder = encoder

    @classmethod
    def open(cls, folder: Path | None = None) -> LocalEmbedder:
        """Opens the encoder, which is shared with the gates where they have it open.

        Args:
            folder: None takes the one in the package.

        Raises:
            EmbedderUnavailable: A file is missing or damaged, or onnxruntime cannot run it.
        """
        from bmo.encoder import Encoder

        try:
            return cls(Encoder.open(folder))
        except EncoderUnavailable as error:
            raise EmbedderUnavailable(f"No local embedder: {error}") from error

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        """See ``Embedder.embed``; an empty text gives a vector too."""
        before = asked or [""] * len(texts)
        return self._encoder.vectors(list(zip(before, texts, strict=True)))

    def close(self) -> None:
        """See ``Embedder.close``; the session goes with the last one who has it open."""


class GeminiEmbedder:
    """Gemini's embedder at 768 dimensions, by ``GOOGLE_API_KEY``."""

    name = GEMINI_MODEL
    dims = GEMINI_DIMS

    def __init__(self, client: Any) -> None:
        """Wraps a ``google.genai.Client``; use ``open``."""
        self._client = client

    @classmethod
    def open(cls, api_key: str, timeout_ms: int = GEMINI_TIMEOUT_MS) -> GeminiEmbedder:
        """Prepares a client; nothing is sent yet.

        Args:
            api_key: Google API key.
            timeout_ms: Longest a request may take, in milliseconds.
        """
        from google import genai
        from google.genai import types

        options = types.HttpOptions(timeout=timeout_ms)
        return cls(genai.Client(api_key=api_key, http_options=options))

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        """See ``Embedder.embed``; at 768 dimensions the service does not normalise, this does."""
        from google.genai import types

        config = types.EmbedContentConfig(
            output_dimensionality=self.dims, task_type="SEMANTIC_SIMILARITY"
        )
        if asked:
            texts = [f"{before} {text}" for before, text in zip(asked, texts, strict=True)]
        vectors = np.empty((len(texts), self.dims), dtype=np.float32)
        for start in range(0, len(texts), GEMINI_BATCH):
            # The service refuses empty parts and lone surrogates.
            batch = [
                text.encode("utf-8", "replace").decode("utf-8").strip() or "-"
                for text in texts[start : start + GEMINI_BATCH]
            ]
            try:
                answer = self._client.models.embed_content(
                    model=self.name, contents=batch, config=config
                )
            except gemini_service_errors() as error:
                raise EmbedderUnavailable(
                    f"Gemini's embedder did not answer ({error}): check GOOGLE_API_KEY and the "
                    "network, or set BMO_EMBEDDER=local."
                ) from error
            found = answer.embeddings or []
            if len(found) != len(batch) or any(len(e.values or ()) != self.dims for e in found):
                raise EmbedderUnavailable(
                    f"Gemini's embedder gave {len(found)} vectors for {len(batch)} texts, or not "
                    f"of {self.dims} dimensions: set BMO_EMBEDDER=local."
                )
            vectors[start : start + len(batch)] = [e.values for e in found]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        normalised: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
        return normalised

    def close(self) -> None:
        """See ``Embedder.close``: the connections."""
        self._client.close()


class UnopenedEmbedder:
    """Name and size of the embedder of the settings, for who looks at the index and embeds nothing.

    Opening the local one compares and loads 42 MB.
    """

    def __init__(self, settings: Settings) -> None:
        """Reads the name.

        Raises:
            EmbedderUnavailable: The local model's manifest cannot be read.
        """
        self.name, self.dims = GEMINI_MODEL, GEMINI_DIMS
        if settings.bmo_embedder == "local":
            try:
                self.name, self.dims = local_name(read_manifest(MODEL)["version"]), VECTOR_SIZE
            except EncoderUnavailable as error:
                raise EmbedderUnavailable(f"No local embedder: {error}") from error

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        """See ``Embedder.embed``.

        Raises:
            EmbedderUnavailable: Always: it is not open.
        """
        raise EmbedderUnavailable("The index was opened to be looked at only.")

    def close(self) -> None:
        """See ``Embedder.close``."""


def local_name(version: str) -> str:
    """Name of the local embedder: another one whenever its vectors change."""
    return f"encoder-{version}"


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that ``BMO_EMBEDDER`` names.

    Raises:
        EmbedderUnavailable: The local model cannot be opened, or Gemini's key is missing.
    """
    if settings.bmo_embedder == "local":
        return LocalEmbedder.open()
    if settings.google_api_key is None:
        raise EmbedderUnavailable(
            "BMO_EMBEDDER=gemini needs GOOGLE_API_KEY: set it, or set BMO_EMBEDDER=local."
        )
    return GeminiEmbedder.open(settings.google_api_key.get_secret_value())


def gemini_service_errors() -> tuple[type[Exception], ...]:
    """Errors of the service and of the way there.

    google-genai runs on httpx or on its fork httpx2, whichever is installed.
    """
    from google.genai import errors

    found: list[type[Exception]] = [errors.APIError, OSError]
    for transport in ("httpx", "httpx2"):
        try:
            found.append(importlib.import_module(transport).HTTPError)
        except ImportError:
            continue
    return tuple(found)
