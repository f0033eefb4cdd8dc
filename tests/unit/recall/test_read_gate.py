"""The read gate's plans: whether, why, how much and which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.recall import OPEN, ReadGate
from bmo.recall.budget import CEILING, TIERS, prefers_accuracy, token_budget
from bmo.recall.classify import Classification
from bmo.settings import load_settings
from bmo.turn import Assessment, Complexity, Depth, RecallPlan, Turn

pytestmark = pytest.mark.unit

GATE = ReadGate.from_settings(load_settings(), load_encoder=False)


def plan(text: str, **kwargs: object) -> RecallPlan:
    return GATE.plan(Turn(text), **kwargs)  # type: ignore[arg-type]  # the tests' own shorthand


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("what do you know about me", "explicit_prompt"),
        ("do you remember the name of my dentist", "explicit_prompt"),
        ("have i ever told you about the accident", "explicit_prompt"),
        ("who is my sister", "explicit_prompt"),
        ("Where do I live?", "own_fact_question"),
        ("whats my sisters name", "own_fact_question"),
        ("my preferences please", "own_fact_question"),
        ("was weißt du über mich", "explicit_prompt"),
        ("weißt du noch wie meine katze heißt", "explicit_prompt"),
        ("wo wohne ich", "own_fact_question"),
        ("tu te souviens de ma sœur", "explicit_prompt"),
        ("comment s'appelle ma fille", "own_fact_question"),
        ("te acuerdas de mi perro", "explicit_prompt"),
        ("dónde vivo", "own_fact_question"),
        ("give me the full picture before i decide", "forced"),
    ],
)
def test_what_is_said_in_so_many_words_is_recalled(text: str, why: str) -> None:
    planned = plan(text)
    assert (planned.recall, planned.trigger) == (True, why)
    assert planned.budget_tokens > 0
    assert planned.query == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "trivial"),
        ("   ", "trivial"),
        ("thanks", "smalltalk"),
        ("what is your name", "smalltalk"),
        ("how do i get ink out of a shirt", "general_knowledge"),
        ("my brother moved to rome last week", "statement"),
        ("forget what i told you about my boss", "command"),
        ("don't use my memories for this one where do i live", "minimal_depth"),
    ],
)
def test_the_rest_says_why_not_and_what_it_is(text: str, why: str) -> None:
    planned = plan(text)
    assert (planned.recall, planned.trigger, planned.budget_tokens) == (False, why, 0)


def test_a_plan_that_declines_carries_class_domains_and_depth() -> None:
    planned = plan("compare the best pasta recipes keep it short")
    assert not planned.recall
    assert (planned.complexity, planned.intent) == ("complex", "analysis")
    assert (planned.domains, planned.depth) == (("food",), "minimal")


def test_plans_name_slots_people_and_the_past() -> None:
    assert "lives_in" in plan("where do i live").slots
    assert plan("wann hat meine schwester geburtstag").subjects == ("user.sister",)
    assert plan("what do you know about ines").subjects == ("user.person:ines",)
    known = {"priya": "user.daughter:priya"}
    asked = plan("what is priya allergic to", subjects=known)
    assert (asked.recall, asked.subjects) == (True, ("user.daughter:priya", "user.daughter"))
    assert not plan("what is priya allergic to").recall


@pytest.mark.parametrize(
    ("slot", "texts"),
    [
        (
            "lives_in",
            [
                "where did i live before",
                "where did i use to live",
                "wo habe ich früher gewohnt",
                "où est-ce que j'habitais avant",
                "dónde vivía antes",
            ],
        ),
        (
            "works_as",
            [
                "what was my old job",
                "was war mein alter job",
                "c'était quoi mon ancien travail",
                "cuál era mi antiguo trabajo",
            ],
        ),
    ],
)
def test_questions_about_the_past_of_a_slot(slot: str, texts: list[str]) -> None:
    for text in texts:
        asked = plan(text)
        assert asked.include_past and slot in asked.slots, text
    assert not plan("where do i live").include_past


def test_follow_ups_inherit_the_plan_before() -> None:
    before = plan("when is my brothers birthday")
    sister = plan("and my sister?", previous=before)
    assert (sister.recall, sister.trigger) == (True, "follow_up")
    assert sister.slots == before.slots
    assert sister.subjects == ("user.sister",)
    why = plan("why?", previous=before)
    assert (why.subjects, why.intent) == (before.subjects, "continuation")
    assert not plan("why?").recall
    assert not plan("thanks", previous=before).recall
    assert not plan("and how tall is the tallest tree in the whole world", previous=before).recall


def test_depth_by_voice_and_by_setting() -> None:
    short = plan("keep it short where do i work")
    assert (short.depth, short.recall) == ("minimal", True)
    assert short.budget_tokens == plan("where do i work").budget_tokens // 2
    full = plan("use everything you know about me and plan my year")
    assert (full.depth, full.include_all, full.budget_tokens) == ("full", True, CEILING)
    minimal = ReadGate(load_settings(bmo_context_depth="minimal"))
    direct = minimal.plan(Turn("where do i work"))
    assert (direct.trigger, direct.depth, direct.recall) == ("own_fact_question", "minimal", True)
    assert minimal.plan(Turn("plan my birthday dinner")).trigger == "minimal_depth"
    always = ReadGate(load_settings(bmo_context_depth="full"))
    assert always.plan(Turn("how tall is mont blanc")).trigger == "forced"
    assert not always.plan(Turn("thanks")).recall


class FakeJudge:
    """Speaks the encoder's protocol with one probability for every turn."""

    version = "fake"

    class thresholds:  # an attribute of the encoder, not a class of its own
        read = 0.6

    def __init__(self, read_need: float) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self._read_need = read_need

    def assess(self, turns: Sequence[tuple[str, str]], before: Sequence[str]) -> list[Assessment]:
        self.asked += [(said, *turn) for turn, said in zip(turns, before, strict=True)]
        return [Assessment(0.1, 0.1, 0.8, {}, self._read_need, "fake") for _ in turns]


OPEN_TEXT = "could i lift the sofa with my bad shoulder"


@pytest.mark.parametrize(
    ("read_need", "best", "recall"),
    [
        (0.9, None, True),
        (0.5, None, False),
        (0.5, 0.6, True),
        (0.6, 0.1, False),
        (0.99, 0.1, True),
        (0.7, 0.0, False),
        (0.01, 0.9, False),
    ],
)
def test_the_need_moved_by_the_best_answer_decides_what_rules_leave_open(
    read_need: float, best: float | None, recall: bool
) -> None:
    encoder = FakeJudge(read_need)
    gate = ReadGate(load_settings(), encoder)  # type: ignore[arg-type]  # speaks the same protocol
    assert gate.plan_by_rules(Turn(OPEN_TEXT)).trigger == OPEN
    turn = Turn(OPEN_TEXT, assistant_before="Hm?")
    planned = gate.plan(
        turn,
        chances=lambda _: None if best is None else {"1": best, "2": 0.01},
        before="my arm hurts",
    )
    assert (planned.recall, planned.read_need) == (recall, read_need)
    assert planned.trigger == ("judge" if recall else "general_knowledge")
    assert encoder.asked == [("my arm hurts", "Hm?", OPEN_TEXT)]
    gate.plan(Turn("where do i work"))
    assert len(encoder.asked) == 1


def test_an_assessment_that_is_there_and_the_setting_are_used() -> None:
    encoder = FakeJudge(0.0)
    gate = ReadGate(load_settings(bmo_judge_read=0.3), encoder)  # type: ignore[arg-type]  # as above
    word = Assessment(0.1, 0.1, 0.8, {}, 0.4, "other")
    assert gate.plan(Turn(OPEN_TEXT), assessment=word).recall
    assert not encoder.asked


SIMPLE = Classification("simple", "question", references_history=False, has_code=False)
HISTORY = Classification("simple", "question", references_history=True, has_code=False)
DEEP = Classification("deep", "analysis", references_history=True, has_code=False)


@pytest.mark.parametrize(
    ("kind", "turns", "prefer", "depth", "budget"),
    [
        (SIMPLE, 0, "balanced", "auto", 500),
        (HISTORY, 0, "balanced", "auto", 750),
        (SIMPLE, 11, "speed", "auto", 312),
        (SIMPLE, 10, "balanced", "auto", 500),
        (SIMPLE, 11, "balanced", "auto", 937),
        (SIMPLE, 0, "speed", "auto", 250),
        (SIMPLE, 0, "accuracy", "auto", 750),
        (DEEP, 0, "speed", "auto", 6000),
        (DEEP, 20, "accuracy", "auto", 10_000),
        (SIMPLE, 0, "balanced", "full", 8000),
        (SIMPLE, 0, "balanced", "minimal", 250),
    ],
)
def test_budget_modifiers(
    kind: Classification, turns: int, prefer: str, depth: Depth, budget: int
) -> None:
    accuracy = prefers_accuracy(kind, turns, prefer)  # type: ignore[arg-type]
    assert (
        token_budget(
            kind,
            conversation_turns=turns,
            prefer=prefer,  # type: ignore[arg-type]
            depth=depth,
            accuracy=accuracy,
        )
        == budget
    )


@pytest.mark.parametrize("complexity", list(TIERS))
def test_the_ceiling_holds(complexity: Complexity) -> None:
    kind = Classification(complexity, "analysis", references_history=True, has_code=True)
    budget = token_budget(
        kind, conversation_turns=99, prefer="accuracy", depth="auto", accuracy=True
    )
    assert 0 <= budget <= CEILING


@pytest.mark.parametrize(
    ("text", "complexity", "intent"),
    [
        ("where do i live", "simple", "question"),
        ("write a poem about my dog", "moderate", "generation"),
        ("what make is my bike", "simple", "question"),
        ("compare the two jobs i told you about", "complex", "analysis"),
        (
            "give me a thorough long term strategy for how i should plan my career and my family",
            "deep",
            "analysis",
        ),
    ],
)
def test_classification(text: str, complexity: str, intent: str) -> None:
    planned = plan(text)
    assert (planned.complexity, planned.intent) == (complexity, intent)


@given(st.text(max_size=300))
def test_any_text_gives_a_plan_that_agrees_with_itself(text: str) -> None:
    planned = GATE.plan_by_rules(Turn(text))
    again = GATE.plan_by_rules(Turn(text))
    assert replace(planned, elapsed_us=0.0) == replace(again, elapsed_us=0.0)
    assert planned.recall == (planned.budget_tokens > 0)
    assert planned.trigger


@pytest.mark.parametrize(
    "text",
    ["\x00", "\ud800 where do i live", "where do i live " * 20_000, "🙂" * 500, "أين أسكن؟"],
)
def test_hostile_text_is_planned(text: str) -> None:
    assert plan(text).trigger
