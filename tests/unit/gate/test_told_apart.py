"""Which one of a relation is meant: "my other brother" is not the one known by name."""

from __future__ import annotations

import pytest

from bmo.gate.discourse import Discourse
from bmo.gate.people import people_lexicon
from bmo.language import LanguageCode

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("language", "said", "which"),
    [
        ("en", "other brother", "other"),
        ("en", "big brother", "older"),
        ("en", "youngest", "youngest"),
        ("en", "piano teacher", "piano"),
        ("en", "brother", ""),
        ("en", "other half", ""),
        ("en", "little girl", ""),
        ("en", "german shepherd", ""),
        ("de", "jüngere schwester", "younger"),
        ("fr", "autre chien", "other"),
        ("fr", "grand mère", ""),
        ("es", "hermano mayor", "older"),
    ],
)
def test_words_that_tell_one_from_the_others(language: LanguageCode, said: str, which: str) -> None:
    people, norm = people_lexicon(language), said.split()
    found = [people.relation_at(norm, i, len(norm)) for i in range(len(norm))]
    relation = next(one[0] for one in found if one is not None)
    assert people.qualifier_in(norm, 0, len(norm), relation) == which


def test_a_qualified_relation_is_not_the_one_known_by_name() -> None:
    people = people_lexicon("en")
    brother = people.forms[("brother",)]
    talk = Discourse(people, {"tom": "user.brother:tom"})
    assert talk.introduce(brother).subject == "user.brother:tom"
    other = talk.introduce(brother, qualifier="other")
    assert (other.subject, other.label) == ("user.other_brother", "Other brother")
    new = talk.introduce(brother, qualifier="new")
    assert (new.subject, new.label) == ("user.brother", "New brother")
    assert talk.person("user.other_brother").gender == "male"


def test_a_qualifier_said_with_a_name_is_that_persons() -> None:
    people = people_lexicon("en")
    daughter = people.forms[("daughter",)]
    talk = Discourse(people)
    talk.introduce(daughter, "Ann", qualifier="younger")
    assert talk.introduce(daughter, qualifier="younger").subject == "user.daughter:ann"
    assert talk.introduce(daughter, qualifier="older").subject == "user.older_daughter"
