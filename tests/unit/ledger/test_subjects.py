from __future__ import annotations

import pytest

from bmo.ledger.subjects import (
    is_person,
    last_relation,
    name_of,
    relation_of,
    states_name,
    with_name,
    with_other_name,
)
from tests.fakes.speaker import brother, of_brother

pytestmark = pytest.mark.unit


def test_parts_of_a_subject() -> None:
    assert (name_of("user.wife.sister:ana"), relation_of("user.wife.sister:ana")) == (
        "ana",
        "user.wife.sister",
    )
    assert last_relation("user.wife.sister:ana") == "sister"
    assert [is_person(s) for s in ("user", "team", "user.brother", "user.dog:rex")] == [
        False,
        False,
        True,
        True,
    ]


def test_names_are_replaced_as_words_only() -> None:
    text = "Brother Tim lives near Timbuktu; tim's car is red"
    assert with_other_name(text, "tim", "tom") == (
        "Brother Tom lives near Timbuktu; tom's car is red"
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Brother lives in Leeds", "Brother Sam lives in Leeds"),
        ("Brother's birthday is June 9", "Brother Sam's birthday is June 9"),
        ("Has a brother", "Has a brother named Sam"),
        ("Plays chess with a brother", "Plays chess with a brother"),
    ],
)
def test_unnamed_texts_get_the_name(text: str, named: str) -> None:
    assert with_name(text, "brother", "sam") == named


def test_only_a_naming_fact_states_a_name() -> None:
    assert states_name(brother("Sam"))
    assert not states_name(of_brother("Sam", "job", "nurse", "Brother Sam is a nurse"))
