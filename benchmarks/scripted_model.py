"""What the way from a held turn to a memory makes of answers of a known quality.

``python -m benchmarks.scripted_model --wrong 0.1`` runs ``bmo eval modes --mode hybrid`` with a
fake service behind the gate (``tests/fakes/model_server.py``) that answers from the annotations,
one answer in ten wrong: batches, quotes, acceptance and reconciliation are real, the answers are
no model's. How good a real model's are it cannot show (``bmo eval modes --ask-model``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bmo.cli import app
from bmo.replay.compare import has
from bmo.replay.scenario import ExpectedFact, ScenarioTurn, find_scenarios, load_scenario
from bmo.turn import CATEGORIES
from tests.fakes.model_server import OLLAMA_MODEL, FakeModelServer

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


CHARACTERS_A_TOKEN = 4
"""For counting tokens without a tokenizer."""


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
    """Recorded answers, JSONL: ``{"text": ..., "facts": [{"quote": ..., "statement": ...}]}``."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {row["text"]: list(row["facts"]) for row in rows}


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


def main() -> None:
    """Prints the figures of ``bmo eval modes`` with the fake service behind the gate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default="tests/scenarios")
    parser.add_argument("--wrong", type=float, default=0.1, help="share of wrong answers")
    parser.add_argument("--recorded", type=Path, help="answers by hand, JSONL")
    given = parser.parse_args()
    scenarios = [load_scenario(path) for path in find_scenarios([Path(given.folder)])]
    turns = [turn for one in scenarios for visit in one.sessions for turn in visit.turns]
    recorded = read_answers(given.recorded) if given.recorded else {}
    answers = scripted_answers(turns, given.wrong, recorded=recorded)
    print(label_of(given.wrong, len({turn.user for turn in turns} & set(recorded))))
    with FakeModelServer(script=answers) as server:
        os.environ |= {
            "GATEKEEPER_LLM_MODEL": f"ollama/{OLLAMA_MODEL}",
            "OLLAMA_HOST": server.ollama_url,
        }
        asks = ["--mode", "hybrid", "--ask-model", "--conversations", given.folder]
        app(["eval", "modes", *asks], standalone_mode=False)
        sent = sum(len(json.dumps(one.body)) for one in server.asked()) / CHARACTERS_A_TOKEN
        print(f"{100 * sent / len(turns):,.0f} tokens sent per 100 turns (four characters are one)")


if __name__ == "__main__":
    main()
