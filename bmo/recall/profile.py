"""The profile: what BMO knows about a user before the first word, once per session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from bmo.recall.assembly import SECTION_TOKENS, cost, overhead, section_of
from bmo.recall.budget import RULES_RESERVE
from bmo.turn import StoredFact

_SLOTS: Final = {
    "name": 1.0,
    "preferred_name": 1.0,
    "allergic_to": 3.0,
    "diet": 3.0,
    "lives_in": 4.0,
    "works_as": 4.0,
    "employer": 4.0,
}
_CATEGORIES: Final = {
    "relationships": 2.0,
    "personal_facts": 5.0,
    "preferences": 5.0,
    "goals": 5.0,
    "policies": 8.0,
    "decisions": 9.0,
}


def importance(fact: StoredFact) -> float:
    """Rank of a fact in the profile; lower comes first.

    Hard rules, the name, standing wishes, people, health, home and work, the rest.
    """
    if fact.kind == "hard_rule":
        return 0.0
    if fact.subject == "user" and fact.slot in _SLOTS:
        return _SLOTS[fact.slot]
    if fact.category == "preferences" and fact.kind == "policy":
        return 1.5
    return _CATEGORIES.get(fact.category, 9.0)


def by_importance(facts: Iterable[StoredFact]) -> list[StoredFact]:
    """Facts as a profile or a wide question wants them: by rank, most used and newest first."""
    return sorted(
        facts,
        key=lambda f: (importance(f), -f.use_count, -f.valid_from.timestamp(), f.text, f.id),
    )


def choose_profile(
    facts: Sequence[StoredFact], budget_tokens: int, now: datetime
) -> tuple[list[StoredFact], list[StoredFact]]:
    """Facts of the profile inside the budget, beside the hard rules, which have a reserve.

    Args:
        facts: The user's live facts.
        budget_tokens: BMO_PROFILE_TOKENS, for all but the hard rules.
        now: The session's start; what expired before is left out.

    Returns:
        (chosen, left out), most important first.
    """
    alive = [fact for fact in facts if fact.expires_at is None or fact.expires_at > now]
    chosen: list[StoredFact] = []
    left: list[StoredFact] = []
    spent = {False: overhead(profile=True), True: 0}
    most = {False: budget_tokens, True: RULES_RESERVE}
    sections: set[str] = set()
    for fact in by_importance(alive):
        section, is_rule = section_of(fact), fact.kind == "hard_rule"
        tokens = cost(fact) + (0 if section in sections else SECTION_TOKENS)
        if spent[is_rule] + tokens <= most[is_rule]:
            chosen.append(fact)
            sections.add(section)
            spent[is_rule] += tokens
        else:
            left.append(fact)
    return chosen, left
