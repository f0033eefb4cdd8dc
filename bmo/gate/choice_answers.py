"""An answer to "a cat or a dog?": the statement of the question with what was chosen.

"Are you a morning person or a night owl?" "night owl" is "i am a night owl", "both" to "do you have
a cat or a dog?" "i have a cat and a dog", "neither" both denied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bmo.gate.answer_lines import Answer, written_line
from bmo.gate.asked_question import is_preposition
from bmo.gate.word_tables import word_table
from bmo.gate.yes_no_answers import statement_of
from bmo.language import Clause, Words


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``choice_answers.toml``; what each is for stands there beside its words."""

    opens: frozenset[str]
    around: frozenset[str]
    both: frozenset[str]
    neither: frozenset[str]
    one_only: frozenset[str]
    of_the_talk: frozenset[str]


_words = word_table(_Words, "choice_answers.toml")


class _Choice(NamedTuple):
    """What a question leaves to choose: the words before, and the two alternatives."""

    front: list[str]
    first: list[str]
    second: list[str]


def chosen(
    question: tuple[str, ...], spoken: Words, begin: int, clauses: list[Clause]
) -> Answer | None:
    """What an answer to a question with "or" says; None where it chooses none of the two.

    Args:
        question: The assistant's question, from its auxiliary on.
        spoken: The turn's repaired words.
        begin: Index of the answer's first word that counts.
        clauses: The turn's clauses.
    """
    lists = _words()
    if question.count("or") != 1 or not lists.of_the_talk.isdisjoint(question):
        return None
    choice = _parted(question)
    if choice is None:
        return None
    end = clauses[0].end if clauses else len(spoken.norm)
    said = [word for word in spoken.norm[begin:end] if word not in lists.around]
    used = min(1, len(clauses))
    text = " ".join(said)
    lines = [_line("yes", choice, which) for which in (choice.first, choice.second)]
    if None in lines:
        return None
    if text in lists.both and lists.one_only.isdisjoint(question):
        found = lines
    elif text in lists.neither and lists.one_only.isdisjoint(question):
        found = [_line("no", choice, which) for which in (choice.first, choice.second)]
    else:
        fits = [
            line
            for line, which, other in (
                (lines[0], choice.first, choice.second),
                (lines[1], choice.second, choice.first),
            )
            if _names(said, which, other)
        ]
        found = fits if len(fits) == 1 else []
    written = [written_line(spoken, line, []) for line in found if line is not None]
    if not written:
        return None
    if len(written) == 1:
        return Answer((written[0],), used, settled=True, asked=" ".join(written[0].norm))
    joined = ("and", "yes") if text in lists.both else ("or", "no")
    whole = _line(joined[1], choice, [*choice.first, joined[0], *choice.second])
    told = written_line(spoken, whole, []) if whole is not None else None
    asked = " ".join(lines[0] or ())
    return Answer(tuple(written), used, all=True, settled=True, asked=asked, whole=told)


def _parted(question: tuple[str, ...]) -> _Choice | None:
    """The alternatives around "or": they begin alike, or are of as many words."""
    lists = _words()
    at = question.index("or")
    left, second = list(question[:at]), list(question[at + 1 :])
    if len(left) < _SHORTEST or not second:
        return None
    opens = second[0]
    like = [i for i, word in enumerate(left) if i > 1 and _like(word, opens)]
    if opens in lists.opens or is_preposition(opens):
        if not like:
            return None
        start = like[-1]
    else:
        start = len(left) - len(second)
        if start < 2 or (left[start - 1] in lists.opens and len(second) > 1):
            return None
    return _Choice(left[:start], left[start:], second)


_SHORTEST = 3
_ARTICLES = frozenset({"a", "an"})


def _like(word: str, opens: str) -> bool:
    return word == opens or {word, opens} <= _ARTICLES


def _line(polarity: str, choice: _Choice, which: list[str]) -> list[str] | None:
    """The statement that a question makes with one alternative."""
    lines = statement_of((*choice.front, *which), polarity, [])
    return lines[0].split() if lines else None


def _names(said: list[str], which: list[str], other: list[str]) -> bool:
    """Whether an answer names an alternative, by words that the other has not."""
    lists = _words()
    content = [word for word in said if word not in lists.opens]
    own = [part for word in which for part in (word, *word.split("-"))]
    apart = [word for word in content if word in own and word not in other]
    return bool(apart) and all(word in own for word in content)
