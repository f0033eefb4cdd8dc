"""Figures of recall alone: the right memories are in the store, are they given?

``injects`` of an end-to-end replay fail for two reasons that have nothing to do with each other:
the memory was never written, or it was live and was not given. Both ways here leave the first out:

- ``case_figures``: memories written by hand (``tests/recall_cases``), in the forms that the write
  gate leaves behind, and questions about them.
- ``live_figures``: annotated conversations through the real memory service; counted are only those
  wanted memories that were live when the question came.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bmo.evaluation.annotated import AnnotatedTurn, holds, read_conversations
from bmo.evaluation.corpora import CorpusMissing
from bmo.evaluation.metrics import share
from bmo.evaluation.write_figures import Figures
from bmo.settings import Settings
from bmo.turn import Category, Decision, Fact, Kind, Recall, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.index import Embedder, MemoryIndex
    from bmo.ledger import Ledger
    from bmo.memory import MemoryService
    from bmo.recall import ReadGate, Recaller

NOW = datetime(2026, 4, 1, 18, tzinfo=UTC)
"""The moment of the questions, a Wednesday."""

STORED = NOW - timedelta(days=40)
"""When the memories were said."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CaseMemory(_Part):
    """One memory of a person, as the write gate would leave it behind."""

    id: str
    text: str
    category: Category = "personal_facts"
    slot: str | None = None
    value: str = ""
    subject: str = "user"
    kind: Kind = "fact"


class CaseQuestion(_Part):
    """What is said, the memories that a good reply needs, and those that do no harm beside."""

    ask: str
    wanted: tuple[str, ...]
    fine: tuple[str, ...] = ()


class CasePerson(_Part):
    """One person's memories and questions."""

    person: str
    style: str = "speech"
    language: str = "en"
    memories: tuple[CaseMemory, ...]
    questions: tuple[CaseQuestion, ...]


def read_cases(path: Path) -> list[CasePerson]:
    """The people of one file of cases.

    Raises:
        CorpusMissing: The file is missing or malformed, or a question names an unknown memory.
    """
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))
        people = [CasePerson.model_validate(row) for row in rows]
    except (OSError, TypeError, yaml.YAMLError, ValidationError) as error:
        why = "; ".join(" ".join(line.split()) for line in str(error).splitlines())
        raise CorpusMissing(
            f"recall cases {str(path)!r} cannot be read ({why}): give a file like those in "
            "tests/recall_cases."
        ) from error
    for person in people:
        known = {memory.id for memory in person.memories}
        for question in person.questions:
            if unknown := {*question.wanted, *question.fine} - known:
                raise CorpusMissing(
                    f"{path.name}, {person.person}: {question.ask!r} names unknown memories "
                    f"{sorted(unknown)!r}: give them an entry or take them out."
                )
    return people


def case_figures(
    people: Sequence[CasePerson], gate: ReadGate, embedder: Embedder, settings: Settings
) -> Figures:
    """Asks every question of every person over a fresh ledger and index."""
    figures = Figures()
    needed: list[bool] = []
    idle: list[bool] = []
    given: list[bool] = []
    given_if_planned: list[bool] = []
    fitting: list[bool] = []
    empty: list[bool] = []
    counts: list[int] = []
    for person, question, plan, recaller in asked_cases(people, gate, embedder, settings):
        recall = recaller.recall(plan, person.person, NOW)
        ids = {memory.text: memory.id for memory in person.memories}
        got = [ids[memory.fact.text] for memory in recall.memories]
        allowed = {*question.wanted, *question.fine}
        fitting += [memory in allowed for memory in got]
        (needed if question.wanted else idle).append(recall.plan.recall == bool(question.wanted))
        outcomes = [memory in got for memory in question.wanted]
        given += outcomes
        if recall.plan.recall:
            given_if_planned += outcomes
            counts.append(len(got))
        if not question.wanted:
            empty.append(set(got) <= allowed)
        if not all(outcomes) or not set(got) <= allowed:
            figures.misses["recall cases"].append(
                f"{person.person}: {question.ask!r} [{recall.plan.trigger}] wants "
                f"{list(question.wanted)}, given {got}"
            )
    figures.shares = {
        "needed memory: planned": share(needed),
        "needed none: not planned": share(idle),
        "wanted given": share(given),
        "wanted given, where planned": share(given_if_planned),
        "given that fits": share(fitting),
        "kept empty": share(empty),
        f"at most 3 given (median {statistics.median(counts or [0]):g})": share(
            [count <= 3 for count in counts]
        ),
    }
    return figures


def asked_cases(
    people: Sequence[CasePerson], gate: ReadGate, embedder: Embedder, settings: Settings
) -> Iterator[tuple[CasePerson, CaseQuestion, RecallPlan, Recaller]]:
    """Every question with its plan and a recaller over a store that holds its person's memories."""
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger
    from bmo.recall import Recaller

    with TemporaryDirectory(prefix="bmo-recall-cases-") as folder:
        settings = settings.model_copy(update={"bmo_home": Path(folder)})
        ledger = Ledger.open(settings.ledger_url)
        index = MemoryIndex.open(settings, embedder)
        try:
            recaller = Recaller(ledger, index, settings)
            for person in people:
                for memory in person.memories:
                    _learn(ledger, index, person, memory)
                subjects = ledger.known_subjects(person.person)
                for question in person.questions:
                    turn = Turn(text=question.ask, user_id=person.person, at=NOW)
                    familiar = partial(recaller.familiarity, user_id=person.person, now=NOW)
                    plan = gate.plan(turn, subjects=subjects, familiar=familiar)
                    yield person, question, plan, recaller
        finally:
            index.close()
            ledger.close()


def _learn(ledger: Ledger, index: MemoryIndex, person: CasePerson, memory: CaseMemory) -> None:
    fact = Fact(
        text=memory.text,
        category=memory.category,
        slot=memory.slot,
        value=memory.value,
        subject=memory.subject,
        kind=memory.kind,
    )
    decision = Decision("allow", ("other",), "case", 0.9, facts=(fact,), text=memory.text)
    turn = Turn(memory.text, user_id=person.person, at=STORED)
    for stored in ledger.record(turn, decision, source_type="import").added:
        index.add(stored, {})


def live_figures(folder: Path, settings: Settings, only: str = "*") -> Figures:
    """Plays annotated conversations and counts what was live and wanted, and what was given."""
    return asyncio.run(_live_figures(folder, settings, only))


async def _live_figures(folder: Path, settings: Settings, only: str) -> Figures:
    from bmo.memory import MemoryService

    figures = Figures()
    live: list[bool] = []
    given: list[bool] = []
    omitted: list[bool] = []
    with TemporaryDirectory(prefix="bmo-recall-live-") as home:
        own = settings.model_copy(update={"bmo_home": Path(home), "bmo_recall_deadline_ms": 5000})
        service = await MemoryService.open(own)
        try:
            for name, turns in read_conversations(folder, only):
                user = f"case-{name}"
                async for row, recall, texts in played(service, user, turns):
                    got = [memory.fact.text for memory in recall.memories]
                    for wanted in row.raw.get("injects") or ():
                        parts = tuple(str(part) for part in wanted)
                        live.append(any(holds(text, parts) for text in texts))
                        if live[-1]:
                            given.append(any(holds(text, parts) for text in got))
                            if not given[-1]:
                                figures.misses["live and not given"].append(
                                    f"{name}: {row.turn.text!r} [{recall.plan.trigger}] wants "
                                    f"{parts}, given {got}, live {texts}"
                                )
                    for unwanted in row.raw.get("omits") or ():
                        part = str(unwanted)
                        omitted.append(not any(holds(text, (part,)) for text in got))
                        if not omitted[-1]:
                            figures.misses["given and to be omitted"].append(
                                f"{name}: {row.turn.text!r} [{recall.plan.trigger}] given {got}"
                            )
        finally:
            await service.aclose()
    figures.shares = {
        "wanted and live": share(live),
        "recall given live": share(given),
        "omits respected": share(omitted),
    }
    return figures


@dataclass(slots=True)
class _Clock:
    """Shows the time of the turn that is being played."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


async def played(
    service: MemoryService, user: str, turns: Sequence[AnnotatedTurn]
) -> AsyncIterator[tuple[AnnotatedTurn, Recall, list[str]]]:
    """Every turn with what it was given and the texts that were live when it came."""
    clock = _Clock(turns[0].turn.at)
    session = None
    for row in turns:
        clock.now = row.turn.at
        if row.opens_visit or session is None:
            if session is not None:
                await session.aclose()
            session = service.session(user_id=user, session_id=row.turn.session_id, clock=clock)
        turn = replace(row.turn, user_id=user)
        facts = await asyncio.to_thread(service.ledger.live_facts, user, at=clock.now)
        recall = await session.recall(turn)
        await session.on_turn(turn)
        yield row, recall, [fact.text for fact in facts]
        session.note_reply(turn.id, row.raw.get("assistant", ""))
        await session.flush()
    if session is not None:
        await session.aclose()
