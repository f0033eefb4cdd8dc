"""Someone who speaks: turns and decisions as the gate hands them to the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bmo.ledger import Ledger, Recorded
from bmo.turn import Category, Decision, Fact, Signal, StoredFact, Turn, Verdict

START = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)


def day(number: int, hour: int = 9) -> datetime:
    """The morning of the n-th day."""
    return START + timedelta(days=number, hours=hour - 9)


def fact(text: str, category: Category = "personal_facts", **more: Any) -> Fact:
    """A fact of the user."""
    return Fact(text=text, category=category, **more)


def lives_in(place: str, **more: Any) -> Fact:
    """A home: one value."""
    return fact(f"Lives in {place}", slot="lives_in", value=place, cardinality="one", **more)


def likes(thing: str, **more: Any) -> Fact:
    """Something liked, or not: many values."""
    text = f"Does not like {thing}" if more.get("polarity") == "negative" else f"Likes {thing}"
    return fact(text, "preferences", slot="likes", value=thing, **more)


def brother(name: str, **more: Any) -> Fact:
    """The name of a brother."""
    return fact(
        f"Has a brother named {name}",
        "relationships",
        slot="brother",
        value=name,
        subject=f"user.brother:{name.lower()}",
        entities=(name.lower(),),
        **more,
    )


def of_brother(name: str, slot: str, value: str, text: str, **more: Any) -> Fact:
    """A fact about the brother of that name; "" is an unnamed one."""
    subject = f"user.brother:{name.lower()}" if name else "user.brother"
    return fact(text, "relationships", slot=slot, value=value, subject=subject, **more)


def words(text: str, asked: str = "", **more: Any) -> Fact:
    """A memory in the user's words, with the question they answer."""
    method = more.pop("extraction_method", "encoder:test")
    return fact(text, said=text, asked=asked, extraction_method=method, **more)


def gone(*ended: StoredFact, text: str = "that", **more: Any) -> Fact:
    """A retraction that ends these memories."""
    ids = tuple(known.id for known in ended)
    return fact(text, op="retract", ends=ids, **more)


def turn(text: str, *, user: str = "ana", session: str = "s1", at: datetime = START) -> Turn:
    """One turn."""
    return Turn(text=text, user_id=user, session_id=session, at=at)


def allowed(
    text: str, *facts: Fact, signals: tuple[Signal, ...] = ("personal_fact",), **more: Any
) -> Decision:
    """The gate allows a turn with these facts."""
    return decided("allow", text, *facts, signals=signals, **more)


def forget(text: str, *facts: Fact) -> Decision:
    """The gate understood a request to forget."""
    return decided("allow", text, *facts, signals=("forget",))


def decided(
    verdict: Verdict,
    text: str,
    *facts: Fact,
    signals: tuple[Signal, ...] = ("other",),
    **more: Any,
) -> Decision:
    """Any decision."""
    return Decision(
        verdict=verdict,
        signals=signals,
        reason="said so",
        confidence=0.9,
        rule_id="rule",
        facts=facts,
        gate_version="rules-test",
        text=text,
        **more,
    )


def say(
    ledger: Ledger, words: str, *facts: object, at: datetime = START, **more: object
) -> Recorded:
    """Records an allowed turn that tells these facts."""
    return ledger.record(turn(words, at=at), allowed(words, *facts, **more))  # type: ignore[arg-type]


def live(ledger: Ledger, user: str = "ana") -> set[str]:
    """The texts of a user's live facts."""
    return {found.text for found in ledger.live_facts(user)}


def why_ended(recorded: Recorded) -> list[tuple[str, str]]:
    """What a turn ended, and why."""
    return [(ended.fact.text, ended.why) for ended in recorded.ended]
