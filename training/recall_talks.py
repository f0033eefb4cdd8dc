"""People who tell and ask: what the read gate is fitted on beside cases and conversations.

``recall_talks.txt`` holds what a person tells, a line each, and questions in other words with the
tellings that a good reply needs. The tellings go through the write gate, so that the memories have
the forms, slots and faults that the gate leaves behind; what it does not keep, no question can ask.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bmo.memory import MemoryService
from bmo.turn import RecallPlan, Turn

TALKS = Path("training/recall_talks.txt")
TOLD_AT = datetime(2026, 3, 2, 18, tzinfo=UTC)
ASKED_AT = TOLD_AT + timedelta(days=30)

_QUESTION = re.compile(r"\? (?P<said>.*?) >(?P<needs>[\d ]*)(?:\[(?P<beside>[\d ]*)\])?$")


@dataclass(frozen=True, slots=True)
class AskedLater:
    """A question, the numbers of the tellings it needs and of those that may stand beside."""

    said: str
    needs: tuple[int, ...]
    beside: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Talker:
    """One person: what was told, by number, and what is asked later."""

    name: str
    language: str
    told: dict[int, str]
    questions: tuple[AskedLater, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """A question as the service sees it.

    Attributes:
        person: Whose memory.
        said: The question.
        plan: The read gate's plan.
        needed: Of every telling that a good reply needs, the ids of the memories it left.
        beside: Ids of memories that may stand beside.
    """

    person: str
    said: str
    plan: RecallPlan
    needed: tuple[frozenset[str], ...]
    beside: frozenset[str]


def read_talks(path: Path = TALKS) -> Iterator[Talker]:
    """The people of the file.

    Raises:
        ValueError: A line is none of the four kinds; the message names it.
    """
    text = "\n".join(x for x in path.read_text(encoding="utf-8").splitlines() if x[:1] != "#")
    for block in text.split("\n== ")[1:]:
        head, *lines = [line for line in block.splitlines() if line.strip()]
        name, language = head.split()
        told: dict[int, str] = {}
        questions: list[AskedLater] = []
        for line in lines:
            found = _QUESTION.match(line)
            number, _, said = line.partition(" ")
            if found is not None:
                needs, beside = (
                    tuple(int(n) for n in (found[part] or "").split())
                    for part in ("needs", "beside")
                )
                questions.append(AskedLater(found["said"], needs, beside))
            elif number.isdigit():
                told[int(number)] = said
            else:
                raise ValueError(
                    f"{path.name}, {name}: {line!r} is neither a telling ('7 i like tea') nor a "
                    "question ('? what do i drink > 7')."
                )
        yield Talker(name, language, told, tuple(questions))


async def asked_later(service: MemoryService, talker: Talker) -> AsyncIterator[Asking]:
    """Plays a person's tellings, then asks a month later.

    Questions are planned and not recorded, so their order does not matter.
    """
    user = f"talker-{talker.name}"
    left: dict[int, frozenset[str]] = {}
    session = service.session(user_id=user, session_id="told", clock=lambda: TOLD_AT)
    for number, said in talker.told.items():
        turn = Turn(said, user_id=user, session_id="told", at=TOLD_AT, language=talker.language)
        await session.on_turn(turn)
        recorded = await session.recorded(turn.id)
        left[number] = frozenset(f.id for f in recorded.added) if recorded else frozenset()
    await session.aclose()
    later = service.session(user_id=user, session_id="asked", clock=lambda: ASKED_AT)
    live = await asyncio.to_thread(service.ledger.live_facts, user, at=ASKED_AT)
    alive = {fact.id for fact in live}
    for question in talker.questions:
        turn = Turn(
            question.said,
            user_id=user,
            session_id="asked",
            at=ASKED_AT,
            language=talker.language,
        )
        recall = await later.recall(turn)
        needed = tuple(left[number] & alive for number in question.needs)
        beside = frozenset().union(*(left[number] for number in question.beside))
        yield Asking(user, question.said, replace(recall.plan), needed, beside)
    await later.aclose()
