"""Taking back: what the turn before told is not so ("just kidding", "wait no that's my brother").

Only what the turn just before told is meant, and only where it stored something: a joke about
something else ends nothing. Phrases are data (``packs/<language>/taken_back.toml``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from bmo.gate.pack_tables import read_table
from bmo.gate.people import PeopleLexicon, label_of, people_lexicon, subject_of
from bmo.language import LanguageCode, Words
from bmo.language.lexicon import Phrases, match_phrase, phrase_table
from bmo.turn import TAKEN_BACK, DialogueContext, Fact

_MEANS_ANOTHER = "another_person"
_CONFIDENCE = 0.95
_SHORT_REPLY = 4
"""Words of an answer that only takes note; a longer one may be what is called wrong."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, eq=False)
class TakingBack:
    """``packs/<language>/taken_back.toml``.

    Attributes:
        no: The word that opens a correction.
        openers: What may stand before a phrase.
        objections: Those of them that object: "that's my brother" corrects only behind one.
        own: Phrases by which somebody takes back their own words.
        wrong: Phrases that call something wrong: the assistant's last words, if it said anything.
        you: Words by which the assistant repeats what it was told.
        tails: What may stand behind a phrase.
        goes_on: Words with which another clause begins.
        objecting: Those pointers that need no objection before them ("i meant").
        pointers: What leads to whom it is true of ("that is", "i meant").
        myself: Words for the user ("me").
        owners: Words before a relation of the user's.
        begins: First words of all of these.
    """

    no: str
    openers: Phrases
    objections: frozenset[str]
    own: Phrases
    wrong: Phrases
    you: frozenset[str]
    tails: Phrases
    goes_on: frozenset[str]
    objecting: Phrases
    pointers: Phrases
    myself: frozenset[str]
    owners: frozenset[str]
    begins: frozenset[str]


class TakenBack(NamedTuple):
    """What a turn takes back.

    Attributes:
        facts: The retraction, and what is true instead.
        behind: Index of the first word behind; the rest is a turn of its own.
    """

    facts: tuple[Fact, ...]
    behind: int


@cache
def taking_back(language: LanguageCode) -> TakingBack | None:
    """The phrases of ``language``; None where the pack has none."""
    raw = read_table(language, "taken_back.toml")
    if not raw:
        return None
    phrases = [*raw["openers"], *raw["own"], *raw["wrong"], *raw["pointers"]]
    return TakingBack(
        no=raw["no"],
        openers=phrase_table(raw["openers"]),
        objections=frozenset(raw["objections"]),
        own=phrase_table(raw["own"]),
        wrong=phrase_table(raw["wrong"]),
        you=frozenset(raw["you"]),
        tails=phrase_table(raw["tails"]),
        goes_on=frozenset(raw["goes_on"]),
        objecting=phrase_table(raw["objecting"]),
        pointers=phrase_table(raw["pointers"]),
        myself=frozenset(raw["myself"]),
        owners=frozenset(raw["owners"]),
        begins=frozenset(phrase.split()[0] for phrase in phrases),
    )


def taken_back(
    said: Words, context: DialogueContext, assistant_before: str, language: LanguageCode
) -> TakenBack | None:
    """What a turn takes back of the turn before it.

    Args:
        said: The turn's words, before repair.
        context: The conversation; ``last_facts`` are what the turn before told.
        assistant_before: What the assistant said last.
        language: Whose phrases apply.

    Returns:
        None where the turn before told nothing, or nothing is taken back.
    """
    table = taking_back(language)
    if table is None or not context.last_facts or said.norm[0] not in table.begins:
        return None
    norm = said.norm
    first = 0
    objected = False
    while True:
        size = match_phrase(table.own, norm, first)
        if not size and _may_be_wrong(table, assistant_before, context):
            size = match_phrase(table.wrong, norm, first)
        if size:
            break
        if objected or match_phrase(table.objecting, norm, first):
            another = _another(norm, first, table, people_lexicon(language), context)
            if another is not None:
                return another
        opener = match_phrase(table.openers, norm, first)
        if not opener:
            return None
        objected = objected or norm[first] in table.objections
        first += opener
        if first >= len(norm):
            return None
    behind = first + size
    while behind < len(norm):
        tail = match_phrase(table.tails, norm, behind)
        again = match_phrase(table.own, norm, behind) or match_phrase(table.wrong, norm, behind)
        if not (tail or again):
            break
        behind += max(tail, again)
    ended = behind == len(norm) or said.after[behind - 1] or norm[behind] in table.goes_on
    return TakenBack((_retraction(context),), behind) if ended else None


def objection(rest: Words, language: LanguageCode) -> Words:
    """The words behind a phrase as a correction of their own ("scratch that, leeds": "no leeds").

    Args:
        rest: The words behind the phrase.
        language: Whose word for no stands in front.
    """
    table = taking_back(language)
    no = table.no if table is not None else "no"
    first = rest.start[0] if rest.start else 0
    return Words(
        rest.text,
        [no, *rest.norm],
        [first, *rest.start],
        [first, *rest.end],
        [",", *rest.after],
        rest.before,
    )


def _may_be_wrong(table: TakingBack, assistant_before: str, context: DialogueContext) -> bool:
    """Whether what is called wrong is what the user told: the assistant took note, or repeated."""
    asked = "?" in assistant_before
    last = re.split(r"[.!?]\s+", assistant_before.strip())[-1] if asked else assistant_before
    heard = _WORD.findall(last.lower())
    if len(heard) <= _SHORT_REPLY and not asked:
        return True
    # The question is what is called wrong, if it does not say what was told.
    told = {word for fact in context.last_facts for word in _WORD.findall(fact.value.lower())}
    repeated = bool(told) and told <= set(heard) and not table.you.isdisjoint(heard)
    return repeated and len(heard) <= 3 * _SHORT_REPLY


def _retraction(context: DialogueContext) -> Fact:
    last = context.last_facts[0]
    return Fact(
        text=last.text,
        category=last.category,
        op="retract",
        scope="last",
        confidence=_CONFIDENCE,
        rule_id=TAKEN_BACK,
        extraction_method=f"pattern:{TAKEN_BACK}",
    )


def _another(
    norm: list[str],
    at: int,
    table: TakingBack,
    people: PeopleLexicon,
    context: DialogueContext,
) -> TakenBack | None:
    """Reads whom it is true of instead: "that's my brother", "i meant my sister"."""
    pointer = match_phrase(table.pointers, norm, at)
    if not pointer:
        return None
    place = at + pointer
    subject, behind = "", place
    if norm[place : place + 1] and norm[place] in table.myself:
        subject, behind = "user", place + 1
    elif norm[place : place + 1] and norm[place] in table.owners:
        found = people.relation_at(norm, place + 1, len(norm))
        if found is not None and not found[0].plural:
            relation, behind = found
            name = (
                norm[behind] if norm[behind : behind + 1] and norm[behind] in people.names else ""
            )
            behind += bool(name)
            subject = subject_of(relation, name)
    elif norm[place : place + 1] and norm[place] in context.subjects:
        subject, behind = context.subjects[norm[place]], place + 1
    while subject and behind < len(norm):
        tail = match_phrase(table.tails, norm, behind)
        if not tail:
            return None
        behind += tail
    if not subject or any(fact.subject == subject for fact in context.last_facts):
        return None
    told = [_told_of(fact, subject) for fact in context.last_facts if fact.op != "retract"]
    right = tuple(fact for fact in told if fact is not None)
    return TakenBack((_retraction(context), *right), behind)


def _told_of(fact: Fact, subject: str) -> Fact | None:
    """A fact of somebody else; None where it cannot be said of them."""
    if subject == "team" or fact.subject == "team":
        return None
    if fact.slot == "name":
        relation, _, name = fact.subject.partition(":")
        if subject == "user" or relation == "user" or ":" in subject:
            return None
        label = subject.rpartition(".")[2].replace("_", " ")
        return _as_told(fact, f"{subject}:{name}", f"Has a {label} named {fact.value}")
    label = label_of(fact.subject)
    if not fact.text.startswith(label):
        return None
    predicate = fact.text.removeprefix(label).strip()
    if not predicate or predicate.startswith("'s"):
        return None
    whose = label_of(subject)
    text = f"{whose} {predicate[:1].lower()}{predicate[1:]}" if whose else _opened(predicate)
    return _as_told(fact, subject, text)


def _opened(predicate: str) -> str:
    return predicate[:1].upper() + predicate[1:]


def _as_told(fact: Fact, subject: str, text: str) -> Fact:
    return replace(
        fact,
        subject=subject,
        text=text,
        category=fact.category if subject == "user" else "relationships",
        op="assert",
        replaces=None,
        confidence=_CONFIDENCE,
        rule_id=_MEANS_ANOTHER,
        extraction_method=f"pattern:{_MEANS_ANOTHER}",
        span=None,
    )
