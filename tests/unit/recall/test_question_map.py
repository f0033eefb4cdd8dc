"""The map of questions: of one embedder only, of length 1, and towards what answers."""

from __future__ import annotations

import numpy as np
import pytest

from bmo.index.embedders import LocalEmbedder
from bmo.recall.question_map import question_map

pytestmark = pytest.mark.unit


def test_another_embedders_questions_are_left_as_they_are() -> None:
    assert question_map("gemini-embedding-001") is None


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("what time could the plumber come round", "Works nights", "Has a rabbit named Plum"),
        ("which case fits my mobile", "Has a Pixel phone", "Has court on Monday"),
    ],
)
def test_a_question_is_turned_towards_what_answers_it(
    question: str, answer: str, other: str
) -> None:
    embedder = LocalEmbedder.open()
    turned = question_map(embedder.name)
    assert turned is not None
    asked, told, wrong = embedder.embed([question, answer, other])
    moved = turned(asked)
    assert np.linalg.norm(moved) == pytest.approx(1.0, abs=1e-5)
    assert moved @ told - moved @ wrong > asked @ told - asked @ wrong
