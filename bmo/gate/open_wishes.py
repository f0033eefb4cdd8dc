"""Standing instructions: "never spoil a film for me", "you can use my first name again"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from bmo.gate.open_fragments import FINITE
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.third_person import (
    Token,
    inner,
    is_base_verb,
    joined,
    phrase_length,
    third_person_lexicon,
)
from bmo.language import past_lemma, third_person
from bmo.language.lexicon import Phrases, match_phrase, phrase_table

_ME = frozenset({"me", "us"})
_SPEAKING = frozenset("i we he she it they you that this".split())


@lru_cache(maxsize=1)
def _wants() -> Phrases:
    """Openings that say what is wanted of the assistant: "i would like you to"."""
    whom = ("you to", "bmo to", "you not to")
    return phrase_table([f"i {verb} {one}" for verb in open_lexicon().wanting for one in whom])


@lru_cache(maxsize=1)
def _orders() -> Phrases:
    """Openings of orders: "please do not ever"."""
    lists = open_lexicon()
    return phrase_table([*lists.forbids, *lists.orders_of_always, *lists.demands])


def _is_emphatic(order: str) -> bool:
    """Whether an opening forbids something, or asks for it every time."""
    lists = open_lexicon()
    return order in lists.forbids or order in lists.orders_of_always


def is_order(norm: Sequence[str]) -> bool:
    """Whether a clause tells the assistant never or always to do something for the user."""
    length = match_phrase(_orders(), list(norm), 0)
    order = " ".join(norm[:length])
    return _is_emphatic(order) and not _ME.isdisjoint(norm[length + 1 :])


def orders(tokens: Sequence[Token]) -> bool:
    """Whether a clause opens as an order ("never ...", "please do not ...")."""
    return phrase_length(_orders(), tokens) > 0


def wish(tokens: Sequence[Token], has_verb: Callable[[Sequence[Token]], bool]) -> str:
    """A standing instruction to the assistant, or "".

    Args:
        tokens: A clause's words.
        has_verb: Whether some words have a verb behind their first.
    """
    length = phrase_length(_wants(), tokens)
    if length:
        negative = tokens[length - 2].norm == "not"
        return f"wants the assistant {'not ' if negative else ''}to {_told(tokens[length:])}"
    may = ("can", "should", "must", "may")
    if tokens[0].norm == "you" and len(tokens) > 2 and tokens[1].norm in may:
        return f"the assistant {tokens[1].norm} {_told(tokens[2:])}"
    length = phrase_length(_orders(), tokens)
    order = " ".join(token.norm for token in tokens[:length])
    rest = tokens[length:]
    told = _manner(tokens)
    if told:
        return told
    if order == "please" and len(rest) > 1 and rest[0].norm == "no":
        return f"wants {_told(rest)}"
    if not rest or not _is_request(order, rest):
        if tokens[0].norm == "no" and len(tokens) > 1 and not has_verb(_main(tokens)):
            return "" if _is_no_wish(tokens) else f"wants {_told(tokens)}"
        return ""
    if order in open_lexicon().forbids:
        return f"wants the assistant never to {_told(rest)}"
    if order in open_lexicon().orders_of_always:
        return f"wants the assistant always to {_told(rest)}"
    if order in ("", "please", "kindly", "only", "just") and len(rest) > 1:
        only = "only " if order == "only" else ""
        return f"wants the assistant {only}to {_told(rest)}"
    return ""


def _is_no_wish(tokens: Sequence[Token]) -> bool:
    """Whether "no ..." says what is not done or had: "(so) no climbing", "no more tablets"."""
    more = (
        tokens[1].norm == "more"
        and len(tokens) > _NO_MORE
        and tokens[2].norm not in open_lexicon().annoying
    )
    return tokens[1].norm.endswith("ing") or more


_NO_MORE = 2


def _main(tokens: Sequence[Token]) -> Sequence[Token]:
    """Words before what "while" or "when" opens."""
    stop = next(
        (i for i, t in enumerate(tokens) if t.norm in open_lexicon().before_you), len(tokens)
    )
    return tokens[:stop]


def _manner(tokens: Sequence[Token]) -> str:
    """How something is to be done, without a verb of its own, or with "always" inside.

    "british spelling when you write for me", "after ten always whisper when you answer".
    """
    norms = [token.norm for token in tokens]
    if "always" in norms[1:]:
        at = norms.index("always", 1)
        front, order = tokens[:at], tokens[at + 1 :]
        lexicon = third_person_lexicon()
        if norms[0] in lexicon.prepositions and order:
            base = order[0].norm.isalpha() and not order[0].norm.endswith(("ing", "ed", "s"))
            if base and ("you" in norms[at:] or order[0].norm in lexicon.requests):
                return f"wants the assistant always to {_told(order)}, {_told(front)}"
    if norms[-1] in ("always", "ever") and not _ME.isdisjoint(norms) and not _tells(norms):
        return f"wants {_told(tokens)}"
    for at in range(1, len(norms) - 2):
        if norms[at] in ("when", "whenever") and norms[at + 1] == "you":
            named = not any(word in _SPEAKING or is_base_verb(word) for word in norms[:at])
            return f"wants {_told(tokens)}" if named and not _has_finite(norms[:at]) else ""
    return ""


def _tells(norms: Sequence[str]) -> bool:
    """Whether a clause has a subject or a verb of its own."""
    return not _SPEAKING.isdisjoint(norms) or any(
        is_base_verb(word) or word in FINITE or past_lemma(word) for word in norms[:-1]
    )


def _has_finite(norms: Sequence[str]) -> bool:
    return any(word in FINITE or past_lemma(word) for word in norms)


def _is_request(order: str, rest: Sequence[Token]) -> bool:
    """Whether the verb is one of requests, or any verb of an order that is about the user."""
    first = rest[0].norm
    if first in third_person_lexicon().requests:
        return True
    if not _is_emphatic(order) and order != "please":
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
        turned[place] = _of_assistant(turned, place)
    return joined(inner(turned))


def _of_assistant(tokens: Sequence[Token], place: int) -> Token:
    """A word; the verb behind "you" in the third person ("when it writes")."""
    token = tokens[place]
    subject = tokens[place - 1]
    opens = place > 1 and tokens[place - 2].norm in open_lexicon().before_you
    if subject.norm != "you" or not (opens or is_base_verb(token.norm)):
        return token
    lexicon = third_person_lexicon()
    if token.norm in lexicon.verbs:
        return replace(token, shown=lexicon.verbs[token.norm])
    if token.norm in lexicon.fixed or token.norm in lexicon.adverbs or not token.norm.isalpha():
        return token
    return replace(token, shown=third_person(token.norm))
