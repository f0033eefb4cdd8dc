from __future__ import annotations

import re
import tomllib
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.gate.open_canonicalisation import canonicalise
from bmo.language import LanguageCode, repair, words

pytestmark = pytest.mark.unit

EXAMPLES = tomllib.loads(
    (resources.files("bmo.gate") / "packs" / "en" / "open_examples.toml").read_text("utf-8")
)["example"]
FIRST_PERSON = re.compile(r"\b(i|me|my|mine|we|us|our|ours|myself|am)\b", re.IGNORECASE)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e["said"])
def test_examples_of_the_pack(example: dict[str, str]) -> None:
    found = canonicalise(repair(words(example["said"])), example.get("before", ""))
    if "text" not in example:
        assert found is None
    else:
        assert found is not None
        assert (found.text, found.subject) == (example["text"], example.get("subject", "user"))


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "text" in e], ids=lambda e: e["said"])
def test_no_first_person_is_left(example: dict[str, str]) -> None:
    found = canonicalise(repair(words(example["said"])), example.get("before", ""))
    assert found is not None and not FIRST_PERSON.search(found.text)


def test_pronouns_of_someone_the_assistant_named() -> None:
    before = "And Kavi, is he in Canada as well?"
    found = canonicalise(
        repair(words("no hes in Pune")), before, subjects={"kavi": "user.brother:kavi"}
    )
    assert found is not None
    assert found.text == "Brother Kavi is not in Canada; he is in Pune"
    assert found.subject == "user.brother:kavi"
    assert not found.whole


def test_names_take_the_case_the_assistant_gave_them() -> None:
    found = canonicalise(repair(words("i work for baltlog")), "You mean Baltlog, the shippers?")
    assert found is not None and found.text == "Works for Baltlog"


@pytest.mark.parametrize(
    ("before", "said", "text"),
    [
        (
            "Schön! Hast du Haustiere?",
            "einen kater namens momo",
            'Said in German: "einen kater namens momo" (asked "Hast du Haustiere?")',
        ),
        (
            "Wie viele Kinder hast du?",
            "drei",
            'Said in German: "drei" (asked "Wie viele Kinder hast du?")',
        ),
        ("Alles klar.", "drei", None),
    ],
)
def test_a_short_answer_has_its_question_beside_it(
    before: str, said: str, text: str | None
) -> None:
    found = canonicalise(repair(words(said, "de"), "de"), before, "de")
    assert (found.text if found else None) == text


@pytest.mark.parametrize(
    ("language", "said", "text"),
    [
        ("de", "ähm also ich wohn seit samstag in Leipzig", "ich wohn seit samstag in Leipzig"),
        ("de", "ja ich esse kein fleisch", "ich esse kein fleisch"),
        ("fr", "euh j'adore le roquefort", "j'adore le roquefort"),
        ("es", "bueno no me gusta la cebolla", "no me gusta la cebolla"),
    ],
)
def test_other_languages_are_kept_as_said(language: LanguageCode, said: str, text: str) -> None:
    found = canonicalise(repair(words(said, language), language), "", language)
    assert found is not None and found.text.endswith(f': "{text}"')


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=120),
    st.sampled_from(["", "Is it just you?", "Where do you live?", "What?"]),
    st.sampled_from(["en", "de", "fr", "es"]),
)
def test_any_text_is_written_or_refused(said: str, before: str, language: LanguageCode) -> None:
    found = canonicalise(repair(words(said, language), language), before, language)
    assert found is None or found.text.strip()


PARTS = "i we my our am have do not like live in on and but because never the sister sam a dog"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PARTS.split()), min_size=1, max_size=14))
def test_words_of_content_are_never_lost(parts: list[str]) -> None:
    found = canonicalise(repair(words(" ".join(parts))))
    if found is not None:
        for word in {"sister", "sam", "dog"} & set(repair(words(" ".join(parts))).norm):
            assert word in found.text.lower()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("i wan start my own shop for lekki", 'Said "i wan start my own shop for lekki"'),
        ("we don close that place", 'Said "we don close that place"'),
        ("my uncle don lives here", "Uncle Don lives here"),
    ],
)
def test_a_clause_of_another_grammar_is_quoted(said: str, text: str) -> None:
    found = canonicalise(repair(words(said)))
    assert found is not None and found.text == text


def test_a_pronoun_means_whom_the_talk_speaks_of() -> None:
    found = canonicalise(
        repair(words("shes moved her stall to the square")),
        whom=lambda pronoun: ("Sister Ana", "user.sister:ana") if pronoun == "she" else None,
    )
    assert found is not None
    assert (found.text, found.subject) == (
        "Sister Ana has moved her stall to the square",
        "user.sister:ana",
    )
    assert canonicalise(repair(words("hes moved his stall"))) is None
