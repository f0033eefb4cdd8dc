"""Words with which a turn speaks of people, by language: possessives, pronouns, "a bloke".

English ones are in ``[talk]`` of its ``people.toml``; other languages have theirs in
``grammar.toml`` already, and add in ``[talk]`` what English has beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bmo.gate.other_grammar import grammar
from bmo.gate.pack_tables import read_table
from bmo.gate.people import Gender
from bmo.language import LanguageCode

_GENDERS: dict[str, Gender] = {
    "he": "male",
    "his": "male",
    "she": "female",
    "her": "female",
    "their": "plural",
    "either": "unknown",
}
"""Pronouns of ``grammar.toml`` -> whom they point at."""


@dataclass(frozen=True, slots=True)
class TalkWords:
    """Words of one language.

    Attributes:
        own: Before somebody of the user's ("my").
        yours: The same in the assistant's words ("your").
        possessives: Before somebody of another's -> whose ("his" -> male).
        pronouns: Subjects and objects -> whom they point at.
        new: Before somebody who is brought up ("a").
        definite: Before somebody, whose own nobody says ("the").
        between: What may stand before the relation ("two", "little").
        first: The user as subject, and verb forms that say so.
        having: Forms of "to have" of the user.
        copulas: Forms of "to be".
        negations: Words that deny.
        somebody: Nouns for somebody of no relation -> gender.
        trades: Nouns for whoever does something, who are somebody behind a verb of meeting.
        meeting: Such verbs and prepositions.
        naming: Words for a name ("his name's paul").
        joins: "and".
        called: What stands between somebody and the name they have.
        objects: Pronouns that may be objects.
        clitics: Objects before their verb that may be articles -> whom they point at.
        infinitives: Endings of the verbs behind them.
        ends: Words behind an object that may be a possessive elsewhere ("her on sundays").
        not_names: Names that are no names in talk without case.
    """

    own: frozenset[str]
    yours: frozenset[str]
    possessives: Mapping[str, Gender]
    pronouns: Mapping[str, Gender]
    new: frozenset[str]
    definite: frozenset[str]
    between: frozenset[str]
    first: frozenset[str]
    having: frozenset[str]
    copulas: frozenset[str]
    negations: frozenset[str]
    somebody: Mapping[str, Gender]
    trades: frozenset[str]
    meeting: frozenset[str]
    naming: frozenset[str]
    joins: frozenset[str]
    called: frozenset[str]
    objects: frozenset[str]
    clitics: Mapping[str, Gender]
    infinitives: tuple[str, ...]
    ends: frozenset[str]
    not_names: frozenset[str]


def _gendered(raw: Mapping[str, Any], key: str) -> dict[str, Gender]:
    genders: tuple[Gender, ...] = ("male", "female", "unknown")
    return {word: gender for gender in genders for word in raw.get(f"{key}_{gender}", ())}


@cache
def talk_words(language: LanguageCode) -> TalkWords:
    """The words of ``language``, read from its pack on first use."""
    raw: Mapping[str, Any] = read_table(language, "people.toml").get("talk", {})

    def of(name: str) -> frozenset[str]:
        return frozenset(raw.get(name, ()))

    own, new, negations, between = of("own"), of("new"), of("negations"), of("between")
    possessives, pronouns = _gendered(raw, "possessives"), _gendered(raw, "pronouns")
    first, having, copulas = of("first"), of("having"), of("copulas")
    if language != "en":
        rules = grammar(language)
        own |= rules.own.keys() | rules.own_oblique
        new |= rules.indefinite
        negations |= rules.negations
        between |= rules.adjectives
        first |= rules.first.keys()
        of_verbs = rules.verbs.items()
        having |= {word for word, form in of_verbs if form.lemma in rules.having}
        copulas |= {word for word, form in of_verbs if form.lemma in rules.copulas}
        if rules.subject_from_verb:
            first |= {w for w, form in of_verbs if form.lemma in rules.having and form.person == 1}
        owned = {w: _GENDERS[said] for w, said in rules.third_own.items() if said in _GENDERS}
        possessives = owned | possessives
        spoken = {w: _GENDERS[s] for w, s in rules.third.items() if s in _GENDERS}
        pronouns = {w: g for w, g in spoken.items() if w not in rules.articles} | pronouns
    return TalkWords(
        own=own,
        yours=of("yours"),
        possessives=possessives,
        pronouns=pronouns,
        new=new,
        definite=of("definite"),
        between=between,
        first=first,
        having=having,
        copulas=copulas,
        negations=negations,
        somebody=_gendered(raw, "somebody"),
        trades=of("trades"),
        meeting=of("meeting"),
        naming=of("naming"),
        joins=of("joins"),
        called=of("called"),
        objects=of("objects"),
        clitics=_gendered(raw, "clitics"),
        infinitives=tuple(raw.get("infinitives", ())),
        ends=of("ends"),
        not_names=of("not_names"),
    )
