"""What a model is shown of a conversation: the turns to settle, their neighbours, the people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from bmo.extract.extractor import Known
from bmo.settings import SensitivePolicy
from bmo.turn import Turn

MAX_TURNS = 12
"""Turns settled in one call."""
MAX_NEIGHBOURS = 24
"""Turns shown for understanding; those farthest from what is to be settled are left out."""
MAX_PEOPLE = 60
"""Names shown."""
MAX_WORDS = 2000
"""Characters of a turn that are shown; the gate itself reads no more."""
MAX_ASSISTANT = 400
"""Characters of the assistant's words before a turn that are shown: the last ones."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    Attributes:
        instructions: The system instruction.
        content: The conversation, as JSON.
        numbered: Number in the content -> turn to be settled.
    """

    instructions: str
    content: str
    numbered: Mapping[int, Turn]


@lru_cache(maxsize=1)
def instructions() -> str:
    """The system instruction (``data/extraction.md``)."""
    return (resources.files(__package__) / "data" / "extraction.md").read_text("utf-8")


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
    from bmo.gate import injection, scan_sensitive

    wanted = {turn.id for turn in turns}
    near = [
        turn
        for turn in known.neighbours
        if turn.id not in wanted and injection.scan(turn.text) is None
    ]
    if len(near) > MAX_NEIGHBOURS:
        near.sort(key=lambda one: min(abs(one.at - turn.at) for turn in turns))
        del near[MAX_NEIGHBOURS:]
    shown = sorted([*turns, *near], key=lambda turn: (turn.at, turn.id))
    numbered: dict[int, Turn] = {}
    conversation = []
    for number, turn in enumerate(shown, 1):
        if turn.id in wanted:
            numbered[number] = turn
        before = turn.assistant_before[-MAX_ASSISTANT:]
        conversation.append(
            {
                "turn": number,
                "assistant": scan_sensitive(before, policy).masked,
                "user": scan_sensitive(turn.text[:MAX_WORDS], policy).masked,
                "settle": turn.id in wanted,
            }
        )
    people = [
        {"name": name.title(), "is": _relation(subject)}
        for name, subject in list(known.subjects.items())[:MAX_PEOPLE]
    ]
    content = {"people": people, "conversation": conversation}
    return Request(instructions(), json.dumps(content, ensure_ascii=False), numbered)


def _relation(subject: str) -> str:
    """Reads "brother" of ``user.brother:sam``, "wife's sister" of ``user.wife.sister:ana``."""
    path = subject.partition(":")[0].split(".")[1:]
    return "'s ".join(part.replace("_", " ") for part in path) or subject
