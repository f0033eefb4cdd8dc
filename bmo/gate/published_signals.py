"""The published gatekeeper's signals, by their published names, thresholds and order.

What a memory gatekeeper for coding assistants published: greeting, bare confirmation, correction,
preference, policy and decision, the short exchange, and the default. The words are our own and
wider (team preferences, imperative policies, "actually i meant"), all signals are listed and not
only the first, and no signal alone stores anything: facts come from the slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from bmo.gate.pack_tables import read_table
from bmo.gate.pattern_needs import NeededWords, pattern_needs
from bmo.gate.skip_rules import match_skip
from bmo.turn import Signal

_SKIP_REASONS: dict[Signal, str] = {"greeting": "greeting"}
"""Reasons of the skip rules; all that is no greeting counts as a bare confirmation."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The published limits, in characters.

    Attributes:
        greeting: GATEKEEPER_GREETING_LENGTH_LIMIT.
        short_user: GATEKEEPER_SHORT_USER_THRESHOLD.
        short_assistant: GATEKEEPER_SHORT_ASSISTANT_THRESHOLD.
    """

    greeting: int = 50
    short_user: int = 20
    short_assistant: int = 100


@dataclass(frozen=True, slots=True)
class PublishedSignals:
    """What the published rules see in an exchange.

    Attributes:
        keep: True (a keep signal), False (a skip rule), or None: only the fail policy decides.
        signals: All signals, in published order; ("other",) when there is none.
        reason: Why, for people.
        short_exchange: User and assistant both said little and no signal was seen.
    """

    keep: bool | None
    signals: tuple[Signal, ...]
    reason: str
    short_exchange: bool = False


def find_published_signals(
    text: str, assistant: str = "", thresholds: Thresholds | None = None
) -> PublishedSignals:
    """Reads an exchange as the published gatekeeper does.

    Args:
        text: The user's words.
        assistant: The assistant's reply to them, "" when there is none yet.
        thresholds: Limits; default the published ones.
    """
    limits = thresholds or Thresholds()
    trimmed = text.strip()
    skipped = match_skip(trimmed, "en", greeting_limit=limits.greeting)
    if skipped is not None:
        reason = _SKIP_REASONS.get(skipped.signal, "bare confirmation")
        return PublishedSignals(False, (skipped.signal,), reason)
    signals = keep_signals(trimmed, assistant)
    if signals:
        return PublishedSignals(True, signals, _load().reasons[signals[0]])
    if len(trimmed) < limits.short_user and len(assistant.strip()) < limits.short_assistant:
        reason = "short exchange with no meaningful signal"
        return PublishedSignals(False, ("other",), reason, short_exchange=True)
    return PublishedSignals(None, ("other",), "default")


def keep_signals(text: str, assistant: str = "") -> tuple[Signal, ...]:
    """The keep signals alone (correction, preference, policy, decision), in published order.

    Args:
        text: The user's words.
        assistant: The assistant's words: policies and decisions count there too.
    """
    return signals_and_sarcasm(text, assistant)[0]


def signals_and_sarcasm(text: str, assistant: str = "") -> tuple[tuple[Signal, ...], bool]:
    """The keep signals, and whether praise is put on ("yeah, sure, I *totally* love ...").

    Args:
        text: The user's words.
        assistant: The assistant's words: policies and decisions count there too.
    """
    rules = _load()
    seen = rules.quick.Match(_plain(text))
    if seen is None and not assistant:
        return (), False
    fired = {rules.owners[index] for index in seen or ()}
    sarcastic = None in fired
    if assistant:
        reply = {rules.owners[index] for index in rules.quick.Match(_plain(assistant)) or ()}
        fired |= reply & rules.of_both
    return tuple(signal for signal in rules.order if signal in fired), sarcastic


def _plain(text: str) -> bytes:
    if text.isascii():
        return text.lower().encode()
    return text.lower().replace("’", "'").encode("utf-8", "replace")


def may_signal(piece: str) -> bool:
    """Whether a text may hold a signal because of this piece of it."""
    needed = _load().needed
    return not (piece.isascii() and needed.certain and needed.plain.hold_all((piece,)))


def is_work_advice(text: str) -> bool:
    """Whether an imperative advises on work ("use Expo for apps") rather than asks a tool."""
    rules = _load()
    first = text.partition(" ")[0].strip(".,:;!*\"'-").lower()
    return first in rules.advising and rules.advice.search(_plain(text)) is not None


def is_sarcastic(text: str) -> bool:
    """Whether praise is put on ("yeah, sure, I *totally* love ...")."""
    return signals_and_sarcasm(text)[1]


@dataclass(frozen=True, slots=True)
class _SignalRules:
    """The pack: signals in order, and one RE2 set over all their patterns.

    Sarcasm is in the set too; its owner is None. ``needed`` tells of each word of a text whether
    one of the patterns may match because of it.
    """

    order: tuple[Signal, ...]
    reasons: dict[Signal, str]
    of_both: frozenset[Signal]
    quick: Any
    owners: tuple[Signal | None, ...]
    needed: NeededWords
    advice: Any
    advising: frozenset[str]


def load_pack() -> dict[str, Any]:
    """``packs/en/published.toml`` as it stands, with its examples."""
    return read_table("en", "published.toml")


@cache
def _load() -> _SignalRules:
    options = re2.Options()
    options.log_errors = False
    quick = re2.Set.SearchSet(options)
    pack = load_pack()
    items = pack["signal"]
    owned = [(pattern, item["signal"]) for item in items for pattern in item["patterns"]]
    owned += [(pattern, None) for pattern in pack["sarcasm"]["patterns"]]
    for pattern, _ in owned:
        quick.Add(_whole_words(pattern))
    quick.Compile()
    needs = [pattern_needs(p, left=True, right=True, dialect=False) for p, _ in owned]
    return _SignalRules(
        order=tuple(item["signal"] for item in items),
        reasons={item["signal"]: item["reason"] for item in items},
        of_both=frozenset(item["signal"] for item in items if item["of"] == "both"),
        quick=quick,
        owners=tuple(owner for _, owner in owned),
        needed=NeededWords(needs),
        advice=re2.compile("^" + _any_of(pack["advice"]["patterns"]), options),
        advising=frozenset(pack["advice"]["verbs"]),
    )


def _whole_words(pattern: str) -> str:
    spaced = pattern.replace(" ?", r"\s*").replace(" ", r"\s+")
    return rf"(?:^|[^a-z0-9'])(?:{spaced})(?:[^a-z0-9]|$)"


def _any_of(patterns: list[str]) -> str:
    return _whole_words("|".join(f"(?:{pattern})" for pattern in patterns))
