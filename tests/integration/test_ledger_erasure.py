"""Forgetting: nothing of what was erased is left in any file, and everything else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bmo.ids import guest_id, user_id_for
from bmo.ledger import Ledger
from bmo.turn import Recall, RecalledMemory, RecallPlan, ScoreParts
from tests.fakes.speaker import (
    allowed,
    brother,
    day,
    decided,
    fact,
    forget,
    gone,
    likes,
    lives_in,
    of_brother,
    turn,
    words,
)
from tests.integration.memory_parts import bytes_with, open_parts, rows_of

pytestmark = pytest.mark.integration


def test_no_byte_of_a_forgotten_fact_is_left(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        parts.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        parts.say(turn("i live in leeds"), allowed("i live in leeds", lives_in("Leeds")))
        parts.settled()
        asked = turn("do i like zydeco", at=day(1))
        parts.say(asked, decided("discard", asked.text))
        known = parts.ledger.search_words("ana", "zydeco", 1)[0][0]
        memory = RecalledMemory(known, 0.9, ScoreParts(semantic=0.9), "search")
        parts.recorder.note_recall(asked, Recall(RecallPlan(True, "own"), (memory,)))
        parts.recorder.note_reply("ana", asked.id, "Yes, you like Zydeco a lot.")
        assert parts.recorder.flush(60)
        assert bytes_with(tmp_path, "zydeco")

        request = turn("forget that i like zydeco", at=day(2))
        recorded = parts.say(request, forget(request.text, gone(known, scope="memory")))
        parts.recorder.note_reply("ana", request.id, "I have forgotten zydeco.")
        follow = turn("thanks", at=day(2, 10))
        follow = type(follow)(
            text="thanks",
            user_id="ana",
            session_id="s1",
            at=day(2, 10),
            assistant_before="I have forgotten zydeco.",
        )
        parts.say(follow, decided("discard", "thanks"))
        parts.settled()

        assert recorded.receipt is not None
        receipt = parts.ledger.receipt("ana", recorded.receipt.id)
        assert receipt is not None
        assert receipt.complete
        assert receipt.places == {
            "facts": 1,
            "turns": 2,
            "turns_masked": 1,
            "words": 2,
            "vectors": 1,
            "recalls": 1,
            "tombstones": 1,
            "index": 1,
            "ledger_files": 1,
            "index_files": 1,
        }
        assert bytes_with(tmp_path, "zydeco") == []
        assert parts.index.search("ana", "zydeco", top_k=5, threshold=0.1) == []
        assert {f.text for f in parts.ledger.live_facts("ana")} == {"Lives in Leeds"}
    assert bytes_with(tmp_path, "zydeco") == []
    with open_parts(tmp_path) as again:
        again.settled()
        assert again.index.count() == 1
    assert bytes_with(tmp_path, "zydeco") == []


def test_ended_versions_of_a_forgotten_person_go_too(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        for number, place in enumerate(("Oslo", "Bergen")):
            home = of_brother(
                "Quentin",
                "lives_in",
                place,
                f"Brother Quentin lives in {place}",
                cardinality="one",
            )
            said = f"my brother quentin lives in {place.lower()}"
            parts.say(turn(said, at=day(number)), allowed(said, brother("Quentin"), home))
            parts.settled()
        live = parts.ledger.live_facts("ana")
        assert len(live) == 2
        request = gone(*live, text="quentin", scope="subject", entities=("quentin",))
        said = "delete everything about quentin"
        recorded = parts.say(turn(said, at=day(2)), forget(said, request))
        parts.settled()
        # Everything about somebody is much, also by name: asked back, and out of recall at once.
        pending = recorded.pending_erasure
        assert pending is not None and recorded.receipt is None
        assert parts.ledger.live_facts("ana") == []
        parts.recorder.call(parts.ledger.confirm_erasure, "ana", pending.id).result(60)
        parts.settled()
        receipt = parts.ledger.receipt("ana", pending.id)
        assert receipt is not None and receipt.places["facts"] == 3
        assert rows_of(parts.ledger, "facts", "ana") == 0
    for word in ("quentin", "oslo", "bergen"):
        assert bytes_with(tmp_path, word) == []


def test_what_a_turn_said_beside_its_facts_goes_with_a_forgotten_person(tmp_path: Path) -> None:
    """Also what no fact came of, the questions that name the forgotten, and what answers them."""
    with open_parts(tmp_path) as parts:
        said = "my brother is jo, he was in rehab, and i drink rooibos"
        tea = likes("rooibos", said=said)
        parts.say(turn(said), allowed(said, brother("Jo", said=said), tea))
        parts.say(turn("jo crashed his lorry"), decided("hold", "jo crashed his lorry"))
        parts.say(turn("what do you know about jo"), decided("discard", "what about jo"))
        asked = words("two sugars in it", "How does Jo take his rooibos?")
        after = replace(turn(asked.text, at=day(1)), assistant_before=asked.asked)
        parts.say(after, allowed(asked.text, asked))
        parts.settled()
        jo = next(f for f in parts.ledger.live_facts("ana") if f.value == "Jo")
        wish = gone(jo, text="jo", scope="subject")
        pending = parts.say(turn("forget jo", at=day(2)), forget("forget jo", wish)).pending_erasure
        assert pending is not None
        parts.recorder.call(parts.ledger.confirm_erasure, "ana", pending.id).result(60)
        parts.settled()
        left = {f.text: (f.said, f.asked) for f in parts.ledger.live_facts("ana")}
        assert left == {
            "Likes rooibos": ("Likes rooibos", ""),
            "two sugars in it": ("two sugars in it", ""),
        }
        said_left = [one.text for one in parts.ledger.turns("ana")]
        assert said_left == ["Likes rooibos", "", "", "two sugars in it", ""]
        assert parts.ledger.search_words("ana", "jo", 3) == []
        receipt = parts.ledger.receipt("ana", pending.id)
        assert receipt is not None and receipt.complete
        assert all(isinstance(count, int) for count in receipt.places.values())
    for word in ("rehab", "lorry", "brother"):
        assert bytes_with(tmp_path, word) == []


def test_wide_requests_leave_recall_at_once_and_wait(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        said = "my brother is quentin"
        parts.say(turn(said), allowed(said, brother("Quentin")))
        parts.say(turn("i like tea"), allowed("i like tea", likes("tea")))
        parts.settled()
        quentin = next(f for f in parts.ledger.live_facts("ana") if f.value == "Quentin")
        retract = gone(quentin, text="brother", subject="user.brother", scope="subject")
        asked = "forget everything about my brother"
        recorded = parts.say(turn(asked, at=day(1)), forget(asked, retract))
        parts.settled()
        pending = recorded.pending_erasure
        assert pending is not None
        assert [f.text for f in pending.facts] == ["Has a brother named Quentin"]
        assert {f.text for f in parts.ledger.live_facts("ana")} == {"Likes tea"}
        assert parts.index.count("ana") == 1

        parts.recorder.call(parts.ledger.cancel_erasure, "ana", pending.id).result(60)
        parts.settled()
        assert parts.ledger.count_live("ana") == 2
        assert parts.index.count("ana") == 2

        again = parts.say(turn(asked, at=day(2)), forget(asked, retract)).pending_erasure
        assert again is not None
        assert [p.id for p in parts.ledger.pending_erasures("ana")] == [again.id]
        parts.recorder.call(parts.ledger.confirm_erasure, "ana", again.id).result(60)
        parts.settled()
        assert parts.ledger.pending_erasures("ana") == []
        receipt = parts.ledger.receipt("ana", again.id)
        assert receipt is not None and receipt.complete
    assert bytes_with(tmp_path, "quentin") == []
    assert bytes_with(tmp_path, "tea")


def test_everything_goes_after_it_is_confirmed(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        for number, thing in enumerate(("zydeco", "gumbo", "okra")):
            said = f"i like {thing}"
            parts.say(turn(said, at=day(number)), allowed(said, likes(thing)))
        parts.say(turn("hm zydeco", at=day(4)), decided("hold", "hm zydeco"))
        parts.say(turn("i like tea", user="ben"), allowed("i like tea", likes("tea")))
        parts.settled()
        said = "forget everything"
        pending = parts.say(
            turn(said, at=day(5)), forget(said, fact("", op="retract", scope="all"))
        ).pending_erasure
        assert pending is not None
        assert parts.ledger.live_facts("ana") == []
        parts.ledger.confirm_erasure("ana", pending.id)
        parts.settled()
        assert not any(rows_of(parts.ledger, one, "ana") for one in ("facts", "turns", "recalls"))
        assert parts.index.count("ana") == 0
        assert parts.index.count("ben") == 1
    for word in ("zydeco", "gumbo", "okra"):
        assert bytes_with(tmp_path, word) == []


def test_raw_turns_go_with_everything(tmp_path: Path) -> None:
    with open_parts(tmp_path, mem0_setting="NORMAL") as parts:
        parts.say(turn("play some zydeco"), decided("allow", "play some zydeco"))
        parts.settled()
        assert parts.index.search("ana", "zydeco", top_k=3, threshold=0.1, raw=True)
        parts.ledger.erase_user("ana")
        parts.settled()
        assert parts.index.count() == 0
    assert bytes_with(tmp_path, "zydeco") == []


def test_other_facts_of_the_same_turn_keep_their_words(ledger: Ledger) -> None:
    said = "my brother is sam and i like zydeco"
    ledger.record(turn(said), allowed(said, brother("Sam"), likes("zydeco")))
    zydeco = next(f for f in ledger.live_facts("ana") if f.value == "zydeco")
    request = forget("forget the zydeco", gone(zydeco, scope="memory"))
    ledger.record(turn("forget the zydeco", at=day(1)), request)
    left = ledger.live_facts("ana")
    why = ledger.why("ana", left[0].id)
    assert why is not None
    assert [said.text for said in why.said] == ["my brother is sam and i like [forgotten]"]


def test_tombstones_stop_reprocessing_but_not_a_new_statement(ledger: Ledger) -> None:
    first = turn("i like zydeco", at=day(0))
    (known,) = ledger.record(first, allowed(first.text, likes("zydeco"))).added
    ledger.record(turn("forget it", at=day(1)), forget("forget it", gone(known)))
    again = ledger.record(first, allowed(first.text, likes("the Zydeco")))
    assert [f.value for f in again.suppressed] == ["the Zydeco"]
    assert ledger.live_facts("ana") == []
    later = turn("i do like zydeco", at=day(2))
    assert len(ledger.record(later, allowed(later.text, likes("zydeco"))).added) == 1
    assert len(ledger.record(later, allowed(later.text, likes("zydeco"))).confirmed) == 1


def test_tombstone_of_everything_covers_all_said_before(ledger: Ledger) -> None:
    ledger.record(turn("x"), allowed("x", likes("tea")))
    receipt = ledger.erase_user("ana", at=day(5))
    assert ledger.receipt("ana", receipt.id) == receipt
    assert ledger.receipt("ben", receipt.id) is None
    old = ledger.record(turn("old words", at=day(4)), allowed("old words", lives_in("Leeds")))
    new = ledger.record(turn("new words", at=day(6)), allowed("new words", lives_in("York")))
    assert (len(old.suppressed), len(new.added)) == (1, 1)


def test_retraction_that_means_nothing_known_is_reported(ledger: Ledger) -> None:
    said = "forget my shoe size"
    recorded = ledger.record(turn(said), forget(said, gone(text="shoe size", scope="memory")))
    assert [f.text for f in recorded.unmatched] == ["shoe size"]
    assert recorded.receipt is None
    assert ledger.turns("ana")[0].text == ""


def test_erasing_by_hand_leaves_others_alone(ledger: Ledger) -> None:
    mine = ledger.record(turn("x"), allowed("x", likes("tea"))).added[0]
    theirs = ledger.record(turn("x", user="ben"), allowed("x", likes("tea"))).added[0]
    receipt = ledger.erase("ana", [mine.id, theirs.id])
    assert receipt.places["facts"] == 1
    assert ledger.count_live("ben") == 1
    with pytest.raises(ValueError, match="no request to forget"):
        ledger.confirm_erasure("ben", receipt.id)


@pytest.mark.parametrize("wiped", ["marguerite", user_id_for("zoë-marguerite")])
def test_the_id_of_a_wiped_user_is_left_nowhere(tmp_path: Path, wiped: str) -> None:
    with open_parts(tmp_path) as parts:
        for user in (wiped, guest_id(wiped, "s1", "S2"), "ben", guest_id("ben", "s1", "S2")):
            said = turn("i like zydeco", user=user)
            (known,) = parts.say(said, allowed(said.text, likes("zydeco"))).added
            parts.say(turn("forget it", user=user), forget("forget it", gone(known)))
            parts.say(turn("tea", user=user), allowed("tea", likes("tea")))
        parts.settled()
        receipt = parts.recorder.call(parts.ledger.erase_user, wiped).result(60)
        parts.settled()
        found = parts.ledger.receipt(wiped, receipt.id)
        assert found is not None and found.complete
        assert (found.places["guests"], found.places["facts"]) == (1, 2)
        assert parts.ledger.users() == ["ben", "ben:guest:s1:S2"]
    assert bytes_with(tmp_path, "marguerite") == []
    assert bytes_with(tmp_path, "tea")


def test_erased_words_leave_the_questions_of_other_memories(ledger: Ledger) -> None:
    cat = ledger.record(turn("x"), allowed("x", words("i have a cat named miezi"))).added[0]
    told = words("twice a day", "How often do you feed Miezi?")
    ledger.record(turn("y"), allowed("y", told))
    request = gone(cat, text="miezi", scope="memory")
    ledger.record(turn("z", at=day(1)), forget("z", request))
    assert [(f.text, f.asked) for f in ledger.live_facts("ana")] == [("twice a day", "")]
    assert ledger.search_words("ana", "feed miezi", 3) == []


def test_no_word_of_forgotten_days_is_left(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        parts.say(turn("i like tea"), allowed("i like tea", likes("tea")))
        parts.say(turn("i like zydeco", at=day(3)), allowed("i like zydeco", likes("zydeco")))
        parts.say(turn("gumbo maybe", at=day(3)), decided("hold", "gumbo maybe"))
        parts.say(turn("play some okra", at=day(3)), decided("discard", "play some okra"))
        parts.settled()
        asked = "forget what i told you today"
        days = (day(3).replace(hour=0, minute=0), day(4).replace(hour=0, minute=0))
        retract = fact("today", op="retract", scope="period", days=days)
        pending = parts.say(turn(asked, at=day(3)), forget(asked, retract)).pending_erasure
        assert pending is not None
        assert bytes_with(tmp_path, "gumbo"), "nothing goes before the yes"
        parts.ledger.confirm_erasure("ana", pending.id)
        parts.settled()
        receipt = parts.ledger.receipt("ana", pending.id)
        assert receipt is not None and receipt.complete and receipt.days == days
        assert receipt.places["turns"] == 4
        assert [f.value for f in parts.ledger.live_facts("ana")] == ["tea"]
        again = parts.say(turn(asked, at=day(3)), forget(asked, retract)).pending_erasure
        assert again is not None and again.facts == (), "words may be left where no memory is"
    for word in ("zydeco", "gumbo", "okra"):
        assert bytes_with(tmp_path, word) == []


def test_a_restored_backup_is_erased_from_by_the_receipt(ledger: Ledger, tmp_path: Path) -> None:
    said = turn("i like zydeco and tea")
    zydeco = ledger.record(said, allowed(said.text, likes("zydeco"), likes("tea"))).added[0]
    backup = list(ledger.export("ana"))
    receipt = ledger.erase("ana", [zydeco.id])
    assert ledger.receipt("ana", receipt.id) == receipt
    restored = Ledger.open(f"sqlite:///{tmp_path / 'restored.sqlite3'}")
    restored.import_export(backup)
    assert restored.erase("ana", receipt.fact_ids).places["facts"] == 1
    assert [f.value for f in restored.live_facts("ana")] == ["tea"]
    restored.close()


def test_expired_words_of_discarded_turns(ledger: Ledger) -> None:
    ledger.record(turn("play some jazz"), decided("discard", "play some jazz"))
    ledger.record(turn("i might move"), decided("hold", "i might move"))
    ledger.record(turn("i like tea"), allowed("i like tea", likes("tea")))
    ledger.record(turn("call sam", at=day(20)), decided("discard", "call sam"))
    assert ledger.drop_old_words(30, now=day(31)) == 1
    assert [row.text for row in ledger.turns("ana")] == [
        "",
        "i might move",
        "i like tea",
        "call sam",
    ]
    assert len(ledger.turns("ana", verdict="discard")) == 2
