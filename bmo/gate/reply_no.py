"""A "no" that answers, where the same word denies: Spanish "no, vivo en cuenca".

In German, French and English the answer is another word than the one that denies; in Spanish
"no vivo en cuenca" is one thing and "no, vivo en cuenca" the other. Speech writes no comma: behind
a question that can be answered with no, a "no" before a verb whose object the question did not name
might be either, and settles nothing.
"""

from __future__ import annotations

import re

from bmo.gate.other_grammar import grammar
from bmo.language import LanguageCode, Words

_WORD = re.compile(r"[^\W\d_]+")
_SHORTEST_CONTENT = 3


def without_reply(words: Words, language: LanguageCode) -> Words:
    """The words without a "no" that answers, as a comma or a subject behind it shows.

    A "no" that denies stands before a verb and its clitics: in "no mi hermana vive en cádiz" it
    answers.

    Args:
        words: Repaired words of a turn.
        language: Whose grammar applies.

    Returns:
        ``words`` itself where nothing is taken off.
    """
    rules = grammar(language)
    if not rules.replies or len(words) <= 1 or words.norm[0] not in rules.replies:
        return words
    subject = words.norm[1]
    answers = words.after[0][:1] in (",", ".", ";") or (
        subject not in rules.clitics
        and any(subject in said for said in (rules.first, rules.third, rules.own, rules.third_own))
    )
    if not answers:
        return words
    return words.select(list(range(1, len(words))))


def may_be_reply(words: Words, assistant_before: str, language: LanguageCode) -> bool:
    """Whether nobody can tell if the "no" at the front answers or denies.

    Args:
        words: Repaired words of a turn.
        assistant_before: The assistant's words before the turn, with a question.
        language: Whose grammar applies.
    """
    rules = grammar(language)
    norm = words.norm
    if not rules.replies or len(norm) <= 1 or norm[0] not in rules.replies:
        return False
    asked = [word.lower() for word in _WORD.findall(assistant_before)]
    if not rules.question_words.isdisjoint(asked) or not asked:
        return False
    said = [
        word
        for i, word in enumerate(norm)
        if len(word) >= _SHORTEST_CONTENT and rules.form(norm, i) is None and word not in rules.drop
    ]
    content = [word for word in said if word not in rules.articles | rules.prepositions]
    return bool(content) and set(content).isdisjoint(asked)
