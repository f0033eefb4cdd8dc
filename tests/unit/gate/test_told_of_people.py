"""Plain statements about people and pets: whose somebody is, several at once, lost apostrophes."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.language import LanguageCode
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.fixture(scope="module")
def judged() -> WriteGate:
    return WriteGate.from_settings(load_settings())


def told(gate: WriteGate, text: str) -> list[str]:
    return [fact.text for fact in gate.decide(Turn(text=text)).facts]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (
            "my sisters kids are called ella and max",
            ["Sister has a child named Ella", "Sister has a child named Max"],
        ),
        ("my daughters boyfriend is called callum", ["Daughter has a boyfriend named Callum"]),
        ("my bosses name is fiona", ["Has a boss named Fiona"]),
        ("my sons in the army", ["Son is in the army"]),
        (
            "my labradors are rex and max",
            ["Has a dog named Rex, a labrador", "Has a dog named Max, a labrador"],
        ),
        (
            "my dogs are rex and max, they hate the postman",
            ["Has a dog named Rex", "Has a dog named Max", "Dogs hate the postman"],
        ),
        ("i have two daughters, they love horses", ["Has two daughters", "Daughters love horses"]),
        ("my uncles a priest", ["Uncle is a priest"]),
        ("my dogs called monty", ["Has a dog named Monty"]),
        ("my cats got diabetes", ["Cat has diabetes"]),
        (
            "my sons twelve and my daughters nine",
            ["Son is 12 (twelve) years old", "Daughter is 9 (nine) years old"],
        ),
        (
            "my brothers are called huw and gethin",
            ["Has a brother named Huw", "Has a brother named Gethin"],
        ),
        ("my brothers coach football", ["Brothers coach football"]),
        ("my daughters study law", ["Daughters study law"]),
    ],
)
def test_an_apostrophe_that_was_not_written(gate: WriteGate, text: str, stored: list[str]) -> None:
    assert told(gate, text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("rex and bella are our dogs", ["Has a dog named Rex", "Has a dog named Bella"]),
        (
            "kofi and ama are my flatmates",
            ["Has a flatmate named Kofi", "Has a flatmate named Ama"],
        ),
        (
            "my kids are ana, ben and carla, 3, 5 and 9",
            [
                "Has a child named Ana",
                "Has a child named Ben",
                "Has a child named Carla",
                "Child Ana is 3 years old",
                "Child Ben is 5 years old",
                "Child Carla is 9 years old",
            ],
        ),
        (
            "my kids are ana ben and carla",
            ["Has a child named Ana", "Has a child named Ben", "Has a child named Carla"],
        ),
        (
            "my parents are called mary ann and john",
            ["Has a parent named Mary Ann", "Has a parent named John"],
        ),
        ("my twins are called ivy and fern", ["Has a child named Ivy", "Has a child named Fern"]),
        ("my twin's called ollie", ["Has a twin named Ollie"]),
        ("rory and jess are our twins", ["Has a child named Rory", "Has a child named Jess"]),
    ],
)
def test_several_at_once(gate: WriteGate, text: str, stored: list[str]) -> None:
    assert told(gate, text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("marcus is my oldest friend", ["Has a friend named Marcus"]),
        ("tom is my eldest brother", ["Has a brother named Tom"]),
        ("kim is my youngest cousin", ["Has a cousin named Kim"]),
        ("kim is my youngest", ["Has a child named Kim"]),
    ],
)
def test_the_oldest_of_a_kind_is_no_child(gate: WriteGate, text: str, stored: list[str]) -> None:
    assert told(gate, text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("i've had cancer", ["Has had cancer"]),
        ("my wife's had cancer", ["Wife has had cancer"]),
        ("i've had asthma for years", ["Has asthma"]),
        ("my wife quit her job", ["Wife has left her job"]),
        ("i quit my job", ["Has left their job"]),
        ("my boyfriend moved in with me last month", ["Boyfriend lives with them"]),
        ("my mum lives next door to us", ["Mother lives next door to them"]),
        ("my parents anniversary's the 4th of july", ["Parents' anniversary is 4th of July"]),
        ("my step kids live with us", ["Stepchildren live with them"]),
        ("my girls are 10 and 12", []),
        (
            "my girls are twelve and my boy is two",
            ["Daughters are 12 (twelve) years old", "Son is 2 (two) years old"],
        ),
        (
            "tom's my brother and tim's my cousin",
            ["Has a brother named Tom", "Has a cousin named Tim"],
        ),
        (
            "my parents are called priya and raj respectively",
            ["Has a parent named Priya", "Has a parent named Raj"],
        ),
    ],
)
def test_who_and_when_are_told_as_said(gate: WriteGate, text: str, stored: list[str]) -> None:
    assert told(gate, text) == stored


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("i pay my sister's rent", ["Pays their sister's rent"]),
        ("salt and pepper are my favourites", ["Favourites are salt and pepper"]),
        ("my oldest jeans are ripped", ["Oldest jeans are ripped"]),
        ("i'm my mum's carer", ["Is their mum's carer"]),
        ("i have my kids every other weekend", ["Has their kids every other weekend"]),
        (
            "my brother's wife and my wife are sisters",
            ["Brother's wife and their wife are sisters"],
        ),
        (
            "a bloke i play football with is called lee",
            ["A bloke they play football with is called Lee"],
        ),
        ("i'm named after my grandfather", ["Is named after their grandfather"]),
        ("my sisters and i are close", ["They and their sisters are close"]),
        ("we got a dog on saturday", ["Got a dog on Saturday"]),
        ("my brothers boss is gethin", ["Brother has a boss named Gethin"]),
        ("my brother and i share a flat", ["Shares a flat with their brother"]),
        ("my kids school is great", ["Kids' school is great"]),
        ("my parents' golden wedding is in may", ["Parents' golden wedding is in May"]),
        ("my neighbour downstairs is called kim", ["Neighbour downstairs is called Kim"]),
    ],
)
def test_what_the_judge_keeps_is_well_written(
    judged: WriteGate, text: str, stored: list[str]
) -> None:
    assert [t.lower() for t in told(judged, text)] == [t.lower() for t in stored]


@pytest.mark.parametrize(
    ("language", "text", "stored"),
    [
        (
            "de",
            "hanna und paul sind meine eltern",
            ["Has a parent named Hanna", "Has a parent named Paul"],
        ),
        ("de", "rex und bella sind unsere hunde", ["Has a dog named Rex", "Has a dog named Bella"]),
        ("de", "mein bester freund heißt tom", ["Has a best friend named Tom"]),
        ("de", "mein ältester freund ist markus", ["Has a friend named Markus"]),
        ("de", "mein sohn ist zwei", ["Son (sohn) is 2 years old"]),
        (
            "fr",
            "anna et paul sont mes parents",
            ["Has a parent named Anna", "Has a parent named Paul"],
        ),
        (
            "fr",
            "mes jumeaux s'appellent ivy et tom",
            ["Has a child named Ivy", "Has a child named Tom"],
        ),
        (
            "es",
            "ana y pablo son mis padres",
            ["Has a parent named Ana", "Has a parent named Pablo"],
        ),
        (
            "es",
            "mis hijos se llaman ana y tomás",
            ["Has a child named Ana", "Has a child named Tomás"],
        ),
        ("es", "mis padres están divorciados", ["Parents (padres) are divorced (divorciados)"]),
    ],
)
def test_people_in_other_languages(
    gate: WriteGate, language: LanguageCode, text: str, stored: list[str]
) -> None:
    assert [f.text for f in gate.decide(Turn(text=text, language=language)).facts] == stored


@pytest.mark.parametrize(
    ("language", "text", "wrong"),
    [
        ("de", "ich bin zwei jahre älter als meine frau", "2 years old"),
        ("de", "mein bruder ist zwei jahre älter als ich", "2 years old"),
        ("es", "tengo dos años más que mi mujer", "2 years old"),
        ("fr", "ma femme m'a quitté", "named"),
        ("fr", "mon mari m'aime", "named"),
        ("fr", "la dame qui garde mes enfants s'appelle marta", "child named"),
        ("es", "el chico que vive con mi hermano se llama juan", "brother named"),
        ("es", "la señora que cuida a mis hijos se llama marta", "child named"),
    ],
)
def test_what_nobody_said_in_other_languages(
    gate: WriteGate, language: LanguageCode, text: str, wrong: str
) -> None:
    facts = gate.decide(Turn(text=text, language=language)).facts
    assert not [f.text for f in facts if wrong in f.text]
