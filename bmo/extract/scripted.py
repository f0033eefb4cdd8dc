"""A scripted model: recorded answers instead of a service, for figures and tests.

What it proposes passes the same acceptance. Its figures show what the way from a held turn to a
memory does with good answers, never how good a real model is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bmo.extract.model import Answer, ExtractionFailed, Request

CHARACTERS_A_TOKEN = 4
"""For counting tokens without a tokenizer."""


class ScriptedClient:
    """Answers by the turn's words; a turn that is not in the script is not spoken of."""

    cost = 0.0

    def __init__(self, name: str, answers: Mapping[str, list[dict[str, Any]]]) -> None:
        """Answers with these.

        A turn's words -> facts as a model would write them.
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
        found = {n: self._answers.get(_key(turn.text)) for n, turn in request.numbered.items()}
        turns = [{"turn": n, "facts": facts} for n, facts in found.items() if facts is not None]
        if not turns:
            raise ExtractionFailed("none of these turns is in the script")
        text = json.dumps({"turns": turns})
        sent = len(request.instructions) + len(request.content)
        return Answer(text, sent // CHARACTERS_A_TOKEN, len(text) // CHARACTERS_A_TOKEN)

    def close(self) -> None:
        """Holds nothing."""


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
