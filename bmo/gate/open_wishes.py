"""Standing instructions: "never spoil a film for me", "you can use my first name again"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bmo.gate.third_person import (
    Token,
    inner,
    is_base_verb,
    joined,
    phrase_length,
    third_person_lexicon,
)
from bmo.language import past_lemma, third_person
from bmo.language.lexicon import match_phrase, phrase_table

_WANTS = phrase_table(
    [
        f"i {verb} {whom}"
        for verb in ("want", "need", "would like", "would prefer", "prefer", "expect")
        for whom in ("you to", "bmo to", "you not to")
    ]
)
_ORDERS = phrase_table(
    [
        "please do not ever",
        "please do not you dare",
        "please do not",
        "do not you dare",
        "do not you ever",
        "do not ever",
        "please never",
        "please always",
        "never ever",
        "do not",
        "please",
        "always",
        "never",
        "only",
        "just",
    ]
)
_NEGATED = frozenset(
    {
        "please do not ever",
        "please do not you dare",
        "please do not",
        "do not you dare",
        "do not you ever",
        "do not ever",
        "do not",
        "never ever",
        "never",
        "please never",
    }
)
_ALWAYS = frozenset({"always", "please always"})
_ME = frozenset({"me", "us"})


def is_order(norm: Sequence[str]) -> bool:
    """Whether a clause tells the assistant never or always to do something for the user."""
    length = match_phrase(_ORDERS, list(norm), 0)
    order = " ".join(norm[:length])
    return order in _NEGATED | _ALWAYS and not _ME.isdisjoint(norm[length + 1 :])


def orders(tokens: Sequence[Token]) -> bool:
    """Whether a clause opens as an order ("never ...", "please do not ...")."""
    return phrase_length(_ORDERS, tokens) > 0


def wish(tokens: Sequence[Token], has_verb: Callable[[Sequence[Token]], bool]) -> str:
    """A standing instruction to the assistant, or "".

    Args:
        tokens: A clause's words.
        has_verb: Whether some words have a verb behind their first.
    """
    length = phrase_length(_WANTS, tokens)
    if length:
        negative = tokens[length - 2].norm == "not"
        return f"wants the assistant {'not ' if negative else ''}to {_told(tokens[length:])}"
    may = ("can", "should", "must", "may")
    if tokens[0].norm == "you" and len(tokens) > 2 and tokens[1].norm in may:
        return f"the assistant {tokens[1].norm} {_told(tokens[2:])}"
    length = phrase_length(_ORDERS, tokens)
    order = " ".join(token.norm for token in tokens[:length])
    rest = tokens[length:]
    if order == "please" and len(rest) > 1 and rest[0].norm == "no":
        return f"wants {_told(rest)}"
    if not rest or not _is_request(order, rest):
        if tokens[0].norm == "no" and len(tokens) > 1 and not has_verb(tokens):
            return f"wants {joined(inner(tokens))}"
        return ""
    if order in _NEGATED:
        return f"wants the assistant never to {_told(rest)}"
    if order in _ALWAYS:
        return f"wants the assistant always to {_told(rest)}"
    if order in ("", "please", "only", "just") and len(rest) > 1:
        return f"wants the assistant to {_told(rest)}"
    return ""


def _is_request(order: str, rest: Sequence[Token]) -> bool:
    """Whether the verb is one of requests, or any verb of an order that is about the user."""
    first = rest[0].norm
    if first in third_person_lexicon().requests:
        return True
    if order not in _NEGATED | _ALWAYS and order != "please":
        return False
    base = first.isalpha() and not past_lemma(first) and not first.endswith(("ing", "ed"))
    return base and not _ME.isdisjoint(token.norm for token in rest[1:])


def _told(tokens: Sequence[Token]) -> str:
    """Words of a request, "you" being the assistant."""
    turned = [
        replace(t, shown={"you": "it", "your": "its", "yourself": "itself"}.get(t.norm, t.shown))
        for t in tokens
    ]
    for place in range(1, len(turned)):
        verb = turned[place].norm
        asked = verb in third_person_lexicon().requests or is_base_verb(verb)
        if turned[place - 1].norm == "you" and asked:
            turned[place] = replace(turned[place], shown=third_person(verb))
    return joined(inner(turned))
