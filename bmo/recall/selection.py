"""Which of the scored memories are given: greedily, inside the budget.

The rules are those of the published design (best first, threshold, hard rules above .7 always, a
reserve for them). Where the read gate said that memory is needed, the threshold begins after the
nearest few: a model passes over a line that it does not need, and cannot answer from one that it
was not given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bmo.recall.assembly import cost, overhead
from bmo.recall.budget import RULES_RESERVE
from bmo.turn import RecalledMemory, RecallPlan

ACCURACY_STEP: Final = 0.1
"""How much lower the threshold is when accuracy matters (.3 becomes .2)."""

HARD_RULE_ALWAYS: Final = 0.7
"""A hard rule above this is given even when the budget is spent."""

FEW: Final = 5
"""Memories given where memory is needed, whatever their score."""

MOST: Final = 8
"""Memories given for a turn, at most; a wide question may fill its budget."""

SMALL_TOKENS: Final = 300
"""While a block of all memories fits this, a turn that needs memory is given them all."""

CERTAIN: Final = frozenset({"slot", "person"})
"""Reasons of a candidate that is the very thing asked for."""


def select(
    candidates: Sequence[RecalledMemory],
    plan: RecallPlan,
    threshold: float,
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Splits candidates into those given and those left out.

    Args:
        candidates: Scored memories, any order.
        plan: What is asked and how many tokens there are.
        threshold: BMO_RECALL_THRESHOLD; lowered by .1 when accuracy matters.

    Returns:
        (given, left out with the reason in ``why``), best first.
    """
    ordered = sorted(
        candidates, key=lambda m: (-m.score, -m.fact.valid_from.timestamp(), m.fact.text, m.fact.id)
    )
    floor = threshold - ACCURACY_STEP if plan.prefer_accuracy else threshold
    every = plan.include_all or plan.depth == "full" or _is_small(ordered, plan)
    few = len(ordered) if every else 0 if plan.trigger == "forced" else FEW
    most = len(ordered) if every else MOST
    given: list[RecalledMemory] = []
    left: list[RecalledMemory] = []
    spent = rules_spent = overhead()
    for memory in ordered:
        if memory.score < floor and len(given) >= few:
            left.append(replace(memory, why=f"score {memory.score:.2f} under {floor:.2f}"))
            continue
        if len(given) >= most and memory.why not in CERTAIN:
            left.append(replace(memory, why=f"more than {most} memories"))
            continue
        tokens = cost(memory.fact)  # counting tokens is dear: only of what may be given
        is_rule = memory.fact.kind == "hard_rule"
        if spent + tokens <= plan.budget_tokens:
            given.append(memory)
            spent += tokens
        elif is_rule and rules_spent + tokens <= RULES_RESERVE and memory.score > HARD_RULE_ALWAYS:
            given.append(memory)
            rules_spent += tokens
        else:
            left.append(replace(memory, why="budget spent"))
    return given, left


def _is_small(candidates: Sequence[RecalledMemory], plan: RecallPlan) -> bool:
    """Whether everything fits; a forced plan does not say that memory is needed."""
    if plan.trigger == "forced" or len(candidates) * 4 > SMALL_TOKENS:
        return False
    return overhead() + sum(cost(memory.fact) for memory in candidates) <= SMALL_TOKENS
