"""The beginning of a turn read as the answer to the question before it."""

from __future__ import annotations

import re
from dataclasses import replace

from bmo.gate.analysed_turn import Analysis
from bmo.gate.asked_question import last_question
from bmo.gate.clause_reader import ClauseAnalysis, ClauseReader
from bmo.gate.cue_words import ANYTHING, RELATED
from bmo.gate.dialogue_context import answer_clauses
from bmo.gate.non_answers import settles_nothing
from bmo.gate.other_answers import asked_about, other_answer
from bmo.gate.relation_answers import confirmed, confirming, relation_answer
from bmo.gate.speech_act import speech_act
from bmo.language import Clause, LanguageCode, Words
from bmo.turn import Fact, Turn


def gives_no_answer(
    said: Words, repaired: Words, clauses: list[Clause], turn: Turn, language: LanguageCode
) -> bool:
    """Whether a turn gives the question before it no answer, as it was said or repaired."""
    before = turn.assistant_before
    start = clauses[0].start if clauses else 0
    if settles_nothing(repaired.norm, start, before, language):
        return True
    return repaired is not said and settles_nothing(said.norm, 0, before, language)


def read_answer(analysis: Analysis, reader: ClauseReader, clauses: list[Clause]) -> int:
    """Reads the turn's beginning as the answer to a question; how many clauses that explains."""
    turn, language = reader.turn, analysis.language
    if language == "en" and (reader.stages & RELATED or analysis.words.norm[0] in confirming()):
        named = _read_relation(analysis, reader, clauses)
        if named is not None:
            return named
    if not analysis.words.norm:
        return 0
    if language != "en":
        return _read_other(analysis, reader, clauses)
    answer = answer_clauses(
        analysis.words, clauses, turn.assistant_before, reader.discourse, language
    )
    if answer is None:
        return 0
    if answer.used == len(clauses):
        analysis.asked = answer.asked
        analysis.settled = None if answer.more else answer.whole or answer.readings[0]
    weak, stages = reader.weak, reader.stages
    reader.weak = weak and not answer.settled
    reader.stages = ANYTHING  # words of the question stand in the readings
    for line in answer.readings:
        whole = Clause(0, len(line.norm))
        found = reader.read(line, whole, speech_act(line, whole, language))
        if found.facts and not _names_no_thing(found.facts, turn.assistant_before):
            analysis.answered = True
            analysis.clauses.append(found)
            if not answer.all:
                break
    reader.weak, reader.stages = weak, stages
    return answer.used if analysis.answered else 0


def _names_no_thing(facts: tuple[Fact, ...], assistant_before: str) -> bool:
    """Whether what the question has in the answer's place is nothing somebody has.

    "Any languages?" asks for no thing, "have you the book?" "yes and my niece quizzes me every
    night" has none every night, and "just the one" of pets is not "one pets".
    """
    if any(fact.rule_id == "count_of" and _ONE_OF_MANY.match(fact.value) for fact in facts):
        return True
    asked = last_question(assistant_before)
    verbless = asked[:1] == ["any"] and len(asked) <= _ANY_OF_ALL
    return all(
        fact.rule_id == "has_every" or (verbless and fact.rule_id == "has_thing") for fact in facts
    )


_ONE_OF_MANY = re.compile(r"one \w+s$")
_ANY_OF_ALL = 4
"""Words of "any other house spelling"."""


def _read_other(analysis: Analysis, reader: ClauseReader, clauses: list[Clause]) -> int:
    """Reads an answer in German, French or Spanish; how many clauses that explains."""
    language, before = reader.language, reader.turn.assistant_before
    answer = other_answer(analysis.words, clauses, before, language)
    if answer is None:
        return 0
    person = asked_about(before, language)
    if person is not None:
        reader.discourse.introduce(person)  # "hast du einen hund?" "ja er heißt rex"
    weak, reader.weak = reader.weak, True
    stages, reader.stages = reader.stages, ANYTHING
    for line in answer.readings:
        found = reader.read(line, _whole(line), speech_act(line, _whole(line), language))
        # What quotes the words quotes none of the user's: "ja" says nothing alone.
        facts = tuple(fact for fact in found.facts if not fact.text.startswith("Said in "))
        if facts:
            known = tuple(replace(f, confidence=max(f.confidence, VOUCHED)) for f in facts)
            analysis.clauses.append(found._replace(facts=known, open=False))
            analysis.answered = True
            if not answer.all:
                break
    reader.weak, reader.stages = weak, stages
    return answer.used if analysis.answered else 0


VOUCHED = 0.9
"""Confidence of what a question of the table and its answer state."""


def _whole(line: Words) -> Clause:
    return Clause(0, len(line.norm))


def _read_relation(analysis: Analysis, reader: ClauseReader, clauses: list[Clause]) -> int | None:
    """Reads the beginning as the relation of whom was asked; how many clauses that explains.

    None when the turn begins with no such answer.
    """
    spoken, before = analysis.words, reader.turn.assistant_before
    found = relation_answer(spoken, clauses, before, reader.discourse)
    if found is None:
        found = confirmed(spoken, before, reader.discourse)
    if found is None:
        return None
    analysis.answered = True
    analysis.named_until = found.rest
    norm = tuple(spoken.norm[found.first : found.behind])
    place = (found.first, found.behind)
    told = ClauseAnalysis(spoken, place, norm, "statement", (), (found.fact,), False)
    analysis.clauses.append(told)
    used = sum(1 for clause in clauses if clause.start < found.rest)
    if used and clauses[used - 1].end > found.rest:
        last = clauses[used - 1]
        rest = last._replace(start=found.rest)
        analysis.clauses.append(reader.read(spoken, rest, speech_act(spoken, rest, "en")))
    return used
