"""The profile: what BMO knows about a user before the first word, once per session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bmo.recall.assembly import cost, overhead
from bmo.turn import StoredFact

_SECTION_TOKENS: Final = 5
"""Tokens of a section's title."""

_NAME_SLOTS: Final = frozenset({"name", "nickname", "form_of_address", "address_as"})
_CORE_SLOTS: Final = frozenset(
    {"occupation", "employer", "lives_in", "workplace", "role", "age", "job", "team_role"}
)
_HEALTH_SLOTS: Final = frozenset(
    {
        "allergy",
        "intolerance",
        "diet",
        "health_condition",
        "condition",
        "medication",
        "takes_medication",
        "cannot_eat",
        "disability",
        "pregnant",
    }
)
_CATEGORY_RANK: Final = {
    "relationships": 5.0,
    "preferences": 7.0,
    "goals": 6.5,
    "personal_facts": 7.5,
    "policies": 8.0,
    "decisions": 8.5,
}


def importance(fact: StoredFact) -> float:
    """Rank of a fact in the profile; lower comes first.

    Hard rules and standing instructions, the name, people's names, health and diet, where and
    what the user is, goals, preferences, the rest.
    """
    slot = fact.slot or ""
    if fact.kind == "hard_rule":
        return 0.0
    if fact.subject == "user" and slot in _NAME_SLOTS:
        return 1.0
    if _is_standing(fact):
        return 2.0
    if fact.category == "relationships" and slot not in _HEALTH_SLOTS and _introduces(fact):
        return 3.0
    if slot in _HEALTH_SLOTS or fact.domain == "health" or fact.sensitive:
        return 3.5
    if fact.subject == "user" and slot in _CORE_SLOTS:
        return 4.0
    return _CATEGORY_RANK.get(fact.category, 9.0)


def _is_standing(fact: StoredFact) -> bool:
    return fact.category == "preferences" and (
        fact.kind == "policy" or (fact.slot or "").startswith(("standing", "instruction", "answer"))
    )


def _introduces(fact: StoredFact) -> bool:
    """Whether it says who somebody is ("Has a brother named Sam")."""
    relation = fact.subject.partition(":")[0].rpartition(".")[2]
    return fact.slot in {"name", relation, "relation", "pet", "kin"} or " named " in fact.text


def choose_profile(
    facts: Sequence[StoredFact], budget_tokens: int, now: datetime
) -> tuple[list[StoredFact], list[StoredFact]]:
    """Facts of the profile, by importance inside the budget.

    Args:
        facts: The user's live facts.
        budget_tokens: BMO_PROFILE_TOKENS.
        now: The session's start; what expired before is left out.

    Returns:
        (chosen, left out), most important first.
    """
    alive = [f for f in facts if f.expires_at is None or f.expires_at > now]
    ordered = sorted(alive, key=lambda f: (importance(f), -f.valid_from.timestamp(), f.text, f.id))
    chosen: list[StoredFact] = []
    left: list[StoredFact] = []
    spent = overhead(profile=True)
    sections: set[str] = set()
    for fact in ordered:
        section = "rules" if fact.kind == "hard_rule" else fact.category
        tokens = cost(fact, dated=False) + (0 if section in sections else _SECTION_TOKENS)
        if spent + tokens <= budget_tokens:
            chosen.append(fact)
            sections.add(section)
            spent += tokens
        else:
            left.append(fact)
    return chosen, left
