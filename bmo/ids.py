"""Ids: random ones of turns, facts and visits, and the ids of users, made from any identity.

A user id is what the ledger and Mem0 keep somebody's memory under. An identity is what a room, an
identity provider or an operator calls him, and may be any text.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import uuid
from collections import deque

USER_ID_PATTERN = re.compile(r"[A-Za-z0-9._:@-]{1,128}")
"""What a user id may be: Mem0 reads "*" as every user."""

MADE = "id::"
"""What an id that was made from an identity begins with; no other id does."""

_LONGEST = 128
_ESCAPED = re.compile(r"[^A-Za-z0-9._@-]+")
_CUT = re.compile(r"::[0-9a-f]{32}")
_IDS_AT_ONCE = 64
_ids: deque[str] = deque()


def new_id() -> str:
    """A random 32-character hexadecimal id (a UUID, version 4). Safe from any thread.

    Python gives the interpreter away to ask the system for randomness, and an event loop under load
    waits milliseconds to get it back: it is asked for many ids at once.
    """
    try:
        return _ids.pop()
    except IndexError:
        random = os.urandom(16 * _IDS_AT_ONCE)
        first, *others = (
            uuid.UUID(bytes=random[at : at + 16], version=4).hex for at in range(0, len(random), 16)
        )
        _ids.extend(others)
        return first


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_ids.clear)  # a child would give out the same ids


def user_id_for(identity: str) -> str:
    """The user id of an identity: always the same, and nobody else's.

    What may be a user id stays as it is. Otherwise each run of other characters is written as its
    code points in hexadecimal (``sip_+49151`` becomes ``id::sip_:2b:49151``), so that
    ``identity_of`` can tell the identity again; what is too long then is cut and gets a digest.
    An identity that looks like a made id is made into another one: nobody can take one.
    """
    if USER_ID_PATTERN.fullmatch(identity) and not identity.startswith(MADE):
        return identity
    made = MADE + _ESCAPED.sub(_code_points, identity)
    if len(made) <= _LONGEST:
        return made
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{made[: _LONGEST - len(digest) - 2].rstrip(':')}::{digest}"


def guest_id(user_id: str, session_id: str, label: str) -> str:
    """The user id of who is no user and spoke in a visit: "S2" is someone else in the next."""
    return user_id_for(f"{user_id}:guest:{session_id}:{label}")


def guests_begin(user_id: str, session_id: str | None = None) -> str:
    """How ids of a user's guests begin: all, or those of one visit. One that was cut does not."""
    visit = "" if session_id is None else f"{session_id}:"
    return user_id_for(f"{user_id}:guest:{visit}0").removesuffix("0")


def as_user_id(name: str) -> str:
    """The user id an operator or an application means: an id, made ones too, or an identity.

    Raises:
        ValueError: It is empty, or blank.
    """
    if not name.strip():
        raise ValueError(f"user id {name[:40]!r} is not allowed: name somebody")
    return name if USER_ID_PATTERN.fullmatch(name) else user_id_for(name)


def identity_of(user_id: str) -> str:
    """The identity a user id was made from; of one that was cut what is left, and an ellipsis."""
    if not user_id.startswith(MADE):
        return user_id
    made = user_id.removeprefix(MADE)
    cut = _CUT.search(made)
    parts = (made[: cut.start()] if cut else made).split(":")
    if cut and len(parts) % 2 == 0:
        parts.pop()  # the digest may stand in the middle of a run
    try:
        parts[1::2] = ["".join(chr(int(c, 16)) for c in run.split(".")) for run in parts[1::2]]
    except (ValueError, OverflowError):
        return user_id  # nothing here made it
    return "".join(parts) + ("…" if cut else "")


def _code_points(run: re.Match[str]) -> str:
    return f":{'.'.join(f'{ord(one):x}' for one in run.group())}:"
