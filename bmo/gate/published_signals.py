"""The published gatekeeper's keep signals, by their published names and in its order.

Correction, preference, policy, decision, technology, temporal; the short exchange is a threshold of
the gate. No signal stores anything alone: in the default mode the encoder may lower a turn that has
one to ``hold``, never to ``discard``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from bmo.gate.tables import read_table
from bmo.turn import Signal


@dataclass(frozen=True, slots=True)
class PublishedSignals:
    """What the published patterns see in an exchange.

    Attributes:
        keep: Keep signals in published order.
        reason: The first one's reason, "" without one.
        sarcastic: Praise that is put on ("yeah, sure, I *totally* love ...").
        advice: An imperative of work ("use Expo for mobile apps"): no tool request.
    """

    keep: tuple[Signal, ...] = ()
    reason: str = ""
    sarcastic: bool = False
    advice: bool = False


def published_signals(text: str, assistant_after: str = "") -> PublishedSignals:
    """Reads an exchange as the published gatekeeper does.

    Args:
        text: The user's words.
        assistant_after: The assistant's reply: policies and decisions count there too.
    """
    rules = _rules()
    fired = {rules.owners[index] for index in rules.patterns.Match(_plain(text)) or ()}
    if assistant_after:
        reply = {rules.owners[i] for i in rules.patterns.Match(_plain(assistant_after)) or ()}
        fired |= reply & rules.of_both
    keep = tuple(signal for signal in rules.order if signal in fired)
    reason = rules.reasons[keep[0]] if keep else ""
    return PublishedSignals(keep, reason, "sarcasm" in fired, "advice" in fired)


def only_corrects(clause: str) -> bool:
    """Whether a clause says that something was wrong, and nothing beside ("no that's wrong")."""
    return _rules().bare_correction.fullmatch(_plain(clause)) is not None


@dataclass(frozen=True, slots=True)
class _Rules:
    order: tuple[Signal, ...]
    reasons: dict[Signal, str]
    of_both: frozenset[str]
    patterns: Any
    bare_correction: Any
    owners: tuple[str, ...]


@cache
def _rules() -> _Rules:
    table = read_table("published_signals.toml")
    items = table["signal"]
    owned = [(pattern, item["signal"]) for item in items for pattern in item["patterns"]]
    owned += [(p, kind) for kind in ("sarcasm", "advice") for p in table[kind]["patterns"]]
    options = re2.Options()
    options.log_errors = False
    patterns = re2.Set.SearchSet(options)
    for pattern, owner in owned:
        spaced = _spaced(pattern)
        start = "^" if owner == "advice" or spaced.startswith("^") else "(?:^|[^a-z0-9'])"
        patterns.Add(rf"{start}(?:{spaced.removeprefix('^')})(?:[^a-z0-9]|$)")
    patterns.Compile()
    corrections = "|".join(_spaced(p) for p, owner in owned if owner == "correction")
    return _Rules(
        order=tuple(item["signal"] for item in items),
        reasons={item["signal"]: item["reason"] for item in items},
        of_both=frozenset(item["signal"] for item in items if item["of"] == "both"),
        patterns=patterns,
        bare_correction=re2.compile(corrections, options),
        owners=tuple(owner for _, owner in owned),
    )


def _spaced(pattern: str) -> str:
    """A pattern of the table, in which a blank stands for any blanks."""
    return pattern.replace(" ?", r"\s*").replace(" ", r"\s+")


def _plain(text: str) -> bytes:
    return text.lower().replace("’", "'").encode("utf-8", "replace")
