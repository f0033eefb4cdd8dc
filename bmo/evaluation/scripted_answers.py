"""A model's answers made from the annotations, wrong at a stated rate: for figures, not a model.

It shows what the way from a held turn to a memory (batches, quotes, acceptance, reconciliation)
makes of answers of a known quality. How good a real model's answers are it cannot show.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bmo.replay.compare import has
from bmo.replay.scenario import ExpectedFact, ScenarioTurn
from bmo.turn import CATEGORIES

SEED = 20261121

_THIRD = {
    **dict.fromkeys(("i", "we"), "they"),
    **dict.fromkeys(("i'm", "im", "we're"), "they are"),
    **dict.fromkeys(("i've", "ive", "we've"), "they have"),
    **dict.fromkeys(("i'd", "i'll"), "they would"),
    **dict.fromkeys(("me", "us"), "them"),
    **dict.fromkeys(("my", "our"), "their"),
    **dict.fromkeys(("mine", "ours"), "theirs"),
    **dict.fromkeys(("myself", "ourselves"), "themselves"),
}
_FIRST_PERSON = re.compile(
    rf"\b(?:{'|'.join(sorted(_THIRD, key=len, reverse=True))})\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"[^.!?;,]+")

Answers = dict[str, list[dict[str, Any]]]
"""A turn's words -> the facts a model proposes (quote, statement, category, confidence)."""


class AnswersError(ValueError):
    """A file of recorded answers is wrong; the message names the line."""


def scripted_answers(
    turns: Iterable[ScenarioTurn],
    error_rate: float,
    *,
    recorded: Answers | None = None,
    seed: int = SEED,
) -> Answers:
    """The answers of a scripted model to annotated turns.

    Where no answer is recorded, a right answer quotes the smallest part of the turn that holds
    the annotated strings, and says it in the user's own words, put into the third person word by
    word; it does not translate. A fact is
    answered wrongly with ``error_rate``: left out, put in another category, misquoted or denied,
    in turn by chance. A turn without facts is wrongly said to hold one with the same rate.

    Args:
        turns: Annotated turns.
        error_rate: 0..1.
        recorded: Answers written down for some turns, by the turn's words.
        seed: Of the errors.
    """
    chance = random.Random(seed)
    answers: Answers = {}
    for turn in turns:
        said = turn.user
        right = (recorded or {}).get(said)
        if right is None:
            quotes = [(_quote(said, wanted), wanted.category) for wanted in turn.facts]
            right = [_fact(quote, quote, category) for quote, category in quotes if quote]
        told = [one for fact in right if (one := _spoilt(fact, error_rate, chance)) is not None]
        if not turn.facts and not right and chance.random() < error_rate:
            told.append(_fact(said, said, chance.choice(CATEGORIES)))
        answers[said] = told
    return answers


def read_answers(path: Path) -> Answers:
    """Recorded answers, JSONL: ``{"text": ..., "facts": [{"quote": ..., "statement": ...}]}``.

    Raises:
        AnswersError: A line is wrong; the message names it.
    """
    answers: Answers = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise AnswersError(f"--recorded {str(path)!r} cannot be read ({error.strerror}).") from None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            answers[row["text"]] = list(row["facts"])
        except (ValueError, KeyError, TypeError):
            raise AnswersError(
                f'--recorded {str(path)!r}, line {number}: want {{"text": ..., "facts": [...]}}.'
            ) from None
    return answers


def label_of(error_rate: float, recorded: int = 0) -> str:
    """What stands beside every figure of the scripted model.

    Args:
        error_rate: 0..1.
        recorded: Turns whose answers were written by hand.
    """
    source = f"the annotations and {recorded} answers by hand" if recorded else "the annotations"
    return f"SCRIPTED from {source}, {error_rate:.0%} wrong answers; not a real model"


def _spoilt(
    fact: dict[str, Any], error_rate: float, chance: random.Random
) -> dict[str, Any] | None:
    """A right answer, or with ``error_rate`` a wrong one; None is left out."""
    if chance.random() >= error_rate:
        return fact
    error = chance.choice(("left out", "category", "misquoted", "denied"))
    if error == "left out":
        return None
    if error == "category":
        others = [name for name in CATEGORIES if name != fact["category"]]
        return {**fact, "category": chance.choice(others)}
    if error == "misquoted":
        return {**fact, "quote": f"{fact['quote']} as everybody knows"}
    return {**fact, "statement": f"It is not true that {fact['statement']}"}


def _quote(said: str, wanted: ExpectedFact) -> str | None:
    """The smallest clause that holds the annotated strings, else the turn; None without them."""
    clauses = [found[0].strip() for found in _CLAUSE.finditer(said)]
    fitting = [c for c in (*clauses, said) if all(has(c, part) for part in wanted.contains)]
    return min(fitting, key=len, default=None)


def _fact(quote: str, statement: str, category: str) -> dict[str, Any]:
    third = _FIRST_PERSON.sub(lambda found: _THIRD[found[0].casefold()], statement)
    return {"quote": quote, "statement": third, "category": category, "confidence": 0.9}
