"""A logged conversation becomes a scenario file: what happened, for a person to correct.

The file says what the gates did. Whoever annotates it changes what should have happened, and
``bmo replay`` then shows the difference: a bug report that can be played again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

import yaml

from bmo.gate import mask
from bmo.ledger import Ledger, LoggedTurn, TurnOutcome
from bmo.replay.scenario import (
    Ends,
    ExpectedFact,
    Scenario,
    ScenarioSession,
    ScenarioTurn,
)
from bmo.turn import StoredFact

PRIVATE = "[private]"
"""What stands in the place of the value of a memory that is marked sensitive."""

_WRITTEN = re.compile(r"[A-Z.?!]")
"""What a bare recogniser does not print."""

_LANGUAGES: tuple[str, ...] = get_args(Scenario.model_fields["language"].annotation)


class NothingToExport(ValueError):
    """There is no turn with words to export; the message says why."""


@dataclass(frozen=True, slots=True)
class ExportedTurns:
    """A scenario made of logged turns.

    Attributes:
        text: The scenario file, with the gate's reasons as comments.
        turns: Turns in it.
        left_out: Turns without words (erased, expired, or never written down).
        masked: Places where something sensitive was masked.
    """

    text: str
    turns: int
    left_out: int
    masked: int


@dataclass(slots=True)
class _Masking:
    """Masks identifiers, and the values of sensitive memories unless they are to be kept."""

    values: tuple[str, ...]
    count: int = 0

    def __call__(self, text: str) -> str:
        masked, found = mask(text)
        self.count += found
        for value in self.values:
            pattern = rf"(?<!\w){re.escape(value)}(?!\w)"
            masked, found = re.subn(pattern, PRIVATE, masked, flags=re.IGNORECASE)
            self.count += found
        return masked

    def leaves(self, text: str) -> bool:
        """Whether there is nothing to mask in a text; counts nothing."""
        return _Masking(self.values)(text) == text


def export_turns(
    ledger: Ledger,
    user_id: str,
    *,
    name: str,
    session: str | None = None,
    last: int | None = 1,
    keep_sensitive: bool = False,
) -> ExportedTurns:
    """Makes a scenario of a user's logged turns.

    Args:
        ledger: Where they are.
        user_id: Whose; the file itself carries no user id.
        name: The scenario's id: the file's name before ``.turns.yaml``.
        session: Only this session, by its id or the beginning of it.
        last: Only so many newest sessions; None for all. Without effect with ``session``.
        keep_sensitive: Leaves the values of memories marked sensitive (health) in the words.
            Secrets and identifiers are masked whatever is asked for.

    Raises:
        NothingToExport: No such session, or no turn with words.
    """
    chosen = _chosen(ledger.turns(user_id), user_id, session, last)
    worded = [turn for turn in chosen if turn.text and not turn.redacted]
    if not worded:
        raise NothingToExport(f"none of the {len(chosen)} turns of {user_id!r} has words left")
    outcomes = ledger.outcomes(user_id, [turn.id for turn in worded])
    told = {fact.id: fact for outcome in outcomes.values() for fact in outcome.told}
    private = () if keep_sensitive else _private(told.values())
    masking = _Masking(private)
    sessions = _by_session(worded)
    scenario = Scenario.model_validate(
        {
            "id": name,
            "about": f"exported from {len(sessions)} logged sessions",
            "style": "text" if any(_WRITTEN.search(turn.text) for turn in worded) else "asr",
            "language": _language(worded),
            "user": "exported",
            "sessions": [
                ScenarioSession(
                    at=at,
                    turns=tuple(_turn(turn, outcomes[turn.id], told, masking) for turn in group),
                )
                for at, group in zip(_starts(sessions), sessions, strict=True)
            ],
            "ends": _ends(told.values(), masking),
        }
    )
    return ExportedTurns(
        text=_as_yaml(scenario, sessions, masking),
        turns=len(worded),
        left_out=len(chosen) - len(worded),
        masked=masking.count,
    )


def _chosen(
    turns: Sequence[LoggedTurn], user_id: str, session: str | None, last: int | None
) -> list[LoggedTurn]:
    if not turns:
        raise NothingToExport(f"nothing was ever said by {user_id!r}; check --user")
    known = list(dict.fromkeys(turn.session_id for turn in reversed(turns)))
    if session is None:
        wanted = set(known if last is None else known[:last])
    else:
        wanted = {one for one in known if one == session} or {
            one for one in known if session and one.startswith(session)
        }
        if len(wanted) != 1:
            newest = ", ".join(one[:12] for one in known[:5])
            raise NothingToExport(
                f"{len(wanted) or 'no'} sessions of {user_id!r} have an id that starts with "
                f"{session[:40]!r}; the newest are {newest}"
            )
    return [turn for turn in turns if turn.session_id in wanted]


def _private(facts: Iterable[StoredFact]) -> tuple[str, ...]:
    """Values of sensitive facts, longest first so that a part never hides the whole."""
    values = {fact.value.strip() for fact in facts if fact.sensitive and fact.value.strip()}
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def _by_session(turns: Sequence[LoggedTurn]) -> list[list[LoggedTurn]]:
    grouped: dict[str, list[LoggedTurn]] = {}
    for turn in turns:
        grouped.setdefault(turn.session_id, []).append(turn)
    return sorted(grouped.values(), key=lambda group: group[0].at)


def _language(turns: Sequence[LoggedTurn]) -> str:
    spoken = Counter((turn.language or "en")[:2] for turn in turns)
    most = spoken.most_common(1)[0][0]
    return most if most in _LANGUAGES else "en"


def _starts(sessions: Sequence[Sequence[LoggedTurn]]) -> list[datetime]:
    """When each session began; the format wants an order, so no two begin at one moment."""
    starts: list[datetime] = []
    for group in sessions:
        at = group[0].at
        starts.append(max(at, starts[-1] + timedelta(seconds=1)) if starts else at)
    return starts


def _turn(
    turn: LoggedTurn, outcome: TurnOutcome, told: Mapping[str, StoredFact], masking: _Masking
) -> ScenarioTurn:
    facts = outcome.told if turn.verdict == "allow" else ()
    # What older sessions told is not in this file: a replay could not find it.
    given = [fact for fact in outcome.given if fact.id in told]
    return ScenarioTurn(
        user=masking(turn.text),
        assistant=masking(turn.assistant_after),
        verdict=turn.verdict,
        facts=tuple(
            ExpectedFact(category=fact.category, contains=marks)
            for fact in facts
            if (marks := _marks(fact, masking))
        ),
        recall=outcome.recalled,
        injects=_unlike(given, masking) if outcome.recalled else (),
    )


def _ends(facts: Iterable[StoredFact], masking: _Masking) -> Ends:
    live = [fact for fact in facts if fact.valid_until is None]
    return Ends(keeps=_unlike(live, masking))


def _unlike(facts: Iterable[StoredFact], masking: _Masking) -> tuple[tuple[str, ...], ...]:
    """What each memory is known by, the same marks once."""
    return tuple(dict.fromkeys(marks for fact in facts if (marks := _marks(fact, masking))))


def _marks(fact: StoredFact, masking: _Masking) -> tuple[str, ...]:
    """What a memory is known by: whose it is and its value, or its whole text.

    Nothing for a memory that holds what is masked: a replay of masked words can't store it.
    """
    marks = _unmasked_marks(fact)
    return marks if all(masking.leaves(mark) for mark in marks) else ()


def _unmasked_marks(fact: StoredFact) -> tuple[str, ...]:
    text = fact.text
    if not fact.value or fact.value.casefold() not in text.casefold():
        return (text,)
    name = fact.subject.partition(":")[2]
    named = name and name.casefold() in text.casefold() and name != fact.value.casefold()
    return (name, fact.value) if named else (fact.value,)


def _as_yaml(
    scenario: Scenario, sessions: Sequence[Sequence[LoggedTurn]], masking: _Masking
) -> str:
    """The file in the order people read it; why each verdict was given is a comment."""
    lines = [
        "# Says what happened. Change what should have happened, then: bmo replay THIS_FILE",
        f"id: {scenario.id}",
        f"about: {_scalar(scenario.about)}",
        f"style: {scenario.style}",
        f"language: {scenario.language}",
        f"user: {scenario.user}",
        "sessions:",
    ]
    for session, logged in zip(scenario.sessions, sessions, strict=True):
        lines += [f"  - at: {session.at.isoformat()}", "    turns:"]
        for turn, source in zip(session.turns, logged, strict=True):
            why = masking(" ".join(f"{source.rule_id} {source.reason}".split()))
            lines.append(f"      # {why} ({source.decision_confidence:.2f})")
            lines += _turn_lines(turn)
    if scenario.ends.keeps:
        lines += ["ends:", "  keeps:"]
        lines += [f"    - {_list(marks)}" for marks in scenario.ends.keeps]
    return "\n".join(lines) + "\n"


def _turn_lines(turn: ScenarioTurn) -> list[str]:
    lines = [f"      - user: {_scalar(turn.user)}"]
    if turn.assistant:
        lines.append(f"        assistant: {_scalar(turn.assistant)}")
    lines.append(f"        verdict: {turn.verdict}")
    if turn.facts:
        lines.append("        facts:")
        for fact in turn.facts:
            lines += [
                f"          - category: {fact.category}",
                f"            contains: {_list(fact.contains)}",
            ]
    lines.append(f"        recall: {str(turn.recall).lower()}")
    if turn.injects:
        lines.append("        injects:")
        lines += [f"          - {_list(marks)}" for marks in turn.injects]
    return lines


def _list(items: Sequence[str]) -> str:
    return "[" + ", ".join(_scalar(item) for item in items) + "]"


def _scalar(text: str) -> str:
    """A string as one double-quoted YAML scalar on one line."""
    dumped = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=10**9)
    return dumped.strip()
