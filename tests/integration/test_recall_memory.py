"""Recall through a real ledger, a real Qdrant Edge store and the real local embedder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bmo.encoder import Encoder
from bmo.index import IndexUnavailable, MemoryIndex
from bmo.ledger import Ledger
from bmo.recall import ReadGate, Recaller
from bmo.settings import Settings
from bmo.turn import Category, Decision, Fact, Kind, Recall, RecallPlan, Turn, Verdict

pytestmark = pytest.mark.integration

NOW = datetime(2026, 4, 1, 18, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=80)


@dataclass
class Memory:
    """A user's memory, asked the way a session asks it."""

    settings: Settings
    ledger: Ledger
    index: MemoryIndex
    gate: ReadGate

    def learn(
        self,
        text: str,
        slot: str | None = None,
        *,
        subject: str = "user",
        user_id: str = "ana",
        category: Category = "personal_facts",
        kind: Kind = "fact",
        at: datetime = LONG_AGO,
        verdict: Verdict = "allow",
        value: str | None = None,
        cardinality: str = "many",
        expires_at: datetime | None = None,
        said: str = "",
        asked: str = "",
        rule_id: str = "",
    ) -> None:
        fact = Fact(
            text=text,
            category=category,
            slot=slot,
            value=text if value is None else value,
            subject=subject,
            kind=kind,
            cardinality=cardinality,  # type: ignore[arg-type]  # a literal at every call
            expires_at=expires_at,
            said=said,
            asked=asked,
            rule_id=rule_id,
        )
        facts = (fact,) if verdict == "allow" else ()
        decision = Decision(verdict, ("other",), "test", 0.9, facts=facts, text=text)
        recorded = self.ledger.record(Turn(text, user_id=user_id, at=at), decision)
        for stored in recorded.added:
            self.index.add_many([(stored, {})])
        for ended in recorded.ended:
            self.index.delete_fact(user_id, ended.fact.id)

    def ask(
        self, text: str, *, user_id: str = "ana", index: MemoryIndex | str | None = "own"
    ) -> Recall:
        chosen = self.index if index == "own" else index
        known = self.ledger.known_subjects(user_id)
        plan = self.gate.plan(Turn(text, user_id=user_id), subjects=known)
        recaller = Recaller(self.ledger, chosen, self.settings)  # type: ignore[arg-type]
        return recaller.recall(plan, user_id, NOW)


def texts(recall: Recall) -> set[str]:
    return {memory.fact.text for memory in recall.memories}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings)
    yield Memory(settings, ledger, index, ReadGate(settings))
    index.close()
    ledger.close()


@pytest.fixture
def household(memory: Memory) -> Memory:
    memory.learn("Is named Ana", "name")
    memory.learn("Has a brother named Sam", "name", subject="user.brother:sam")
    memory.learn("Has a brother named Tom", "name", subject="user.brother:tom")
    for words in (
        "sam lives in leeds he moved there for the football of all things and never looked back",
        "my other brother is up in york he has a stall on the market and sells honey on saturdays",
        "the missus is mad about pottery she has filled the whole garage with pots and bowls",
        "im a plumber have been since i left school and my hands can tell you all about it",
        "old jazz records are my weakness i have four hundred of them in boxes under the stairs",
        "the spare key is under the blue flower pot by the back door where nobody looks for it",
        "we keep bees at the end of the garden three hives and they made nine jars of it in june",
        "every other sunday i take the ferry across to see my aunt who cannot walk well any more",
        "my knees hurt since the fall on the stairs in spring so ladders are a bad idea these days",
        "we named the boat after my grandmother who never set foot on one in all of her long life",
    ):
        memory.learn(words, said=words)
    memory.learn("Is allergic to walnuts", "allergic_to")
    return memory


def test_a_slot_is_answered_by_key_and_first(household: Memory) -> None:
    recall = household.ask("what am i allergic to", index=None)
    assert recall.memories[0].fact.text == "Is allergic to walnuts"
    assert recall.memories[0].why == "slot"
    assert not recall.fallback
    assert "Is allergic to walnuts" in recall.context


def test_memories_in_the_users_words_are_found_by_meaning(household: Memory) -> None:
    recall = household.ask("do you remember where i put my spare key")
    assert "blue flower pot" in recall.memories[0].fact.text
    assert '- "the spare key' in recall.context and "(said " in recall.context
    assert len(recall.memories) <= 8


def test_a_question_about_a_person_gives_what_is_live_about_them(household: Memory) -> None:
    given = texts(household.ask("what do you know about my wife"))
    assert any("pottery" in text for text in given)
    about_sam = household.ask("what do you know about sam")
    assert [m.why for m in about_sam.memories[:2]] == ["person", "person"]
    assert {"Has a brother named Sam"} < texts(about_sam)


def test_ended_memories_only_appear_when_the_past_is_asked(memory: Memory) -> None:
    memory.learn("Lives in Oslo", "lives_in", value="Oslo", cardinality="one")
    memory.learn("Lives in Bergen", "lives_in", value="Bergen", cardinality="one", at=NOW)
    for words in ("i used to live in kiel", "we used to live by the sea"):
        memory.learn(words, said=words, at=NOW)
    assert texts(memory.ask("where do i live")) == {"Lives in Bergen"}
    before = memory.ask("where did i live before")
    assert {"Lives in Oslo", "i used to live in kiel"} <= texts(before)
    assert "no longer true" in before.context


def test_expired_and_held_memories_never_appear(memory: Memory) -> None:
    memory.learn("Wants to pass the exam in March", "goal", category="goals", expires_at=NOW)
    memory.learn("Wants to sail to Malta", "goal", category="goals")
    memory.learn("i might be allergic to cats", verdict="hold")
    assert texts(memory.ask("what are my goals")) == {"Wants to sail to Malta"}
    profile = Recaller(memory.ledger, memory.index, memory.settings).profile("ana", NOW)
    assert texts(profile) == {"Wants to sail to Malta"}


def test_what_is_never_to_be_brought_up_stays_away_until_the_user_does(household: Memory) -> None:
    order = "never talk to me about the bees again"
    household.learn(order, said=order, value="the bees", kind="hard_rule", rule_id="order.withhold")
    recaller = Recaller(household.ledger, household.index, household.settings)
    assert not any("bees" in text for text in texts(household.ask("what do you know about me")))
    assert not any("bees" in text for text in texts(recaller.profile("ana", NOW)))
    left = household.ask("do you remember what is in our garden").left_out
    assert any(m.why == "withheld" and "hives" in m.fact.text for m in left)
    assert any("hives" in text for text in texts(household.ask("do you remember our bees")))


def test_nothing_of_another_user_is_read(household: Memory) -> None:
    household.learn("Works as a spy", "works_as", user_id="eve")
    assert texts(household.ask("where do i work", user_id="eve")) == {"Works as a spy"}
    assert "Works as a spy" not in texts(household.ask("where do i work"))
    assert texts(household.ask("what do you know about me", user_id="eve")) == {"Works as a spy"}


def test_no_memories_no_search_no_tokens(memory: Memory) -> None:
    recall = memory.ask("what do you know about me")
    assert (recall.memories, recall.left_out, recall.context) == ((), (), "")
    assert recall.reason == "no memories"
    recaller = Recaller(memory.ledger, memory.index, memory.settings)
    assert recaller.profile("ana", NOW).context == ""


def test_the_best_answer_tells_whether_a_turn_is_about_what_is_known(household: Memory) -> None:
    recaller = Recaller(household.ledger, household.index, household.settings, Encoder.open())

    def chances(question: str, user_id: str = "ana") -> Mapping[str, float]:
        plan = RecallPlan(recall=True, trigger="judge", budget_tokens=500, query=question)
        found = recaller.look(plan, user_id, NOW)
        given = recaller.recall(plan, user_id, NOW, looked=found).memories
        assert given == recaller.recall(plan, user_id, NOW).memories
        assert found.chances is not None
        return found.chances

    near, far = chances("where is my spare key"), chances("convert nine pounds to euros")
    assert max(near.values()) > 0.4 > max(far.values())
    assert chances("where is my spare key", "eve") == {}
    none = Recaller(household.ledger, household.index, household.settings)
    plan = RecallPlan(recall=True, trigger="judge", query="where is my spare key")
    assert none.look(plan, "ana", NOW).chances is None


def test_a_wide_question_lists_by_importance(household: Memory) -> None:
    household.learn("Never call before nine", "quiet_hours", kind="hard_rule")
    listed = [m.fact.text for m in household.ask("what do you know about me").memories]
    assert listed[:2] == ["Never call before nine", "Is named Ana"]
    assert len(listed) == 15


def test_a_dead_index_leaves_slots_and_words(
    household: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object, **__: object) -> None:
        raise IndexUnavailable("the index is gone; start it")

    monkeypatch.setattr(household.index, "near", down)
    recall = household.ask("do you remember where the spare key is")
    assert "blue flower pot" in recall.memories[0].fact.text
    assert recall.fallback
    assert recall.reason == "search index: the index is gone; start it"


def test_the_same_question_gives_the_same_bytes(household: Memory) -> None:
    first = household.ask("do you remember the market")
    assert first.context == household.ask("do you remember the market").context
    recaller = Recaller(household.ledger, household.index, household.settings)
    assert recaller.profile("ana", NOW).context == recaller.profile("ana", NOW).context


def test_use_is_counted_into_the_score(household: Memory) -> None:
    before = household.ask("what am i allergic to").memories[0]
    household.ledger.note_helpfulness(
        "ana", [before.fact.id], turn_id="t", helpful=True, at=NOW, source="reply"
    )
    after = household.ask("what am i allergic to").memories[0]
    assert after.parts.usage == pytest.approx(0.1)
    assert after.score > before.score


def test_a_large_memory_is_searched_and_names_tell_nothing_there(
    household: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A threshold of three stands in for two hundred."""
    monkeypatch.setattr("bmo.recall.retrieval.WHOLE", 3)
    given = household.ask("do you remember where i put my spare key").memories
    assert "blue flower pot" in given[0].fact.text
    assert household.ask("what am i allergic to").memories[0].why == "slot"


class PairHead:
    """Speaks the encoder's protocol: what names the knees answers, nothing else does."""

    asked = ""
    known: Mapping[str, str] = {}
    weighs = 99

    def answers(
        self, question: tuple[str, str], memories: list[tuple[str, str]], until: float
    ) -> list[float | None]:
        self.asked = question[0]
        self.known = {text: before for before, text in memories}
        told: list[float | None] = [0.9 if "knees hurt" in text else 0.05 for _, text in memories]
        return told[: self.weighs] + [None] * len(told[self.weighs :])


def test_the_pair_head_says_which_of_the_first_dozen_answers(household: Memory) -> None:
    encoder = PairHead()
    recaller = Recaller(household.ledger, household.index, household.settings, encoder)  # type: ignore[arg-type]  # speaks the same protocol
    turn = Turn("do you remember why", assistant_before="You should not paint the ceiling.")
    plan = ReadGate.from_settings(household.settings, load_encoder=False).plan(turn)
    recall = recaller.recall(plan, "ana", NOW)
    assert encoder.asked == "You should not paint the ceiling.", "what the question follows counts"
    assert [m.fact.text[:13] for m in recall.memories] == ["my knees hurt"]
    assert recall.memories[0].parts.semantic >= 0.5 * 0.45


def test_memories_that_there_was_no_time_to_weigh_are_not_given(household: Memory) -> None:
    """Where there was time for none the nearest by score are: better than an empty reply."""
    encoder = PairHead()
    recaller = Recaller(household.ledger, household.index, household.settings, encoder)  # type: ignore[arg-type]  # speaks the same protocol
    plan = ReadGate.from_settings(household.settings, load_encoder=False).plan(
        Turn("do you remember why i cannot paint the ceiling, is it my knees")
    )
    encoder.weighs = 1
    one = recaller.recall(plan, "ana", NOW)
    assert [m.fact.text[:13] for m in one.memories] == ["my knees hurt"]
    encoder.weighs = 0
    none = recaller.recall(plan, "ana", NOW)
    assert none.fallback and none.reason == "no time to weigh memories"
    assert "my knees hurt" in none.context


def test_the_pair_head_reads_what_a_memory_replaced_with_it(memory: Memory) -> None:
    """A change seldom says of what; the words of before are shown to nobody else."""
    memory.learn("fiddle lessons are with old mrs baxter", "teacher", cardinality="one", value="1")
    later = LONG_AGO + timedelta(days=40)
    memory.learn(
        "callum does it now", "teacher", cardinality="one", value="2", at=later, asked="Any news?"
    )
    encoder = PairHead()
    recaller = Recaller(memory.ledger, memory.index, memory.settings, encoder)  # type: ignore[arg-type]  # speaks the same protocol
    plan = RecallPlan(True, "explicit_prompt", query="who teaches me", budget_tokens=300)
    recall = recaller.recall(plan, "ana", NOW)
    assert encoder.known == {
        "callum does it now": "Any news? fiddle lessons are with old mrs baxter"
    }
    assert "baxter" not in recall.context
    memory.ledger.erase(
        "ana", [f.id for f in memory.ledger.live_facts("ana", include_past=True) if f.valid_until]
    )
    recaller.recall(plan, "ana", NOW)
    assert encoder.known == {"callum does it now": "Any news?"}
