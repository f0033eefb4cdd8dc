"""Statements about the user without "I": "they won't let me have salt", "that's me retired".

Each reads a clause of one mould and writes it in the third person; what is of no mould is left to
open canonicalisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.third_person import Token, inner, joined, predicate, third_person_lexicon
from bmo.language import past_lemma

_SHORTEST = 4
"""Letters of the words in -ing that are no verbs ("king", "ring")."""


def about_user(tokens: Sequence[Token]) -> str:
    """Text of a clause of one of the moulds, or "".

    Args:
        tokens: A clause's words.
    """
    norms = [token.norm for token in tokens]
    if norms[:1] == ["were"] and norms[1:2] and _said_of_us(norms[1]):
        return joined(predicate([replace(tokens[0], norm="are", shown="are"), *tokens[1:]]))
    if norms[:1] == ["were"] and norms[1:2] and (norms[1].endswith("ed") or norms[1] == "born"):
        return joined(predicate(tokens))
    if norms[:2] == ["that", "is"] and norms[2:3] in (["me"], ["us"]) and len(norms) > 3:
        return _that_is_me(tokens[3:])
    if norms[0] in open_lexicon().everybody and "me" in norms[1:5]:
        named = _called_by_them(tokens, norms)
        if named:
            return named
    if norms[:1] == ["they"] and "me" in norms[1:6]:
        return _done_by_them(tokens, norms)
    return ""


def _said_of_us(word: str) -> bool:
    """Whether "were" before a word is "we're": "were buying a cottage"."""
    return word in open_lexicon().behind_were or (word.endswith("ing") and len(word) > _SHORTEST)


def _that_is_me(rest: Sequence[Token]) -> str:
    """From "(that's me) signed up for a course" to "has signed up for a course"."""
    first = rest[0].norm
    behind = joined(inner(rest))
    if first in open_lexicon().become and len(rest) < 4:
        return f"is {behind}"
    done = first.endswith("ed") or bool(past_lemma(first))
    return f"{'has' if done else 'is'} {behind}"


def _done_by_them(tokens: Sequence[Token], norms: Sequence[str]) -> str:
    """What nobody in particular does to the user, in the passive."""
    at = norms.index("me", 1)
    verb, before, behind = norms[at - 1], list(norms[1 : at - 1]), list(tokens[at + 1 :])
    if not behind:
        return ""
    said = joined(inner(behind))
    negated = "not" in before
    if verb == "let":
        return f"is {'not ' if negated else ''}allowed to {said}"
    if negated or len(before) > 1:
        return ""
    passive = {
        "have": "is",
        "got": "is",
        "put": "was put",
        "call": "is called",
        "made": "was made",
        "gave": "was given",
        "moved": "was moved",
        "switched": "was switched",
        "told": "was told",
    }
    return f"{passive[verb]} {said}" if verb in passive else ""


_BEFORE_CALLED = frozenset("have has always just all only still used to".split())
_NO_NAME = frozenset("a an the my by for in on at it that this up out back".split())


def _called_by_them(tokens: Sequence[Token], norms: Sequence[str]) -> str:
    """From "everybody's called me peggy since ..." to "has been called Peggy since ..."."""
    at = norms.index("me", 1)
    verb = norms[at - 1]
    if verb not in ("call", "calls", "called") or not _BEFORE_CALLED.issuperset(norms[1 : at - 1]):
        return ""
    if len(norms) < at + 2 or norms[at + 1] in _NO_NAME or not norms[at + 1].isalpha():
        return ""
    name = replace(tokens[at + 1], shown=_large(tokens[at + 1].shown))
    perfect = verb == "called" and (tokens[0].shown.endswith("'s") or at > 2)
    was = "was" if verb == "called" else "is"
    front = "has been" if perfect and "used" not in norms[:at] else was
    return f"{front} called {joined([name, *inner(tokens[at + 2 :])])}"


def _large(word: str) -> str:
    return word.capitalize() if word.islower() else word


def without_cleft(tokens: Sequence[Token]) -> list[Token]:
    """From "it was callum who set this up" to "callum set this up"; others as they are.

    "(tuesdays) it is my mum does it" has lost its "who".
    """
    days = third_person_lexicon().capitalised
    at = next((i for i, token in enumerate(tokens) if token.norm not in days), 0)
    norms = [token.norm for token in tokens]
    if norms[at : at + 2] not in (["it", "is"], ["it", "was"]) or len(norms) < at + 5:
        return list(tokens)
    whose = norms[at + 2] in ("my", "our")
    who = next((i for i in range(at + 3, min(at + 7, len(norms) - 1)) if norms[i] == "who"), 0)
    lost = at + 4
    if who:
        named = list(tokens[at + 2 : who])
        said = list(tokens[who + 1 :])
    elif (
        whose
        and (norms[at + 3],) in third_person_lexicon().people.forms
        and norms[lost] in open_lexicon().kin_does
    ):
        named, said = list(tokens[at + 2 : lost]), list(tokens[lost:])
    else:
        return list(tokens)
    if named[0].norm in _NOBODY_NAMED:
        return list(tokens)
    named[-1] = replace(named[-1], comma=False)
    front = [Token("on", "on"), *tokens[:at]] if at else []
    return [*named, *said, *front]


_NOBODY_NAMED = frozenset("i me us them him her a an the not just only always".split())


def _without_interjection(tokens: Sequence[Token]) -> Sequence[Token]:
    """From "my mate, god, he never pays" to "my mate he never pays"."""
    interjections = third_person_lexicon().interjections
    for at in range(2, min(len(tokens) - 1, _FARTHEST)):
        if tokens[at].norm in interjections and tokens[at - 1].comma:
            front = [*tokens[: at - 1], replace(tokens[at - 1], comma=False)]
            return [*front, *tokens[at + 1 :]]
    return tokens


_FARTHEST = 4


def without_double_subject(tokens: Sequence[Token]) -> list[Token]:
    """From "paddy is he is my relief" to "paddy is my relief"."""
    tokens = _without_interjection(tokens)
    norms = [token.norm for token in tokens]
    for at in range(1, len(norms) - 3):
        if norms[at] == norms[at + 2] == "is" and norms[at + 1] in ("he", "she", "it"):
            return [*tokens[:at], *tokens[at + 2 :]]
    return list(tokens)


def of_whoever_called(before: str, text: str) -> str:
    """From "Elaine rang yesterday" and "she has got a new job" to "Elaine has got a new job".

    Args:
        before: Text of the clause before.
        text: Text of the clause that opens with "he" or "she".

    Returns:
        The text, or "" where the clause before tells of no call or visit of somebody named.
    """
    pronoun, _, rest = text.partition(" ")
    if pronoun.lower() not in ("he", "she") or not only_called(before):
        return ""
    name = before.split()[0]
    people = third_person_lexicon().people
    gender = people.gender_of(name.lower())
    fits = gender == "unknown" or (gender == "male") == (pronoun.lower() == "he")
    return f"{name} {rest}" if fits else ""


def only_called(text: str) -> bool:
    """Whether a text says of somebody named only that they rang or came by.

    Args:
        text: Canonical text of a clause.
    """
    name, *told = text.replace(",", " ").split()
    if (
        not told
        or told[0] not in open_lexicon().rang_or_came
        or name.lower() not in third_person_lexicon().people.names
    ):
        return False
    of_a_call = open_lexicon().of_a_call
    return name[:1].isupper() and of_a_call.issuperset(word.lower() for word in told[1:])


def new_clause(norms: Sequence[str], place: int) -> bool:
    """Whether "i am" at ``place`` opens a clause that no punctuation parted from the one before."""
    if place < 3 or list(norms[place : place + 2]) != ["i", "am"] or len(norms) < place + 4:
        return False
    return norms[place - 1] not in open_lexicon().before_own_clause
