from __future__ import annotations

import pytest

from bmo.ledger.retraction import target_of
from bmo.turn import Fact
from tests.fakes.speaker import brother, fact, likes, of_brother
from tests.unit.ledger.test_reconcile import stored

pytestmark = pytest.mark.unit

SAM = stored(brother("Sam"))
NURSE = stored(of_brother("Sam", "job", "nurse", "Brother Sam is a nurse"))
TOM = stored(brother("Tom"))
JAZZ = stored(likes("jazz"))
BANK = stored(fact("Banks with Peachtree Credit Union", slot="bank", value="Peachtree"))
WITH_SAM = stored(fact("Shares a flat with Sam", entities=("sam",)))
KNOWN = [SAM, NURSE, TOM, JAZZ, BANK, WITH_SAM]


def retract(text: str, **more: object) -> Fact:
    return fact(text, op="retract", **more)  # type: ignore[arg-type]


def meant(said: Fact, **more: object) -> tuple[set[str], bool]:
    options: dict[str, object] = {"latest": (), "near": {}, **more}
    target = target_of(said, KNOWN, **options)  # type: ignore[arg-type]
    return {row.text for row in target.facts}, target.wide


def test_everything_about_somebody_by_name_is_wide_and_takes_mentions_along() -> None:
    said = retract("brother Sam", subject="user.brother:sam", scope="subject")
    assert meant(said) == ({SAM.text, NURSE.text, WITH_SAM.text}, True)


def test_somebody_known_from_texts_alone_is_wide() -> None:
    sam = retract("jess", value="jess", scope="subject")
    told = [stored(fact("Jess got promoted at work")), stored(fact("Is married to Jess")), JAZZ]
    target = target_of(sam, told, latest=(), near={})
    assert ({row.text for row in target.facts}, target.wide) == (
        {"Jess got promoted at work", "Is married to Jess"},
        True,
    )


def test_one_thing_of_somebody_is_narrow() -> None:
    said = retract("sam nurse", scope="value", value="sam is a nurse")
    assert meant(said)[1] is False


def test_a_fact_that_is_about_and_mentions_somebody_is_meant_once() -> None:
    said = retract("brother Sam", subject="user.brother:sam", scope="subject")
    target = target_of(said, KNOWN, latest=(), near={})
    assert len(target.facts) == len({row.id for row in target.facts})


def test_unnamed_relation_is_wide() -> None:
    said = retract("brother", subject="user.brother", scope="subject")
    assert meant(said) == ({SAM.text, NURSE.text, TOM.text}, True)


def test_unresolved_name_is_found_by_value() -> None:
    assert meant(retract("sam", value="Sam", scope="subject")) == (
        {SAM.text, NURSE.text, WITH_SAM.text},
        True,
    )


def test_value_with_and_without_slot() -> None:
    assert meant(retract("Likes jazz", slot="likes", value="Jazz", scope="value"))[0] == {JAZZ.text}
    assert meant(retract("my bank", scope="value"))[0] == {BANK.text}
    assert meant(retract("bank", scope="value", slot="bank"))[0] == {BANK.text}


def test_everything_is_wide() -> None:
    assert meant(retract("everything", scope="all")) == ({row.text for row in KNOWN}, True)


def test_last_is_what_was_stored_last() -> None:
    assert meant(retract("that", scope="last"), latest=(BANK.id,)) == ({BANK.text}, False)


def test_other_words_need_a_clearly_nearest_fact() -> None:
    said = retract("the music thing", scope="value")
    assert meant(said)[0] == set()
    assert meant(said, near={JAZZ.id: 0.7, BANK.id: 0.3})[0] == {JAZZ.text}
    assert meant(said, near={JAZZ.id: 0.7, BANK.id: 0.68})[0] == set()
    assert meant(said, near={JAZZ.id: 0.4})[0] == set()
