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
from textwrap import indent
from typing import Any, get_args

import yaml

from bmo.gate import mask
from bmo.ledger import Ledger, LoggedTurn, TurnOutcome
from bmo.replay.scenario import Scenario
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
    head = {
        "id": name,
        "about": f"exported from {len(sessions)} logged sessions",
        "style": "text" if any(_WRITTEN.search(turn.text) for turn in worded) else "asr",
        "language": _language(worded),
        "user": "exported",
    }
    text = "# Says what happened. Change what should have happened, then: bmo replay THIS_FILE\n"
    text += f"{_yaml(head)}sessions:\n"
    for at, session_turns in zip(_starts(sessions), sessions, strict=True):
        text += f"  - at: {at.isoformat()}\n    turns:\n"
        for turn in session_turns:
            why = masking(" ".join(f"{turn.rule_id} {turn.reason}".split()))
            text += f"      # {why} ({turn.decision_confidence:.2f})\n"
            text += indent(_yaml([_turn(turn, outcomes[turn.id], told, masking)]), " " * 6)
    keeps = _marks_of((fact for fact in told.values() if fact.valid_until is None), masking)
    if keeps:
        text += _yaml({"ends": {"keeps": keeps}})
    return ExportedTurns(text, len(worded), len(chosen) - len(worded), masking.count)


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
) -> dict[str, Any]:
    """What was said and what became of it; fields that say nothing are left out."""
    facts = outcome.told if turn.verdict == "allow" else ()
    # What older sessions told is not in this file: a replay could not find it.
    given = [fact for fact in outcome.given if fact.id in told and outcome.recalled]
    said = {
        "user": masking(turn.text),
        "assistant": masking(turn.assistant_after) or None,
        "verdict": turn.verdict,
        "facts": [
            {"category": fact.category, "contains": marks}
            for fact in facts
            if (marks := _marks(fact, masking))
        ]
        or None,
        "recall": outcome.recalled,
        "injects": _marks_of(given, masking) or None,
    }
    return {name: value for name, value in said.items() if value is not None}


def _marks_of(facts: Iterable[StoredFact], masking: _Masking) -> list[list[str]]:
    """What each memory is known by, the same marks once."""
    found = (tuple(_marks(fact, masking)) for fact in facts)
    return [list(marks) for marks in dict.fromkeys(found) if marks]


def _marks(fact: StoredFact, masking: _Masking) -> list[str]:
    """What a memory is known by: whose it is and its value, or its whole text.

    Nothing for a memory that holds what is masked: a replay of masked words can't store it.
    """
    text, marks = fact.text, [fact.value]
    name = fact.subject.partition(":")[2]
    if not fact.value or fact.value.casefold() not in text.casefold():
        marks = [text]
    elif name and name.casefold() in text.casefold() and name != fact.value.casefold():
        marks = [name, fact.value]
    return marks if all(masking.leaves(mark) for mark in marks) else []


def _yaml(data: object) -> str:
    """A part of the file: what was said on one line each."""
    dumped: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10**9)
    return dumped
