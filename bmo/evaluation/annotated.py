"""Annotated conversations as rows for the gates: each turn with the dialogue that leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from bmo.turn import Category, Decision, Fact, Turn, Verdict


class ConversationsMissing(FileNotFoundError):
    """A folder has no annotated conversation; the message names it and the option that sets it."""


@dataclass(frozen=True, slots=True)
class AnnotatedFact:
    """A fact that a turn should leave behind.

    Attributes:
        category: Where it belongs.
        contains: Strings that one stored memory must hold, case ignored.
        lacks: Strings it must not hold.
    """

    category: Category
    contains: tuple[str, ...]
    lacks: tuple[str, ...]

    def found_in(self, memory: Fact, *, with_category: bool = True) -> bool:
        """Whether a stored memory is this fact."""
        return (not with_category or memory.category == self.category) and holds(
            memory.text, self.contains, self.lacks
        )


@dataclass(frozen=True, slots=True)
class AnnotatedTurn:
    """One turn of a conversation and what is right for it.

    Attributes:
        conversation: Its id.
        visit: Number of the visit, from 0.
        turn: The turn as the gates get it.
        verdict: The right verdict.
        facts: The facts it should leave behind.
        recall: Whether a good reply needs memory.
        language: Language of the conversation.
        opens_visit: First turn of its visit.
    """

    conversation: str
    visit: int
    turn: Turn
    verdict: Verdict
    facts: tuple[AnnotatedFact, ...]
    recall: bool
    language: str
    opens_visit: bool
    raw: dict[str, Any] = field(repr=False, compare=False)


def holds(text: str, contains: tuple[str, ...], lacks: tuple[str, ...] = ()) -> bool:
    """Whether a text holds all of some strings and none of others, case ignored."""
    low = text.casefold()
    return all(part.casefold() in low for part in contains) and not any(
        part.casefold() in low for part in lacks
    )


def read_conversations(folder: Path, only: str = "*") -> Iterator[tuple[str, list[AnnotatedTurn]]]:
    """Reads the ``*.yaml`` conversations of a folder, in the order of names.

    Args:
        folder: Where they are.
        only: Pattern of the files' names without the ending ("c-*").

    Raises:
        ConversationsMissing: There is none.
    """
    found = False
    for path in sorted(folder.glob(f"{only}.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and "sessions" in data:
            found = True
            yield data["id"], list(_turns(data))
    if not found:
        raise ConversationsMissing(
            f"no annotated conversation {only}.yaml in {str(folder)!r}: point --conversations to "
            "the folder with them"
        )


def _turns(data: dict[str, Any]) -> Iterator[AnnotatedTurn]:
    for visit, session in enumerate(data["sessions"]):
        at = session["at"]
        start = at if isinstance(at, datetime) else datetime.fromisoformat(str(at))
        before = ""
        for place, row in enumerate(session["turns"]):
            facts = tuple(
                AnnotatedFact(
                    item["category"],
                    tuple(str(part) for part in item["contains"]),
                    tuple(str(part) for part in item.get("lacks") or ()),
                )
                for item in row.get("facts") or ()
            )
            yield AnnotatedTurn(
                conversation=data["id"],
                visit=visit,
                turn=Turn(
                    text=row["user"],
                    user_id=data["user"],
                    session_id=f"{data['id']}-{visit}",
                    at=start + timedelta(seconds=20 * place),
                    assistant_before=before,
                ),
                verdict=row["verdict"],
                facts=facts,
                recall=bool(row.get("recall", False)),
                language=data.get("language", "en"),
                opens_visit=place == 0,
                raw=row,
            )
            before = row.get("assistant", "")


def stored(decision: Decision) -> list[Fact]:
    """The memories a decision stores (retractions store nothing)."""
    return [] if decision.verdict != "allow" else [f for f in decision.facts if f.op != "retract"]
