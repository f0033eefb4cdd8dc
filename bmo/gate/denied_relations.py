"""Who is not what they are known as: "devraj is not my manager, he's the cto".

What is known of them as that ends; what the turn tells of them beside is told by name alone. Words
are data (``packs/<language>/denied_relations.toml``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from bmo.gate.analysed_turn import Analysis
from bmo.gate.clause_reader import ClauseAnalysis
from bmo.gate.named_people import name_fact
from bmo.gate.pack_tables import read_table
from bmo.gate.people import PeopleLexicon, label_of, people_lexicon, subject_of
from bmo.language import LanguageCode
from bmo.turn import Fact

_CONFIDENCE = 0.95
_POSSESSIVE = frozenset({"'s", "s"})
_PRONOUNS = frozenset({"he", "she", "er", "sie", "il", "elle", "él", "ella"})


@dataclass(frozen=True, slots=True)
class DenyingWords:
    """``packs/<language>/denied_relations.toml``.

    Attributes:
        owners: Words before a relation of the user's.
        negations: Words that deny.
        between: What may stand between a name and the owner.
    """

    owners: frozenset[str]
    negations: frozenset[str]
    between: frozenset[str]


@cache
def denying_words(language: LanguageCode) -> DenyingWords:
    """The words of ``language``, read on first use; empty where the pack has none."""
    raw = read_table(language, "denied_relations.toml")
    return DenyingWords(
        owners=frozenset(raw.get("owners", ())),
        negations=frozenset(raw.get("negations", ())),
        between=frozenset(raw.get("between", ())),
    )


def with_denied_relations(analysis: Analysis) -> None:
    """Ends what somebody is not; what else the turn tells of them is told by their name."""
    table, norm = denying_words(analysis.language), analysis.words.norm
    if analysis.discourse is None or table.negations.isdisjoint(norm):
        return
    names = analysis.discourse.names
    if table.owners.isdisjoint(norm):
        return
    people = people_lexicon(analysis.language)
    for place, clause in enumerate(analysis.clauses):
        if clause.speech_act != "statement" or clause.vetoes:
            continue
        denied = _denied(clause.norm, table, people)
        if denied is None:
            continue
        subject = names.get(denied.name, "")
        if subject.partition(":")[0] == denied.relation:
            _end(analysis, clause, subject)
            analysis.facts += _what_instead(analysis, place, subject, table)
        elif denied.name in people.names or denied.name.title() in analysis.words.text:
            _mean(analysis, place, denied, subject)


class _Denied(NamedTuple):
    """Who is said not to be what of the user's ("devraj", "user.boss")."""

    name: str
    relation: str


def _denied(norm: Sequence[str], table: DenyingWords, people: PeopleLexicon) -> _Denied | None:
    """Reads "devraj is not my manager"."""
    owner = next((i for i, word in enumerate(norm) if word in table.owners), 0)
    first = owner
    while first and norm[first - 1] in table.between:
        first -= 1
    if not first or table.negations.isdisjoint(norm[first:owner]):
        return None
    found = people.relation_at(list(norm), owner + 1, len(norm))
    if found is None or (found[1] < len(norm) and norm[found[1]] in _POSSESSIVE):
        return None
    return _Denied(norm[first - 1], subject_of(found[0]))


def _mean(analysis: Analysis, place: int, denied: _Denied, subject: str) -> None:
    """Gives what is told with a pronoun behind the denial to whom it names."""
    name = denied.name.title()
    theirs = {
        fact
        for clause in analysis.clauses[place + 1 :]
        if clause.norm and clause.norm[0] in _PRONOUNS
        for fact in clause.facts
        if fact.subject.partition(":")[0] == denied.relation and fact.op != "retract"
    }
    analysis.facts = tuple(
        _of(fact, name, subject) if fact in theirs else fact for fact in analysis.facts
    )


def _of(fact: Fact, name: str, subject: str) -> Fact:
    told = _by_name(fact, fact.subject, name)
    if not subject or told is fact:
        return told
    label = label_of(subject, name)
    return replace(fact, text=f"{label}{told.text[len(name) :]}", subject=subject)


def _end(analysis: Analysis, denying: ClauseAnalysis, subject: str) -> None:
    """Puts the end of a relation into a turn's facts."""
    name = subject.partition(":")[2].title()
    ended = Fact(
        text=f"{label_of(subject, name)} is not that",
        category="relationships",
        slot="not_of_relation",
        value=name,
        subject=subject,
        op="retract",
        scope="subject",
        confidence=_CONFIDENCE,
        rule_id="denied_relation",
        extraction_method="pattern:denied_relation",
    )
    told = [_by_name(f, subject, name) for f in analysis.facts if f not in denying.facts]
    analysis.facts = (ended, *told)
    analysis.clauses = [
        clause._replace(open=False, facts=()) if clause is denying else clause
        for clause in analysis.clauses
    ]


def _what_instead(
    analysis: Analysis, place: int, subject: str, table: DenyingWords
) -> tuple[Fact, ...]:
    """What else of the user's they are, told behind: "..., she is my cousin"."""
    told = analysis.clauses[place + 1 : place + 2]
    if not told or told[0].facts or told[0].vetoes or not told[0].norm:
        return ()
    norm = told[0].norm
    owner = next((i for i, word in enumerate(norm) if word in table.owners), 0)
    led = norm[1:owner]
    if norm[0] not in _PRONOUNS or not led or not table.between.issuperset(led):
        return ()
    found = people_lexicon(analysis.language).relation_at(list(norm), owner + 1, len(norm))
    if found is None or found[1] != len(norm) or not table.negations.isdisjoint(led):
        return ()
    analysis.clauses[place + 1] = told[0]._replace(open=False)
    return (name_fact(found[0], subject.partition(":")[2].title(), "user", told[0].span),)


def _by_name(fact: Fact, subject: str, name: str) -> Fact:
    """What is told of somebody who is not what they were known as: "Devraj is a CTO"."""
    label = label_of(subject, name if ":" in subject else "")
    if fact.subject != subject or fact.op == "retract" or not fact.text.startswith(label):
        return fact
    return replace(
        fact,
        op="assert",
        text=f"{name}{fact.text[len(label) :]}",
        subject="user",
        slot=None,
        value="",
        cardinality="many",
        replaces=None,
    )
