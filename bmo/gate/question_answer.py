"""An answer read with its question: "is it just you?" "no me and temi"; "what car?" "a kia".

The question's frame gives the verb, the answer the value. What no frame fits is written with the
question beside it, so that the memory can be understood when the conversation is gone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bmo.gate.third_person import Token, inner, joined, predicate, third_person_lexicon
from bmo.language import third_person

_QUESTION = re.compile(r"[^.!?]*\?")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_YOURS = re.compile(r"\byour (\w+)")
_WH = frozenset(("what which where when who whose how why what's who's where's when's").split())
_AUX = frozenset(("do does did are is have has can were was would will").split())
_CONTRACTED = {
    "what's": ("what", "is"),
    "who's": ("who", "is"),
    "where's": ("where", "is"),
    "when's": ("when", "is"),
    "how's": ("how", "is"),
}
_SECOND = {
    "you": "they",
    "your": "their",
    "yours": "theirs",
    "yourself": "themselves",
    "i": "the assistant",
    "me": "the assistant",
    "my": "the assistant's",
    "i'm": "the assistant is",
}
_TAILS = (
    "by the way",
    "if i may ask",
    "if you do not mind",
    "as well",
    "then",
    "now",
    "too",
    "either",
    "though",
    "again",
    "yet",
    "these days",
    "at the moment",
)
_AT_HOME = frozenset({"home", "live", "living", "household", "alone"})


def last_question(assistant_before: str) -> list[str]:
    """Words of the assistant's last question, lower case, from its question word on; or []."""
    found = _QUESTION.findall(assistant_before.replace("’", "'"))
    if not found:
        return []
    words: list[str] = []
    for word in _WORD.findall(found[-1].lower()):
        words.extend(_CONTRACTED.get(word, (word,)))
    asked = _YOURS.search(assistant_before.lower())
    if words[-3:] == ["what", "is", "it"] and asked:
        return ["what", "is", "your", asked[1]]  # "I don't know your name yet. What is it?"
    for place, word in enumerate(words):
        if word in _WH or (word in _AUX and place + 1 < len(words)):
            return _without_tail(words[place:])
    return _without_tail(words)


def _without_tail(words: list[str]) -> list[str]:
    text = " ".join(words)
    for tail in _TAILS:
        text = text.removesuffix(f" {tail}")
    return text.split()


def settled(question: Sequence[str], yes: bool, other: str = "") -> str | None:
    """The statement that a yes or no to ``question`` makes, or None.

    "do you have a dog" gives "has a dog" or "does not have a dog".

    Args:
        question: Words of the question, from its auxiliary on.
        yes: Whether the answer was yes.
        other: Who "he", "she" or "it" in the question is ("cat Pepper"), or "".
    """
    if len(question) < 3 or "or" in question:
        return None
    aux, rest = question[0], question[2:]
    if question[1] in ("he", "she", "it") and other:
        return _settled_of_other(aux, list(rest), yes, other)
    if question[1] != "you":
        return None
    if rest[0] in ("also", "still", "ever", "actually", "really") and len(rest) > 1:
        rest = rest[1:]
    words = _reversed(rest)
    if aux == "do":
        verb = _plain(predicate([Token(rest[0], rest[0])]))
        tail = _reversed(rest[1:])
        return f"{verb} {tail}".strip() if yes else f"does not {words}"
    simple = {"are": "is", "can": "can", "were": "was", "did": "did", "have": "has"}
    if aux == "have" and rest[0] == "got":
        return f"has {_reversed(rest[1:])}" if yes else f"does not have {_reversed(rest[1:])}"
    if aux not in simple:
        return None
    return f"{simple[aux]} {words}" if yes else f"{simple[aux]} not {words}"


def _settled_of_other(aux: str, rest: list[str], yes: bool, other: str) -> str | None:
    """The same of someone else: "does she live indoors" with "cat Pepper"."""
    words = _reversed(rest)
    if aux == "does":
        verb = f"{third_person(rest[0])} {_reversed(rest[1:])}" if yes else f"does not {words}"
        return f"{other} {verb}".strip()
    if aux in ("is", "can", "has", "was"):
        return f"{other} {aux} {words}" if yes else f"{other} {aux} not {words}"
    return None


def answered(question: Sequence[str], answer: Sequence[Token]) -> str | None:
    """The statement that a phrase makes as the answer to ``question``.

    Args:
        question: Words of the question, from its question word on.
        answer: The answer's words, no subject and verb of its own.

    Returns:
        Text without capital and full stop; None when there is no question.
    """
    if not question or not answer:
        return None
    said = _value(answer)
    company = _company(question, answer)
    if company:
        return company
    framed = _framed(list(question), said, answer)
    if framed:
        return framed
    asked = _reversed(question)
    return f"{said} (asked {asked})"


def _value(answer: Sequence[Token]) -> str:
    return joined(inner(answer))


def _company(question: Sequence[str], answer: Sequence[Token]) -> str:
    """From "me and my daughter temi" to who is at home."""
    norms = [token.norm for token in answer]
    start = norms.index("me") if "me" in norms[:3] else -1
    if start < 0 or norms[start + 1 : start + 2] != ["and"] or _AT_HOME.isdisjoint(question):
        return ""
    others = [t for t in answer[start + 2 :] if t.norm not in ("my", "our")]
    return f"lives with {_value(others)}" if others else ""


def _framed(question: list[str], said: str, answer: Sequence[Token]) -> str:
    first = question[0]
    lexicon = third_person_lexicon()
    placed = answer[0].norm in lexicon.prepositions
    if first in ("what", "who") and len(question) > 2 and question[1] in ("is", "are"):
        return _identity(question, said)
    if first == "how" and question[1:4] == ["old", "are", "you"]:
        return f"is {said}" if "year" in said else f"is {said} years old"
    if first in ("what", "which", "how", "where", "when", "who") and "you" in question[1:]:
        return _about_you(question, said, placed)
    return ""


def _identity(question: list[str], said: str) -> str:
    """Frames such as "what is your name" and "what is your dog called"."""
    rest = question[2:]
    verb = question[1]
    if rest[:3] == ["the", "name", "of"]:
        return f"{_reversed(rest[3:], own='')} is called {said}"
    if rest[0] in ("your", "his", "her", "their", "its") and len(rest) > 1:
        name = " ".join(rest[1:])
        if rest[-1] in ("called", "named"):
            return f"{' '.join(rest[1:-1])} {verb} called {said}"
        if rest[0] == "your":
            return f"{_reversed(rest[1:])} {verb} {said}"
        return f"{_SECOND.get(rest[0], rest[0])} {name} {verb} {said}"
    return ""


def _about_you(question: list[str], said: str, placed: bool) -> str:
    """Frames such as "where do you live" and "how many cats do you have"."""
    at = question.index("you", 1)
    aux, rest = question[at - 1], question[at + 1 :]
    asked_for = [w for w in question[1 : at - 1] if w not in ("kind", "sort", "of", "type")]
    if aux not in ("do", "are", "did", "have", "would", "can") or not rest:
        return ""
    if rest == ["do"] or rest[:3] in (["do", "for", "a"], ["work", "as"], ["work", "at"]):
        return f"works as {said}" if said.startswith(("a ", "an ")) else f"works: {said}"
    if "call" in rest:
        return f"wants to be called {said}"
    verb = _verb(aux, rest[0])
    tail = _reversed(rest[1:])
    if question[0] == "where":
        place = said if placed or said.startswith(("here", "home", "abroad")) else f"in {said}"
        return f"{verb} {tail} {place}" if tail else f"{verb} {place}"
    if question[0] == "who" and rest[-1] in ("with", "for", "to"):
        return f"{verb} {tail} {said}" if tail else f"{verb} {said}"
    if question[0] == "when" or (question[0] == "how" and question[1] in ("often", "long")):
        return f"{verb} {tail} {said}" if tail else f"{verb} {said}"
    if question[:2] == ["how", "many"]:
        counted = " ".join(question[2 : at - 1])
        return f"{verb} {said} {counted} {tail}" if counted not in said else f"{verb} {said} {tail}"
    kind = " ".join(asked_for)
    named = f" ({kind})" if kind and not set(kind.split()) & set(said.lower().split()) else ""
    return f"{verb} {said}{' ' + tail if tail else ''}{named}"


def _verb(aux: str, verb: str) -> str:
    if aux == "are":
        return f"is {verb}"
    if aux == "would":
        return f"would {verb}"
    if aux == "can":
        return f"can {verb}"
    if aux == "did":
        return f"did {verb}"
    if aux == "have":
        return f"has {verb}"
    return "has" if verb == "have" else third_person(verb)


def _plain(tokens: Sequence[Token]) -> str:
    return " ".join(token.shown for token in tokens)


def _reversed(words: Sequence[str], own: str | None = None) -> str:
    """The assistant's words in the third person: "your" is the user's."""
    turned = [own if w == "your" and own is not None else _SECOND.get(w, w) for w in words]
    return " ".join(word for word in turned if word)
