"""Memories of people that were untrue when fresh talks were played, and what is beside them."""

from __future__ import annotations

import pytest

from bmo.gate.person_names import without_stops_of_titles
from bmo.gate.reply_no import may_be_reply, without_reply
from bmo.gate.write_gate import WriteGate
from bmo.language import words
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings()


def _texts(gate: WriteGate, text: str, before: str = "", language: str | None = None) -> list[str]:
    turn = Turn(text=text, assistant_before=before, language=language)
    return [fact.text for fact in gate.decide(turn).facts]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("my dog walker is called pam", "Has a dog walker named Pam"),
        ("my cat sitter is called jo", "Has a cat sitter named Jo"),
        ("i have another brother he lives in hull", "Other brother lives in Hull"),
        ("my old boss lives in hull", "Former boss lives in Hull"),
        ("my old dog is deaf", "Dog is deaf"),
        ("my sister in laws called gemma", "Has a sister-in-law named Gemma"),
        ("my in laws live in york", "In-laws live in York"),
        ("My neighbour Mr. Okafor has two grandsons.", "Neighbour Mr Okafor has two grandsons"),
        ("my son alexander goes by sasha", "Son Alexander goes by Sasha"),
        ("i go by lou", "Prefers to be called Lou"),
        ("my cousin married a dane", "Cousin is married to a dane"),
        ("my flatmate, well she's more of a lodger", "Flatmate is more of a lodger"),
        ("rosa my sister is a vet", "Has a sister named Rosa"),
        ("my daughter's called niamh", "Has a daughter named Niamh"),
        ("my twin sons are called abel and enoch", "Has a son named Abel"),
        ("my stepkids are called mason and ruby", "Has a stepchild named Ruby"),
        ("hi it's tim", "Is named Tim"),
    ],
)
def test_who_is_told_of(gate: WriteGate, text: str, told: str) -> None:
    assert told in _texts(gate, text)


@pytest.mark.parametrize(
    ("text", "untrue"),
    [
        ("this is anna's husband speaking", "Is named Anna"),
        ("my stepdad kevin moved in last year", "Last Year"),
        ("Rosa, my sister's nanny, is from Peru.", "sister named Rosa"),
        ("my mother tongue is polish", "Mother is"),
        ("our sister company is in lyon", "Sister Company"),
        ("i married my wife in 2010", "married to wife"),
        ("my son alexander goes by sasha", "son named Sasha"),
        ("my brother's name isn't tom it's tim", "Is named Tim"),
        ("my twin sons are called abel and enoch", "named Sons"),
        ("im not sam im his twin", "Is his twin."),
    ],
)
def test_what_is_of_nobody(gate: WriteGate, text: str, untrue: str) -> None:
    assert not [told for told in _texts(gate, text) if untrue in told]


@pytest.mark.parametrize(
    ("language", "text", "before", "told"),
    [
        ("es", "no, vivo en cuenca", "¿Vives en Madrid?", ["Lives in Cuenca"]),
        ("es", "no vivo en cuenca", "¿Vives en Madrid?", []),
        ("es", "no como carne", "¿Comes carne?", ["Does not eat meat (carne)"]),
        ("es", "no vivo en madrid", "¿Dónde vives?", ["Does not live in Madrid"]),
        ("es", "mi hermano y mi padre pescan", "", None),
        ("fr", "mon frère et mon père pêchent", "", None),
        ("de", "unsere kleine tochter ist vier", "", ["Younger daughter (tochter) is 4 years old"]),
        ("fr", "mes jumeaux s'appellent ben et ida", "", None),
        ("es", "no es mi hermano, es mi primo", "", None),
        ("es", "ella está enferma", "", []),
        ("de", "ich hab noch eine schwester die wohnt in bonn", "", None),
    ],
)
def test_other_languages(
    gate: WriteGate, language: str, text: str, before: str, told: list[str] | None
) -> None:
    found = _texts(gate, text, before, language)
    if told is None:
        assert not [one for one in found if "named" in one]
    else:
        assert found == told


@pytest.mark.parametrize(
    "text",
    [
        "my brother messaged please call me bob",
        "my brother texted tell him i'm bob",
        "tom texted i'm bob",
    ],
)
def test_what_somebody_wrote_names_nobody(gate: WriteGate, text: str) -> None:
    assert _texts(gate, text, "What's your name?") == []
    assert _texts(gate, "please call me bob", "What's your name?") == ["Prefers to be called Bob"]


def test_a_reply_is_told_from_a_denial_by_its_comma() -> None:
    said = words("no, vivo en cuenca", "es")
    assert without_reply(said, "es").norm == ["vivo", "en", "cuenca"]
    denied = words("no vivo en cuenca", "es")
    assert without_reply(denied, "es") is denied
    assert may_be_reply(denied, "¿Vives en Madrid?", "es")
    assert not may_be_reply(denied, "¿Vives en Cuenca?", "es")
    german = words("nein, ich wohne in kassel", "de")
    assert without_reply(german, "de") is german


def test_the_stop_of_a_title_ends_no_sentence() -> None:
    said = words("My neighbour Mr. Okafor is 75. He is nice.")
    assert [mark for mark in without_stops_of_titles(said).after if mark] == [".", "."]
    plain = words("My neighbour is 75. He is nice.")
    assert without_stops_of_titles(plain) is plain


def test_a_subject_behind_no_shows_that_it_answers() -> None:
    said = words("no mi hermana vive en cádiz", "es")
    assert without_reply(said, "es").norm == ["mi", "hermana", "vive", "en", "cádiz"]
    denied = words("no me gusta el vino", "es")
    assert without_reply(denied, "es") is denied
