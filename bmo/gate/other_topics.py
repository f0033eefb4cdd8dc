"""What German, French and Spanish speech puts in front of a clause, or goes on about behind it.

"le mardi et le vendredi | je me lève à quatre heures", "der oskar | das ist mein enkel",
"on a déménagé la boutique | elle est à rezé": the clause borders of run-on speech are moved so that
what is said of a topic stands in one clause with it.
"""

from __future__ import annotations

from bmo.gate.other_grammar import Grammar, grammar
from bmo.gate.people import PeopleLexicon, people_lexicon
from bmo.gate.speech_act import speech_act_lexicon
from bmo.language import Clause, LanguageCode, Words
from bmo.language.lexicon import Phrases, match_phrase

THAT = frozenset({"ça", "cela", "ce"})
"""French words that point at a topic put in front."""


def topic_of(words: Words, start: int, end: int, language: LanguageCode) -> list[int]:
    """Words of a topic put in front of a clause: a noun phrase without a verb, or nothing."""
    rules = grammar(language)
    for i in range(start, end - 1):
        if words.norm[i] in rules.articles:
            stop = i + 1
            while (
                stop < end and words.norm[stop] not in rules.verbs and words.norm[stop] not in THAT
            ):
                stop += 1
            return list(range(i, stop)) if stop - i in (2, 3) else []
    return []


def with_topics(words: Words, clauses: list[Clause], language: LanguageCode) -> list[Clause]:
    """Clauses with what was put in front of them ("le mardi et le vendredi | je me lève ...").

    A part without a verb, opened by an article or a preposition and followed by a clause with its
    own subject, is the beginning of that clause; "on a déménagé la boutique | elle est à rezé"
    goes on.
    """
    rules = grammar(language)
    remember = speech_act_lexicon(language).remember
    people = people_lexicon(language)
    joined: list[Clause] = []
    front: Clause | None = None
    for clause in _with_what_is_asked(words, clauses, language):
        starts = words.norm[clause.start]
        own_subject = starts in rules.first or starts in rules.third or starts in _THAT_IS
        if front is not None:
            if own_subject and not clause.carried:
                clause = clause._replace(start=front.start, intro=front.intro)
            else:
                joined.append(front)
            front = None
        elif (
            joined and starts in rules.third and _ends_in_a_thing(words, joined[-1], rules, people)
        ):
            joined[-1] = clause._replace(start=joined[-1].start, intro=joined[-1].intro)
            continue
        if _is_topic(words, clause, rules, remember):
            front = clause
        else:
            joined.append(clause)
    return joined if front is None else [*joined, front]


_THAT = frozenset({"dass", "que"})
_LONGEST_REQUEST = 4


def _with_what_is_asked(
    words: Words, clauses: list[Clause], language: LanguageCode
) -> list[Clause]:
    """Clauses with "vergiss | dass ich jazz mag" in one: what is to be forgotten is not told."""
    acts = speech_act_lexicon(language)
    joined: list[Clause] = []
    for clause in clauses:
        if joined and words.norm[clause.start] in _THAT:
            before = joined[-1]
            asks = before.start
            while asks < before.end - 1 and words.norm[asks] in acts.polite:
                asks += 1
            size = before.end - before.start
            opens = words.norm[asks] in acts.forget or words.norm[asks] in acts.remember
            if opens and size <= _LONGEST_REQUEST:
                joined[-1] = clause._replace(start=before.start, intro=before.intro)
                continue
        joined.append(clause)
    return joined


def _is_topic(words: Words, clause: Clause, rules: Grammar, remember: Phrases) -> bool:
    """Whether a part is put in front of a clause: without a verb, behind an article or the like."""
    asked = match_phrase(remember, words.norm, clause.start)
    begin = clause.start + asked if clause.start + asked < clause.end else clause.start
    opens = words.norm[begin]
    if opens not in rules.articles and opens not in rules.prepositions:
        return False
    verbs = (rules.form(words.norm, i) for i in range(begin, clause.end))
    return (
        not clause.closed_by
        and clause.end - begin <= _MAX_TOPIC
        and not any(form is not None and not form.participle for form in verbs)
    )


def _ends_in_a_thing(words: Words, clause: Clause, rules: Grammar, people: PeopleLexicon) -> bool:
    """Whether a clause ends in "la boutique", which "elle" behind it then is."""
    if clause.closed_by or clause.end - clause.start < 3:
        return False
    before, noun = words.norm[clause.end - 2], words.norm[clause.end - 1]
    named = noun in people.names or people.relation_at([noun], 0, 1) is not None
    return (before in rules.articles or before in rules.own) and not named


_MAX_TOPIC = 7
_THAT_IS = frozenset({"das", "ce"})
