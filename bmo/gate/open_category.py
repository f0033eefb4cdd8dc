"""The category of a memory that the judge found: its odds, and what the words themselves tell."""

from __future__ import annotations

import re
from itertools import pairwise

from bmo.gate.asked_question import last_question, who_does
from bmo.gate.third_person import third_person_lexicon
from bmo.turn import Assessment, Category, Fact

TURN_WEIGHT = 0.35
"""Weight of the whole turn's odds beside those of the memory's own clauses: a clause alone may
have lost what it is about ("she hates it")."""

_CHOSEN = frozenset(
    (
        "decide decided choose chose chosen pick picked settle settled agree agreed switch switched"
    ).split()
)
_WENT = ("go", "went", "gone")
_WHICH = frozenset({"which", "what", "who", "where"})
_TEAM = frozenset({"you", "the", "your", "team", "we"})
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
_SELF = re.compile(
    r"(?:Name|Yours) is\b"
    r"|[^\W\d_]+ (?:spelled|spelt|with (?:a|an|one|two|no)(?: single| double)? [a-z]\b)"
    r"|[^\W\d_]+,? (?:and )?(?:from \w+|(?:\d\d|twenty|thirty|forty|fifty|sixty|seventy|eighty)\b)"
)
"""How a text begins that says who the user is ("Joost, from Ghent, forty one")."""
_NAMING = re.compile(
    r"(?<!not )\b(?:[Cc]alls?|[Cc]alling) (?:her|him|them|the \w+) (?!back\b|when\b)\w"
)
_RITUAL = re.compile(
    r"(?:The |Their |Our |The team's )?(?:daily |weekly |monday |friday )?"
    r"(?:stand-?up|stand up|retros?|retrospectives?|sprints?|sprint planning|releases?|deploys?|"
    r"deployments?|code reviews?|code freeze|pull requests?|on-?call|handovers?|all-?hands|"
    r"team meetings?|briefings?|stock-?takes?|rotas?) "
    r"(?:is|are|has|have|happens?|starts?|runs?|goes|go|moved|takes?|ends?|closes?)\b",
    re.IGNORECASE,
)
"""What a team does by the clock: a standing rule whoever tells it."""
_TRADE = re.compile(
    r"\b(?:advance|bookings?|candidates?|cents|clients?|commissions?|contracts?|credit|customers?|"
    r"deadlines?|deposits?|discounts?|fees?|guests?|hires?|invoices?|offers?|overtime|patients|"
    r"quotes?|rate|refunds?|remote|returns?|suppliers?|walk-ins|"
    r"(?:for|in|at|on) (?:their|the) (?:kitchen|shop|salon|studio|workshop|ward|site|stall|clinic|"
    r"office|restaurant|bakery|garage|stand|bar|cafe|surgery|bus|classroom))\b"
)
_STRICT = re.compile(r"\b(?:always|never|not|only|no|nothing|nobody|noes|must)\b", re.IGNORECASE)
_OWN_VERB = re.compile(
    r"(?:Always|Never|Only|Does not|Noes?|Do not|Cannot|Will not|Charges|Takes|Accepts)\b"
)
_CHOICE = re.compile(
    r"\b(?:decid\w+|decision|cho(?:ose|oses|se|sen)|choice|pick(?:s|ed|ing)?|settl\w+|switch\w*|"
    r"vot(?:e|es|ed|ing)|opt(?:s|ed|ing)?|go(?:es|ing)? (?:with|for|ahead)|went (?:with|for)|won|"
    r"drop(?:s|ped|ping)?|scrap\w*|ditch\w*|replac\w+|instead|from now|as of|stick\w*|stay\w*|"
    r"end(?:ed|ing) up|no longer|any more|agreed (?:to|on|that)|moved? (?:to|over|everything)|"
    r"migrat\w+|adopt\w*|use[sd]?|using|goes through|through|keep(?:s|ing)?|kept|named|naming|"
    r"stop(?:s|ped|ping)?|start(?:s|ed|ing)?|cancel\w*|postpon\w+|push\w*|now)\b",
    re.IGNORECASE,
)
"""What is voiced when something was decided."""
_LIFE = re.compile(r"\b(?:retire\w*|pension|surgery|operation|bought|sold|moved house|degree)\b")
"""Events of a life, however they came about."""
WIDE = frozenset({"activity", "not_fan"})
"""Rules whose facts ``rule_category`` sorts."""
_TASTE = re.compile(
    r"(?:(?:always|usually|never|only|mostly) )?"
    r"(?:reads|watches|listens to|drinks|eats|orders|sits (?:in|at|on|by|up)|"
    r"takes (?:an?|the) (?:aisle|window|front|back|middle)|"
    r"(?:takes|has) their (?:tea|coffee))\b",
    re.IGNORECASE,
)
"""Habits of taste."""
_NAMED_FIRST = re.compile(
    r"(?:From \w+ |Now |Young |Old )?(?P<name>[^\W\d_]\w+)(?:'s)? (?:\w+ )?"
    r"(?:next door|is|has|was|does|do|did|had|keeps?|handles?|runs?|looks?|drives?|coaches|teaches|"
    r"cuts?|comes?|lives?|works?|covers?|sings?|plays?|owns?|takes?|makes?|does|goes|went|looks|"
    r"brings?|helps?|fixes|minds?|walks?|feeds?|leaves?|left|moved|and)\b"
)


def told_category(text: str) -> Category | None:
    """The category that the words of a memory themselves tell, or None.

    Args:
        text: Canonical text of what the user told of no known person.
    """
    if _SELF.match(text):
        return "personal_facts"
    if _RITUAL.match(text):
        return "policies"
    if _OWN_VERB.match(text) and is_trade_rule(text):
        return "policies"
    if _NAMING.search(text) or _names_someone(text):
        return "relationships"
    return None


def is_trade_rule(text: str) -> bool:
    """Whether a text is a rule of one's work ("Never makes an offer without a reference")."""
    return _STRICT.search(text) is not None and _TRADE.search(text) is not None


def _names_someone(text: str) -> bool:
    """Whether a text speaks of somebody by name ("Pam next door keeps their spare key")."""
    found = _NAMED_FIRST.match(text)
    if found is None:
        return False
    lexicon = third_person_lexicon()
    name = found["name"].lower()
    return name in lexicon.people.names and name not in lexicon.common_names


def _voices_choice(text: str) -> bool:
    """Whether a text says that something was decided, and is no event of a life."""
    return _CHOICE.search(text) is not None and _LIFE.search(text) is None


def rule_category(fact: Fact) -> Category:
    """The category of a fact of a wide rule, which takes any verb: what its words tell.

    Args:
        fact: About the user, of one of the rules in ``WIDE``.
    """
    if is_trade_rule(fact.text):
        return "policies"
    return "preferences" if _TASTE.match(fact.text) else fact.category


def is_standing(text: str) -> bool:
    """Whether a memory is a standing instruction to the assistant."""
    return _STANDING.match(text) is not None


def asks_for_a_choice(assistant_before: str) -> bool:
    """Whether the assistant's last question is what was decided ("which one did you go for?")."""
    question = last_question(assistant_before)
    if question[:1] and question[0] not in _WHICH:
        return False
    told = {"did", "have", "has"} & set(question)
    went = any(a in _WENT and b in ("for", "with") for a, b in pairwise(question))
    chosen = went or not _CHOSEN.isdisjoint(question)
    return bool(told) and chosen and not _TEAM.isdisjoint(question)


def asks_for_name(assistant_before: str) -> bool:
    """Whether the assistant's last question is who the user is ("and what is yours?")."""
    question = last_question(assistant_before)
    asked = " ".join(question)
    return _WHO_ARE_YOU.search(asked) is not None


_WHO_ARE_YOU = re.compile(
    r"\byour (?:\w+ )?name\b|\bwhat is yours\b|\bwho am i \w+ing\b|\bwho (?:is this|are you)\b|"
    r"\b(?:call you|are you called)\b|\bwho do i have\b"
)


def asks_for_someone(assistant_before: str) -> bool:
    """Whether the assistant's last question is who does something ("who does the rota?")."""
    return bool(who_does(last_question(assistant_before)))


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
    if subject.startswith("user.") or names_someone:
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
