"""What a model is shown of a conversation: the turns to settle, their neighbours, the people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources

from bmo.extract.acceptance import safe_context
from bmo.extract.model import Request
from bmo.extract.settlement import Known
from bmo.gate.firewall import attack
from bmo.gate.slots import canonical_texts
from bmo.language import MAX_CHARACTERS
from bmo.settings import SensitivePolicy
from bmo.turn import Turn

MAX_NEIGHBOURS = 24
"""Turns shown for understanding; those farthest from what is to be settled are left out."""
MAX_PEOPLE = 60
"""Names shown."""
MAX_ASSISTANT = 400
"""Characters of the assistant's words before a turn that are shown: the last ones."""


@cache
def instructions() -> str:
    """The system instruction (``data/extraction.md``), with the texts of the plain slots."""
    text = (resources.files(__package__) / "data" / "extraction.md").read_text("utf-8")
    return text.replace("{slots}", "; ".join(canonical_texts()))


def build_request(turns: Sequence[Turn], known: Known, policy: SensitivePolicy) -> Request:
    """Writes the request for some turns.

    Secrets are masked in everything that is shown, identifiers by the policy; a neighbour that
    tries to steer the assistant is left out. Memories are not shown: what a model does not see
    it cannot give back as news.

    Args:
        turns: Turns to settle, of one visit.
        known: What is known beside them.
        policy: What becomes of personal identifiers.
    """
    wanted = {turn.id for turn in turns}
    near = [one for one in known.neighbours if one.id not in wanted and attack(one.text) is None]
    near.sort(key=lambda one: min(abs(one.at - turn.at) for turn in turns))
    shown = sorted([*turns, *near[:MAX_NEIGHBOURS]], key=lambda turn: (turn.at, turn.id))
    conversation = [
        {
            "turn": number,
            "assistant": safe_context(turn.assistant_before, policy)[-MAX_ASSISTANT:],
            "user": safe_context(turn.text[:MAX_CHARACTERS], policy),
            "settle": turn.id in wanted,
        }
        for number, turn in enumerate(shown, 1)
    ]
    people = [
        {"name": name.title(), "is": _relation(subject)}
        for name, subject in list(known.subjects.items())[:MAX_PEOPLE]
    ]
    content = json.dumps({"people": people, "conversation": conversation}, ensure_ascii=False)
    numbered = {number: turn for number, turn in enumerate(shown, 1) if turn.id in wanted}
    return Request(instructions(), content, numbered)


def _relation(subject: str) -> str:
    """Reads "brother" of ``user.brother:sam``, "wife's sister" of ``user.wife.sister:ana``."""
    path = subject.partition(":")[0].split(".")[1:]
    return "'s ".join(part.replace("_", " ") for part in path) or subject
