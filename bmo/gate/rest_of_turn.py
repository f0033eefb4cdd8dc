"""What else an allowed turn tells: clauses of which no memory has a word are told with one.

A turn is kept because it tells something lasting; what it tells beside that ("huw does all the
mornings, i had my hip replaced") is as good as never said once the turn is gone. Of what strangers
told and BMO lost, half lay in turns of which another memory was kept. A clause that a veto, a
question or an order bars, and one that carries nothing by the judge's word, stays out; a turn that
tells a change tells nothing beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bmo.gate.analysis import Analysis, ClauseAnalysis
from bmo.gate.judge_beside_rules import at_the_firm, tells_when_to_think_of_it
from bmo.gate.judge_memories import Asked, lowered, may_carry, memory_of
from bmo.gate.open_canonicalisation import canonicalise, leaning
from bmo.gate.open_constructions import only_called
from bmo.gate.open_coverage import missing, says_all_of, untold
from bmo.gate.open_grouping import leans_back, runs
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.open_text import OpenText
from bmo.gate.sensitive import holds_mask
from bmo.gate.speech_act import speech_act
from bmo.gate.third_person import third_person_lexicon
from bmo.language import Clause
from bmo.turn import Fact

NOTHING = 0.95
"""P(discard) from which a clause carries nothing worth a word."""

OWN = 0.8
"""P(allow) from which a clause is a memory of its own."""

_JOINS = frozenset({"and", "so", "then", "but"})
_REQUESTS = frozenset({"directive", "question"})
_WORD = re.compile(r"[^\W_]+")
_LARGE = re.compile(r"(?<!^)\b[A-Z]\w+")
_HANGS = frozenset("because cos cause since so while when until till".split())
"""Words that hang a clause on the one before."""
_SPELLED = {"cos": "because", "cause": "because", "till": "until"}
_PARTS_OF_MORE = frozenset(
    "name age birthday nickname called preferred_name pronouns deceased".split()
)
"""Slots whose value is said on the way to something else."""


def with_rest_of_turn(asked: Asked, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Facts of an allowed turn, and what the turn says beside them.

    A clause that has a fact already completes it. One that the judge would keep by itself is a
    memory of its own, which can change and end by itself. Any other is told with the nearest fact
    of its own subject, else with the nearest.

    Args:
        asked: The judge and the turn.
        facts: Its facts so far.
    """
    told = list(facts)
    if _changes(asked, told):
        return tuple(told)
    for clause in untold(asked.analysis, told):
        # A condition that is generally so carries what it says; the other bars hold for it too.
        if not may_carry(clause._replace(vetoes=())):
            continue
        if holds_mask(asked.turn.text, *clause.span) or _asks(asked.analysis, clause):
            continue
        if _got_in_touch(clause):
            continue
        rest = _written(asked, clause)
        if rest is None or only_called(rest.text):
            continue  # that somebody rang is of the moment
        if not missing(_WORD.findall(rest.text.lower()), told):
            continue
        odds = asked.odds(clause.text)
        of_clause = [i for i in _asserted(told) if _is_of(told[i], clause)]
        if odds.discard >= NOTHING or _lists(told[i] for i in of_clause):
            continue
        named = [fact for fact in told if _is_of(fact, clause) and fact.slot == "preferred_name"]
        if named:
            continue
        at = _told_beside(told, clause, rest.subject, of_clause)
        hangs = at is not None and _reason(asked, told[at], clause) != ""
        alone = at is None or (odds.allow >= OWN and not leans_back(clause) and not hangs)
        own = memory_of(asked, [clause]) if alone and not of_clause else None
        if own is not None:
            told.append(own)
            continue
        if at is not None and not _of_shared_name(asked, rest.text):
            told[at] = replace(told[at], text=_told_with(asked, told[at], clause, rest))
    return tuple(told)


def _changes(asked: Asked, facts: Sequence[Fact]) -> bool:
    """Whether a turn tells a change: its other words name what was, which is to end."""
    if any(fact.op != "assert" or fact.replaces or fact.polarity == "negative" for fact in facts):
        return True
    return not open_lexicon().ending.isdisjoint(asked.analysis.words.norm)


def _told_beside(
    facts: Sequence[Fact], clause: ClauseAnalysis, subject: str, of_clause: Sequence[int]
) -> int | None:
    """Index of the fact that is told with a clause: its own, of its subject, or the nearest."""
    asserted = _asserted(facts)
    of_subject = [i for i in asserted if facts[i].subject == subject]
    return of_clause[-1] if of_clause else _nearest(of_subject or asserted, facts, clause)


def _asks(analysis: Analysis, clause: ClauseAnalysis) -> bool:
    """Whether a statement goes over into a request ("im vegan and remind me to call him")."""
    spoken, (first, last) = analysis.words, clause.span
    inside = [i for i in range(len(spoken)) if first <= spoken.start[i] and spoken.end[i] <= last]
    parts = [Clause(i + 1, inside[-1] + 1) for i in inside[:-1] if spoken.norm[i] in _JOINS]
    return any(speech_act(spoken, part, analysis.language)[0] in _REQUESTS for part in parts)


def _lists(facts: Iterable[Fact]) -> bool:
    """Whether facts of a clause are items of a list ("a in the morning and b at night").

    Each can change by itself, so none of them is told with the others.
    """
    slots = [fact.slot for fact in facts if fact.slot]
    return len(slots) > len(set(slots))


def _asserted(facts: Sequence[Fact]) -> list[int]:
    """Facts that may be told with more; what the user is called says nothing else."""
    return [
        i
        for i, fact in enumerate(facts)
        if fact.op == "assert"
        and fact.span
        and not (fact.subject == "user" and fact.slot in ("name", "preferred_name"))
    ]


def _is_of(fact: Fact, clause: ClauseAnalysis) -> bool:
    """Whether a fact was read in a clause."""
    first, last = fact.span or (0, 0)
    return first < clause.span[1] and clause.span[0] < last


def _told_with(asked: Asked, fact: Fact, clause: ClauseAnalysis, rest: OpenText) -> str:
    """The text of a fact with its clause's own words: in their place, where they say all of it."""
    if fact.slot == "employer":
        rest = replace(rest, text=at_the_firm(rest.text))
    if fact.slot == "name":  # "peter plays golf" has the name, not whose it is
        return f"{fact.text}; {lowered(rest.text, asked.spoken_names(rest.text))}"
    why = _reason(asked, fact, clause)
    if tells_when_to_think_of_it(rest.text):
        return fact.text
    if says_all_of(rest.text, fact) and not why:
        words = _WORD.findall(fact.text.lower())
        if not missing(words, [replace(fact, text=rest.text, value="")]):
            return rest.text
        if _is_of(fact, clause) and _in_other_words(fact, rest) and _same_mould(fact, rest):
            _, border, more = fact.text.partition("; ")  # what other clauses have added stays
            return f"{_with_capitals(rest.text, fact.text)}{border}{more}"
    if why:
        return f"{fact.text} {why}"
    return f"{fact.text}; {lowered(rest.text, asked.spoken_names(rest.text))}"


def _in_other_words(fact: Fact, rest: OpenText) -> bool:
    """Whether a clause's own words tell its fact anew: "goal is to sail", "dream is to sail".

    A template's words ("is learning", "goal is") need not be the user's: told beside each other
    both say the same. A name or an age is no more than a part of what its clause says.
    """
    return (
        fact.subject in ("user", rest.subject)
        and (fact.slot or "") not in _PARTS_OF_MORE
        and rest.whole
        and bool(fact.value)
        and _short_words(fact.value) <= _short_words(rest.text)
    )


def _same_mould(fact: Fact, rest: OpenText) -> bool:
    """Whether a wish stays one: "wants short answers" is not told as "keep answers short"."""
    return rest.text.startswith("Wants ") or not fact.text.startswith("Wants ")


def _got_in_touch(clause: ClauseAnalysis) -> bool:
    """Whether a clause only tells of a call or a visit just over ("elaine rang yesterday")."""
    lists = open_lexicon()
    return (
        len(clause.norm) < _LONGEST_CALL
        and not lists.contact.isdisjoint(clause.norm)
        and not lists.lately.isdisjoint(clause.norm)
    )


_LONGEST_CALL = 7


def _short_words(text: str) -> set[str]:
    """Words that are too short to be compared by their stems ("MS"), but for those of grammar."""
    said = _BLANK.sub("", text.lower())
    short = {word for word in _WORD.findall(said) if len(word) < _STEMMED}
    return short - open_lexicon().told_anyway - third_person_lexicon().prepositions


_STEMMED = 3
_BLANK = re.compile(r"\{\w+\}")
"""A blank of a template that a value keeps ("{p} short")."""


def _with_capitals(text: str, before: str) -> str:
    """``text`` with the words that ``before`` writes large written so."""
    large = {word.lower(): word for word in _LARGE.findall(before)}
    return _WORD.sub(lambda word: large.get(word[0], word[0]), text) if large else text


def _reason(asked: Asked, fact: Fact, clause: ClauseAnalysis) -> str:
    """A clause that "because" or "since" hangs on the one before, or "".

    "(i have asthma) since i was small" has its own subject: without it "was small" is said of
    nobody.
    """
    spoken = clause.spoken
    first = clause.place[0]
    if spoken is not asked.analysis.words or first == 0 or fact.span is None:
        return ""
    intro = spoken.norm[first - 1]
    between = asked.turn.text[fact.span[1] : clause.span[0]]
    if intro not in _HANGS or between.strip(" ,").lower() != intro:
        return ""
    more = leaning(spoken, asked.turn.assistant_before, *clause.place)
    return f"{_SPELLED.get(intro, intro)} {more}" if more else ""


def _of_shared_name(asked: Asked, text: str) -> bool:
    """Whether a text opens with a name that two people bear."""
    discourse = asked.analysis.discourse
    name = text.partition(" ")[0].lower().removesuffix("'s")
    return discourse is not None and name in discourse.shared


def _written(asked: Asked, clause: ClauseAnalysis) -> OpenText | None:
    stretches = runs([clause], asked.analysis.words)
    if not stretches:
        return None
    return canonicalise(
        asked.analysis.words,
        asked.turn.assistant_before,
        asked.analysis.language,
        asked.people(),
        whom=asked.whom,
        own=asked.own_names(),
        start=stretches[0][0],
        end=stretches[-1][1],
    )


def _nearest(places: Sequence[int], facts: Sequence[Fact], clause: ClauseAnalysis) -> int | None:
    """Which of the facts at ``places`` was said nearest to a clause."""
    return min(places, key=lambda i: _apart(facts[i].span, clause.span), default=None)


def _apart(one: tuple[int, int] | None, other: tuple[int, int]) -> int:
    """Characters between two spans of the turn."""
    start, end = one or (0, 0)
    return min(abs(end - other[0]), abs(start - other[1]))
