"""Echo questions, exclamations, replies left short: what leads into an answer."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.clefts_of_kin import without_cleft
from bmo.gate.echo_questions import without_leads
from bmo.gate.people import people_lexicon
from bmo.language import segment, words
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.fixture(scope="module")
def judged() -> WriteGate:
    return WriteGate.from_settings(load_settings())


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("my husband Desmond? he lives in Leeds", ["Husband Desmond lives in Leeds"]),
        ("dad? he lives in Leeds", ["Father lives in Leeds"]),
        ("oh what, my brother? god no, he lives in Leeds", ["Brother lives in Leeds"]),
        ("my husband's brother? he lives in Leeds", ["Husband's brother lives in Leeds"]),
        ("have you met my brother? he lives in Leeds", ["Brother lives in Leeds"]),
        # nothing of the question itself, nobody named, two people
        ("my husband Desmond?", []),
        ("my husband Desmond? no idea", []),
        ("is it my turn? he lives in Leeds", []),
        ("does my brother know my dad? he lives in Leeds", []),
        ("my brother's wife Ana said what? he lives in Leeds", []),
        ("the weather? he lives in Leeds", []),
    ],
)
def test_an_echo_says_whom_pronouns_mean(gate: WriteGate, said: str, stored: list[str]) -> None:
    assert [fact.text for fact in gate.decide_by_rules(Turn(text=said)).facts] == stored


@pytest.mark.parametrize(
    ("said", "before", "left"),
    [
        ("heavens, no. he is a curling man", "Is he fit?", ["he is a curling man"]),
        ("oh lord no, i live alone", "", ["i live alone"]),
        ("not at all. i like it", "", ["i like it"]),
        (
            "no he can't, he's out on the rigs",
            "Does Clar still come?",
            ["he is out on the rigs"],
        ),
        ("she doesn't. she moved to york", "Is Ana about?", ["she moved to york"]),
        # content, and what the question settles
        ("not at all well these days", "", ["not at all well these days"]),
        ("he does my garden", "", ["he does my garden"]),
        ("he can't eat nuts", "", ["he can not eat nuts"]),
        ("no sugar for me", "", ["no sugar for me"]),
        ("he doesn't, he walks", "Does he drive?", ["he does not he walks"]),
        ("heavens no", "Do you smoke?", ["heavens no"]),
    ],
)
def test_leads_are_no_content(said: str, before: str, left: list[str]) -> None:
    spoken = words(said, "en")
    kept = without_leads(spoken, segment(spoken, "en", frozenset()), before)
    assert [" ".join(spoken.norm[c.start : c.end]) for c in kept] == left


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("it's his wife that comes, marlene", "his wife marlene comes"),
        ("it's my sister who does the shopping", "my sister does the shopping"),
        ("well it is my son marcus that drives me", "well my son marcus drives me"),
        # the object, a description, no relation
        ("it is my sister that i miss", "it is my sister that i miss"),
        ("it is my sister", "it is my sister"),
        ("it is his car that leaks, marlene", "it is his car that leaks marlene"),
    ],
)
def test_clefts_of_kin(said: str, read: str) -> None:
    assert " ".join(without_cleft(words(said, "en"), people_lexicon("en")).norm) == read


@pytest.mark.parametrize(
    ("asked", "said", "stored"),
    [
        (
            "Is your husband coming?",
            "My husband Desmond? Heavens, no. He's a curling man.",
            ["Husband Desmond is a curling man"],
        ),
        (
            "Does Clar still come?",
            "no he can't, he's out on the rigs now",
            ["Clar is out on the rigs now"],
        ),
    ],
)
def test_the_memory_names_them(judged: WriteGate, asked: str, said: str, stored: list[str]) -> None:
    decision = judged.decide(Turn(text=said, assistant_before=asked))
    assert [fact.text for fact in decision.facts] == stored


def test_whom_the_question_names_is_nobody_known_by_relation(gate: WriteGate) -> None:
    brother = gate.decide_by_rules(Turn(text="my brother sam lives in york")).facts
    context = DialogueContext(recent_facts=brother)
    of_clar = Turn(text="no he lives in leeds now", assistant_before="Does Clar still come?")
    of_sam = Turn(text="no he lives in leeds now", assistant_before="Does Sam still come?")
    assert not gate.decide_by_rules(of_clar, context).facts
    texts = [fact.text for fact in gate.decide_by_rules(of_sam, context).facts]
    assert texts == ["Brother Sam lives in Leeds"]
