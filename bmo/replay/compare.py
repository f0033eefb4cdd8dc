"""What a replay saw, and where it differs from what the scenario says. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bmo.quotation import exchange
from bmo.replay.scenario import Ends, ExpectedFact, ScenarioSession, ScenarioTurn
from bmo.turn import Decision, Recall, StoredFact


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory a turn asserted.

    Attributes:
        fact: The ledger's row.
        confirmed: True when it was known before and only said again.
    """

    fact: StoredFact
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class EndedMemory:
    """A memory a turn ended.

    Attributes:
        text: Its canonical text.
        why: "superseded", "retracted", ...
        replaced_by: Text of the memory that took its place, or "".
        turn_id: The turn it came from, or None.
    """

    text: str
    why: str
    replaced_by: str = ""
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One turn as it went.

    Attributes:
        scenario: Scenario id.
        session: Number of the visit, from 0.
        turn: Number of the turn in the visit, from 0.
        user: The words.
        decision: The write gate's word, or None when the turn never reached it.
        stored: What it asserted.
        ended: What it ended.
        recall: What was given for it, or None.
        profile: Memories of the profile; only on a visit's first turn.
        hook_ms: Milliseconds LiveKit measured in the hook.
        error: "" or what failed.
        mismatches: Differences from the scenario, a sentence each.
        turn_id: The turn's id in the ledger, or "" when it never reached the gate.
        at: When it was said, in the scenario's time.
        assistant: The assistant's words after it, secrets masked.
        profile_context: The profile as the model got it; only on a visit's first turn.
    """

    scenario: str
    session: int
    turn: int
    user: str
    decision: Decision | None = None
    stored: tuple[Stored, ...] = ()
    ended: tuple[EndedMemory, ...] = ()
    recall: Recall | None = None
    profile: tuple[StoredFact, ...] | None = None
    hook_ms: float = 0.0
    error: str = ""
    mismatches: tuple[str, ...] = ()
    turn_id: str = ""
    at: datetime | None = None
    assistant: str = ""
    profile_context: str | None = None


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """A whole scenario as it went.

    Attributes:
        scenario: Its id.
        turns: Its turns.
        live: The memories that are live at the end.
        mismatches: Differences of the end state.
        elapsed_s: Seconds the replay took.
        about: What the scenario says of itself.
        language: Language of the person.
        mode: Settings it was played with: GATEKEEPER_MODE, or "normal" without gates.
    """

    scenario: str
    turns: tuple[TurnResult, ...]
    live: tuple[StoredFact, ...]
    mismatches: tuple[str, ...]
    elapsed_s: float = 0.0
    about: str = ""
    language: str = ""
    mode: str = ""

    @property
    def all_mismatches(self) -> tuple[str, ...]:
        """Every difference, with where it was."""
        per_turn = (
            f"session {t.session}, turn {t.turn} ({_short(t.user)}): {m}"
            for t in self.turns
            for m in t.mismatches
        )
        return (*per_turn, *(f"at the end: {m}" for m in self.mismatches))

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.all_mismatches


def turn_mismatches(
    expected: ScenarioTurn, session: ScenarioSession, result: TurnResult
) -> tuple[str, ...]:
    """Compares one turn.

    Args:
        expected: The scenario's turn.
        session: Its visit (for the profile).
        result: What happened.
    """
    said = [
        *_verdict(expected, result),
        *_facts(expected.facts, [s.fact for s in result.stored]),
        *_recall(expected, result),
    ]
    if result.profile is not None and session.profile:
        said += [
            f"profile lacks {_all(wanted)}"
            for wanted in session.profile
            if not in_one(wanted, map(exchange, result.profile))
        ]
    return tuple(said)


def end_mismatches(ends: Ends, live: Sequence[StoredFact]) -> tuple[str, ...]:
    """Compares the end state.

    Args:
        ends: What the scenario says.
        live: The live memories.
    """
    told = [exchange(fact) for fact in live]
    lost = [
        f"no live memory has {_all(wanted)}" for wanted in ends.keeps if not in_one(wanted, told)
    ]
    kept = [
        f"live memory {fact.text!r} has {unwanted!r}"
        for unwanted in ends.drops
        for fact in live
        if has(fact.text, unwanted)
    ]
    return (*lost, *kept)


def _verdict(expected: ScenarioTurn, result: TurnResult) -> list[str]:
    if result.decision is None:
        return [result.error or "the turn never reached the gate"]
    got = result.decision
    if got.verdict == expected.verdict:
        return []
    stored = "; ".join(s.fact.text for s in result.stored)
    return [
        f"verdict {got.verdict} ({got.reason}{': ' + stored if stored else ''}), "
        f"expected {expected.verdict}"
    ]


def _facts(expected: Iterable[ExpectedFact], stored: Sequence[StoredFact]) -> list[str]:
    said = []
    for fact in expected:
        fits = [s for s in stored if all(has(exchange(s), part) for part in fact.contains)]
        right = [s for s in fits if s.category == fact.category]
        clean = [s for s in right if not any(has(s.text, part) for part in fact.lacks)]
        if clean:
            continue
        if right:
            said.append(f"stored {right[0].text!r}, which must lack {_all(fact.lacks)}")
        elif fits:
            said.append(f"stored {fits[0].text!r} as {fits[0].category}, expected {fact.category}")
        else:
            texts = ", ".join(repr(s.text) for s in stored) or "nothing"
            said.append(f"stored {texts}, expected {fact.category} with {_all(fact.contains)}")
    return said


def _recall(expected: ScenarioTurn, result: TurnResult) -> list[str]:
    recall = result.recall
    triggered = recall is not None and recall.plan.recall
    why = recall.plan.trigger if recall is not None else "no recall ran"
    given = [m.fact for m in recall.memories] if recall is not None else []
    said = []
    if triggered != expected.recall:
        said.append(
            f"recall {'ran' if triggered else 'did not run'} ({why}), "
            f"expected {'recall' if expected.recall else 'none'}"
        )
    texts = ", ".join(repr(fact.text) for fact in given) or "nothing"
    said += [
        f"given {texts}, expected a memory with {_all(wanted)}"
        for wanted in expected.injects
        if not in_one(wanted, map(exchange, given))
    ]
    said += [
        f"given {fact.text!r}, which has {unwanted!r}"
        for unwanted in expected.omits
        for fact in given
        if has(fact.text, unwanted)
    ]
    return said


def in_one(wanted: Iterable[str], texts: Iterable[str]) -> bool:
    """Whether one of some texts has all the parts."""
    parts = tuple(wanted)
    return any(all(has(text, part) for part in parts) for text in texts)


def has(text: str, part: str) -> bool:
    """Whether a text has a part, whatever the case."""
    return part.casefold() in text.casefold()


def _all(parts: Iterable[str]) -> str:
    return " + ".join(repr(part) for part in parts)


def _short(text: str, limit: int = 48) -> str:
    one_line = " ".join(text.split())
    return repr(one_line if len(one_line) <= limit else one_line[: limit - 1] + "…")
