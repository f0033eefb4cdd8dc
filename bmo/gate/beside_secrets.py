"""Facts told beside a secret: what a turn with a password or a card number says in other clauses.

The secret is masked before anything reads the turn. Kept is only what stands in a clause without
the mask, says nothing that could be a piece of a secret (digits, number words, spelled letters),
and is found harmless when it is scanned on its own. Everything else of the turn goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bmo.gate import injection, sensitive
from bmo.gate.analysis import Analysis, analyse
from bmo.gate.sensitive import SECRET_MASK
from bmo.gate.sensitive_lexicon import load_lexicon
from bmo.gate.skip_rules import is_loop
from bmo.gate.verdict import RulesVerdict, rules_verdict
from bmo.language import LanguageCode
from bmo.turn import DialogueContext, Fact, Signal, Turn

A_SECRET = RulesVerdict("discard", ("sensitive",), "secret", 1.0, "sensitive")
"""The verdict on a turn with a secret that tells nothing beside it."""

_MASK = re.compile(re.escape(SECRET_MASK))
_WORD = re.compile(r"\w+")
_SPELLED = re.compile(r"(?<![\w'])\w[ .,-]+\w(?![\w'])")
"""Two letters said one after the other: "b l u e"."""


def told_beside_secret(
    masked: Turn, context: DialogueContext, language: LanguageCode | None
) -> RulesVerdict:
    """What a turn with a secret tells in other clauses; nothing judges it further.

    Args:
        masked: The turn, every secret replaced by ``SECRET_MASK``.
        context: What is known of the conversation.
        language: Whose rules apply; None for a language without a pack.
    """
    if language is None or is_loop(masked.text) or injection.scan(masked.text) is not None:
        return A_SECRET
    analysis = analyse(masked, context, language)
    facts = _facts_beside(analysis, masked.text)
    if not facts:
        return A_SECRET
    analysis.facts = facts
    told = rules_verdict(analysis, masked, analysis.words)
    signals: tuple[Signal, ...] = ("sensitive", *told.signals)
    return told._replace(signals=signals, reason="told beside a secret", open=False)


def _facts_beside(analysis: Analysis, masked: str) -> tuple[Fact, ...]:
    """The facts of a turn with a secret that have nothing to do with it.

    Args:
        analysis: What the rules make of the masked turn.
        masked: Its text, every secret replaced by ``SECRET_MASK``.
    """
    tainted = _tainted(analysis, masked)
    return tuple(
        fact
        for fact in analysis.facts
        if fact.op != "retract"
        and fact.span is not None
        and not any(start < fact.span[1] and fact.span[0] < end for start, end in tainted)
        and _harmless(fact)
    )


def _tainted(analysis: Analysis, masked: str) -> Sequence[tuple[int, int]]:
    """Stretches of the text that no fact may touch: masks, and the clauses they stand in."""
    masks = [match.span() for match in _MASK.finditer(masked)]
    clauses = [clause.span for clause in analysis.clauses]
    around = [
        (start, end)
        for start, end in clauses
        if any(start <= last and first <= end for first, last in masks)
    ]
    return [*masks, *around]


def _harmless(fact: Fact) -> bool:
    told = (fact.text, fact.value, fact.subject, fact.replaces or "", *fact.entities)
    return all(_may_be_written(text) for text in told if text)


def _may_be_written(text: str) -> bool:
    words = _WORD.findall(text.lower())
    return (
        "[" not in text
        and not any(char.isdigit() for char in text)
        and _number_words().isdisjoint(words)
        and _SPELLED.search(text) is None
        and not sensitive.scan(text).found
        and not _names_a_secret(words)
    )


def _names_a_secret(words: Sequence[str]) -> bool:
    """Whether words speak of a secret whose value was masked: "my pin for the bank: [secret]".

    A code is often no secret ("i review code"), so that word alone does not count.
    """
    triggers = load_lexicon().triggers
    return any(
        trigger.secret
        and trigger.kind != "code"
        and tuple(words[at : at + len(trigger.words)]) == trigger.words
        for at, word in enumerate(words)
        for trigger in triggers.get(word, ())
    )


@lru_cache(maxsize=1)
def _number_words() -> frozenset[str]:
    numbers = load_lexicon().numbers
    told = (numbers.digits, numbers.teens, numbers.tens, numbers.repeats, numbers.quantities)
    articles = {"one", "un", "une", "uno", "una", "ein", "eine", "a"}
    return frozenset(word for table in told for word in table) - articles
