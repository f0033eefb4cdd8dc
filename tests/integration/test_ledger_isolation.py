"""Nothing of one user is readable, changeable or deletable through another's id."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from bmo.ids import new_id
from bmo.ledger import Ledger
from bmo.turn import Recall, RecallPlan, Turn
from tests.fakes.speaker import allowed, day, decided, forget, gone, likes, lives_in, turn, words
from tests.integration.memory_parts import rows_of

pytestmark = pytest.mark.integration

USERS = ("ana", "ana@home", "ben")
THINGS = st.sampled_from(["tea", "jazz", "ana", "ben", "%", "_", "' OR 1=1 --", "*"])
HOSTILE = st.one_of(
    st.sampled_from(
        ["*", "", " ", "ana*", "an%", "ana' --", "ana\x00", "аna", "ana\n", "a" * 129, "{}"]
    ),
    st.text(max_size=20).filter(
        lambda text: (
            not text or any(not (c.isascii() and (c.isalnum() or c in "._:@-")) for c in text)
        )
    ),
)


def everything_of(ledger: Ledger, user: str) -> tuple[object, ...]:
    """All that can be read of a user."""
    facts = ledger.live_facts(user, include_past=True)
    return (
        [(f.id, f.text, f.valid_until, f.use_count) for f in facts],
        [(t.id, t.text, t.resolution, t.assistant_after) for t in ledger.turns(user)],
        [(p.id, len(p.facts)) for p in ledger.pending_erasures(user)],
        [rows_of(ledger, table, user) for table in ("turns", "decisions", "facts", "recalls")],
        ledger.known_subjects(user),
        [t.id for t in ledger.held(user)],
    )


class ThreeUsers(RuleBasedStateMachine):
    """Random operations of three users; after each only the one who acted has changed."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.ledger = Ledger.open(f"sqlite:///{Path(self.directory.name) / 'ledger.sqlite3'}")
        self.clock = 0
        self.before: dict[str, tuple[object, ...]] = {}
        self.actor = ""

    @initialize()
    def start(self) -> None:
        for user in USERS:
            self.act(user, lambda user=user: self.say(user, likes("tea")))  # type: ignore[misc]

    def say(self, user: str, *facts: object, session: str = "s") -> None:
        self.clock += 1
        said = turn("words", user=user, session=session, at=day(self.clock))
        self.ledger.record(said, allowed("words", *facts))  # type: ignore[arg-type]

    def act(self, user: str, operation: Callable[[], object]) -> None:
        self.before = {other: everything_of(self.ledger, other) for other in USERS}
        self.actor = user
        operation()

    @rule(user=st.sampled_from(USERS), thing=THINGS)
    def like(self, user: str, thing: str) -> None:
        self.act(user, lambda: self.say(user, likes(thing)))

    @rule(user=st.sampled_from(USERS), place=THINGS)
    def move(self, user: str, place: str) -> None:
        self.act(user, lambda: self.say(user, lives_in(place)))

    @rule(user=st.sampled_from(USERS), thing=THINGS)
    def hold(self, user: str, thing: str) -> None:
        said = turn(thing, user=user)
        self.act(user, lambda: self.ledger.record(said, decided("hold", thing)))

    @rule(
        user=st.sampled_from(USERS),
        thing=THINGS,
        scope=st.sampled_from(["memory", "subject", "all"]),
    )
    def forget(self, user: str, thing: str, scope: str) -> None:
        """A request that names the memories of everybody."""
        known = [found for other in USERS for found in self.ledger.live_facts(other)]
        request = gone(*known, text=thing, value=thing, scope=scope)
        said = turn("forget", user=user, at=day(self.clock))
        self.act(user, lambda: self.ledger.record(said, forget("forget", request)))

    @rule(user=st.sampled_from(USERS), thing=THINGS)
    def end(self, user: str, thing: str) -> None:
        """New words that end the memories of everybody, and take the id of one."""
        known = [found for other in USERS for found in self.ledger.live_facts(other)]
        ids = tuple(found.id for found in known)
        told = words(f"{thing} now", ends=ids, **({"id": ids[0]} if ids else {}))
        self.act(user, lambda: self.say(user, told))

    @rule(user=st.sampled_from(USERS), other=st.sampled_from(USERS))
    def use_ids_of_another(self, user: str, other: str) -> None:
        """Every call that takes an id, with ids of somebody else."""
        theirs = self.ledger.live_facts(other, include_past=True)
        ids = [found.id for found in theirs]
        turn_ids = [said.id for said in self.ledger.turns(other)]
        if user == other or not ids or not turn_ids:
            return

        def steal() -> None:
            ledger = self.ledger
            assert ledger.facts_by_id(user, ids) == []
            assert ledger.why(user, ids[0]) is None
            assert ledger.history(user, ids[0]) == []
            assert ledger.find_facts(user, ids[0][:8]) == []
            assert ledger.turns(user, turn_ids=turn_ids) == []
            assert ledger.erase(user, ids).places.get("facts", 0) == 0
            assert not ledger.note_helpfulness(
                user, ids, turn_id="t", helpful=True, at=day(self.clock), source="reply"
            )
            ledger.note_reply(user, turn_ids[0], "stolen")
            for call in (
                lambda: ledger.edit(user, ids[0], text="stolen"),
                lambda: ledger.allow_held(user, turn_ids[0]),
                lambda: ledger.discard_held(user, turn_ids[0]),
                lambda: ledger.feedback(
                    user, fact_id=ids[0], turn_id=None, helpful=True, at=day(0)
                ),
                lambda: ledger.record(
                    Turn(text="x", user_id=user, id=turn_ids[0]), decided("discard", "x")
                ),
            ):
                with pytest.raises(ValueError, match=r"no |another user's"):
                    call()

        self.act(user, steal)

    @rule(user=st.sampled_from(USERS), other=st.sampled_from(USERS))
    def settle_erasure_of_another(self, user: str, other: str) -> None:
        if user == other:
            return
        for pending in self.ledger.pending_erasures(other):
            with pytest.raises(ValueError, match="no request"):
                self.ledger.confirm_erasure(user, pending.id)
            with pytest.raises(ValueError, match="no request"):
                self.ledger.cancel_erasure(user, pending.id)
            assert self.ledger.receipt(user, pending.id) is None

    @rule(user=st.sampled_from(USERS))
    def confirm_own(self, user: str) -> None:
        for pending in self.ledger.pending_erasures(user)[:1]:
            self.act(user, lambda p=pending: self.ledger.confirm_erasure(user, p.id))  # type: ignore[misc]

    @rule(user=st.sampled_from(USERS))
    def cancel_own(self, user: str) -> None:
        for pending in self.ledger.pending_erasures(user)[:1]:
            self.act(user, lambda p=pending: self.ledger.cancel_erasure(user, p.id))  # type: ignore[misc]

    @rule(user=st.sampled_from(USERS))
    def wipe(self, user: str) -> None:
        self.act(user, lambda: self.ledger.erase_user(user, at=day(self.clock)))

    @rule(user=st.sampled_from(USERS), query=THINGS)
    def read(self, user: str, query: str) -> None:
        found = [f for f, _ in self.ledger.search_words(user, query, 50)]
        assert all(f.user_id == user for f in found)
        assert all(f.user_id == user for f in self.ledger.live_facts(user))
        assert all(t.user_id == user for t in self.ledger.turns(user))

    @invariant()
    def only_the_actor_changed(self) -> None:
        for user, before in self.before.items():
            if user != self.actor:
                assert everything_of(self.ledger, user) == before

    def teardown(self) -> None:
        self.ledger.close()
        self.directory.cleanup()


TestThreeUsers = ThreeUsers.TestCase
TestThreeUsers.settings = settings(
    max_examples=12, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def shared_ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    ledger = Ledger.open(f"sqlite:///{tmp_path_factory.mktemp('home') / 'ledger.sqlite3'}")
    ledger.record(turn("x"), allowed("x", likes("tea")))
    return ledger


@given(user=HOSTILE)
@settings(max_examples=40, deadline=None)
def test_hostile_ids_are_refused_by_every_call(shared_ledger: Ledger, user: str) -> None:
    ledger = shared_ledger
    one = new_id()
    said = Turn(text="x", user_id=user)
    calls: list[Callable[[], object]] = [
        lambda: ledger.record(said, decided("discard", "x")),
        lambda: ledger.note_reply(user, one, "x"),
        lambda: ledger.live_facts(user),
        lambda: ledger.facts_by_id(user, [one]),
        lambda: ledger.find_facts(user, ""),
        lambda: ledger.visit_facts(user, "s1", 5),
        lambda: ledger.search_words(user, "tea", 5),
        lambda: ledger.count_live(user),
        lambda: ledger.known_subjects(user),
        lambda: ledger.conflicts(user),
        lambda: ledger.history(user, one),
        lambda: ledger.why(user, one),
        lambda: ledger.turns(user),
        lambda: ledger.held(user),
        lambda: ledger.search_held(user, "tea", 5),
        lambda: ledger.allow_held(user, one),
        lambda: ledger.discard_held(user, one),
        lambda: ledger.edit(user, one, text="x"),
        lambda: ledger.add_imported(user, likes("tea"), at=None),
        lambda: list(ledger.export(user)),
        lambda: ledger.import_export(
            ['{"type": "bmo-ledger", "version": 1, "user_id": "ana"}'], user_id=user
        ),
        lambda: ledger.record_recall(said, Recall(RecallPlan(False, "x"))),
        lambda: ledger.note_helpfulness(
            user, [one], turn_id=one, helpful=True, at=day(0), source="reply"
        ),
        lambda: ledger.feedback(user, fact_id=None, turn_id=None, helpful=True, at=day(0)),
        lambda: ledger.erase(user, [one]),
        lambda: ledger.erase_user(user),
        lambda: ledger.pending_erasures(user),
        lambda: ledger.confirm_erasure(user, one),
        lambda: ledger.cancel_erasure(user, one),
        lambda: ledger.receipt(user, one),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="is not allowed"):
            call()
    assert rows_of(ledger, "facts", "ana") == 1
