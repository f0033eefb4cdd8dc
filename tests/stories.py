"""Stories of change, played on a real memory: what was live before the last turn, and after it.

``python -m tests.stories`` prints the totals, ``--misses`` the stories that end otherwise (of those
that are not kept apart).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from bmo.memory import MemoryService, MemorySession
from bmo.settings import Settings, load_settings
from bmo.turn import Turn

STORIES = Path(__file__).parent / "integration" / "stories" / "changes.yaml"
EVERYDAY = STORIES.with_name("everyday.yaml")
"""Changes, ends and corrections in everyday words, all of which must end right."""
ENDINGS = STORIES.with_name("endings.yaml")
"""What ends in other words than it was told in, and what only sounds like it."""
APART = {STORIES: 3, ENDINGS: 2}
"""Every story whose place in its file is a multiple of this is kept apart."""

BEGIN = datetime(2032, 2, 2, 9, 0, tzinfo=UTC)
"""In years to come, so that no date a story tells of has gone by on the day it is run."""


@dataclass(frozen=True, slots=True)
class Story:
    """What somebody says, days apart, and what is live at the end."""

    id: str
    language: str
    turns: tuple[tuple[str, str], ...]
    keeps: tuple[tuple[str, ...], ...]
    drops: tuple[str, ...]
    apart: bool
    one_visit: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """A story and the texts of the live memories after each of its turns."""

    story: Story
    live: tuple[tuple[str, ...], ...]
    verdicts: tuple[str, ...]

    @property
    def wrong(self) -> list[str]:
        """What the end has that it should not, or lacks."""
        end = [text.casefold() for text in self.live[-1]]
        stale = [d for d in self.story.drops if any(d.casefold() in text for text in end)]
        lost = [
            keep
            for keep in self.story.keeps
            if not any(all(word.casefold() in text for word in keep) for text in end)
        ]
        return [*(f"live: {word}" for word in stale), *(f"lost: {' '.join(k)}" for k in lost)]


def stories(told: Path = STORIES) -> list[Story]:
    """All stories of a file; of those in ``APART`` some are kept apart."""
    return list(_read(yaml.safe_load(told.read_text("utf-8")), APART.get(told)))


def _read(raw: Sequence[dict[str, Any]], every: int | None) -> Iterator[Story]:
    for place, one in enumerate(raw, start=1):
        turns = (t if isinstance(t, list) else ["", t] for t in one["turns"])
        yield Story(
            id=one["id"],
            language=one.get("lang", "en"),
            turns=tuple((before, said) for before, said in turns),
            keeps=tuple(tuple(str(word) for word in keep) for keep in one["keeps"]),
            drops=tuple(str(word) for word in one["drops"]),
            apart=every is not None and place % every == 0,
            one_visit=one.get("visit") == "one",
        )


def _moment(at: datetime) -> datetime:
    return at


async def play(service: MemoryService, story: Story) -> Played:
    """Tells a story, every turn in a visit of its own, nine days after the one before.

    A story of one visit is told in one, with a minute between its turns.
    """
    live: list[tuple[str, ...]] = []
    verdicts = []
    session: MemorySession | None = None
    for number, (before, said) in enumerate(story.turns):
        at = BEGIN + (timedelta(minutes=number) if story.one_visit else timedelta(days=9 * number))
        visit = f"{story.id}-{0 if story.one_visit else number}"
        if session is None or not story.one_visit:
            session = service.session(
                user_id=story.id, session_id=visit, clock=partial(_moment, at)
            )
        turn = Turn(
            text=said,
            user_id=story.id,
            session_id=visit,
            at=at,
            assistant_before=before,
            language=story.language,
        )
        verdicts.append((await session.on_turn(turn)).verdict)
        await session.recorded(turn.id)
        if not story.one_visit or number == len(story.turns) - 1:
            await session.aclose()
        live.append(tuple(fact.text for fact in service.ledger.live_facts(story.id)))
    return Played(story, tuple(live), tuple(verdicts))


async def play_all(told: Sequence[Story], home: Path) -> list[Played]:
    """Tells stories to one memory in ``home``, each by a user of its own."""
    base = load_settings()
    settings: Settings = base.model_copy(update={"bmo_home": home, "bmo_ledger_url": None})
    service = await MemoryService.open(settings)
    try:
        return [await play(service, story) for story in told]
    finally:
        await service.aclose()


def _print_total(file: Path, apart: bool, played: Sequence[Played]) -> None:
    """One line of how many stories end right; those whose first turn was not kept tell little."""
    if not played:
        return
    right = sum(not one.wrong for one in played)
    unheard = sum(not one.live[0] for one in played)
    print(
        f"{file.stem}, {'kept apart' if apart else 'open'}: {right}/{len(played)} right; "
        f"first turn not kept: {unheard}"
    )


def main() -> None:
    """Prints totals, and what is wrong with ``--misses``."""
    with tempfile.TemporaryDirectory(prefix="stories-") as home:
        told = {file: stories(file) for file in (STORIES, EVERYDAY, ENDINGS)}
        played = []
        for file, each in told.items():
            of_file = asyncio.run(play_all(each, Path(home) / file.stem))
            for apart in (False, True):
                _print_total(file, apart, [one for one in of_file if one.story.apart is apart])
            played += of_file
    if "--misses" in sys.argv:
        for one in played:
            if not one.story.apart and (one.wrong or not one.live[0]):
                print(f"\n{one.story.id}: {', '.join(one.wrong) or 'first turn not kept'}")
                for (_, said), verdict, live in zip(
                    one.story.turns, one.verdicts, one.live, strict=True
                ):
                    print(f"   {said!r} -> {verdict}: {list(live)}")


if __name__ == "__main__":
    main()
