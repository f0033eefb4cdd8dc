"""How likely a memory answers a turn, from everything that speaks for it, in a small memory.

A nearness alone does not tell: for the local embedder "what could I order at an Italian place" is
as far from "is coeliac" as from anything else. In a memory of some tens of facts all of them can be
looked at, so several kinds of evidence are put together: nearness in meaning, shared words and
beginnings of words, shared topics (``bmo.recall.topics``), the slots and categories that the plan
names, whom it is about. Words and topics count by how few of the memories have them, so the bar is
relative to the store. The weights are a logistic regression's (``training/fit_relevance.py``,
fitted on ``tests/recall_cases/developed.yaml`` and the annotated conversations) and stand in
``relevance.json``.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from operator import attrgetter
from typing import Final

from bmo.recall.packs import function_words
from bmo.recall.topics import topics_asked, topics_told
from bmo.turn import RecallPlan, StoredFact

SMALL: Final = 60
"""Live memories up to which all of them are looked at."""

_STEM: Final = 5
"""Letters of a word's beginning by which two words are taken for forms of one ("rehearse",
"rehearsals"), and least letters of a word that a compound holds ("allergie", "nussallergie")."""

_COMPOUND: Final = 8
"""Letters from which a word of a question may hold one of a memory."""

_FEWEST: Final = 8
"""Memories that a store is taken to have at least: the only one there is shares nothing rare with
anything."""

_MOST: Final = 2
"""Shared words, stems or topics of one kind beyond which more say nothing new."""


_WORD: Final = re.compile(r"[^\W\d_]+")

_OF_PLACES: Final = frozenset(
    "in at from to near of on the a an by for by im aus nach à en de".split()
)

_NO_NAMES: Final = frozenset(
    (
        "monday tuesday wednesday thursday friday saturday sunday january february march april may "
        "june july august september october november december mondays tuesdays wednesdays "
        "thursdays fridays saturdays sundays english german french spanish italian american "
        "british irish european christmas easter ramadan instagram facebook google youtube amazon "
        "netflix spotify whatsapp apple tv pc ceo cto london paris berlin new york"
    ).split()
)
"""Words with a capital that a general question may have as well."""

_EMPTY: Final = frozenset(
    (
        "ever never again now still just really already yet tell told get got go going come one "
        "way kind kinda sort bit let us new fella nochmal denn mal eigentlich mir mich encore déjà "
        "moi otra vez ahora mismo"
    ).split()
)
"""Words of a question that tell nothing when a memory has them too, beside function words."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one memory as the answer to one turn.

    Attributes:
        nearness: Cosine to the plan's query, on the scale of the reference embedder.
        words: Rareness of the content words shared, in nats.
        stems: Rareness of the words that share a beginning or a part only, in nats.
        topics: Rareness of the topics shared, in nats.
        slot: 1 when it stands in a slot that the plan names.
        soft: 1 when it stands in a slot that may matter.
        category: 1 when the plan names its category.
        about: 1 when it is about somebody who is asked about.
        beside: 1 when the plan names slots and it stands in another one.
        answered: 1 when another memory stands in a slot that the plan names, and this one's slot
            is not one that may matter beside it.
        linked: 1 when it shares a rare word with a memory that shares a word with the turn.
        behind: Cosine behind the nearest memory's, at most 0: a question that is far from all is
            answered by the least far one.
        above: Cosine above the mean of all memories.
        unplaced: 1 when people are asked about, and it tells of somebody without saying of whom
            ("There is only Megan; she is a vet nurse").
    """

    nearness: float
    words: float
    stems: float
    topics: float
    slot: float
    soft: float
    category: float
    about: float
    beside: float
    answered: float
    linked: float
    behind: float
    above: float
    unplaced: float


_VALUES: Final = attrgetter(*(field.name for field in fields(Evidence)))


def words_of(fact: StoredFact) -> frozenset[str]:
    """The content words of a memory and of whom it is about."""
    return _content(f"{fact.text} {fact.subject.replace('.', ' ')}")


@lru_cache(maxsize=4096)
def _joined(text: str) -> frozenset[str]:
    """Neighbouring words written as one ("stand up" beside "standup", "check in", "week end")."""
    from bmo.ledger.values import content_words

    words = _WORD.findall(text.casefold())
    pairs = (a + b for a, b in pairwise(words) if 1 < len(a) and 1 < len(b) < _STEM)
    return content_words(pair for pair in pairs if len(pair) > _STEM)


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    from bmo.ledger.values import content_words

    return content_words([text])


def evidence(
    plan: RecallPlan,
    facts: Sequence[StoredFact],
    nearness: Mapping[str, float],
    about: Callable[[StoredFact], bool],
) -> list[Evidence]:
    """What speaks for each of ``facts``.

    Args:
        plan: What is asked.
        facts: All that may be given: words and topics are rare among these.
        nearness: Fact id -> cosine on the reference scale; missing is 0.
        about: Whether a fact is about somebody who is asked about.
    """
    from bmo.ledger.values import content_words

    asked = content_words([plan.query]) - function_words().keys() - _EMPTY
    joined = _joined(plan.query)
    held = [words_of(fact) | (asked & _joined(fact.text)) for fact in facts]
    topics = topics_asked(plan.query)
    told = [topics_told(fact.text) & topics for fact in facts]
    of_words = Counter(word for words in held for word in words)
    of_topics = Counter(topic for row in told for topic in row)
    stems = [_alike(asked, words) for words in held]
    of_stems = Counter(word for row in stems for word in row)
    hinges = {
        word
        for words in held
        if not asked.isdisjoint(words)
        for word in words - asked
        if of_words[word] == _MOST
    }
    rare = _Rareness(max(_FEWEST, len(facts)))
    named = set(plan.slots)
    in_slots = sum(fact.slot in named for fact in facts)
    near = [nearness.get(fact.id, 0.0) for fact in facts]
    nearest = max(near, default=0.0)
    of_people = any(subject not in ("user", "team") for subject in plan.subjects)
    middle = sum(near) / max(1, len(near))
    return [
        Evidence(
            nearness=max(0.0, cosine),
            words=rare.of((asked | joined) & words, of_words),
            stems=rare.of(alike, of_stems),
            topics=rare.of(shared, of_topics),
            slot=float(fact.slot in named),
            soft=float(fact.slot in plan.soft_slots),
            category=float(fact.category in plan.categories),
            about=float(about(fact)),
            beside=float(bool(named) and fact.slot is not None and fact.slot not in named),
            answered=float(in_slots > (fact.slot in named) and fact.slot not in plan.soft_slots),
            linked=float(asked.isdisjoint(words) and not hinges.isdisjoint(words)),
            behind=cosine - nearest,
            above=cosine - middle,
            unplaced=float(of_people and _is_unplaced(fact) and not about(fact)),
        )
        for fact, words, alike, shared, cosine in zip(facts, held, stems, told, near, strict=True)
    ]


def _is_unplaced(fact: StoredFact) -> bool:
    return fact.category == "relationships" and fact.subject == "user"


def _nothing() -> float:
    """Log odds where there is no memory."""
    return -math.inf


@dataclass(frozen=True, slots=True)
class Familiarity:
    """How much of a turn is in memory already.

    Attributes:
        score: Log odds that words, stems and topics give to the memory that shares most; 0: none
            shares anything.
        named: The turn has a name that is in some memory ("eli", "terrence").
        closest: Tells the log odds of the memory for which most speaks, nearness included; asks
            the embedder, so only where it decides.
    """

    score: float
    named: bool
    closest: Callable[[], float] = _nothing


def familiarity(
    text: str, facts: Sequence[StoredFact], closest: Callable[[], float] = _nothing
) -> Familiarity:
    """How much of ``text`` is in ``facts``, without the embedder.

    Args:
        text: A turn.
        facts: The user's live memories.
        closest: See ``Familiarity``.
    """
    rows = evidence(RecallPlan(recall=True, trigger="", query=text), facts, {}, lambda _: True)
    weights = dict(zip((field.name for field in fields(Evidence)), _weights()[1:], strict=True))
    score = max(
        (
            sum(weights[name] * getattr(row, name) for name in ("words", "stems", "topics"))
            for row in rows
        ),
        default=0.0,
    )
    said = {word.casefold() for word in _WORD.findall(text)}
    named = any(not said.isdisjoint(_names_in(fact.text)) for fact in facts)
    return Familiarity(score, named, closest)


@lru_cache(maxsize=4096)
def _names_in(text: str) -> frozenset[str]:
    """Names of people and animals in a memory; what follows "in" or "the" is mostly a place."""
    from bmo.ledger.values import content_words

    words = _WORD.findall(text)
    names = {
        word.casefold()
        for before, word in pairwise(words)
        if len(word) > 2 and word[0].isupper() and before.casefold() not in _OF_PLACES
    }
    return frozenset(names & content_words(names)) - _NO_NAMES


def log_odds(row: Evidence) -> float:
    """Log odds that the memory answers; the model's bias is in it."""
    bias, *weights = _weights()
    values: tuple[float, ...] = _VALUES(row)
    return bias + sum(w * x for w, x in zip(weights, values, strict=True))


def probability(log_odds: float) -> float:
    """The logistic function."""
    return 1.0 / (1.0 + math.exp(-log_odds))


@dataclass(frozen=True, slots=True)
class _Rareness:
    """How much sharing something tells in a store of so many memories."""

    memories: int

    def of(self, shared: Collection[str], counts: Mapping[str, int]) -> float:
        each = sorted(
            (math.log((self.memories + 1) / (counts[item] + 0.5)) for item in shared), reverse=True
        )
        return max(0.0, sum(each[:_MOST]))


def _alike(asked: Collection[str], held: frozenset[str]) -> frozenset[str]:
    """Words of a question that a memory holds in another form."""
    long, row = _long_words(held)
    return frozenset(
        word
        for word in asked
        if len(word) >= _STEM and word not in held and _has_form(word, long, row)
    )


def _has_form(word: str, long: Collection[str], row: str) -> bool:
    if f" {word[:_STEM]}" in row or word in row:
        return True
    return len(word) >= _COMPOUND and any(other in word for other in long)


@lru_cache(maxsize=4096)
def _long_words(held: frozenset[str]) -> tuple[tuple[str, ...], str]:
    """The words of a memory that may be forms of others, and all of them in one row."""
    long = tuple(sorted(word for word in held if len(word) >= _STEM))
    return long, f" {' '.join(long)}"


@cache
def _weights() -> tuple[float, ...]:
    text = resources.files("bmo.recall").joinpath("relevance.json").read_text(encoding="utf-8")
    weights: dict[str, float] = json.loads(text)["weights"]
    return (weights["bias"], *(weights[field.name] for field in fields(Evidence)))
