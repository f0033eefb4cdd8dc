from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bmo.encoder import MODEL
from bmo.index.embedders import (
    Embedder,
    EmbedderUnavailable,
    GeminiEmbedder,
    LocalEmbedder,
    open_embedder,
)
from bmo.settings import load_settings

pytestmark = pytest.mark.unit

MEMORIES = (
    "Has a brother named Sam",
    "Lives in Leeds",
    "Is allergic to peanuts",
    "Works as a nurse on night shifts",
    "Plays the cello in an orchestra",
    "Wants temperatures in Celsius",
    "Is training for a marathon",
    "Hates flying",
)
QUESTIONS = (
    "who is my sibling",
    "what city do i live in",
    "which foods must i avoid",
    "what do i do for a living",
    "which instrument do i play",
    "what units should you use for the weather",
    "what race am i preparing for",
    "should i take the plane",
)


@pytest.fixture(scope="module")
def local() -> Embedder:
    return LocalEmbedder.open()


def test_vectors_are_normalised_and_of_the_named_size(local: Embedder) -> None:
    vectors = local.embed(["i have a dog", "", "x" * 100_000])
    assert vectors.shape == (3, local.dims) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_no_text_gives_no_vectors(local: Embedder) -> None:
    assert local.embed([]).shape == (0, 384)


def test_paraphrased_questions_find_their_memory(local: Embedder) -> None:
    scores = local.embed(QUESTIONS) @ local.embed(MEMORIES).T
    assert list(scores.argmax(axis=1)) == list(range(len(QUESTIONS)))


def test_a_vector_does_not_depend_on_its_neighbours(local: Embedder) -> None:
    together = local.embed(MEMORIES)
    alone = np.concatenate([local.embed([memory]) for memory in MEMORIES])
    assert np.array_equal(together, alone)


@hypothesis_settings(max_examples=40, deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C"]), max_size=80))
def test_any_text_has_a_vector(local: Embedder, text: str) -> None:
    assert np.isfinite(local.embed([text])).all()


def test_lone_surrogates_and_nul_are_read_as_something_else(local: Embedder) -> None:
    assert np.isfinite(local.embed(["a \ud800 b \x00 c"])).all()


def test_threads_get_the_same_vectors(local: Embedder) -> None:
    wanted = local.embed(MEMORIES)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: local.embed(MEMORIES), range(12)):
            assert np.array_equal(found, wanted)


def test_a_damaged_model_is_refused_with_the_fix(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    with (folder / "model.onnx").open("r+b") as file:
        file.seek(1000)
        file.write(b"damage")
    with pytest.raises(EmbedderUnavailable, match=r"damaged or another version.*reinstall"):
        LocalEmbedder.open(folder)


def test_a_missing_model_is_refused_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="is missing: reinstall the package"):
        LocalEmbedder.open(tmp_path)


def test_importing_the_module_does_not_import_onnxruntime() -> None:
    code = "import sys, bmo.index.embedders; print('onnxruntime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_gemini_without_a_key_names_the_variable() -> None:
    with pytest.raises(EmbedderUnavailable, match="GOOGLE_API_KEY"):
        open_embedder(load_settings(bmo_embedder="gemini", google_api_key=None))


def test_the_default_is_local() -> None:
    assert isinstance(open_embedder(load_settings(bmo_embedder="local")), LocalEmbedder)


@pytest.fixture
def gemini_requests() -> list[dict[str, object]]:
    return []


@pytest.fixture
def gemini(gemini_requests: list[dict[str, object]]) -> Iterator[GeminiEmbedder]:
    """The real google-genai client over an HTTP transport that answers as the service does."""
    import json

    from google import genai
    from google.genai import types

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        gemini_requests.append(body)
        if any("refuse" in str(r) for r in body["requests"]):
            error = {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}
            return httpx.Response(503, json={"error": error})
        rows = [{"values": [3.0] + [0.0] * 767} for _ in body["requests"]]
        return httpx.Response(200, json={"embeddings": rows})

    with httpx.Client(transport=httpx.MockTransport(answer)) as transport:
        options = types.HttpOptions(httpx_client=transport)
        client = genai.Client(api_key="a-key-for-a-test", http_options=options)
        yield GeminiEmbedder(client)


def test_gemini_vectors_are_normalised_and_batched(
    gemini: GeminiEmbedder, gemini_requests: list[dict[str, object]]
) -> None:
    vectors = gemini.embed(["a memory"] * 130 + [""])
    assert vectors.shape == (131, 768)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)
    assert [len(list(body["requests"])) for body in gemini_requests] == [100, 31]  # type: ignore[call-overload]


def test_gemini_failing_is_a_sentence_with_the_fix(gemini: GeminiEmbedder) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"overloaded.*BMO_EMBEDDER=local"):
        gemini.embed(["refuse"])
