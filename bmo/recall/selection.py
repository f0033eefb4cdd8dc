"""Which of the scored memories are given: greedily, inside the budget, rather nothing than noise.

The order of the rules is that of the published design (greedy, threshold, hard rules above .7
always); the relevance gap and the abstention on unanswered slots are added.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from bmo.recall.assembly import cost, overhead
from bmo.recall.budget import RULES_RESERVE
from bmo.recall.calibration import reference_calibration
from bmo.recall.candidates import NAMED
from bmo.recall.scoring import DEFAULT_WEIGHTS, Weights
from bmo.turn import RecalledMemory, RecallPlan

ACCURACY_STEP: Final = 0.1
"""How much lower the threshold is when accuracy matters (.3 becomes .2)."""

HARD_RULE_ALWAYS: Final = 0.7
"""A hard rule above this is given even when the budget is spent."""

GAP_SHARE: Final = 0.62
"""Share of the best similarity that a memory needs, where that is not a nearness: beside one that
stands in the very slot asked for, and for a request that depends on several things."""

GAP_COSINE: Final = 0.17
"""How much less near than the nearest a memory may be, as a cosine of the reference embedder.

Not as a share of the calibrated similarity: that is 1 for everything that is near, and tells the
nearest from the next no more.
"""

IN_SLOT: Final = 1.0 - 1e-9
"""Similarity of what stands in a slot that the plan names."""

MOST: Final = 8
"""Memories given for a turn, at most; a wide question may fill its budget."""


def select(
    candidates: Sequence[RecalledMemory],
    plan: RecallPlan,
    threshold: float,
    weights: Weights = DEFAULT_WEIGHTS,
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Splits candidates into those given and those left out.

    Args:
        candidates: Scored memories, any order.
        plan: What is asked and how many tokens there are.
        threshold: BMO_RECALL_THRESHOLD; lowered by .1 when accuracy matters.
        weights: Those the memories were scored with.

    Returns:
        (given, left out with the reason in ``why``), best first.
    """
    floor = threshold - ACCURACY_STEP if plan.prefer_accuracy else threshold
    ordered = sorted(
        candidates, key=lambda m: (-m.score, -m.fact.valid_from.timestamp(), m.fact.text, m.fact.id)
    )
    similar = {m.fact.id: m.parts.semantic / weights.semantic for m in ordered}
    floor_of_gap = _floor_of_gap(similar.values(), plan)
    most = len(ordered) if plan.include_all or plan.depth == "full" else MOST
    own = _is_answered(ordered, plan, floor)
    given: list[RecalledMemory] = []
    left: list[RecalledMemory] = []
    spent = rules_spent = overhead()
    for memory in ordered:
        if memory.score < floor:
            left.append(replace(memory, why=f"score {memory.score:.2f} under {floor:.2f}"))
            continue
        beyond_gap = similar[memory.fact.id] < floor_of_gap and memory.why != NAMED
        if beyond_gap and not plan.include_all:
            left.append(replace(memory, why="after the relevance gap"))
            continue
        if own and memory.fact.slot in plan.slots and memory.fact.subject.startswith("user."):
            left.append(replace(memory, why="the same of somebody else"))
            continue
        if len(given) >= most:
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


def _is_answered(ordered: Sequence[RecalledMemory], plan: RecallPlan, floor: float) -> bool:
    """Whether a question about the user alone has its answer: others' homes are no part of it."""
    if plan.subjects != ("user",) or plan.trigger not in _OF_ONESELF or plan.include_all:
        return False
    if plan.trigger == "judge" and not _OF_A_TABLE.isdisjoint(plan.slots):
        return False  # what may be eaten depends on whoever eats
    return any(
        memory.fact.subject == "user"
        and memory.fact.slot in plan.slots
        and memory.score >= floor
        and memory.fact.category != "relationships"
        for memory in ordered
    )


_OF_ONESELF: Final = frozenset({"own_fact_question", "explicit_prompt", "judge"})

_OF_A_TABLE: Final = frozenset({"allergy", "intolerance", "diet"})


def _floor_of_gap(similarities: Collection[float], plan: RecallPlan) -> float:
    """The similarity below which lies the relevance gap.

    What a request depends on ("a gift for my wife") is of several kinds, and the nearest of one
    kind says nothing of the others; a question has one answer.
    """
    best = max(similarities, default=0.0)
    if best <= 0.0 or best >= IN_SLOT or plan.trigger == "indirect_need":
        return GAP_SHARE * best
    scale = reference_calibration()
    return scale.share(scale.cosine(best) - GAP_COSINE)
