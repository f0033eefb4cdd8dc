"""Retractions in German, French and Spanish: "vergiss das mit flensburg", "oublie mon régime".

What is to be forgotten is what is left of the request without words of telling and pointing
(``packs/<language>/forget.toml``); the ledger finds the memories that hold these words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.discourse import Discourse
from bmo.gate.other_grammar import grammar
from bmo.gate.pack_tables import read_table
from bmo.gate.retraction import proposes_another, retraction_fact, things_named
from bmo.language import Clause, LanguageCode, Words
from bmo.language.lexicon import Phrases, phrase_table
from bmo.turn import Fact, RetractScope

_MAX_TOPIC = 4
"""Words of what is to be forgotten; what follows is a reason."""


@dataclass(frozen=True, slots=True)
class ForgetWords:
    """A language's ``forget.toml``.

    Attributes:
        filler: Words around what is meant ("das mit", "ce que je t'ai dit sur").
        wide: Words for everything.
        me: Words for the user, behind which "everything" means everything.
        last: Words that point at what was just said.
        not_memory: Things an assistant has that are no memory ("wecker").
        rather: What is proposed in its place: nothing is to be forgotten then ("vergiss den tee,
            lass uns kaffee trinken").
        joins: Words between two things to be forgotten.
        again: Words with which the second of them begins.
    """

    filler: frozenset[str]
    wide: frozenset[str]
    me: frozenset[str]
    last: frozenset[str]
    not_memory: frozenset[str]
    rather: Phrases
    joins: frozenset[str]
    again: frozenset[str]


@lru_cache(maxsize=4)
def forget_words(language: LanguageCode) -> ForgetWords:
    """The words of ``language``, read on first use; empty where the pack has none."""
    raw = read_table(language, "forget.toml")
    return ForgetWords(
        filler=frozenset(raw.get("filler", ())),
        wide=frozenset(raw.get("wide", ())),
        me=frozenset(raw.get("me", ())),
        last=frozenset(raw.get("last", ())),
        not_memory=frozenset(raw.get("not_memory", ())),
        rather=phrase_table(raw.get("rather", [])),
        joins=frozenset(raw.get("joins", ())),
        again=frozenset(raw.get("again", ())),
    )


def topic_words(norm: Sequence[str], language: LanguageCode) -> list[str]:
    """The first words of content in a row ("gitarre" of "das mit der gitarre vom letzten jahr")."""
    known = forget_words(language)
    read = grammar(language)
    empty = known.filler | known.wide | known.last | read.first.keys()
    # "Dass ich keinen alkohol trinke" is about alcohol: a memory has the value, not the verb.
    nouns = [w for w in norm if w not in read.verbs and w not in read.negations]
    found: list[str] = []
    for word in nouns if not empty.issuperset(nouns) else norm:
        if word not in empty:
            found.append(word)
            if len(found) == _MAX_TOPIC:
                break
        elif found:
            break
    return found


def other_retraction(
    spoken: Words, clause: Clause, behind: int, discourse: Discourse, language: LanguageCode
) -> tuple[Fact, ...]:
    """What a forget request asks for, each thing by itself; nothing where it is none.

    Args:
        spoken: The turn's words.
        clause: The clause that asks.
        behind: Index behind the words that ask ("vergiss mal").
        discourse: Who is known.
        language: de, fr or es.
    """
    known = forget_words(language)
    asked = spoken.norm[clause.start : clause.end]
    rest = spoken.norm[behind : clause.end]
    if not known.not_memory.isdisjoint(rest):
        return ()
    if proposes_another(spoken.norm, behind, clause, known.rather):
        return ()
    things = things_named(rest, known.joins, known.again)
    asked_for = [_meant(asked, thing, discourse, language) for thing in things]
    if len(asked_for) > 1:
        asked_for = [found for found in asked_for if found and found[0] not in ("last", "all")]
    return tuple(retraction_fact(spoken, clause, *found) for found in asked_for if found)


def _meant(
    asked: Sequence[str], rest: Sequence[str], discourse: Discourse, language: LanguageCode
) -> tuple[RetractScope, str, str] | None:
    """Scope, value and subject of one thing that is to be forgotten, or None for nothing."""
    known = forget_words(language)
    topic = topic_words(rest, language)
    wide = not known.wide.isdisjoint(asked)
    scope: RetractScope = "value"
    value, subject = " ".join(topic), "user"
    if not topic:
        if wide:
            scope = "all"
        elif rest and known.last.issuperset(w for w in rest if w not in known.filler):
            scope = "last"
        else:
            return None
    elif wide and known.me.issuperset(topic):
        scope, value = "all", ""
    elif len(topic) == 1 and topic[0] in discourse.names and wide:
        scope, subject = "subject", discourse.names[topic[0]]
    else:
        person = discourse.lexicon.relation_at(topic, 0, len(topic))
        if person is not None and person[1] == len(topic):
            value = person[0].name  # memories call dogs and sisters so in every language
            if wide:
                scope, subject = "subject", discourse.introduce(person[0]).subject
    return scope, value, subject
