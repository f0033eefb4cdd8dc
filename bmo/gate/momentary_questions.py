"""Questions about this moment, whose answers are not worth keeping: "what are you cooking?"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bmo.gate.dialogue_questions import questions
from bmo.gate.word_tables import word_table


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``momentary_questions.toml``; what each is for stands beside its words."""

    doing: frozenset[str]
    be: frozenset[str]
    where_now: frozenset[str]
    now: frozenset[str]
    wanted: frozenset[str]
    known: frozenset[str]


_words = word_table(_Words, "momentary_questions.toml")

SHORT = 5
"""Words up to which a turn is nothing but the answer."""


def asks_of_the_moment(assistant_before: str, said: Sequence[str]) -> bool:
    """Whether a short turn answers a question about what is so just now.

    Args:
        assistant_before: The assistant's words before the turn, in English.
        said: The turn's words.
    """
    if "?" not in assistant_before or len(said) > SHORT:
        return False
    asked = questions(assistant_before, "en")
    return bool(asked) and _of_the_moment(asked[0])


def _of_the_moment(words: tuple[str, ...]) -> bool:
    lists = _words()
    if not lists.now.isdisjoint(words) or words[:3] == ("what", "is", "for"):
        return True
    for place, word in enumerate(words[:-2]):
        if word in lists.be and words[place + 2] in lists.doing:
            return True  # "are you cooking", "is she sleeping"
        if word == "did" and words[place + 1] == "you" and words[place + 2] in lists.wanted:
            return True  # "did you want jazz"
    if words[:2] == ("do", "you") and words[2] in lists.known:
        return True  # "do you know a good restaurant"
    tails = {" ".join(words[-size:]) for size in (1, 2) if len(words) > size + 1}
    return words[0] in lists.be and not lists.where_now.isdisjoint(tails)
