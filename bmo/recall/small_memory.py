"""Which memories of a small store may answer a plan: all of them are weighed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bmo.recall.candidates import NAMED, Asked, Candidate
from bmo.recall.news import news_of
from bmo.recall.relevance import Evidence, log_odds, probability, words_of
from bmo.recall.words_in_common import is_named
from bmo.turn import RecallPlan, StoredFact

SLOT_MOST: Final = 5
"""Facts taken from the named slots, at most; beyond, those with most evidence."""

CERTAINTY: Final[Mapping[str, float]] = {
    "own_fact_question": 1.1,
    "indirect_need": 1.1,
    "explicit_prompt": 1.1,
    "command_needs_fact": 1.1,
    "follow_up": 1.1,
    "judge": 1.1,
    "forced": 0.0,
}
"""Log odds that a plan adds by how sure it is that memory is needed: where it surely is, one of few
memories is it, and a lack of words in common says less."""

NOT_THEM: Final = 0.8
"""Log odds that a memory of the user loses when somebody else is asked about: "the hostel i want to
open with my sister" may stand under the user alone."""

BOTH: Final = 0.5
"""The same where the user is asked about as well ("when could my sister ring me")."""

NOT_THEIR_SLOT: Final = 2.0
"""The same when it is asked for one thing of theirs ("my trainer's name")."""

MEANT_OF_ANOTHER: Final = 0.5
"""Log odds from which a memory of somebody else is given where nothing is known of those who are
asked about ("the church do for the little one": the goddaughter's first communion)."""

INTRODUCTION_SHARE: Final = 0.4
"""Share of its similarity that "Has a brother named Tom" keeps when no name was asked for: what
else is given of Tom names him too."""

OF_THE_ASKED: Final = 0.65
"""Least similarity of what is known of a person for whom something is sought (a gift)."""

LEAST: Final = 0.3
"""Probability below which a memory is no candidate, however new or important it is."""

FEW: Final = 4
"""Memories given where none surely answers, at most."""

FEW_BESIDE: Final = 3
"""The same where one rather answers than not."""

ANSWERS: Final = 1.0
"""Log odds from which that is so."""

THEIRS_MOST: Final = 2
"""Of these, memories about the person named in what depends on memory ("kwames coming over what
shall we watch"), at most, ..."""

OTHERS_MOST: Final = 2
"""... and memories of what else it depends on."""

MATTERING_MOST: Final = 1
"""Memories given because they stand in a slot that may matter and have the request's topic, ..."""

FLOOR_MATTERING: Final = -1.5
"""... and the log odds, the plan's certainty included, that they need."""

INSTRUCTS: Final = 0.0
"""Log odds from which what tells the assistant how to behave ("keep lists short") is given beside
these; it is in most replies' words and topics, so it must not crowd out what answers."""

FLOOR: Final = -3.2
"""Log odds, the plan's certainty included, that each of these few needs where a good reply depends
on memory, ..."""

FLOOR_ASKED: Final = -1.2
"""... and where one thing is asked for, which may never have been told, ..."""

FLOOR_IN_DOUBT: Final = 0.0
"""... the more where the speaker doubts it ("did i ever tell you my favourite song"), ..."""

FLOOR_OF_SLOT: Final = -0.4
"""... or where it has a slot that holds nothing ("do you know my blood group") ..."""

SPREAD: Final = 3.0
"""... and how far behind the best of them it may be."""

SPREAD_BESIDE: Final = 2.4
"""The same behind one that rather answers than not."""

BESIDE_SURE: Final = -0.3
"""Log odds from which a memory is given beside one that stands in the very slot asked for."""

BESIDE_NEED: Final = -2.5
"""The same where the judge saw the need or something is to be written: the slots that a rule finds
are then only some of what matters."""

OF_THE_FEW: Final = 0.63
"""Similarity that these are given: enough to stand beside a slot's."""

NAMED_MOST: Final = 2
"""Memories given for their name in the question ("which of them answers to Vesle"), at most; beside
all others, for who says a name means it."""

NEWS_MOST: Final = 1
"""Memories given because they say what became of one that is given, at most."""

GAP: Final = 1.5
"""Log odds behind the best memory beyond which another is none; a request may depend on several
things that have nothing in common, so there it does not count."""

_INTRODUCES: Final = frozenset(
    "name nickname age birthday lives_in occupation employer count siblings".split()
)
"""Slots that say who somebody is and not what suits them."""

_INSTRUCTIONS: Final = frozenset(
    "standing_instruction answer_style units address not_called".split()
)
"""Slots of what tells the assistant how to behave."""

_NEEDS: Final = frozenset({"indirect_need", "command_needs_fact", "judge"})
"""Triggers whose slots are what a good reply depends on."""

_ONESELF: Final = ("user", "team")


def fitting(
    plan: RecallPlan, asked: Asked, weighed: Sequence[tuple[StoredFact, Evidence]]
) -> list[Candidate]:
    """Candidates with the probability that each answers.

    Args:
        plan: What is asked.
        asked: About whom.
        weighed: Every memory with what speaks for it.
    """
    certainty = CERTAINTY.get(plan.trigger, 0.0)
    odds = {
        fact.id: log_odds(row)
        + certainty
        - (_away(plan, fact, row) if asked.people and not row.about else 0.0)
        for fact, row in weighed
    }
    named = [fact for fact, row in weighed if row.slot and row.about]
    named.sort(key=lambda fact: -odds[fact.id])
    in_slot = {fact.id for fact in named[:SLOT_MOST]}
    found: list[Candidate] = []
    unknown = bool(asked.people) and not any(row.about for _, row in weighed)
    nearest = max((odds[fact.id] for fact, _ in weighed if not _is_instruction(fact)), default=0.0)
    least = -math.inf if _depends(plan) else _floor(plan)
    for fact, row in weighed:
        if fact.id in in_slot:
            found.append(Candidate(fact, 1.0, "slot"))
        elif _of_another(fact, plan, asked, row) and not (
            unknown and not plan.slots and odds[fact.id] >= MEANT_OF_ANOTHER
        ):
            found.append(Candidate(fact, 0.0, "about somebody else"))
        else:
            similarity = probability(odds[fact.id])
            if fact.slot == "name" and plan.slots and "name" not in plan.slots:
                similarity *= INTRODUCTION_SHARE
            if _sought_for(fact, plan, asked, row):
                similarity = max(similarity, OF_THE_ASKED)
            matters = bool(row.soft) and row.topics > 0.0
            behind = nearest - odds[fact.id] > GAP and plan.trigger != "indirect_need"
            behind = behind and not matters
            enough = similarity >= LEAST and odds[fact.id] >= least and not behind
            why = "evidence" if enough else "too little speaks for it"
            found.append(Candidate(fact, similarity if enough else 0.0, why))
    if plan.trigger == "forced":
        return found
    theirs = {fact.id for fact, row in weighed if asked.people and row.about}
    if any(_sought_for(fact, plan, asked, row) for fact, row in weighed):
        theirs = set()  # for a gift, what is known of the person is what it depends on
    mattering = {
        fact.id
        for fact, row in weighed
        if row.soft and row.topics > 0.0 and (row.about or not asked.people)
    }
    found = _with_what_matters(_with_best_few(found, plan, odds, theirs), plan, odds, mattering)
    found = _with_named(found, _held(plan, asked, weighed), odds)
    return _with_news(found, asked)


def _depends(plan: RecallPlan) -> bool:
    """Whether a reply depends on more than the plan names; otherwise one thing is asked for.

    What is to be written ("draft an answer to a candidate") mostly does, whatever the rules read.
    """
    written = plan.intent == "generation" and plan.trigger != "explicit_prompt"
    return written or plan.trigger in _NEEDS


def _floor_beside(plan: RecallPlan) -> float:
    """Log odds that a memory needs beside one in the very slot that the plan names."""
    by_rule = plan.trigger in ("indirect_need", "command_needs_fact")
    return BESIDE_NEED if _depends(plan) and not by_rule else BESIDE_SURE


def _floor(plan: RecallPlan) -> float:
    """Log odds that one of the best few needs where nothing stands in the slot asked for."""
    if _depends(plan):
        return FLOOR
    if plan.slots:
        return FLOOR_OF_SLOT
    return FLOOR_IN_DOUBT if plan.trigger == "explicit_prompt" else FLOOR_ASKED


def _is_instruction(fact: StoredFact) -> bool:
    """Whether it tells the assistant how to behave; that is given beside what answers."""
    return fact.category == "preferences" and (
        fact.kind in ("hard_rule", "policy") or fact.slot in _INSTRUCTIONS
    )


def _held(
    plan: RecallPlan, asked: Asked, weighed: Sequence[tuple[StoredFact, Evidence]]
) -> Counter[str]:
    """Words of the question, without those of whom it is about -> how many memories hold them."""
    from bmo.ledger.values import content_words

    words = content_words([plan.query]) - content_words(asked.names)
    return Counter(word for fact, _ in weighed for word in words & words_of(fact))


def _with_named(
    found: list[Candidate], held: Mapping[str, int], odds: Mapping[str, float]
) -> list[Candidate]:
    """Lifts what the question names, as far as it is about those who are asked about."""
    named = [
        c
        for c in found
        if c.why in ("evidence", "too little speaks for it") and is_named(c.fact, held)
    ]
    named.sort(key=lambda c: -odds[c.fact.id])
    ids = {c.fact.id for c in named[:NAMED_MOST]}
    return [
        replace(c, similarity=max(c.similarity, OF_THE_FEW), why=NAMED) if c.fact.id in ids else c
        for c in found
    ]


def _with_best_few(
    found: list[Candidate], plan: RecallPlan, odds: Mapping[str, float], theirs: Collection[str]
) -> list[Candidate]:
    """Lifts the best few: a turn that needs memory is better given four than none of twelve.

    Args:
        found: All candidates; what is about somebody else, or only a name, stays where it is.
        plan: What is asked.
        odds: Log odds of each memory, by fact id.
        theirs: Ids of what is about the people who are asked about.
    """
    sure = [c for c in found if c.why == "slot"]
    floor = _floor_beside(plan) if sure else _floor(plan)
    rest = [
        c
        for c in found
        if c.why in ("evidence", "too little speaks for it")
        and (c.fact.slot != "name" or not plan.slots or "name" in plan.slots)
    ]
    rest.sort(key=lambda c: -odds[c.fact.id])
    told = [c for c in rest if not _is_instruction(c.fact)]
    of_them = [c for c in told if c.fact.id in theirs]
    if of_them and _depends(plan):
        # What a need depends on beside the person named in it has nothing of the name.
        others = [c for c in told if c.fact.id not in theirs]
        few = _near_best(of_them, odds, floor, FEW - THEIRS_MOST)
        few |= _near_best(others, odds, floor, FEW - OTHERS_MOST)
    else:
        few = _near_best(told, odds, floor, len(sure))
        if of_them and not few and not sure:
            few = _near_best(of_them, odds, FLOOR, 1)
    few |= {
        c.fact.id
        for c in rest
        if _is_instruction(c.fact) and odds[c.fact.id] >= max(floor, INSTRUCTS)
    }
    return _lifted(found, few)


def _with_what_matters(
    found: list[Candidate], plan: RecallPlan, odds: Mapping[str, float], mattering: Collection[str]
) -> list[Candidate]:
    """Lifts what stands in a slot that may matter and has the request's topic.

    However near another memory is: "what can we have for supper" is near to the low salt diet,
    and the wife is coeliac.
    """
    if not _depends(plan):
        return found
    ranked = sorted(
        (c for c in found if c.fact.id in mattering and c.why == "too little speaks for it"),
        key=lambda c: -odds[c.fact.id],
    )
    ids = {c.fact.id for c in ranked[:MATTERING_MOST] if odds[c.fact.id] >= FLOOR_MATTERING}
    return _lifted(found, ids)


def _with_news(found: list[Candidate], asked: Asked) -> list[Candidate]:
    """Lifts the newer memory that says what became of one that is given."""
    given = [c for c in found if c.similarity >= OF_THE_FEW]
    given.sort(key=lambda c: -c.similarity)
    among = [c.fact for c in found if c.why != "about somebody else"]
    news = news_of((c.fact for c in given), among, asked.names)
    known = {c.fact.id for c in given}
    fresh = [news[c.fact.id].id for c in given if c.fact.id in news]
    return _lifted(found, [fact for fact in dict.fromkeys(fresh) if fact not in known][:NEWS_MOST])


def _lifted(found: Sequence[Candidate], ids: Collection[str]) -> list[Candidate]:
    """The candidates, those with one of the ids given as the best few."""
    return [
        replace(c, similarity=max(c.similarity, OF_THE_FEW), why="best few")
        if c.fact.id in ids
        else c
        for c in found
    ]


def _near_best(
    ranked: Sequence[Candidate], odds: Mapping[str, float], floor: float, taken: int
) -> set[str]:
    """Ids of the best few of candidates that stand in the order of their odds.

    Args:
        ranked: Candidates, best first.
        odds: Log odds of each memory, by fact id.
        floor: What each needs.
        taken: Places of ``FEW`` that others have.
    """
    best = odds[ranked[0].fact.id] if ranked else 0.0
    most, spread = (FEW_BESIDE, SPREAD_BESIDE) if best >= ANSWERS else (FEW, SPREAD)
    return {
        c.fact.id
        for c in ranked[: max(0, most - taken)]
        if odds[c.fact.id] >= max(floor, best - spread)
    }


def _of_another(fact: StoredFact, plan: RecallPlan, asked: Asked, row: Evidence) -> bool:
    """Whether a memory is of somebody who was not asked about, or of the user who was not."""
    if not asked.people or row.about:
        return False
    if fact.subject not in _ONESELF:
        return True
    return fact.slot is not None and bool(plan.slots) and "user" not in plan.subjects


def _away(plan: RecallPlan, fact: StoredFact, row: Evidence) -> float:
    """Log odds that a memory loses which is not about those who are asked about."""
    if row.unplaced or row.linked or (row.soft and plan.trigger != "indirect_need"):
        return 0.0
    if "user" in plan.subjects and not plan.slots and plan.trigger != "indirect_need":
        return BOTH
    return NOT_THEIR_SLOT if plan.slots and (fact.slot is not None or not row.topics) else NOT_THEM


def _sought_for(fact: StoredFact, plan: RecallPlan, asked: Asked, row: Evidence) -> bool:
    """Whether something is sought for a person (a gift) of whom the fact tells more than a name."""
    return (
        bool(asked.people)
        and plan.trigger == "indirect_need"
        and bool(row.about)
        and fact.subject not in _ONESELF
        and (bool(row.soft) or fact.slot not in _INTRODUCES)
    )
