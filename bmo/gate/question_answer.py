"""An answer read with its question: "is it just you?" "no me and temi"; "what car?" "a kia".

The question gives subject, verb and what surrounds the gap, the answer fills it: a question is a
statement with a gap (wh-movement undone). What no reading fits is written with the question
beside it, so that the memory can be understood when the conversation is gone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bmo.gate.answer_frames import BEHIND_NUMBER
from bmo.gate.asked_question import (
    INDEFINITE,
    LIKING,
    Asked,
    in_third_person,
    is_preposition,
    read_question,
    who_does,
)
from bmo.gate.third_person import Token, inner, joined, predicate, third_person_lexicon
from bmo.language import third_person
from bmo.language.inflection import past_tense

_AT_HOME = frozenset({"home", "live", "living", "household", "alone"})
_NO_PLACES = frozenset({"dead", "gone", "divorced", "separated", "fine", "well", "deceased"})
_IT = frozenset("it them that this those these him her one".split())
_TO_PLACES = frozenset("go move travel fly drive emigrate relocate head".split())
_HABITS = frozenset("usually normally generally often sometimes always regularly".split())
_HEDGES = frozenset("only just mostly mainly usually sometimes".split())
_SAID_AFTER = frozenset(
    "actually really though mate definitely obviously unfortunately sadly thankfully".split()
)
_FORMS = {
    "are": ("is", "are"),
    "is": ("is", "are"),
    "were": ("was", "were"),
    "was": ("was", "were"),
    "have": ("has", "have"),
    "has": ("has", "have"),
}
"""Auxiliary of a question -> the statement's, for one and for many."""
_NUMBERS = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -]\w+)?|hundred)\b"
)


def settled(question: Sequence[str], yes: bool, other: str = "") -> str | None:
    """The statement that a yes or no to ``question`` makes, or None.

    "do you have a dog" gives "has a dog" or "does not have a dog".

    Args:
        question: Words of the question, from its auxiliary on.
        yes: Whether the answer was yes.
        other: Who "he", "she" or "it" in the question is ("cat Pepper"), or "".
    """
    if len(question) < 3 or "or" in question or question[2] == "and":
        return None
    aux, rest = question[0], list(question[2:])
    if question[1] in ("he", "she", "it") and other:
        return _settled_of_other(aux, rest, yes, other)
    if question[1] != "you":
        return None
    if rest[0] in ("also", "still", "ever", "actually", "really") and len(rest) > 1:
        rest = rest[1:]
    words = in_third_person(rest)
    habit = f"{rest.pop(0)} " if aux == "do" and rest[0] in _HABITS and len(rest) > 1 else ""
    if aux == "do":
        verb = _plain(predicate([Token(rest[0], rest[0])]))
        tail = in_third_person(rest[1:])
        return f"{habit}{verb} {tail}".strip() if yes else f"does not {words}"
    if aux == "can" and not yes:
        return f"cannot {words}"
    simple = {"are": "is", "can": "can", "were": "was", "did": "did", "have": "has"}
    if aux == "have" and rest[0] == "got":
        owned = in_third_person(rest[1:])
        return f"has {owned}" if yes else f"does not have {owned}"
    if aux not in simple:
        return None
    if aux == "did" and yes:
        return f"{past_tense(rest[0])} {in_third_person(rest[1:])}".strip()
    return f"{simple[aux]} {words}" if yes else f"{simple[aux]} not {words}"


def _settled_of_other(aux: str, rest: list[str], yes: bool, other: str) -> str | None:
    """The same of someone else: "does she live indoors" with "cat Pepper"."""
    words = in_third_person(rest)
    if aux == "does":
        verb = f"{third_person(rest[0])} {in_third_person(rest[1:])}"
        return f"{other} {verb if yes else f'does not {words}'}".strip()
    if aux in ("is", "can", "has", "was"):
        return f"{other} {aux} {words}" if yes else f"{other} {aux} not {words}"
    return None


def answered(question: Sequence[str], answer: Sequence[Token], other: str = "") -> str | None:
    """The statement that a phrase makes as the answer to ``question``.

    Args:
        question: Words of the question, from its question word on.
        answer: The answer's words, no subject and verb of its own.
        other: Who "he", "she" or "it" in the question is ("cat Pepper"), or "".

    Returns:
        Text without capital and full stop; None when there is no question.
    """
    if not question or not answer:
        return None
    company = _company(question, answer)
    if company:
        return company
    chosen = _one_of_two(question, answer)
    if chosen:
        return chosen
    doing = who_does(question)
    if doing:
        told = ["them" if at == 1 and word == "you" else word for at, word in enumerate(doing)]
        return f"{_value(_owned(_without_aside(answer)))} {in_third_person(told)}"
    asked = read_question(question, other)
    filled = _Filling(asked, _without_aside(answer)).statement() if asked else ""
    if filled:
        return filled
    return f"{_value(_owned(answer))} (asked {in_third_person(question)})"


def _one_of_two(question: Sequence[str], answer: Sequence[Token]) -> str:
    """Answers to "is tobi a boy or a girl": "boy now"; or ""."""
    words = list(question)
    if words[:1] != ["is"] or words[2:3] not in (["a"], ["an"]) or "or" not in words[3:]:
        return ""
    if words[1] in _IT or answer[0].norm not in words[3:]:
        return ""
    article = "an" if answer[0].norm[0] in "aeiou" else "a"
    return f"{words[1].title()} is {article} {_value(answer)}"


def feeling_about_it(question: Sequence[str], answer: Sequence[Token]) -> str:
    """What "it" is stands in the question ("(i) love it", "cannot stand it"); or "".

    Args:
        question: Words of the question ("do you like spicy food").
        answer: The answer's words.
    """
    words = [token for token in answer if token.norm not in ("really", "absolutely", "just")]
    if words and words[0].norm in ("i", "we"):
        words = words[1:]
    norms = [token.norm for token in words]
    if len(norms) < 2 or norms[-1] not in _IT or norms[-2] not in LIKING or len(norms) > 4:
        return ""
    asked = read_question(question)
    if asked is None or asked.word or asked.subject or not asked.tail:
        return ""
    return f"{joined(predicate(words[:-1]))} {in_third_person(asked.tail)}"


def _owned(answer: Sequence[Token]) -> list[Token]:
    """Without the "my" in front: a person of the user's is called "uncle Ray"."""
    words = list(answer)
    return words[1:] if len(words) > 1 and words[0].norm in ("my", "our") else words


def _without_aside(answer: Sequence[Token]) -> list[Token]:
    words = list(answer)
    while len(words) > 1 and words[-1].norm in _SAID_AFTER:
        words.pop()
    while len(words) > 1 and words[0].norm in _SAID_AFTER:
        words = words[1:]
    return words


def _value(answer: Sequence[Token]) -> str:
    return joined(inner(answer))


def _plain(tokens: Sequence[Token]) -> str:
    return " ".join(token.shown for token in tokens)


def _company(question: Sequence[str], answer: Sequence[Token]) -> str:
    """From "me and my daughter temi" to who is at home."""
    norms = [token.norm for token in answer]
    start = norms.index("me") if "me" in norms[:3] else -1
    if start < 0 or norms[start + 1 : start + 2] != ["and"] or _AT_HOME.isdisjoint(question):
        return ""
    others = [t for t in answer[start + 2 :] if t.norm not in ("my", "our")]
    return f"lives with {_value(others)}" if others else ""


@dataclass(slots=True)
class _Filling:
    """One question and what fills its gap."""

    asked: Asked
    answer: list[Token]

    def statement(self) -> str:
        """The statement, or "" when the answer does not fill this question."""
        asked = self.asked
        if asked.word == "":
            return self._open_question()
        if not asked.verb:
            return self._copular()
        if asked.word == "where":
            return "" if self.said in _NO_PLACES else self._whole(self._placed(self._going()))
        if asked.word == "how" and asked.noun[:1] in (("many",), ("far",)):
            return self._counted()
        if asked.word in ("when", "how"):
            return self._whole(self._timed())
        if asked.word in ("what", "which", "who", "whom"):
            return self._object()
        return ""

    @property
    def said(self) -> str:
        return _value(self.answer)

    @property
    def placed(self) -> bool:
        return is_preposition(self.answer[0].norm)

    def _verb(self) -> str:
        """Verb group of the statement, its adverbs in front."""
        asked = self.asked
        negated = "not " if asked.negated else ""
        if asked.aux in ("do", "does") and not negated:
            one = "has" if asked.verb == "have" else third_person(asked.verb)
            verb = asked.verb if asked.plural else one
        elif asked.aux in ("do", "does"):
            verb = f"{'do' if asked.plural else 'does'} not {asked.verb}"
        elif asked.aux == "did":
            verb = f"did not {asked.verb}" if negated else past_tense(asked.verb)
        else:
            one, many = _FORMS.get(asked.aux, (asked.aux, asked.aux))
            front = f"{many if asked.plural else one} {negated}".replace("can not", "cannot")
            return " ".join((front.strip(), *asked.adverbs, asked.verb))
        return " ".join((*asked.adverbs, verb))

    def _whole(self, behind: str) -> str:
        """Subject, verb, what follows it, and the answer at the end."""
        tail = in_third_person(self.asked.tail)
        return " ".join(filter(None, (self.asked.subject, self._verb(), tail, behind)))

    def _timed(self) -> str:
        """When it is or was, with the preposition a bare year lacks ("2019")."""
        year = re.fullmatch(r"(?:19|20)\d\d", self.said)
        return f"in {self.said}" if year and self.asked.word == "when" else self.said

    def _going(self) -> str:
        verbs = (self.asked.verb, *self.asked.tail[-1:])
        return "in" if _TO_PLACES.isdisjoint(verbs) else "to"

    def _placed(self, preposition: str) -> str:
        """The answer as a place: with the preposition it lacks."""
        hangs = self.asked.tail and is_preposition(self.asked.tail[-1])
        said = self.said
        if self.placed or hangs or said.startswith(("here", "home", "abroad", "everywhere")):
            return said
        return f"{preposition} {said}"

    def _counted(self) -> str:
        counted = " ".join(self.asked.noun[1:])
        named = self.answer[0].norm in ("a", "an") or counted in self.said
        said = self.said if named else f"{self.said} {counted}"
        behind = self.answer[1:2] and not named and self.answer[1].norm in BEHIND_NUMBER
        if behind:  # "four all grown up"
            said = f"{self.answer[0].shown} {counted} {_value(self.answer[1:])}"
        tail = in_third_person(self.asked.tail)
        return " ".join(filter(None, (self.asked.subject, self._verb(), said, tail)))

    def _object(self) -> str:
        """What, who or which: the answer stands where the verb's object does."""
        asked = self.asked
        work = self._work()
        if work:
            return work
        if asked.noun == ("time",):
            return self._whole(self.said if self.placed else f"at {self.said}")
        hangs = bool(asked.tail) and is_preposition(asked.tail[-1])
        if is_preposition(asked.verb) or hangs or (asked.tail and asked.tail[0] == "to"):
            return self._whole(self.said)
        kind = [word for word in asked.noun if word not in ("kind", "sort", "type", "of")]
        told = set(self.said.lower().split())
        named = f" ({' '.join(kind)})" if kind and told.isdisjoint(kind) else ""
        tail = in_third_person(asked.tail)
        if tail and not is_preposition(asked.tail[0]):
            return self._whole(self.said)
        return " ".join(filter(None, (asked.subject, self._verb(), self.said, tail))) + named

    def _work(self) -> str:
        """Answers to "what do you do (for a living)" and "what should i call you"."""
        asked = self.asked
        if asked.aux in ("do", "does") and asked.verb == "do" and not asked.negated:
            if asked.tail and asked.tail[0] not in ("for", "as", "there"):
                return ""
            works = "work" if asked.plural else "works"
            return " ".join(filter(None, (asked.subject, works, self._trade())))
        if asked.aux == "did" and asked.verb == "do" and (asked.tail or asked.subject):
            if asked.tail and asked.tail[0] not in ("before", "until", "for"):
                return ""
            tail = "" if asked.tail[:1] == ("for",) else in_third_person(asked.tail)
            return " ".join(filter(None, (asked.subject, "worked", self._trade(), tail)))
        if asked.verb == "call" and asked.tail == ("you",):
            return f"wants to be called {self.said}"
        return ""

    def _trade(self) -> str:
        return f"{'in' if self.answer[-1].norm.endswith('ing') else 'as'} {self.said}"

    def _copular(self) -> str:
        """Answers to "what is your son's name", "how old is she", "where is your office"."""
        asked = self.asked
        be = ("are" if asked.plural else "is") if asked.aux in ("is", "are") else asked.aux
        if be == "were" and not asked.subject:
            be = "was"
        front = f"{asked.subject} {be}" if asked.subject else be
        if asked.noun == ("many",) and not asked.subject:
            return f"they are {self.said}"
        hanging = asked.subject.rpartition(" ")
        if asked.word in ("what", "where") and is_preposition(hanging[2]) and hanging[0]:
            return f"{hanging[0]} {be} {hanging[2]} {self.said}"
        if asked.word == "how":
            if asked.noun == ("old",) and _NUMBERS.search(self.said) and len(self.answer) <= 4:
                old = "" if re.search(r"\b(?:year|month|week)", self.said) else " years old"
                return f"{front} {self.said}{old}"
            return f"{front} {self.said}" if asked.noun and asked.noun != ("come",) else ""
        if asked.word == "where":
            return f"{front} {self._placed('in')}"
        if asked.word in ("what", "who", "when", "which") and asked.subject:
            called = f" {asked.called}" if asked.called else ""
            return f"{front}{called} {self.said}"
        return ""

    def _open_question(self) -> str:
        """A question for yes or no that was answered with a thing."""
        asked = self.asked
        if asked.statement:
            return self._corrected()
        words = [asked.verb, *asked.tail]
        if any(a == "or" and b in ("do", "are", "is", "does") for a, b in pairwise(words)):
            return ""  # "do you have a car, or do you take the bus?"
        chosen = self._chosen(words)
        if chosen:
            return chosen
        indefinite = next((i for i, word in enumerate(words) if i and word in INDEFINITE), 0)
        front = " ".join(filter(None, (asked.subject, self._verb())))
        if indefinite:
            between = in_third_person(words[1:indefinite])
            return " ".join(filter(None, (front, between, self.said)))
        if asked.anything:
            tail = in_third_person(asked.tail)
            return " ".join(filter(None, (front, self.said, tail)))
        if self.answer[0].norm in _HEDGES and len(self.answer) > 1 and asked.tail:
            return self._narrowed(front)
        one_word = len(self.answer) == 1 and self.answer[0].norm.isalpha()
        if asked.aux == "are" and not asked.tail and one_word:
            lexicon = third_person_lexicon()
            said = self.answer[0].norm
            if said not in lexicon.adverbs and not said.endswith("ly"):
                return " ".join(filter(None, (asked.subject, "is", self.said)))
        return ""

    def _narrowed(self, front: str) -> str:
        """What is so of a part only: "are you allergic to nuts", "only peanuts"."""
        tail = list(self.asked.tail)
        places = [i for i, word in enumerate(tail) if is_preposition(word)]
        if is_preposition(self.answer[1].norm) or self.answer[1].norm in ("when", "if", "every"):
            return f"{front} {in_third_person(tail)} {self.said}"
        if not places:
            return f"{front} {self.said}"
        return f"{front} {in_third_person(tail[: places[-1] + 1])} {self.said}"

    def _chosen(self, words: list[str]) -> str:
        """One of two: "are you left or right handed", "left"."""
        if "or" not in words[1:-1]:
            return ""
        at = words.index("or")
        said = self.answer[-1].norm
        if len(self.answer) > 1 or said not in (words[at - 1], words[at + 1]):
            return ""
        left = [*words[: at - 1], said, *words[at + 2 :]]
        asked = replace(self.asked, verb=left[0], tail=())
        front = _Filling(asked, self.answer)._whole("")
        return " ".join(filter(None, (front, in_third_person(left[1:]))))

    def _corrected(self) -> str:
        """The end of a statement is replaced: "you're from France?", "no, belgium"."""
        words = [self.asked.verb, *self.asked.tail]
        places = [i for i, word in enumerate(words) if is_preposition(word)]
        if not places or self.placed or len(self.answer) > 4:
            return ""
        kept = in_third_person(words[1 : places[-1] + 1])
        return " ".join(filter(None, (self._verb(), kept, self.said)))
