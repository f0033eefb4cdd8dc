"""No two live memories of a user state the same, whatever is written, by whom and when."""

from __future__ import annotations

import multiprocessing
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from bmo.ids import new_id
from bmo.ledger import Ledger
from bmo.ledger.doubles import settle_some
from bmo.ledger.schema import fact_turns, facts, feedback, outbox
from bmo.turn import StoredFact
from tests.fakes.speaker import (
    allowed,
    brother,
    day,
    fact,
    forget,
    gone,
    likes,
    live,
    lives_in,
    say,
    turn,
    words,
)
from tests.integration.memory_parts import drop_vectors

pytestmark = pytest.mark.integration

BEFORE = (
    "DROP INDEX uq_facts_digest",
    "DROP INDEX ix_facts_unnoted",
    "ALTER TABLE facts DROP COLUMN digest",
    "UPDATE meta SET value = '0040' WHERE key = 'schema'",
)
"""Makes a ledger one of the version before digests."""


def double(ledger: Ledger, known: StoredFact, number: int = 1, **more: Any) -> str:
    """Says a memory once more, as two workers of a version before did at once: a row beside it."""
    again = turn(f"again {known.text} {number}", at=day(number))
    ledger.record(again, allowed(again.text))
    with ledger.writing() as connection:
        columns = [column for column in facts.c if column.key != "digest"]
        row = dict(
            connection.execute(sa.select(*columns).where(facts.c.id == known.id)).one()._mapping
        )
        new = {"id": new_id(), "turn_id": again.id, "valid_from": again.at, "recorded_at": again.at}
        connection.execute(sa.insert(facts), {**row, **new, **more})
        link = {"fact_id": new["id"], "turn_id": again.id, "role": "stated"}
        connection.execute(sa.insert(fact_turns), link)
    return str(new["id"])


def one(ledger: Ledger, fact_id: str) -> StoredFact:
    return ledger.facts_by_id("ana", [fact_id])[0]


@pytest.mark.parametrize("how", ["migrated", "an older worker beside"])
def test_what_a_version_before_left_doubled_is_merged(ledger_url: str, how: str) -> None:
    ledger = Ledger.open(ledger_url)
    (tea,) = say(ledger, "i like tea", likes("tea")).added
    (home,) = say(ledger, "i live in leeds", lives_in("Leeds"), at=day(1)).added
    if how == "migrated":
        with ledger.writing() as connection:
            drop_vectors(connection)
            for statement in BEFORE:
                connection.execute(sa.text(statement))
    later = double(
        ledger, tea, 3, confidence=0.99, use_count=2, last_used_at=day(4), text="likes TEA."
    )
    earlier = double(ledger, tea, -3, use_count=5)
    ledger.feedback("ana", fact_id=later, turn_id=None, helpful=False, at=day(5))
    with ledger.writing() as connection:
        connection.execute(sa.delete(outbox))
    ledger.close()
    ledger = Ledger.open(ledger_url)
    assert {known.id for known in ledger.live_facts("ana")} == {earlier, home.id}
    kept = one(ledger, earlier)
    assert (kept.confidence, kept.use_count, kept.last_used_at) == (0.99, 7, day(4))
    why = ledger.why("ana", earlier)
    assert why is not None and len(why.said) == 3
    for merged in (tea.id, later):
        ended = one(ledger, merged)
        assert (ended.end_reason, ended.superseded_by) == ("merged", earlier)
    with ledger.reading() as connection:
        told = connection.execute(sa.select(outbox.c.op, outbox.c.fact_id)).all()
        judged = connection.execute(sa.select(feedback.c.fact_id)).scalars().all()
    assert {(row.op, row.fact_id) for row in told} == {("delete", tea.id), ("delete", later)}
    assert judged == [earlier]
    assert {known.id for known in ledger.live_facts("ana", at=day(4))} == {earlier, home.id}
    ledger.close()
    again = Ledger.open(ledger_url)
    assert one(again, earlier) == kept
    again.close()


def test_merging_goes_on_after_a_kill_where_it_stopped(
    ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger.open(ledger_url)
    for number in range(5):
        (known,) = say(ledger, f"i like {number}", likes(f"thing {number}"), at=day(number)).added
        double(ledger, known, 9 + number)
    ledger.close()
    with monkeypatch.context() as small:
        small.setattr("bmo.ledger.migrating._KEYS_AT_ONCE", 1)
        pieces = iter(range(2))

        def killed(connection: sa.Connection, most: int) -> bool:
            if next(pieces, None) is None:
                raise KeyboardInterrupt
            return settle_some(connection, most)

        small.setattr("bmo.ledger.migrating.settle_some", killed)
        with pytest.raises(KeyboardInterrupt):
            Ledger.open(ledger_url)
    ledger = Ledger.open(ledger_url)
    assert ledger.count_live("ana") == 5
    ledger.close()


def test_the_database_refuses_a_second_one(ledger: Ledger) -> None:
    (tea,) = say(ledger, "i like tea", likes("tea")).added
    with ledger.reading() as connection:
        row = dict(connection.execute(sa.select(facts).where(facts.c.id == tea.id)).one()._mapping)
    with pytest.raises(IntegrityError), ledger.writing() as connection:
        connection.execute(sa.insert(facts), {**row, "id": new_id()})
    assert ledger.count_live("ana") == 1


def _say_all(url: str, number: int, ready: Any) -> None:
    """One of two workers: says ten sentences, each at the same moment as the other one."""
    ledger = Ledger.open(url)
    for step in range(10):
        ready.wait(60)
        words_said = f"i like thing {step}"
        said = turn(words_said, session=f"visit {number}")
        ledger.record(said, allowed(words_said, likes(f"thing {step}")))
    ledger.close()


def test_two_processes_that_say_the_same_at_once_leave_one_memory(ledger_url: str) -> None:
    Ledger.open(ledger_url).close()
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Barrier(2)
    workers = [
        spawn.Process(target=_say_all, args=(ledger_url, number, ready)) for number in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    ledger = Ledger.open(ledger_url)
    assert ledger.count_live("ana") == 10
    with ledger.reading() as connection:
        without = sa.select(sa.func.count()).where(facts.c.digest.is_(None))
        assert connection.execute(without).scalar() == 0
    for known in ledger.live_facts("ana"):
        why = ledger.why("ana", known.id)
        assert why is not None and len(why.said) == 2
    ledger.close()


def test_an_edit_that_makes_a_double_is_merged(ledger: Ledger) -> None:
    (tea,) = say(ledger, "i like tea", likes("tea")).added
    (tee,) = say(ledger, "i like tee", likes("tee"), at=day(1)).added
    assert ledger.edit("ana", tee.id, value="tea", text="Likes tea").id == tea.id
    assert {known.id for known in ledger.live_facts("ana")} == {tea.id}
    assert one(ledger, tee.id).end_reason == "edited"
    assert {old.id for old in ledger.history("ana", tea.id)} >= {tea.id, tee.id}


def test_an_edit_that_states_the_same_takes_the_place_of_the_old_one(ledger: Ledger) -> None:
    (tea,) = say(ledger, "i like tea", likes("tea")).added
    new = ledger.edit("ana", tea.id, category="goals")
    assert (new.category, one(ledger, tea.id).superseded_by) == ("goals", new.id)
    assert [known.id for known in ledger.live_facts("ana")] == [new.id]


def test_what_only_one_agent_may_be_given_stands_beside_what_all_may(ledger: Ledger) -> None:
    say(ledger, "i like tea", likes("tea"))
    (tee,) = say(ledger, "i like tee", likes("tee"), at=day(1)).added
    private = ledger.edit("ana", tee.id, visibility="private")
    assert ledger.edit("ana", private.id, value="tea", text="Likes tea").visibility == "private"
    assert ledger.count_live("ana") == 2


@pytest.mark.parametrize("again", [1, 9])
def test_a_request_to_forget_that_is_taken_back_leaves_one(ledger: Ledger, again: int) -> None:
    say(ledger, "my brother is sam", brother("Sam"), at=day(3))
    sam = gone(*ledger.live_facts("ana"), text="sam", scope="subject", subject="user.brother:sam")
    asked = turn("forget sam", at=day(5))
    pending = ledger.record(asked, forget("forget sam", sam)).pending_erasure
    assert pending is not None
    (anew,) = say(ledger, "my brother is sam", brother("Sam"), at=day(again)).added
    (restored,) = ledger.cancel_erasure("ana", pending.id)
    first = min(pending.facts[0].id, anew.id, key=lambda known: one(ledger, known).valid_from)
    assert restored.id == first
    assert [known.id for known in ledger.live_facts("ana")] == [first]


def test_an_import_of_what_is_known_is_merged_with_its_sources(
    ledger: Ledger, ledger_url: str, tmp_path: Any
) -> None:
    other = Ledger.open(f"sqlite:///{tmp_path / 'other.sqlite3'}")
    (theirs,) = say(other, "i like tea", likes("tea"), at=day(-3)).added
    double(other, theirs, 2)
    (ours,) = say(ledger, "i love tea", likes("tea")).added
    assert ledger.import_export(other.export("ana")).refused == ()
    other.close()
    assert [known.id for known in ledger.live_facts("ana")] == [theirs.id]
    assert one(ledger, ours.id).superseded_by == theirs.id
    why = ledger.why("ana", theirs.id)
    assert why is not None and len(why.said) == 3


def test_answers_whose_questions_are_erased_are_merged(ledger: Ledger) -> None:
    (one_answer,) = say(ledger, "the blue one", words("the blue one", "Which kayak is it?")).added
    say(ledger, "the blue one too", words("the blue one", "Which umbrella is it?"), at=day(1))
    assert ledger.count_live("ana") == 2
    told = (
        fact("Has a kayak", entities=("kayak",)),
        fact("Has an umbrella", entities=("umbrella",)),
    )
    say(ledger, "a kayak and an umbrella", *told, at=day(2))
    named = [known.id for known in ledger.live_facts("ana") if known.text.startswith("Has")]
    ledger.erase("ana", named)
    assert [known.id for known in ledger.live_facts("ana")] == [one_answer.id]


def test_what_an_older_worker_reworded_keeps_nothing_out(ledger: Ledger) -> None:
    (tea,) = say(ledger, "i like tea", likes("tea")).added
    with ledger.writing() as connection:
        reworded = {
            "text": "Likes rum",
            "value": "rum",
            "value_key": "rum",
            "text_key": "likes rum",
        }
        connection.execute(sa.update(facts).where(facts.c.id == tea.id).values(reworded))
    assert say(ledger, "i like tea again", likes("tea"), at=day(1)).added
    assert live(ledger) == {"Likes rum", "Likes tea"}
