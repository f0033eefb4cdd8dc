"""Annotated conversations as turns for a gate, and when a memory is an annotated fact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bmo.replay.compare import has
from bmo.replay.rows import StoredRow
from bmo.replay.scenario import TURN_GAP, ExpectedFact, Scenario, ScenarioTurn
from bmo.turn import Fact, StoredFact, Turn


@dataclass(frozen=True, slots=True)
class AnnotatedTurn:
    """One turn of a conversation and what is right for it.

    Attributes:
        turn: The turn as a gate gets it.
        expected: What is right for it.
        opens_visit: Whether it is the first of its visit.
    """

    turn: Turn
    expected: ScenarioTurn
    opens_visit: bool = False


def annotated_turns(scenario: Scenario) -> Iterator[AnnotatedTurn]:
    """The turns of a conversation in order; its id is the user's."""
    for visit, session in enumerate(scenario.sessions):
        before = ""
        for place, expected in enumerate(session.turns):
            turn = Turn(
                text=expected.user,
                user_id=scenario.id,
                session_id=f"{scenario.id}-{visit}",
                at=session.at + TURN_GAP * place,
                assistant_before=before,
                id=f"{scenario.id}-{visit}-{place}",
            )
            yield AnnotatedTurn(turn, expected, opens_visit=place == 0)
            before = expected.assistant


def is_fact(
    memory: Fact | StoredFact | StoredRow, wanted: ExpectedFact, *, with_category: bool = True
) -> bool:
    """Whether a memory, with the words it answers, is an annotated fact."""
    told = f"{memory.asked} {memory.text}"
    return (
        (not with_category or memory.category == wanted.category)
        and all(has(told, part) for part in wanted.contains)
        and not any(has(memory.text, part) for part in wanted.lacks)
    )
