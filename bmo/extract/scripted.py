"""A scripted model: recorded answers instead of a service, for figures and tests.

It stands where a model would stand, says so by its name, and what it proposes passes the same
acceptance. Its figures show what the way from a held turn to a memory does with good answers,
never how good a real model is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bmo.extract.extractor import ExtractionFailed
from bmo.extract.model_extractor import Answer, ModelExtractor
from bmo.extract.request import Request

if TYPE_CHECKING:
    from bmo.gate import WriteGate

CHARACTERS_A_TOKEN = 4
"""For counting tokens without a tokenizer."""


class ScriptError(ValueError):
    """A script cannot be read; the message names file, line and what is wrong."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    facts: list[dict[str, Any]]


class ScriptedClient:
    """Answers by the turn's words; a turn that is not in the script is not spoken of.

    Attributes:
        name: "scripted:<file>".
        cost: 0 US dollars.
        estimated_latency_ms: 0.
    """

    cost = 0.0
    estimated_latency_ms = 0.0

    def __init__(self, name: str, answers: Mapping[str, list[dict[str, Any]]]) -> None:
        """Answers with these.

        Args:
            name: What to be called after "scripted:".
            answers: A turn's words -> facts as a model would write them.
        """
        self.name = f"scripted:{name}"
        self._answers = {_key(text): facts for text, facts in answers.items()}

    def is_available(self) -> bool:
        """Always."""
        return True

    def warm_up(self) -> None:
        """There is nothing to load."""

    def ask(self, request: Request, schema: Mapping[str, Any]) -> Answer:
        """See ``ModelClient.ask``."""
        turns = [
            {"turn": number, "facts": self._answers[_key(turn.text)]}
            for number, turn in request.numbered.items()
            if _key(turn.text) in self._answers
        ]
        if not turns:
            raise ExtractionFailed("none of these turns is in the script")
        text = json.dumps({"turns": turns})
        sent = len(request.instructions) + len(request.content)
        return Answer(text, sent // CHARACTERS_A_TOKEN, len(text) // CHARACTERS_A_TOKEN)

    def close(self) -> None:
        """Holds nothing."""


def scripted_extractor(path: Path, gate: WriteGate) -> ModelExtractor:
    """An extractor that plays a script.

    Args:
        path: JSONL, one turn a line: ``{"text": "<words>", "facts": [{"quote": ...,
            "statement": ..., "category": ..., "confidence": ...}]}``.
        gate: Reads what the script proposes.

    Raises:
        ScriptError: A line is wrong.
    """
    answers: dict[str, list[dict[str, Any]]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = _Row.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "line"
            raise ScriptError(f"{path.name}, line {number}: {where}: {first['msg']}") from None
        answers[row.text] = row.facts
    return ModelExtractor(ScriptedClient(path.stem, answers), gate)


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
