"""Language of a turn: tag, setting, words, model, and the fallback for what is too short."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.language import LANGUAGES
from bmo.language.identification import identify, primary_code

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "um hey my brother is sam he lives in leeds"),
        ("en", "im allergic to nuts"),
        ("en", "i used to work as a nurse in madrid"),
        ("en", "turn the kitchen lights off"),
        ("en", "i love pasta alla norma and tiramisu"),
        ("de", "ich mag kein quinoa"),
        ("de", "mein sohn emil wird im juni sechs"),
        ("de", "und wie mein schwiegervater heißt hab ich dir das je gesagt"),
        ("fr", "j'adore le roquefort"),
        ("fr", "je fais du yoga toutes les semaines"),
        ("fr", "mon voisin pense que j'ai des migraines"),
        ("es", "mi hermana se llama noelia"),
        ("es", "quiero montar un bar de tapas"),
        ("es", "ya no como carne"),
    ],
)
def test_languages_with_a_pack(code: str, text: str) -> None:
    found = identify(text)
    assert (found.code, found.by) == (code, "words")
    assert found.pack == code


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("it", "mio fratello si chiama marco e vive a torino"),
        ("pt", "minha irmã mora em lisboa e trabalha num hospital"),
        ("nl", "mijn broer woont in utrecht en werkt bij de bank"),
        ("pl", "mam na imię kasia i mieszkam w krakowie"),
        ("sv", "jag heter anna och bor i malmö"),
        ("ru", "меня зовут иван"),
        ("ja", "わたしはすしがすきです"),
    ],
)
def test_languages_without_a_pack_are_seen_as_such(code: str, text: str) -> None:
    found = identify(text)
    assert found.code == code
    assert found.pack is None


@pytest.mark.parametrize(
    "text", ["ok", "glenn", "postgres", "", "   ", "42", "baton rouge", "🙂", "mm"]
)
def test_short_text_stays_in_the_language_of_the_conversation(text: str) -> None:
    assert identify(text).code == "en"
    assert identify(text, previous="de").code == "de"


def test_order_of_trust() -> None:
    assert identify("ich mag pizza", tag="fr-FR", setting="es").code == "fr"
    assert identify("ich mag pizza", setting="es").code == "es"
    assert identify("ich mag pizza", tag="multi", setting="auto").code == "de"
    assert identify("hello", tag="it").pack is None


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("de-DE", "de"),
        ("EN_us", "en"),
        ("spa", "es"),
        ("multi", None),
        ("", None),
        (None, None),
        ("x", None),
    ],
)
def test_tags(tag: str | None, code: str | None) -> None:
    assert primary_code(tag) == code


@settings(deadline=None)  # the first example reads the tables
@given(st.text(max_size=200), st.sampled_from([None, *LANGUAGES]))
def test_any_text_has_a_language(text: str, previous: str | None) -> None:
    assert identify(text, previous=previous).code
