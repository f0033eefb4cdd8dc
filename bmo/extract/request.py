"""What a model is shown: the turns to settle, what they may end, and of whom they may speak."""

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
from bmo.turn import Turn, is_masked

MAX_NEIGHBOURS = 24
"""Turns shown for understanding; those farthest from what is to be settled are left out."""
MAX_PEOPLE = 60
"""Names shown."""
MAX_ENDS = 6
"""Older memories shown for a turn that may end them."""
MAX_ASSISTANT = 400
"""Characters of the assistant's words before a turn that are shown: the last ones."""

_VERSION = "Prompt "


@cache
def prompt() -> tuple[str, str]:
    """The version and the text of the system instruction (``data/prompt.md``)."""
    text = (resources.files(__package__) / "data" / "prompt.md").read_text("utf-8")
    first, _, rest = text.partition("\n")
    forms = "; ".join(f"{slot}: {form}" for slot, form in canonical_texts())
    return first.removeprefix(_VERSION).strip(), rest.strip().replace("{slots}", forms)


def build_request(turns: Sequence[Turn], known: Known, policy: SensitivePolicy) -> Request:
    """Writes the request for some turns.

    Nothing that was masked is shown, and nothing that tries to steer the assistant. Of the older
    memories those are shown that a turn may end; what repeats one is refused as its echo.
    """
    wanted = {turn.id for turn in turns}
    near = [
        one for one in known.neighbours if one.id not in wanted and _may_leave(one.text, policy)
    ]
    near.sort(key=lambda one: min(abs(one.at - turn.at) for turn in turns))
    shown = sorted([*turns, *near[:MAX_NEIGHBOURS]], key=lambda turn: (turn.at, turn.id))
    memories = {
        memory.id: memory.text
        for turn in turns
        for memory in known.candidates.get(turn.id, ())[:MAX_ENDS]
        if _may_leave(memory.text, policy)
    }
    numbers = {fact_id: number for number, fact_id in enumerate(memories, 1)}
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
    told = [{"memory": numbers[fact_id], "text": text} for fact_id, text in memories.items()]
    content = {"people": people, "memories": told, "conversation": conversation}
    return Request(
        prompt()[1],
        json.dumps(content, ensure_ascii=False),
        {number: turn for number, turn in enumerate(shown, 1) if turn.id in wanted},
        {number: fact_id for fact_id, number in numbers.items()},
    )


def _may_leave(text: str, policy: SensitivePolicy) -> bool:
    """Whether nothing in a text was masked, is to be, or would steer."""
    return attack(text) is None and not is_masked(safe_context(text, policy))


def _relation(subject: str) -> str:
    """Reads "brother" of ``user.brother:sam``, "wife's sister" of ``user.wife.sister:ana``."""
    path = subject.partition(":")[0].split(".")[1:]
    return "'s ".join(part.replace("_", " ") for part in path) or subject
