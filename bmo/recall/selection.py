"""Which of the scored memories are given: greedily, inside the budget.

The rules are those of the published design: best first, a reserve that hard rules fill whatever
their score, those beyond it by score (above .7 always), and of two memories that contradict each
other both or none. Its threshold of a score is not: where memory is needed a model passes over a
line that it does not need, and cannot answer from one that it was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bmo.ledger.reconcile import conflict_key
from bmo.recall.assembly import cost, overhead
from bmo.recall.budget import RULES_RESERVE
from bmo.turn import RecalledMemory, RecallPlan

HARD_RULE_ALWAYS: Final = 0.7
"""A hard rule above this is given even when the budget is spent."""

MOST: Final = 5
"""Memories given for a turn, at most; a wide question may fill its budget."""

CERTAIN: Final = frozenset({"slot", "person"})
"""Reasons of a candidate that is the very thing asked for."""


def select(
    candidates: Sequence[RecalledMemory], plan: RecallPlan
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Splits candidates into those given and those left out.

    Args:
        candidates: Scored memories, any order.
        plan: What is asked and how many tokens there are.

    Returns:
        (given, left out with the reason in ``why``), best first.
    """
    ordered = sorted(candidates, key=_best_first)
    every = plan.include_all or plan.depth == "full"
    reserved, ordered = _reserved(ordered)
    most = len(ordered) if every else MOST
    given: list[RecalledMemory] = []
    left: list[RecalledMemory] = []
    spent = overhead()
    for memory in ordered:
        if len(given) >= most and memory.why not in CERTAIN:
            left.append(replace(memory, why=f"more than {most} memories"))
            continue
        tokens = cost(memory.fact)  # counting tokens is dear: only of what may be given
        is_rule = memory.fact.kind == "hard_rule"
        if spent + tokens <= plan.budget_tokens:
            given.append(memory)
            spent += tokens
        elif is_rule and memory.score > HARD_RULE_ALWAYS:
            given.append(memory)
        else:
            left.append(replace(memory, why="budget spent"))
    given = sorted((*reserved, *given), key=_best_first)
    known = {conflict_key(memory.fact) for memory in given if memory.fact.conflict}
    other = [m for m in left if m.fact.conflict and conflict_key(m.fact) in known]
    given += [replace(memory, why="contradicts another") for memory in other]
    return given, [memory for memory in left if memory not in other]


def _best_first(memory: RecalledMemory) -> tuple[float, float, str, str]:
    fact = memory.fact
    return (-memory.score, -fact.valid_from.timestamp(), fact.text, fact.id)


def _reserved(
    ordered: Sequence[RecalledMemory],
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """The hard rules that fill the reserve, best first, and everything else."""
    reserved: list[RecalledMemory] = []
    others: list[RecalledMemory] = []
    spent = 0
    for memory in ordered:
        tokens = cost(memory.fact) if memory.fact.kind == "hard_rule" else RULES_RESERVE + 1
        if spent + tokens <= RULES_RESERVE:
            reserved.append(memory)
            spent += tokens
        else:
            others.append(memory)
    return reserved, others
