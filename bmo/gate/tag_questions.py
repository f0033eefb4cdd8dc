"""Questions that are put as statements or denied: "you don't drive, do you?", "aren't you vegan?".

What they ask is the same as the plain question, "do you drive"; only what a bare yes or no means
differs where the question denies it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bmo.gate.people import people_lexicon
from bmo.gate.third_person import is_base_verb
from bmo.gate.word_tables import word_table
from bmo.language import Words, past_lemma, third_person

Denied = Literal["", "right", "do you"]
"""What a question denies it with: nothing, a statement to agree with, or a tag that asks back."""


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``tag_questions.toml``; what each is for stands there beside its words."""

    openers: frozenset[str]
    fronts: frozenset[str]
    whether_you_are: frozenset[str]
    tags: frozenset[str]
    aux: frozenset[str]
    main_verbs: frozenset[str]
    pronouns: frozenset[str]
    adverbs: frozenset[str]
    answering: frozenset[str]
    elliptic_aux: frozenset[str]


_words = word_table(_Words, "tag_questions.toml")


class PlainQuestion(NamedTuple):
    """A question for yes or no, from its auxiliary on.

    Attributes:
        words: The words of the question without denial and tag.
        denied: What it denies its content with.
    """

    words: list[str]
    denied: Denied


def plain_question(asked: Sequence[str]) -> PlainQuestion | None:
    """Reads a statement that asks to be confirmed, or a denied question, as the plain one.

    Args:
        asked: The question's words, lower case, contractions written out.

    Returns:
        None for every other question.
    """
    lists = _words()
    words = list(asked)
    if len(words) < _SHORTEST:
        return None
    if words[0] in lists.aux and words[1] == "not":
        plain = [words[0], *words[2:]]
        return plain_question(plain) or PlainQuestion(plain, "")
    for size in range(min(_LONGEST_FRONT, len(words) - 1), 2, -1):
        if " ".join(words[:size]) in lists.whether_you_are:
            return PlainQuestion(["are", "you", *words[size:]], "")
    if words[0] in lists.aux and words[1] == "you" and words[2] == "not" and len(words) > _SHORTEST:
        return PlainQuestion([*words[:2], *words[3:]], "do you")
    words = _without_front(words)
    tag = _tag_of(words)
    return _turned(words[: len(words) - len(tag)], tag)


_SHORTEST = 3
_LONGEST_FRONT = 5
_LONGEST_TAG = 4


def _without_front(words: list[str]) -> list[str]:
    """Without "so", "you said", "is it true that" in front."""
    lists = _words()
    while len(words) > _SHORTEST and words[0] in lists.openers:
        words = words[1:]
    for size in range(min(_LONGEST_FRONT, len(words) - 2), 1, -1):
        if " ".join(words[:size]) in lists.fronts:
            return words[size:]
    return words


def _tag_of(words: list[str]) -> list[str]:
    """The tag a statement ends with ("right", "are not you"); [] for none."""
    lists = _words()
    for size in range(min(_LONGEST_TAG, len(words) - 2), 0, -1):
        tail = words[-size:]
        if " ".join(tail) in lists.tags:
            return tail
        turned = tail[0] in lists.aux and tail[-1] in lists.pronouns
        if turned and (size == 2 or (size == _SHORTEST and tail[1] == "not")):
            return tail
    return []


def _turned(words: list[str], tag: Sequence[str]) -> PlainQuestion | None:
    """A statement about the user or somebody of theirs with its auxiliary in front."""
    lists = _words()
    behind = _subject_end(words)
    if not behind or behind >= len(words) or "or" in words:
        return None
    subject, rest = words[:behind], words[behind:]
    if rest[0] == "'s":
        rest = ["is", *rest[1:]]
    while len(rest) > 1 and rest[0] in lists.adverbs:
        subject, rest = [*subject, rest[0]], rest[1:]
    verb, rest = rest[0], rest[1:]
    denied: Denied = ""
    if verb == "never" and len(rest) > 0 and subject == ["you"]:
        verb, rest = "do", ["never", *rest]
    if rest[:1] in (["not"], ["never"]):
        denied = "do you" if tag and tag[-1] in lists.pronouns else "right"
        rest = rest[1:]
    elif not rest and not tag:
        return None
    if verb in lists.aux and not (verb in lists.main_verbs and not denied and _is_thing(rest)):
        return PlainQuestion([verb, *subject, *rest], denied) if rest else None
    if denied:
        return None
    own = subject[0] in ("you", "they")
    if own and is_base_verb(verb):
        return PlainQuestion(["do", *subject, verb, *rest], "")
    lemma = "" if own else _lemma(verb)
    if lemma:
        return PlainQuestion(["does", *subject, lemma, *rest], "")
    lemma = past_lemma(verb) or ""
    return PlainQuestion(["did", *subject, lemma, *rest], "") if lemma else None


def _subject_end(words: list[str]) -> int:
    """Index behind the subject: "you", "he", "your brother", "your name"; 0 for anything else."""
    if words[0] in _words().pronouns:
        return 1
    if words[0] != "your" or len(words) < _SHORTEST:
        return 0
    copula = next((i for i in range(2, min(len(words), _LONGEST_FRONT)) if words[i] in _BE), 0)
    person = people_lexicon("en").relation_at(words, 1, len(words))
    if person is not None and words[person[1] : person[1] + 1] != ["'s"]:
        return person[1]
    if copula:
        return copula  # "your wife's name is anna", "your favourite colour is blue"
    owned = next((i for i in range(2, min(len(words), 4)) if words[i] == "'s"), 0)
    return owned


_BE = frozenset({"is", "are", "was", "were"})


def _is_thing(rest: Sequence[str]) -> bool:
    """Whether "have" has an object: "you have | a sister", not "you have | lived there"."""
    if not rest or rest[0] in ("got", "been"):
        return False
    return not (past_lemma(rest[0]) or rest[0] in _words().adverbs)


def _lemma(verb: str) -> str:
    """The verb whose third person this is ("lives"), or ""."""
    if verb == "has":
        return "have"
    for ending, back in (("ies", "y"), ("es", ""), ("s", "")):
        base = verb.removesuffix(ending) + back
        if verb.endswith(ending) and third_person(base) == verb and is_base_verb(base):
            return base
    return ""


def meant_by(polarity: str, spoken: Words, behind: int, denied: Denied) -> str:
    """What a yes or no says of the plain question, where the question denied its content.

    Args:
        polarity: "yes" or "no", as the answer begins.
        spoken: The turn's repaired words.
        behind: Index behind those that say yes or no.
        denied: What the question denies its content with.

    Returns:
        "yes" or "no"; "" where it may be either: "yes" to "you don't drive, do you?".
    """
    if not denied:
        return polarity
    lists, said = _words(), spoken.norm[:behind]
    if behind == len(spoken.norm) or spoken.after[behind - 1]:
        for place in range(len(said) - 2, -1, -1):
            if said[place] in lists.answering and said[place + 1] in lists.elliptic_aux:
                return "no" if said[place + 2 : place + 3] == ["not"] else "yes"
    if polarity == "no":
        return polarity
    return "no" if denied == "right" else ""
