"""Who does what: memories of what somebody does that somebody else does from now on.

"Paul is doing the cooking now" of who did it, "bram and lotte split up" of whoever said that they
are a couple, "the physio is all finished" of the one in the house who had it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bmo.gate.known_change_data import ChangeRule, KnownChanges
from bmo.gate.known_parts import parts_of
from bmo.turn import Fact

HOUSE = frozenset(
    f"user.{relation}"
    for relation in (
        "child son daughter wife husband partner mother father grandmother grandfather"
    ).split()
)
"""Whose affairs one speaks of without saying whose: "we stopped the tutoring"."""

_WORD = re.compile(r"[^\W_]+")
_OWN = re.compile(r"(?:^| )(?:i|my|me) ")
_FIRST_WORDS = 7
_SELF = frozenset({"i", "we", "me", "us"})


class _House:
    """The subjects of those in the house, with and without a name."""

    def __contains__(self, subject: object) -> bool:
        return isinstance(subject, str) and subject.partition(":")[0] in HOUSE


IN_THE_HOUSE = _House()


def of_the_house(hit: re.Match[str]) -> bool:
    """Whether a change is told of nobody in particular ("the chemo is over")."""
    return _OWN.search(f"{hit[0]} ") is None


def one_of_the_house(meant: Iterable[tuple[Fact, str]]) -> list[tuple[Fact, str]]:
    """What is meant of somebody in the house, if that is clear."""
    found = list(meant)
    return found if len(found) == 1 else []


def done_by_another(
    rule: ChangeRule, meant: Sequence[tuple[Fact, str]], new: str, table: KnownChanges
) -> list[tuple[Fact, str]]:
    """Memories of what is done by somebody else than who does it now.

    Args:
        rule: The construction, whose ``opens`` are what is done.
        meant: Memories that name what is done, each with the part that does.
        new: Who does it from now on.
        table: The language's words.
    """
    now = set(_WORD.findall(new.lower())) - table.articles
    if not now:
        return []
    found = []
    for old, part in meant:
        before = _doer(rule, old, part)
        same = bool(before & now) or (not before and bool(now & _SELF))
        if not same:
            found.append((old, part))
    return found


def _doer(rule: ChangeRule, old: Fact, part: str) -> set[str]:
    """The words for who does what a memory tells; none for the user."""
    words = _WORD.findall(part.lower())[:_FIRST_WORDS]
    line = f" {' '.join(words)} "
    places = [line.find(f" {verb} ") for verb in rule.opens]
    first = min((place for place in places if place >= 0), default=0)
    named = {old.subject.partition(":")[2]} - {""}
    return set(line[:first].split()) | named


def couple(rule: ChangeRule, named: str, known: Sequence[Fact]) -> Iterator[tuple[Fact, str]]:
    """Memories that say of two people that they are a couple.

    Args:
        rule: The construction; its ``says`` are words for couples.
        named: "bram and lotte", "bram has left lotte".
        known: The user's live memories.
    """
    words = _WORD.findall(named.lower())
    pair = {words[0], words[-1]}
    if len(pair) < 2 or pair & _SELF:
        return
    for old in known:
        if old.op == "retract":
            continue
        for part in parts_of(old.text):
            told = set(_WORD.findall(part.lower())) | {old.subject.partition(":")[2]}
            if pair <= told and not rule.says.isdisjoint(told):
                yield old, part
                break
