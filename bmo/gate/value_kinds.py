"""Of what kind a value is: only a name stands for a name, a number for a number, a day for a day.

"Noah not Maya" puts a name right; "nut allergy noah not maya" is a statement with a contrast, and
what was told of Maya stays hers.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from bmo.gate.known_change_data import known_changes
from bmo.gate.people import people_lexicon
from bmo.language import LanguageCode
from bmo.language.times import MONTHS, NUMBER_WORDS, WEEKDAYS
from bmo.turn import Fact

_ALIKE = 0.6
"""Letters two values must share for the one to be the other misheard (difflib's ratio)."""


def calendar_kind(words: Sequence[str]) -> Literal["weekday", "month", "number", ""]:
    """Whether words are a day of the week, a month or a number, and which; "" for none of these."""
    if len(words) == 1 and (words[0].removesuffix("s") in WEEKDAYS or words[0] in WEEKDAYS):
        return "weekday"
    if len(words) == 1 and words[0] in MONTHS:
        return "month"
    if words and all(word.isdigit() or word in NUMBER_WORDS for word in words):
        return "number"
    return ""


def alike(old: Sequence[str], right: Sequence[str]) -> bool:
    """Whether the one may be the other misheard."""
    return SequenceMatcher(None, " ".join(old), " ".join(right)).ratio() >= _ALIKE


def may_replace(fact: Fact, wrong: str, right: str, language: LanguageCode = "en") -> bool:
    """Whether a value may stand in a fact for the one that is said to be wrong.

    Args:
        fact: What was told with the wrong value.
        wrong: The wrong value, lower-case.
        right: What is said to be right, lower-case.
        language: In which it was said.
    """
    old, new = wrong.split(), right.split()
    kind = calendar_kind(old)
    if kind or calendar_kind(new):
        return kind == calendar_kind(new) or (kind == "number" and _begins_with_number(new))
    names = people_lexicon("en").names | people_lexicon(language).names
    bearers = set(_bearer(fact).split())
    if bearers.isdisjoint(old) and not (len(old) == 1 and old[0] in names and fact.slot is None):
        return True
    return len(new) == len(old) or all(word in names for word in new) or alike(old, new)


def _begins_with_number(words: Sequence[str]) -> bool:
    """Whether a value is a number and what is counted ("three months")."""
    return len(words) > 1 and calendar_kind(words[:1]) == "number"


def _bearer(fact: Fact) -> str:
    """The name of whom a fact is about, or that it tells, lower-case."""
    told = fact.value.lower() if fact.slot == "name" else ""
    return f"{fact.subject.partition(':')[2].rpartition(':')[2]} {told}"


def says_nothing_else(spoken: Sequence[str], fact: Fact) -> bool:
    """Whether words around a correction's values say nothing that the fact does not say itself.

    Args:
        spoken: The turn's words in normal form without both values and what leads to them.
        fact: What was told before.
    """
    table = known_changes("en")
    said = {table.stem(word) for word in spoken if table.is_content(word)}
    relation = fact.subject.partition(":")[0].rpartition(".")[2].replace("_", " ")
    told = {table.stem(word) for word in (*table.words_of(fact.text), *relation.split())}
    return said <= told
