"""Who does what: memories of what somebody does that somebody else does from now on.

"Paul is doing the cooking now" of who did it, "bram and lotte split up" of whoever said that they
are a couple, "the physio is all finished" of the one in the house who had it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

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
_PARTNERS = frozenset("wife husband girlfriend boyfriend partner fiancé fiancée".split())
_SELF = frozenset({"i", "we", "me", "us"})


class _House:
    """The subjects of those in the house, with and without a name."""

    def __contains__(self, subject: object) -> bool:
        return isinstance(subject, str) and subject.partition(":")[0] in HOUSE


class _Anyone:
    """Every subject."""

    def __contains__(self, subject: object) -> bool:
        return isinstance(subject, str)


IN_THE_HOUSE = _House()
ANYONE = _Anyone()
_CALLED = 2
"""Words up to which a name goes."""


def told_of(who: str, known: Sequence[Fact], table: KnownChanges) -> list[Fact]:
    """Memories that begin with the name of somebody whose relation nobody has told."""
    name = [word for word in who.lower().split() if word not in table.articles and word != "'s"]
    if not 0 < len(name) <= _CALLED or not table.is_content(name[0]):
        return []
    return [old for old in known if _WORD.findall(old.text.lower())[: len(name)] == name]


_NEXT = re.compile(
    r"^(?:it is |now it is )?(?P<new>[^\W\d_]+(?: [^\W\d_]+)?)"
    r" (?:is|does|has|will|now|instead|does it|is doing it|from now on)(?: now)?$"
)
_NO_NAME = frozenset("it that this he she they we i nobody there what who which the a not".split())


def taken_up(fact: Fact, who: str, norm: Sequence[str]) -> Fact:
    """The end of what somebody did, or who does it now ("sam is not, karin is").

    Args:
        fact: An end; its memory begins with the name of who did it.
        who: That name, as the change told it.
        norm: The words behind those that end it.
    """
    name = " ".join(word for word in who.lower().split() if word != "'s")
    if not name or not fact.text.lower().startswith(f"{name} "):
        return fact
    found = _NEXT.match(" ".join(norm))
    if found is None or fact.op != "retract" or fact.slot is not None:
        return fact
    if not _NO_NAME.isdisjoint(found["new"].split()):
        return fact
    text = f"{found['new'].title()}{fact.text[len(name) :]}"
    return replace(
        fact, op="assert", scope=None, text=text, replaces=fact.text, value="", subject="user"
    )


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


def parted(rows: Sequence[Fact]) -> list[Fact]:
    """What else ends with whom one was together with: the wedding, the home that was shared."""
    for old in rows:
        relation, _, name = old.subject.partition(":")
        if relation.rpartition(".")[2] in _PARTNERS and name:
            return [
                Fact(
                    text=f"Broke up with {name.title()}",
                    category="relationships",
                    slot="partner",
                    value=name.title(),
                    op="retract",
                    scope="subject",
                    rule_id="broke_up",
                    extraction_method="pattern:broke_up",
                )
            ]
    return []


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
