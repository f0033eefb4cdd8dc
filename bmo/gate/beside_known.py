"""A second job, a move of long ago, a stay: what stands beside what is known and ends none of it.

"On Saturdays I work at a bar" is a job more. "I moved to Paris in 2010 and came back in 2015" tells
where somebody was; "I moved to Canada when I was two" does so for whoever is known to live
elsewhere. Words are data: ``packs/<language>/beside.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from bmo.gate.pack_tables import read_table
from bmo.language import LanguageCode, Words
from bmo.turn import DialogueContext, Fact

_SEVERAL = frozenset({"employer", "occupation", "work_place"})
_ONE_NOW = frozenset({"lives_in", "employer", "occupation", "work_place", "employment"})
_BEFORE, _BEHIND = 4, 10
"""Words around a fact's own in which its time may be told."""
_LAST_YEAR = 1
"""Years back that still tell of the present ("I moved to Leeds in 2025", said in 2026)."""

_YEAR = re.compile(r"(?<!since )(?<!seit )(?<!depuis )(?<!desde )\b((?:19|20)\d\d)\b")
_PRESENT = re.compile(r"\b(?:lives? (?=in )|works? (?=at |in |as )|is (?=an? ))", re.IGNORECASE)
_PLAIN = {"lives": "live", "live": "live", "works": "work", "work": "work", "is": "be"}


_NEVER = ("(?!)",)


@cache
def beside_cues(language: LanguageCode) -> dict[str, re.Pattern[str]]:
    """Name of a cue -> its expression; read from the package on first use."""
    table = read_table(language, "beside.toml")
    return {
        kind: re.compile(rf"(?:^| )(?:{'|'.join(table.get(kind, _NEVER))})(?= |$)")
        for kind in ("also", "often", "now", "past_verb", "over", "stay", "young", "no_end")
    }


def beside_known(
    facts: tuple[Fact, ...],
    spoken: Words,
    context: DialogueContext,
    language: LanguageCode,
    at: datetime,
) -> tuple[Fact, ...]:
    """The facts of a turn; those that end nothing of what is known say so.

    Args:
        facts: What the turn says.
        spoken: Its words.
        context: The conversation, with the user's live facts.
        language: Whose words tell.
        at: When it was said.

    Returns:
        The same facts: another job beside the first with cardinality "many", what is past with
        that tense; a home that is only a stay is left out.
    """
    if _ONE_NOW.isdisjoint([fact.slot for fact in facts]):
        return facts
    cues = beside_cues(language)
    if any(fact.op == "retract" and fact.slot == "employer" for fact in facts):
        facts = tuple(fact for fact in facts if not _leaves_a_shop(fact, spoken, cues["no_end"]))
    told = [_placed(fact, facts, spoken, context, language, at) for fact in facts]
    return tuple(fact for fact in told if fact is not None)


def not_long_over(
    facts: tuple[Fact, ...], spoken: Words, language: LanguageCode, at: datetime
) -> tuple[Fact, ...]:
    """The facts without ends of long ago: what was sold in 2010 is not what is owned now.

    Args:
        facts: What the turn says.
        spoken: Its words.
        language: Whose words tell.
        at: When it was said.
    """
    if not any(fact.op == "retract" and fact.rule_id in _PARTED_WITH for fact in facts):
        return facts
    line = " ".join(spoken.norm)
    if not (_long_ago(line, at) or beside_cues(language)["young"].search(line)):
        return facts
    return tuple(fact for fact in facts if fact.op != "retract" or fact.rule_id not in _PARTED_WITH)


_PARTED_WITH = frozenset({"thing_gone", "vehicle_gone", "possession_gone"})
"""Rules by which a thing is no longer there."""


def _leaves_a_shop(fact: Fact, spoken: Words, cue: re.Pattern[str]) -> bool:
    """Whether a place of work was only left for the day: "i left ikea with a new sofa"."""
    left = fact.op == "retract" and fact.slot == "employer"
    return left and cue.search(_words_of(fact, spoken)[1]) is not None


def _placed(
    fact: Fact,
    facts: Sequence[Fact],
    spoken: Words,
    context: DialogueContext,
    language: LanguageCode,
    at: datetime,
) -> Fact | None:
    if fact.slot not in _ONE_NOW or fact.op != "assert" or fact.tense == "past":
        return fact
    if fact.polarity == "negative":
        return fact
    near, around = _words_of(fact, spoken)
    cues = beside_cues(language)
    if fact.slot in _SEVERAL:
        often = cues["often"].search(near) and not cues["now"].search(around)
        if cues["also"].search(near) or often:
            fact = replace(fact, cardinality="many")
    if cues["past_verb"].search(around) is None:
        stays = fact.slot == "lives_in" and cues["stay"].search(around)
        return None if stays else fact
    same, other = _known(fact, facts, context)
    if same:
        return fact
    left = cues["over"].search(around) or cues["stay"].search(around)
    if left or (other and (_long_ago(around, at) or cues["young"].search(around))):
        return replace(fact, tense="past", text=_past_text(fact.text))
    return fact


def _words_of(fact: Fact, spoken: Words) -> tuple[str, str]:
    """The fact's own words with some before them, and with what is told around it."""
    first, last = fact.span or (0, len(spoken.text))
    own = [i for i, start in enumerate(spoken.start) if first <= start < last]
    if not own:
        return "", ""
    begin, end = min(own), max(own) + 1
    before, behind, close = begin, end, end
    while before > max(0, begin - _BEFORE) and not _ends_sentence(spoken, before - 1):
        before -= 1
    while behind < min(len(spoken.norm), end + _BEHIND) and not _ends_sentence(spoken, behind - 1):
        behind += 1
        close = min(behind, end + 3)
    return " ".join(spoken.norm[before:close]), " ".join(spoken.norm[before:behind])


def _ends_sentence(spoken: Words, at: int) -> bool:
    return any(mark in spoken.after[at] for mark in ".!?;")


def _known(fact: Fact, facts: Sequence[Fact], context: DialogueContext) -> tuple[bool, bool]:
    """Whether the same is known, and whether something else is."""
    slots = ("employer", "occupation") if fact.slot == "employment" else (fact.slot,)
    values = [
        old.value.lower()
        for old in (*context.known, *context.recent_facts, *facts)
        if old is not fact
        and old.slot in slots
        and old.subject == fact.subject
        and old.op != "retract"
        and old.tense != "past"
        and old.polarity == "positive"
    ]
    value = fact.value.lower()
    same = [old for old in values if value and (value in old or old in value)]
    return bool(same), bool(values)


def _long_ago(words: str, at: datetime) -> bool:
    return any(int(year) < at.year - _LAST_YEAR for year in _YEAR.findall(words))


def _past_text(text: str) -> str:
    """Writes "Lives in Paris" as "Used to live in Paris"; what is told as past already stays."""
    found = _PRESENT.search(text)
    if found is None:
        return text
    used = "Used to" if found.start() == 0 else "used to"
    verb = _PLAIN[found.group(0).strip().lower()]
    return f"{text[: found.start()]}{used} {verb} {text[found.end() :]}"
