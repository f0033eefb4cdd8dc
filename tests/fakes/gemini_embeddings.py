"""Gemini's embedding service as its client sees it, with vectors from a model on this machine.

Real embedding services crowd their cosines: what has nothing to do with each other still has .7.
The vectors given here are the local embedder's, moved towards one common direction, so that every
cosine is ``crowding`` + (1 - ``crowding``) x the local one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import numpy as np

from bmo.index.embedders import GEMINI_DIMS, Embedder, GeminiEmbedder


def crowded(vector: np.ndarray, crowding: float) -> list[float]:
    """A vector of Gemini's length, of no particular norm, as the service gives at 768."""
    moved = np.zeros(GEMINI_DIMS, dtype=np.float64)
    moved[0] = np.sqrt(crowding)
    moved[1 : 1 + len(vector)] = np.sqrt(1.0 - crowding) * vector
    return [float(value) for value in 3.0 * moved]


@contextmanager
def crowded_gemini(local: Embedder, crowding: float) -> Iterator[GeminiEmbedder]:
    """BMO's Gemini embedder over the real google-genai client and an HTTP transport."""
    from google import genai
    from google.genai import types

    def answer(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)["requests"]
        texts = [one["content"]["parts"][0]["text"] for one in asked]
        rows = [{"values": crowded(vector, crowding)} for vector in local.embed(texts)]
        return httpx.Response(200, json={"embeddings": rows})

    with httpx.Client(transport=httpx.MockTransport(answer)) as transport:
        options = types.HttpOptions(httpx_client=transport)
        client = genai.Client(api_key="a-key-for-a-test", http_options=options)
        yield GeminiEmbedder(client)
