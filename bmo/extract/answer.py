"""A model's answer: the schema it is asked for, and reading what comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bmo.extract.model import ExtractionFailed, Request
from bmo.turn import Category

MAX_FACTS = 8
"""Facts of one turn that are looked at; a turn of more is being made up."""


class Candidate(BaseModel):
    """A memory as a model proposes it; nothing of it is trusted.

    Attributes:
        quote: The user's own words that carry it.
        statement: The canonical text: English, in the third person, without its subject.
        category: Where it belongs, by the model's word.
        confidence: By the model's word.
        slot: The plain slot it fills, or "".
        value: The slot's value in the user's words, or "".
        ends: Numbers of older memories that are no longer true because of it.
    """

    model_config = ConfigDict(
        frozen=True, strict=True, json_schema_serialization_defaults_required=True
    )

    quote: str
    statement: str
    category: Category
    confidence: float = Field(ge=0.0, le=1.0)
    slot: str = ""
    value: str = ""
    ends: list[int] = Field(default_factory=list)


class _Turn(BaseModel):
    model_config = ConfigDict(strict=True, json_schema_serialization_defaults_required=True)

    turn: int
    durable: bool = True
    facts: list[Candidate] = Field(max_length=MAX_FACTS)


class _Answer(BaseModel):
    turns: list[_Turn]


SCHEMA: Mapping[str, Any] = _Answer.model_json_schema(mode="serialization")
"""JSON Schema of an answer: Gemini's ``response_json_schema``, Ollama's ``format``. Every field is
asked for; an answer may leave out those with a default all the same."""


def read_answer(text: str, request: Request) -> dict[str, tuple[Candidate, ...]]:
    """Reads a model's answer.

    Returns:
        Turn id -> what it proposes; nothing where it says that nothing lasts. A turn it did not
        speak of is missing, and numbers that were not asked for are left out.

    Raises:
        ExtractionFailed: The text is no JSON, or not of the schema. The message has no word of the
            answer, which may hold what somebody said.
    """
    try:
        answer = _Answer.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc'])) or 'answer'}: {first['type']}"
        raise ExtractionFailed(f"malformed answer: {why}") from None
    except ValueError:
        raise ExtractionFailed("malformed answer: no JSON") from None
    found: dict[str, tuple[Candidate, ...]] = {}
    for one in answer.turns:
        if one.turn in request.numbered:
            turn_id = request.numbered[one.turn].id
            found[turn_id] = (*found.get(turn_id, ()), *(one.facts if one.durable else ()))
    return found
