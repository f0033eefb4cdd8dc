"""Fills a BMO_HOME with memories the way a conversation does: recorder, real ledger, real index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bmo.cli.opening import Stores, opened_stores
from bmo.settings import load_settings
from bmo.turn import Decision, Fact, Signal, Turn, Verdict

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Said:
    """A turn and what the gate made of it."""

    text: str
    facts: tuple[Fact, ...] = ()
    verdict: Verdict = "allow"
    user_id: str = "local"
    session_id: str = "visit"
    signals: tuple[Signal, ...] = ("personal_fact",)
    reason: str = "stated fact"
    at: datetime | None = None
    rule_id: str = ""
    fallback: bool = False
    asked: str = ""


def brother(name: str = "Sam", user_id: str = "local") -> Said:
    fact = Fact(
        text=f"Has a brother named {name}",
        category="relationships",
        slot="name",
        value=name,
        subject=f"user.brother:{name.lower()}",
        rule_id="relation_name",
        extraction_method="pattern:relation_name",
        entities=(name.lower(),),
    )
    return Said(f"my brother is {name.lower()}", (fact,), user_id=user_id)


def home_in(place: str, user_id: str = "local", *, at: datetime | None = None) -> Said:
    fact = Fact(
        text=f"Lives in {place}",
        category="personal_facts",
        slot="lives_in",
        value=place,
        cardinality="one",
        rule_id="lives_in",
        extraction_method="pattern:lives_in",
        entities=(place.lower(),),
    )
    return Said(f"i live in {place.lower()}", (fact,), user_id=user_id, at=at)


def likes(thing: str, user_id: str = "local") -> Said:
    fact = Fact(
        text=f"Likes {thing}",
        category="preferences",
        kind="preference",
        slot="likes",
        value=thing,
        rule_id="likes",
        extraction_method="pattern:likes",
    )
    return Said(f"i like {thing}", (fact,), user_id=user_id, signals=("preference",))


def held(text: str, user_id: str = "local") -> Said:
    return Said(text, (), "hold", user_id, signals=("other",), reason="no rule vouches")


@contextmanager
def opened(home: Path) -> Iterator[Stores]:
    """Ledger, index and recorder, which own the embedded store of ``home``."""
    with opened_stores(load_settings(bmo_home=home, qdrant_url=None)) as stores:
        assert not stores.notices, stores.notices
        yield stores


def remember(home: Path, said: Sequence[Said]) -> list[str]:
    """Records turns one minute apart; returns the ids of the facts that were added, in order."""
    with opened(home) as stores:
        ids = record(stores, said)
        assert stores.recorder.flush(60.0)
    return ids


def record(stores: Stores, said: Sequence[Said]) -> list[str]:
    """The same on stores that are open already."""
    ids: list[str] = []
    for number, one in enumerate(said):
        turn = Turn(
            text=one.text,
            user_id=one.user_id,
            session_id=one.session_id,
            at=one.at or START + timedelta(minutes=number),
            assistant_before=one.asked,
        )
        decision = Decision(
            verdict=one.verdict,
            signals=one.signals,
            reason=one.reason,
            confidence=0.9,
            rule_id=one.rule_id or (one.facts[0].rule_id if one.facts else ""),
            facts=one.facts,
            gate_version="rules-test",
            text=one.text,
            fallback=one.fallback,
        )
        recorded = stores.recorder.submit(turn, decision).result(60)
        ids += [fact.id for fact in recorded.added]
    return ids


LONG_LIKING = "very long strings of islands in the north sea and the people who once lived on them"


def filled_home(home: Path) -> list[str]:
    """A home with a few memories of two users, one superseded, and a held turn; the facts' ids."""
    said = [
        brother(),
        home_in("Oslo"),
        likes(LONG_LIKING),
        home_in("Leeds"),
        held("maybe ill get a dog"),
        likes("tea", "eve"),
    ]
    return remember(home, said)
