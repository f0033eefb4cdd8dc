"""Reading subjects: ``user``, ``team``, ``user.brother``, ``user.brother:sam``."""

from __future__ import annotations


def name_of(subject: str) -> str:
    """The name in a subject ("sam"), or ""."""
    return subject.rpartition(":")[2] if ":" in subject else ""


def relation_of(subject: str) -> str:
    """The subject without its name ("user.brother")."""
    return subject.rpartition(":")[0] if ":" in subject else subject


def is_person(subject: str) -> bool:
    """Whether it is someone or something beside the user and the team."""
    return "." in subject or ":" in subject
