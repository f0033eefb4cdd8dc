"""Answers that settle nothing: "no idea", "yes and no", "i do not have a wife", "guess"."""

from __future__ import annotations

from collections.abc import Sequence

from bmo.gate.dialogue_questions import dialogue_lexicon, questions
from bmo.language import LanguageCode
from bmo.language.lexicon import match_phrase

_BETWEEN = frozenset(
    "and or i mean wait well sorry actually oh hmm hang on er um uh no yes".split()
)
"""Words between a yes and the no that takes it back."""

_YES = frozenset({"yes", "yeah", "yep", "yup", "yea"})
_NO = frozenset({"no", "nope", "nah"})
_ASKS_FOR_NAME = frozenset({"name", "names", "call", "called", "named"})
_ASKS_FOR_VALUE = frozenset({"what", "which", "where", "who", "when", "whose", "how"})
_FEW = 5
"""Most words of an answer that is looked up whole."""


def settles_nothing(
    norm: Sequence[str], start: int, assistant_before: str, language: LanguageCode
) -> bool:
    """Whether the beginning of a turn answers the assistant's question with nothing.

    Args:
        norm: The turn's words.
        start: Index at which its first clause begins; what stands before it is an opener.
        assistant_before: The assistant's words before the turn, with a question.
        language: Whose answers apply.
    """
    lexicon = dialogue_lexicon(language)
    if not lexicon.non_answers_alone or not norm:
        return False
    words = list(norm)
    at = 0
    while at < len(words):
        size = match_phrase(lexicon.non_answers, words, at)
        if size:
            return at + size > start
        if words[at] not in _YES and words[at] not in _NO and words[at] not in _OPENING:
            break
        at += 1
    if _both(words):
        return True
    if len(words) > _FEW:
        return False
    said = " ".join(words[min(at, start) :]) if start < at else " ".join(words[start:])
    if said in lexicon.non_answers_alone:
        return True
    asked = questions(assistant_before, language)
    if not asked:
        return False
    if said in lexicon.non_values and asked[0][0] in _ASKS_FOR_VALUE:
        return True
    names = asked[0][:2] == ("who", "is") or not _ASKS_FOR_NAME.isdisjoint(asked[0])
    return names and said in lexicon.non_names


_OPENING = frozenset(
    "um uh oh well so hmm ah honestly really absolutely actually ooh er god lol haha ha".split()
)


def _both(words: list[str]) -> bool:
    """Whether an answer says yes and no at once, or one and then the other."""
    if words[0] not in _YES and words[0] not in _NO:
        return False
    other = _NO if words[0] in _YES else _YES
    for place, word in enumerate(words[1:], 1):
        if word in other:
            # "yes i mean no one else" says no to nothing
            return words[place + 1 : place + 2] not in (["one"], ["more"], ["longer"])
        if word not in _BETWEEN:
            return False
    return False
