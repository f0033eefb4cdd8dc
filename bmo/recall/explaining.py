"""A recall in words: every candidate with its score in parts, and why it was in or out."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.turn import Recall, RecalledMemory


@dataclass(frozen=True, slots=True)
class Explanation:
    """One candidate of a recall.

    Attributes:
        text: Canonical text.
        given: Whether it went before the model.
        score: Total.
        semantic: Part of the score; so are the next four.
        recency: See ``semantic``.
        domain: See ``semantic``.
        usage: See ``semantic``.
        kind: See ``semantic``.
        why: How it came in, or why it was left out.
        fact_id: The ledger's id.
    """

    text: str
    given: bool
    score: float
    semantic: float
    recency: float
    domain: float
    usage: float
    kind: float
    why: str
    fact_id: str


def explain(recall: Recall) -> list[Explanation]:
    """Every candidate, those given first, each best first."""
    return [_explained(m, True) for m in recall.memories] + [
        _explained(m, False) for m in recall.left_out
    ]


def render(recall: Recall) -> str:
    """The same as lines of text: what ``bmo recall --explain`` prints without colours."""
    plan = recall.plan
    lines = [
        f"{'recall' if plan.recall else 'no recall'}: {plan.trigger}, {plan.complexity}, "
        f"budget {plan.budget_tokens} tokens",
        f"slots: {', '.join(plan.slots) or '-'}",
        f"may matter: {', '.join(plan.soft_slots) or '-'}",
        f"about: {', '.join(plan.subjects) or 'anybody'}",
    ]
    for row in explain(recall):
        mark = "+" if row.given else "-"
        lines.append(
            f"{mark} {row.score:.2f} = semantic {row.semantic:.2f} + recency {row.recency:.2f} "
            f"+ domain {row.domain:.2f} + usage {row.usage:.2f} + kind {row.kind:.2f}  "
            f"{row.text}  [{row.why}]"
        )
    if recall.reason:
        lines.append(f"note: {recall.reason}")
    return "\n".join(lines)


def _explained(memory: RecalledMemory, given: bool) -> Explanation:
    parts = memory.parts
    return Explanation(
        text=memory.fact.text,
        given=given,
        score=memory.score,
        semantic=parts.semantic,
        recency=parts.recency,
        domain=parts.domain,
        usage=parts.usage,
        kind=parts.kind,
        why=memory.why,
        fact_id=memory.fact.id,
    )
