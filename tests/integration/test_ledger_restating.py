"""The present gate over logged turns: differences first, then applied, the forgotten stays so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bmo.ledger import Ledger, Restated
from bmo.turn import Decision, DialogueContext, Fact, Turn
from tests.fakes.speaker import allowed, day, decided, forget, gone, likes, live, lives_in, turn

pytestmark = pytest.mark.integration


def gate(answers: dict[str, tuple[Fact, ...]]) -> Callable[[Turn, DialogueContext], Decision]:
    """A gate that knows what to say of each text."""

    def decide(said: Turn, context: DialogueContext) -> Decision:
        facts = answers.get(said.text)
        return decided("discard", said.text) if facts is None else allowed(said.text, *facts)

    return decide


def passes(ledger: Ledger, decide: Callable[[Turn, DialogueContext], Decision]) -> list[Restated]:
    """What the gate would change about all turns with words."""
    said = [
        Turn(text=one.text, user_id=one.user_id, session_id=one.session_id, at=one.at, id=one.id)
        for one in ledger.turns("ana")
        if one.text
    ]
    found = ledger.compare_passes([(one, decide(one, DialogueContext())) for one in said])
    return [one for one in found if one]


def test_differences_are_shown_before_anything_is_written(ledger: Ledger) -> None:
    ledger.record(turn("tea and jazz"), allowed("tea and jazz", likes("tea"), likes("jaz")))
    ledger.record(turn("i might move", at=day(1)), decided("hold", "i might move"))
    ledger.record(turn("hello", at=day(2)), decided("discard", "hello"))
    better = gate(
        {"tea and jazz": (likes("tea"), likes("jazz")), "i might move": (likes("moving"),)}
    )
    changes = passes(ledger, better)
    assert [
        (
            change.turn.text,
            [f.text for f in change.added],
            [f.text for f in change.removed],
            [(old.text, new.text) for old, new in change.changed],
        )
        for change in changes
    ] == [
        ("tea and jazz", [], [], [("Likes jaz", "Likes jazz")]),
        ("i might move", ["Likes moving"], [], []),
    ]
    assert live(ledger) == {"Likes tea", "Likes jaz"}
    ledger.write_passes(changes)
    assert live(ledger) == {"Likes tea", "Likes jazz", "Likes moving"}
    assert passes(ledger, better) == []


def test_misread_facts_end_as_never_true(ledger: Ledger) -> None:
    ledger.record(turn("id love to hear a joke"), allowed("id love to hear a joke", likes("jokes")))
    ledger.write_passes(passes(ledger, gate({})))
    assert ledger.live_facts("ana", include_past=True) == []


def test_old_turns_do_not_undo_what_was_said_later(ledger: Ledger) -> None:
    ledger.record(turn("leeds"), decided("hold", "leeds"))
    ledger.record(turn("york", at=day(5)), allowed("york", lives_in("York")))
    better = gate({"leeds": (lives_in("Leeds"),), "york": (lives_in("York"),)})
    ledger.write_passes(passes(ledger, better))
    assert live(ledger) == {"Lives in York"}
    assert [f.text for f in ledger.live_facts("ana", at=day(2))] == ["Lives in Leeds"]


def test_a_retraction_recorded_again_takes_back_nothing_said_after_it(ledger: Ledger) -> None:
    first = turn("not jazz", at=day(6))
    ledger.record(first, decided("hold", "not jazz"))
    jazz = ledger.record(turn("jazz", at=day(7)), allowed("jazz", likes("jazz"))).added[0]
    again = ledger.record(first, allowed("not jazz", gone(jazz, text="jazz")))
    assert [f.text for f in again.unmatched] == ["jazz"]
    assert live(ledger) == {"Likes jazz"}


def test_the_forgotten_stays_forgotten(ledger: Ledger) -> None:
    words = "i like zydeco and tea"
    ledger.record(turn(words), allowed(words, likes("zydeco"), likes("tea")))
    ledger.record(turn("zydeco again"), decided("hold", "zydeco again"))
    zydeco = next(f for f in ledger.live_facts("ana") if f.value == "zydeco")
    request = forget("forget zydeco", gone(zydeco, scope="memory"))
    ledger.record(turn("forget zydeco", at=day(1)), request)
    kept = ("i like [forgotten] and tea", "[forgotten] again")
    assert [said.text for said in ledger.turns("ana")] == [*kept, ""]
    better = gate({text: (likes("zydeco"), likes("tea")) for text in kept})
    ledger.write_passes(passes(ledger, better))
    assert live(ledger) == {"Likes tea"}
