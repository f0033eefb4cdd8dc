"""Word lists of single stages: every list is read, and the examples beside the words hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any

import pytest

from bmo.gate import WriteGate
from bmo.gate.analysis import analyse
from bmo.gate.appositives import written_out
from bmo.gate.contrasted_places import without_denied_place
from bmo.gate.dialect import with_my
from bmo.gate.echo_questions import without_leads
from bmo.gate.left_open import leaves_open, opens_with_part, tells_only_when
from bmo.gate.lost_apostrophes import with_apostrophes
from bmo.gate.naming_order import with_names_in_order
from bmo.gate.own_clause import is_own_clause
from bmo.gate.own_people import with_own_people
from bmo.gate.pack_tables import read_table
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.gate.pointing_orders import with_pointers_resolved
from bmo.gate.tag_questions import plain_question
from bmo.gate.told_of_several import with_relations_first, with_several_told
from bmo.gate.word_tables import declared_tables, word_lists, word_table
from bmo.language import LANGUAGES, LanguageCode, Words, repair, segment, words
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Turn

pytestmark = pytest.mark.unit

TABLES = {table.file: table for table in declared_tables()}  # the gate imports every stage


def said(text: str) -> Words:
    return words(text, "en")


def in_order(text: str) -> Words:
    spoken, people = repair(said(text), "en"), people_lexicon("en")
    pack = load_pack("en")
    return written_out(spoken, people, pack.stops, pack.lexicons["occupations"])


def left_of(text: str) -> Words:
    spoken = said(text)
    clauses = without_leads(spoken, segment(spoken, "en", frozenset()), "")
    return spoken.select([i for clause in clauses for i in range(clause.start, clause.end)])


def acts(text: str) -> list[str]:
    return [c.speech_act for c in analyse(Turn(text=text), DialogueContext(), "en").clauses]


REWRITES: dict[str, Callable[[str], Words]] = {
    "appositives.toml": in_order,
    "dialect.toml": lambda text: with_my(said(text), people_lexicon("en")),
    "echo_questions.toml": left_of,
    "lost_apostrophes.toml": lambda text: with_apostrophes(said(text), people_lexicon("en")),
    "naming_order.toml": lambda text: with_names_in_order(said(text)),
    "own_people.toml": lambda text: with_own_people(
        said(text), people_lexicon("en"), DialogueContext()
    ),
    "told_of_several.toml": lambda text: with_several_told(said(text), people_lexicon("en")),
    "pointing_orders.toml": lambda text: with_pointers_resolved(said(text)),
}
"""Stages that write a turn's words otherwise: an example is what is said and how it is read."""

TELLS: dict[str, Callable[[str], bool]] = {
    "left_open.toml": lambda text: leaves_open(text, people_lexicon("en")),
    "own_clause.toml": lambda text: is_own_clause(text.split()),
    "told_beside_requests.toml": lambda text: "statement" in acts(text),
}
"""Stages that tell whether something is so of the words: an example is the words."""

ANSWERS = (
    "answer_rest.toml",
    "choice_answers.toml",
    "momentary_questions.toml",
    "relation_answers.toml",
    "yes_no_answers.toml",
)
"""Stages that read an answer: an example is the question, the answer and what they tell."""


STATEMENTS = ("capture_names.toml", "ellipsis.toml")
"""Stages whose words a whole turn shows: an example is what is said and what is stored."""

QUESTIONS = ("tag_questions.toml",)
"""Stages that read the assistant's question: an example is it, as it is read, and its denial."""

EXAMPLES_ELSEWHERE = {"open_words.toml": "open_examples.toml"}
"""Run by ``test_open_canonicalisation.py``."""


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


def rows(files: Iterable[str], key: str) -> list[tuple[str, Any]]:
    return [(file, row) for file in files for row in read_table("en", file)[key]]


@pytest.mark.parametrize("file", TABLES)
def test_every_list_is_read_and_no_word_stands_twice(file: str) -> None:
    raw = read_table("en", file)
    lists = {name for name in raw if "examples" not in name}
    assert lists == {field.name for field in fields(TABLES[file].shape)}
    for name in lists:
        written = raw[name].split() if isinstance(raw[name], str) else raw[name]
        assert sorted(written) == sorted(set(written)), name
        assert getattr(TABLES[file].read(), name) == set(written)
        assert all(word == word.lower() for word in written), name


def test_every_table_has_examples_that_are_run() -> None:
    known = {*REWRITES, *TELLS, *ANSWERS, *STATEMENTS, *QUESTIONS, *EXAMPLES_ELSEWHERE}
    assert set(TABLES) == known
    assert all(read_table("en", file)["example"] for file in EXAMPLES_ELSEWHERE.values())


@pytest.mark.parametrize(("file", "example"), rows(REWRITES, "examples"))
def test_words_are_read_otherwise(file: str, example: list[str]) -> None:
    text, read = example
    assert " ".join(REWRITES[file](text).norm) == read


@pytest.mark.parametrize(("file", "text"), rows(REWRITES, "non_examples"))
def test_words_are_read_as_they_were_said(file: str, text: str) -> None:
    assert REWRITES[file](text).norm == said(text).norm


@pytest.mark.parametrize(("file", "text"), rows(TELLS, "examples"))
def test_it_is_so(file: str, text: str) -> None:
    assert TELLS[file](text)


@pytest.mark.parametrize(("file", "text"), rows(TELLS, "non_examples"))
def test_it_is_not_so(file: str, text: str) -> None:
    assert not TELLS[file](text)


@pytest.mark.parametrize(("file", "example"), rows(ANSWERS, "examples"))
def test_an_answer_tells(gate: WriteGate, file: str, example: list[str]) -> None:
    asked, text, *told = example
    decision = gate.decide_by_rules(Turn(text=text, assistant_before=asked))
    assert [fact.text for fact in decision.facts] == told, file


@pytest.mark.parametrize(("file", "example"), rows(ANSWERS, "non_examples"))
def test_an_answer_tells_nothing(gate: WriteGate, file: str, example: list[str]) -> None:
    asked, text = example
    assert not gate.decide_by_rules(Turn(text=text, assistant_before=asked)).facts, file


@pytest.mark.parametrize(("file", "example"), rows(QUESTIONS, "examples"))
def test_a_question_asks_the_plain_one(file: str, example: list[str]) -> None:
    asked, plain, denied = example
    found = plain_question(asked.split())
    assert found is not None and (" ".join(found.words), found.denied) == (plain, denied), file


@pytest.mark.parametrize(("file", "example"), rows(QUESTIONS, "non_examples"))
def test_a_question_is_plain_already(file: str, example: list[str]) -> None:
    assert plain_question(example[0].split()) is None, file


@pytest.mark.parametrize(("file", "example"), rows(STATEMENTS, "examples"))
def test_a_turn_stores(gate: WriteGate, file: str, example: list[str]) -> None:
    text, *stored = example
    assert [fact.text for fact in gate.decide_by_rules(Turn(text=text)).facts] == stored, file


@pytest.mark.parametrize(("file", "text"), rows(STATEMENTS, "non_examples"))
def test_a_turn_stores_nothing(gate: WriteGate, file: str, text: str) -> None:
    assert not gate.decide_by_rules(Turn(text=text)).facts, file


@pytest.mark.parametrize("key", ["examples_of_times", "non_examples_of_times"])
def test_clauses_that_only_say_when_are_those_of_the_list(key: str) -> None:
    people = people_lexicon("en")
    for clause in read_table("en", "left_open.toml")[key]:
        only = tells_only_when(clause.split(), people)
        assert only == (key == "examples_of_times"), clause


@pytest.mark.parametrize("key", ["examples_of_parts", "non_examples_of_parts"])
def test_clauses_about_some_of_those_spoken_of_before(key: str) -> None:
    for clause in read_table("en", "left_open.toml")[key]:
        assert opens_with_part(clause.split()) == (key == "examples_of_parts"), clause


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_place_that_is_denied_gives_way_to_the_one_that_holds(language: LanguageCode) -> None:
    raw = read_table(language, "contrasted_places.toml")
    for text, read in raw["examples"]:
        assert " ".join(without_denied_place(words(text, language), language).norm) == read
    for text in raw["non_examples"]:
        spoken = words(text, language)
        assert without_denied_place(spoken, language) is spoken


@dataclass(frozen=True, slots=True)
class Lists:
    at_home: frozenset[str]
    of_another_pack: frozenset[str]


def test_a_language_without_the_table_has_empty_lists() -> None:
    assert word_lists(Lists, "en", "own_people.toml").at_home >= {"dog", "wife"}
    assert word_lists(Lists, "en", "own_people.toml").of_another_pack == frozenset()
    assert word_lists(Lists, "sv", "own_people.toml") == Lists(frozenset(), frozenset())


def test_a_table_is_read_once() -> None:
    read = next(t.read for t in declared_tables() if t.file == "own_people.toml")
    assert read() is read()
    assert callable(word_table)


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_several_named_before_who_they_are(language: LanguageCode) -> None:
    raw, people = read_table(language, "told_of_several.toml"), people_lexicon(language)
    for text, read in raw["examples"]:
        told = with_relations_first(words(text, language), people, language)
        assert " ".join(told.norm) == read
    for text in raw["non_examples"]:
        spoken = words(text, language)
        assert with_relations_first(spoken, people, language) is spoken
