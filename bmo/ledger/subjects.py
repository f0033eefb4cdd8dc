"""Reading subjects: ``user``, ``team``, ``user.brother``, ``user.brother:sam``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bmo.ledger.values import value_key
from bmo.turn import Fact


def name_of(subject: str) -> str:
    """The name in a subject ("sam"), or ""."""
    return subject.rpartition(":")[2] if ":" in subject else ""


def relation_of(subject: str) -> str:
    """The subject without its name ("user.brother")."""
    return subject.rpartition(":")[0] if ":" in subject else subject


def is_person(subject: str) -> bool:
    """Whether it is someone or something beside the user and the team."""
    return "." in subject or ":" in subject


def last_relation(subject: str) -> str:
    """The innermost relation ("sister" of ``user.wife.sister:ana``)."""
    return relation_of(subject).rpartition(".")[2]


def speaks_of_several(text: str, subject: str) -> bool:
    """Whether a canonical text tells of all of a relation ("Brothers live in Bonn").

    Args:
        text: Canonical text.
        subject: Its subject ("user.brother").
    """
    if not is_person(subject) or name_of(subject):
        return False
    word = last_relation(subject).replace("_", " ")
    plural = [f"{word}s", f"{word}ren", f"{word[:-1]}ies" if word.endswith("y") else f"{word}es"]
    return re.match(rf"(?:{'|'.join(map(re.escape, plural))})\b(?!')", text, re.I) is not None


def within(subject: str, relations: Iterable[str]) -> bool:
    """Whether a subject is somebody of these relations, or somebody of theirs."""
    return any(subject == one or subject.startswith((f"{one}:", f"{one}.")) for one in relations)


def named(relation: str, name: str) -> str:
    """Puts a name to a relation."""
    return f"{relation}:{name.casefold()}"


def states_name(fact: Fact) -> bool:
    """Whether a fact tells the name of its subject ("Has a brother named Sam")."""
    name = name_of(fact.subject)
    if not name:
        return False
    return value_key(fact.value) == value_key(name) or (
        fact.slot is None and f"named {name}" in fact.text.casefold()
    )


def with_other_name(text: str, old: str, new: str) -> str:
    """``text`` with a name replaced wherever it stands as a word of its own.

    Args:
        text: Canonical text ("Brother Tim lives in Leeds").
        old: Lower-case name ("tim").
        new: Lower-case name; it is capitalised as the old one was.
    """
    return re.sub(
        rf"(?<!\w){re.escape(old)}(?!\w)",
        lambda hit: new.title() if hit[0][:1].isupper() else new,
        text,
        flags=re.IGNORECASE,
    )


def with_name(text: str, relation: str, name: str) -> str:
    """``text`` of an unnamed person with the name put in ("Brother Sam lives in Leeds").

    Args:
        text: Canonical text ("Brother lives in Leeds", "Has a brother").
        relation: The innermost relation ("brother").
        name: Lower-case name.
    """
    shown = name.title()
    word = re.escape(relation.replace("_", " "))
    led = re.sub(rf"^({word})\b", rf"\1 {shown}", text, count=1, flags=re.IGNORECASE)
    if led != text:
        return led
    return re.sub(rf"^(Has an? {word})\b", rf"\1 named {shown}", text, count=1, flags=re.IGNORECASE)
