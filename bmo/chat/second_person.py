"""A canonical memory as a sentence for the person it is about. Pure."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

UNTIL = re.compile(r"^(?P<text>.+?) \(until (?P<day>[\d-]+), no longer true\)$")
"""A memory that has ended, as it stands in a block."""
NAMED = re.compile(r"^Has an? (?P<who>[\w' -]+?) (?:named|called) (?P<name>[^,;]{1,40})$")
"""Somebody's name."""
OWN_NAME = re.compile(r"^(?:Is (?:named|called)|Name is|Goes by)\s+(?P<name>\w[\w' -]{0,30})$")
"""The person's own name."""
_CALLED = re.compile(r"^[A-Z][a-z]+ is (?:called|named) [A-Z]")
_ASSISTANT = re.compile(r"\bthe assistant(?=\b(?!'s))")
_THEM = re.compile(r"\bthem\b")
_OWN = (
    (re.compile(r"\btheirs\b"), "yours"),
    (re.compile(r"\btheir\b"), "your"),
    (re.compile(r"\bthemselves\b"), "yourself"),
)


@cache
def phrases() -> dict[str, Any]:
    """The words of ``phrases.toml``."""
    text = (files("bmo.chat") / "phrases.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def phrase_set(name: str) -> frozenset[str]:
    """One list of ``phrases.toml``."""
    return frozenset(phrases()[name])


def second_person(memory: str) -> str:
    """A canonical memory as a sentence for the person it is about.

    Args:
        memory: Third person without a subject word for the user ("Is allergic to nuts").

    Returns:
        A sentence ("You are allergic to nuts.").
    """
    ended = UNTIL.match(memory.strip())
    if ended:
        return f"Until {ended['day']}: {second_person(ended['text'])}"
    if memory[:1].islower():
        # No canonical memory but the person's own words, as MEM0_SETTING=NORMAL keeps them.
        return f"You said: {memory.strip()!r}."
    text = memory.strip().rstrip(".")
    if _ASSISTANT.search(text):
        text = _THEM.sub("you", _ASSISTANT.sub("me", text).replace("the assistant's", "my"))
    for pattern, own in _OWN:
        text = pattern.sub(own, text)
    own_name = OWN_NAME.match(text)
    if own_name:
        return f"Your name is {own_name['name'].strip()}."
    named = NAMED.match(text)
    if named and " " not in named["name"].strip():
        return f"Your {named['who']} is named {named['name'].strip()}."
    first, _, rest = text.partition(" ")
    second = rest.partition(" ")[0].casefold()
    lowered = first.casefold().removesuffix("'s").removesuffix("’s")
    if lowered in phrase_set("relations"):
        rest = _THEM.sub("you", rest)
        return f"Your {first[0].lower()}{first[1:]} {rest}".rstrip() + "."
    if _CALLED.match(text):
        return f"Your {first[0].lower()}{first[1:]} {rest}."
    if first.lower().endswith(("'s", "’s")) and first.casefold() not in phrases()["verbs"]:
        return f"{text}."
    if not rest or second in phrase_set("finite_verbs") or lowered in ("the", "never", "always"):
        return f"{text}."
    adverbs, verb = "", first.casefold()
    while verb in phrase_set("adverbs") and rest:
        adverbs += f"{verb} "
        first, _, rest = rest.partition(" ")
        verb = first.casefold()
    return f"You {adverbs}{_second_person_verb(verb)} {rest}".rstrip() + "."


def _second_person_verb(verb: str) -> str:
    irregular: dict[str, str] = phrases()["verbs"]
    if verb in irregular:
        return irregular[verb]
    if not verb.endswith("s") or verb.endswith("ss"):
        return verb
    if verb.endswith("ies"):
        return verb[:-1] if len(verb) <= 4 else f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]
