"""Clauses about the user among others: "me and our kid go up to the lakes", "there's six of us".

A canonical text has no subject word for the user, and "them" of "us" could be anybody: the clause
is written with the user as its subject.
"""

from __future__ import annotations

from collections.abc import Sequence

from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.third_person import (
    Token,
    inner,
    is_base_verb,
    joined,
    predicate,
    third_person_lexicon,
)
from bmo.language import past_lemma
from bmo.language.verb_forms import PAST, VERB_LISTS

_NUMBERS = frozenset("two three four five six seven eight nine ten eleven twelve".split())
_BEFORE_US = frozenset("there is are it we just only the".split())
_FRONT = 5
"""Words in which the number stands ("it is just the two of us")."""
_WITH_WORDS = 5
"""Most words of the others ("me and my best mate from school")."""
_LONGEST = 12
"""Words behind the verb past which "with ..." would stand too far from it."""
_OFTEN = frozenset("never always usually often rarely sometimes hardly".split())
_DETERMINERS = frozenset("my our the a her his".split())
_RECIPROCAL = frozenset(
    "each another both together neither who which and but because so or".split()
)
"""Words that need both subjects, or open another clause."""
_FIRST_TIME = frozenset({"first", "second", "third"})
_BEFORE_TIME = frozenset("it its this that is".split())
_COPULAS = frozenset("is was are were".split())
_ARE = frozenset({"are", "were"})
_IN_PLACE = frozenset("in at on with".split())


def together(tokens: Sequence[Token]) -> str:
    """Text of a clause about the user among others, or "".

    Args:
        tokens: A clause's words.
    """
    norms = [token.norm for token in tokens]
    if norms[:2] == ["we", "are"]:
        return _so_many(tokens, norms)
    return _one_of_us(tokens, norms) or _me_and(tokens, norms) or _first_time(tokens, norms)


def _so_many(tokens: Sequence[Token], norms: list[str]) -> str:
    """From "we are five people on the platform team" to "the platform team has five people"."""
    at = 3 if norms[2:3] == ["only"] else 2
    number, behind = norms[at : at + 1], norms[at + 1 : at + 3]
    if len(behind) < 2 or not (number[0] in _NUMBERS or number[0].isdigit()):
        return ""
    if (
        behind[1] not in _IN_PLACE
        or behind[0] in open_lexicon().counted_units
        or not behind[0].endswith(_PLURALS)
    ):
        return ""
    counted = joined(inner(tokens[at : at + 2]))
    place = list(tokens[at + 3 :])
    if norms[-1] == "team" and place and place[0].norm in ("the", "our", "my"):
        return f"the {joined(inner(place[1:]))} has {counted}"
    return f"is one of {counted} {joined(inner(tokens[at + 2 :]))}"


_PLURALS = ("s", "people", "men", "women")


def _one_of_us(tokens: Sequence[Token], norms: list[str]) -> str:
    """From "there are six of us at home" to "is one of six at home"."""
    at = next((i for i, word in enumerate(norms[:_FRONT]) if word in _NUMBERS), 0)
    if not at or norms[at + 1 : at + 3] != ["of", "us"] or not _BEFORE_US.issuperset(norms[:at]):
        return ""
    behind = list(tokens[at + 3 :])
    if norms[at + 3 : at + 5] == ["me", "and"]:
        return f"is one of {norms[at]}, with {joined(inner(behind[2:]))}"
    if norms[at - 1] == "the" and at == 1 and behind:
        return f"is one of {norms[at]} who {joined(inner(behind))}"
    return f"is one of {norms[at]} {joined(inner(behind))}".strip()


def _me_and(tokens: Sequence[Token], norms: list[str]) -> str:
    """From "me and our kid go up to the lakes" to "goes up to the lakes with their kid"."""
    if norms[:2] != ["me", "and"] or not _RECIPROCAL.isdisjoint(norms[2:]):
        return ""
    first = 4 if norms[2] in _DETERMINERS else 3
    for at in range(first, min(first + _WITH_WORDS, len(norms))):
        often = norms[at - 1] in _OFTEN and at > first and len(norms) > at
        negated = norms[at : at + 2] == ["do", "not"] and len(norms) > at + 2
        if not negated and not often and not _is_present(norms[at]) and not _is_past(norms, at):
            continue
        if not _ARE.isdisjoint(norms[first:at]):
            return ""  # "me and my sisters are close"
        front = at - 1 if norms[at - 1] in third_person_lexicon().adverbs else at
        others, said = tokens[2:front], tokens[front:]
        if not others or len(said) > _LONGEST:
            return ""
        return f"{joined(predicate(said))} with {joined(inner(others))}"
    return ""


def _is_past(norms: list[str], at: int) -> bool:
    """Whether a word is a past form with what was done behind it ("bought a caravan")."""
    return bool(past_lemma(norms[at])) and norms[at + 1 : at + 2] not in (
        [],
        ["is"],
        ["are"],
        ["it"],
    )


def _is_present(word: str) -> bool:
    """Whether a word is a verb in its base form that one person can be the subject of."""
    lexicon = third_person_lexicon()
    if word in lexicon.fixed or word in lexicon.verbs or word in lexicon.adverbs:
        return False
    bases = VERB_LISTS["ends_in_e"]
    return is_base_verb(word) or word in bases or (word in PAST.values() and word not in PAST)


def _first_time(tokens: Sequence[Token], norms: list[str]) -> str:
    """From "it is my first time living alone" to "is living alone for the first time"."""
    at = norms.index("my") + 1 if "my" in norms[:3] else 0
    if not at or not _BEFORE_TIME.issuperset(norms[: at - 1]) or len(norms) < at + 4:
        return ""
    if norms[at] not in _FIRST_TIME or norms[at + 1] != "time":
        return ""
    living = norms[at + 2].endswith("ing") or norms[at + 2] in _IN_PLACE
    if not living or not _COPULAS.isdisjoint(norms[at + 2 :]):
        return ""
    return f"is {joined(inner(tokens[at + 2 :]))} for the {norms[at]} time"
