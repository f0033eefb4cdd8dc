"""News of a matter: what a newer memory says of an older one is given with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bmo.recall.news import cues, news_of, tells_change
from bmo.turn import StoredFact

pytestmark = pytest.mark.unit

TOLD = datetime(2026, 3, 1, tzinfo=UTC)


def remembered(text: str, days: int, *, subject: str = "user") -> StoredFact:
    return StoredFact(
        id=f"{days:03}",
        user_id="ann",
        subject=subject,
        slot=None,
        value="",
        text=text,
        category="personal_facts",
        kind="fact",
        cardinality="many",
        polarity="positive",
        confidence=0.9,
        valid_from=TOLD + timedelta(days=days),
    )


@pytest.mark.parametrize(("older", "newer"), cues().examples)
def test_newer_memory_of_the_same_matter_is_news(older: str, newer: str) -> None:
    old, new = remembered(older, 0), remembered(newer, 20)
    assert news_of([old], [old, new]) == {old.id: new}


@pytest.mark.parametrize(("older", "newer"), cues().counter_examples)
def test_another_matter_is_no_news(older: str, newer: str) -> None:
    old, new = remembered(older, 0), remembered(newer, 20)
    assert news_of([old], [old, new]) == {}


def test_what_is_older_is_no_news() -> None:
    old, new = remembered("Traded the Fuji for a Ricoh", 0), remembered("Camera is a Fuji", 20)
    assert news_of([new], [old, new]) == {}


def test_newest_of_several_is_the_news() -> None:
    old = remembered("Gets oil from Gleaner", 0)
    first = remembered("Oil comes from Certas now", 10)
    last = remembered("Oil comes from Highland now", 20)
    assert news_of([old], [old, last, first]) == {old.id: last}


def test_sharing_only_who_is_asked_about_is_no_news() -> None:
    old = remembered("Callum has a bad back", 0)
    new = remembered("Callum has moved to Leeds", 20)
    assert news_of([old], [old, new], {"callum"}) == {}
    assert news_of([old], [old, new]) == {old.id: new}


def test_word_that_many_memories_hold_is_no_matter() -> None:
    old = remembered("The shop opens at nine", 0)
    others = [remembered(f"The shop sells item{n}", n) for n in range(1, 6)]
    new = replace(remembered("The shop has a dog now", 20), id="new")
    assert news_of([old], [old, *others, new]) == {}


def test_statement_of_what_is_tells_no_change() -> None:
    assert not tells_change("Has a sister named Hanna")
    assert tells_change("Works at the bank now")
