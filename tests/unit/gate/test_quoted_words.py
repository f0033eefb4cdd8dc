"""Other people's words and what is dictated are nobody's facts, and end no memory."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from bmo.gate import WriteGate
from bmo.gate.cue_words import QUOTED, stages_of
from bmo.gate.quoted_words import words_not_the_users
from bmo.language import LANGUAGES, LanguageCode, repair, segment, words
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Turn

pytestmark = pytest.mark.unit


def cases(kind: str) -> list[tuple[LanguageCode, str]]:
    found: list[tuple[LanguageCode, str]] = []
    for language in LANGUAGES:
        pack = resources.files("bmo.gate") / "packs" / language / "factuality.toml"
        table = tomllib.loads(pack.read_text("utf-8"))["quoting"]
        found += [(language, text) for text in table[kind]]
    return found


def quoted(language: LanguageCode, text: str) -> tuple[int, int] | None:
    spoken = repair(words(text, language), language)
    found = words_not_the_users(spoken, segment(spoken, language), language)
    if found is not None:
        assert stages_of(spoken.norm, language) & QUOTED, "the guard would not have looked"
    return found


@pytest.mark.parametrize(("language", "text"), cases("examples"))
def test_is_quoted(language: LanguageCode, text: str) -> None:
    assert quoted(language, text) is not None


@pytest.mark.parametrize(("language", "text"), cases("non_examples"))
def test_is_the_users_own(language: LanguageCode, text: str) -> None:
    assert quoted(language, text) is None


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


@pytest.mark.parametrize(("language", "text"), cases("examples"))
def test_nothing_of_it_is_stored(gate: WriteGate, language: LanguageCode, text: str) -> None:
    assert gate.decide(Turn(text=text, language=language)).facts == ()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("i'm vegan", "tom texted i'm no longer vegan"),
        ("i drive a car", "dad texted i sold the car"),
        ("my wife is called jo", "tom wrote my wife left me"),
        ("i work at shell", "my brother emailed i quit my job"),
    ],
)
def test_it_ends_no_memory(gate: WriteGate, known: str, said: str) -> None:
    facts = gate.decide(Turn(text=known)).facts
    assert facts
    context = DialogueContext(recent_facts=facts, recent_turns=((known, ""),))
    assert gate.decide(Turn(text=said), context).facts == ()


def test_a_quotation_ends_with_its_sentence(gate: WriteGate) -> None:
    told = gate.decide(Turn(text="Tom texted I am vegan. I live in Leeds."))
    assert [fact.text for fact in told.facts] == ["Lives in Leeds"]


@pytest.mark.parametrize(
    "text",
    [
        "i'm dying of hunger",
        "i'm basically a doctor",
        "i'm practically a vegan",
        "i'm the queen of england",
        "sure, i'm a millionaire",
        "great, i love being stuck here",
    ],
)
def test_a_figure_of_speech_is_no_fact(gate: WriteGate, text: str) -> None:
    assert gate.decide(Turn(text=text)).facts == ()


def test_a_figure_of_speech_is_told_from_an_illness(gate: WriteGate) -> None:
    assert gate.decide(Turn(text="i'm dying of cancer")).reason != "idiom"


@pytest.mark.parametrize(
    "text",
    [
        "my cat allergy is gone",
        "my cat food is called jo",
        "my mother tongue is polish",
        "my father figure is my uncle bob",
        "my dog and my cat fight",
    ],
)
def test_a_compound_noun_names_nobody(gate: WriteGate, text: str) -> None:
    named = [f for f in gate.decide(Turn(text=text)).facts if f.slot == "name"]
    assert [f.text for f in named if "uncle" not in f.text] == []


def test_whose_dog_it_is_names_nobody(gate: WriteGate) -> None:
    told = gate.decide(Turn(text="der hund meiner nachbarin ist gestorben", language="de"))
    assert [f.text for f in told.facts if f.slot in ("name", "deceased")] == []
