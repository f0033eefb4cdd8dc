"""What belongs to somebody is the object of the verb before it, and no clause of its own."""

from __future__ import annotations

import pytest

from bmo.language import segment, words

pytestmark = pytest.mark.unit


def clauses(said: str) -> list[str]:
    read = words(said, "en")
    return [" ".join(read.norm[clause.start : clause.end]) for clause in segment(read)]


@pytest.mark.parametrize(
    "said",
    [
        "i run my father's shop",
        "i have taken over my father's farm",
        "i look after my neighbour's cat",
        "i inherited my late grandmother's house",
        "i use my son's old laptop",
        "my wife hates my mother's cooking",
        "my sister runs our father's shop",
    ],
)
def test_an_owned_object_stays_with_its_verb(said: str) -> None:
    assert len(clauses(said)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "i work late my wife's a nurse",
        "i drive my wife's blind",
        "i cook my husband's useless",
        "i smoke my wife's allergic to it",
        "i left my wife's working",
        "my brother works my mum's proud",
        "we moved my dad's divorced",
    ],
)
def test_what_somebody_is_begins_a_clause(said: str) -> None:
    assert len(clauses(said)) == 2
