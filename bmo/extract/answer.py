"""A model's answer: the schema it is asked for, and reading what comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bmo.extract.model import ExtractionFailed
from bmo.turn import Category, Turn

MAX_FACTS = 8
"""Facts of one turn that are looked at; a turn of more is being made up."""


class Candidate(BaseModel):
    """A memory as a model proposes it; nothing of it is trusted.

    Attributes:
        quote: The user's own words that carry it.
        statement: The canonical text: English, in the third person, without its subject.
        category: Where it belongs, by the model's word.
        confidence: By the model's word.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    quote: str
    statement: str
    category: Category
    confidence: float = Field(ge=0.0, le=1.0)


class _Turn(BaseModel):
    model_config = ConfigDict(strict=True)

    turn: int
    facts: list[Candidate] = Field(max_length=MAX_FACTS)


class _Answer(BaseModel):
    turns: list[_Turn]


SCHEMA: Mapping[str, Any] = _Answer.model_json_schema()
"""JSON Schema of an answer: Gemini's ``response_json_schema``, Ollama's ``format``."""


def read_answer(text: str, numbered: Mapping[int, Turn]) -> dict[str, tuple[Candidate, ...]]:
    """Reads a model's answer.

    Args:
        text: What it wrote.
        numbered: Number in the request -> turn that was to be settled.

    Returns:
        Turn id -> candidates, () for "nothing"; a turn it did not speak of is missing, and
        numbers that were not asked for are left out.

    Raises:
        ExtractionFailed: The text is no JSON, or not of the schema. The message has no word of the
            answer, which may hold what somebody said.
    """
    try:
        answer = _Answer.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc'])) or 'answer'}: {first['type']}"
        raise ExtractionFailed(f"malformed answer: {why}", content=True) from None
    except ValueError:
        raise ExtractionFailed("malformed answer: no JSON", content=True) from None
    found: dict[str, tuple[Candidate, ...]] = {}
    for one in answer.turns:
        if one.turn in numbered:
            turn_id = numbered[one.turn].id
            found[turn_id] = (*found.get(turn_id, ()), *one.facts)
    return found
