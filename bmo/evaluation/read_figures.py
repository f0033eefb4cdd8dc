"""Figures of the read gate's plans on annotated conversations and on lines written by others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bmo.evaluation.annotated import read_conversations
from bmo.evaluation.corpora import read_corpus
from bmo.evaluation.metrics import share
from bmo.evaluation.write_figures import Figures
from bmo.turn import RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.recall import ReadGate


def plan_figures(gate: ReadGate, conversations: Path, corpora: Path | None) -> Figures:
    """Plans every turn; previous plans are handed on within a visit."""
    figures = Figures()
    right: list[bool] = []
    precision: list[bool] = []
    recall: list[bool] = []
    for name, turns in read_conversations(conversations):
        previous: RecallPlan | None = None
        place = 0
        for row in turns:
            if row.opens_visit:
                previous, place = None, 0
            plan = gate.plan(row.turn, previous=previous, conversation_turns=place)
            previous, place = plan, place + 1
            right.append(plan.recall == row.recall)
            if plan.recall:
                precision.append(row.recall)
            if row.recall:
                recall.append(plan.recall)
            if plan.recall != row.recall:
                figures.misses["recall"].append(
                    f"{name}: {row.turn.text!r} wants {row.recall}, plan {plan.trigger} "
                    f"read_need={plan.read_need}"
                )
    figures.shares = {
        "recall yes/no right": share(right),
        "read precision": share(precision),
        "read recall": share(recall),
    }
    if corpora is not None:
        for corpus, wanted in (("read_negative", False), ("read_positive", True)):
            searched: list[bool] = []
            for line in read_corpus(corpora, corpus):
                plan = gate.plan(Turn(text=line.text))
                figures.elapsed_us[corpus].append(plan.elapsed_us)
                searched.append(plan.recall)
                if plan.recall != wanted:
                    figures.misses[corpus].append(
                        f"{line.text!r} {plan.trigger} read_need={plan.read_need}"
                    )
            figures.shares[f"{corpus} searched"] = share(searched)
    return figures
