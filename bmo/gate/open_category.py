"""The category of a memory that the judge found: its odds, and what the words themselves tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from bmo.gate.asked_question import last_question, who_does
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.pack_tables import read_table
from bmo.gate.third_person import third_person_lexicon
from bmo.turn import Assessment, Category, Fact

TURN_WEIGHT = 0.35
"""Weight of the whole turn's odds beside those of the memory's own clauses: a clause alone may
have lost what it is about ("she hates it")."""

OF_THEIRS = 0.2
"""Odds of a relationship under which what a doctor did is told of the user."""

_STANDING = re.compile(r"Wants the assistant (?:never|always|not|to)\b")

_ALL: tuple[Category, ...] = (
    "relationships",
    "preferences",
    "goals",
    "personal_facts",
    "policies",
    "decisions",
)
_OF_ONESELF: tuple[Category, ...] = ("personal_facts", "goals", "preferences", "policies")
WIDE = frozenset({"activity", "does_without", "not_fan"})
"""Rules whose facts ``rule_category`` sorts."""


@dataclass(frozen=True, slots=True)
class CategoryCues:
    """What ``categories.toml`` says.

    Attributes:
        patterns: Name of a cue -> its expression, and whether it is found anywhere in a text.
        asked: Words of a question for a choice, by what they are there.
    """

    patterns: Mapping[str, tuple[re.Pattern[str], bool]]
    asked: Mapping[str, frozenset[str]]

    def found(self, cue: str, text: str) -> re.Match[str] | None:
        """Where ``cue`` stands in ``text``, if it does."""
        pattern, anywhere = self.patterns[cue]
        return pattern.search(text) if anywhere else pattern.match(text)


@lru_cache(maxsize=1)
def category_cues() -> CategoryCues:
    """The English cues, read from the package on first use."""
    raw = read_table("en", "categories.toml")
    asked = raw.pop("asked")
    patterns = {
        name: (
            re.compile(cue["pattern"].replace("\n", ""), 0 if cue.get("case", True) else re.I),
            cue.get("whole", False),
        )
        for name, cue in raw.items()
    }
    return CategoryCues(patterns, {name: frozenset(words) for name, words in asked.items()})


def told_category(text: str) -> Category | None:
    """The category that the words of a memory themselves tell, or None.

    Args:
        text: Canonical text of what the user told of no known person.
    """
    cues = category_cues()
    if cues.found("self", text):
        return "personal_facts"
    if cues.found("ritual", text):
        return "policies"
    if cues.found("own_verb", text) and is_trade_rule(text):
        return "policies"
    if cues.found("naming", text) or _names_someone(text):
        return "relationships"
    return None


def is_trade_rule(text: str) -> bool:
    """Whether a text is a rule of one's work ("Never makes an offer without a reference")."""
    cues = category_cues()
    return bool(cues.found("strict", text) and cues.found("trade", text))


def _names_someone(text: str) -> bool:
    """Whether a text speaks of somebody by name ("Pam next door keeps their spare key")."""
    found = category_cues().found("named_first", text)
    if found is None:
        return False
    lexicon = third_person_lexicon()
    name = found["name"].lower()
    return name in lexicon.people.names and name not in lexicon.common_names


def _voices_choice(text: str) -> bool:
    """Whether a text says that something was decided, and is no event of a life."""
    cues = category_cues()
    return bool(cues.found("choice", text)) and not cues.found("life", text)


def rule_category(fact: Fact) -> Category:
    """The category of a fact of a wide rule, which takes any verb: what its words tell.

    Args:
        fact: About the user, of one of the rules in ``WIDE``.
    """
    if is_trade_rule(fact.text):
        return "policies"
    return "preferences" if category_cues().found("taste", fact.text) else fact.category


def is_standing(text: str) -> bool:
    """Whether a memory is a standing instruction to the assistant."""
    return _STANDING.match(text) is not None


def asks_for_a_choice(assistant_before: str) -> bool:
    """Whether the assistant's last question is what was decided ("which one did you go for?")."""
    question = last_question(assistant_before)
    asked = category_cues().asked
    if question[:1] and question[0] not in asked["which"]:
        return False
    told = {"did", "have", "has"} & set(question)
    went = any(a in asked["went"] and b in ("for", "with") for a, b in pairwise(question))
    chosen = went or not asked["chosen"].isdisjoint(question)
    return bool(told) and chosen and not asked["of"].isdisjoint(question)


def asks_for_name(assistant_before: str) -> bool:
    """Whether the assistant's last question is who the user is ("and what is yours?")."""
    question = last_question(assistant_before)
    return category_cues().found("who_are_you", " ".join(question)) is not None


def asks_for_someone(assistant_before: str) -> bool:
    """Whether the assistant's last question is who does something ("who does the rota?")."""
    return bool(who_does(last_question(assistant_before)))


def _does_their_job(subject: str, own: Assessment) -> bool:
    """Whether a doctor or the like is spoken of for what they did ("put them on statins")."""
    relation = subject.removeprefix("user.").partition(":")[0]
    professional = relation in open_lexicon().professionals
    return professional and own.categories["relationships"] < OF_THEIRS


def category_of(
    text: str,
    subject: str,
    own: Assessment,
    whole: Assessment,
    *,
    settles_choice: bool = False,
    names_someone: bool = False,
    introduces: bool = False,
) -> Category:
    """Where a memory belongs.

    Args:
        text: Canonical text.
        subject: As in ``Fact.subject``.
        own: The judge on the memory's clauses.
        whole: The judge on the whole turn.
        settles_choice: The memory answers what was decided.
        names_someone: It answers who does something.
        introduces: It answers who the user is.
    """
    if is_standing(text):
        likely = max(own.categories, key=lambda name: own.categories[name])
        return likely if likely in ("policies", "preferences") else "preferences"
    if settles_choice:
        return "decisions"
    if names_someone or (subject.startswith("user.") and not _does_their_job(subject, own)):
        return "relationships"  # what is true of one's people is kept with them
    told = told_category(text)
    if told is not None:
        return told
    odds = {name: own.categories[name] + TURN_WEIGHT * whole.categories[name] for name in _ALL}
    likeliest = max(_ALL, key=lambda name: odds[name])
    if introduces and likeliest not in _OF_ONESELF[:3]:
        return "personal_facts"
    if likeliest == "decisions" and not _voices_choice(text):
        return max(_OF_ONESELF, key=lambda name: odds[name])
    return likeliest
