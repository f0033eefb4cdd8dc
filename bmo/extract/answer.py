"""A model's answer: the schema it is asked for, and reading what comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bmo.extract.extractor import Candidate, ExtractionFailed
from bmo.turn import CATEGORIES, Category, Turn

MAX_FACTS = 8
"""Facts of one turn that are looked at; a turn of more is being made up."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "turns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "turn": {"type": "integer"},
                    "facts": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "quote": {"type": "string"},
                                "statement": {"type": "string"},
                                "category": {"type": "string", "enum": list(CATEGORIES)},
                                "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                            },
                            "required": ["quote", "statement", "category", "confidence"],
                        },
                    },
                },
                "required": ["turn", "facts"],
            },
        }
    },
    "required": ["turns"],
}
"""JSON Schema of an answer: Gemini's ``response_json_schema``, Ollama's ``format``."""


class _Fact(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    quote: str = Field(max_length=2000)
    statement: str = Field(max_length=400)
    category: Category
    confidence: float = Field(ge=0.0, le=1.0)


class _Turn(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    turn: int
    facts: list[_Fact] = Field(max_length=MAX_FACTS)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    turns: list[_Turn]


def read_answer(text: str, numbered: Mapping[int, Turn]) -> dict[str, tuple[Candidate, ...]]:
    """Reads a model's answer.

    Args:
        text: What it wrote.
        numbered: Number in the request -> turn that was to be settled.

    Returns:
        Turn id -> candidates, () for "nothing"; a turn it did not speak of is missing, and
        numbers that were not asked for are left out.

    Raises:
        ExtractionFailed: The text is no JSON, or not of the schema.
    """
    try:
        answer = _Answer.model_validate(json.loads(text))
    except ValueError as error:  # JSON's and pydantic's errors are both ValueErrors
        raise ExtractionFailed(f"malformed answer: {_in_short(error)}") from error
    found: dict[str, tuple[Candidate, ...]] = {}
    for one in answer.turns:
        turn = numbered.get(one.turn)
        if turn is not None:
            found[turn.id] = (*found.get(turn.id, ()), *_candidates(turn, one.facts))
    return found


def _candidates(turn: Turn, facts: Sequence[_Fact]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(turn.id, fact.quote, fact.statement, fact.category, fact.confidence)
        for fact in facts
    )


def _in_short(error: ValueError) -> str:
    """What is wrong, without the words of the answer: it may hold what somebody said."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'answer'}: {first['type']}"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON ({error.msg} at character {error.pos})"
    return type(error).__name__
