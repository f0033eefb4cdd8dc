"""The read gate's plans: whether, why, how much and which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.recall import OPEN, Familiarity, ReadGate
from bmo.recall.budget import CEILING, TIERS, prefers_accuracy, token_budget
from bmo.recall.classify import Classification
from bmo.settings import load_settings
from bmo.turn import Assessment, Complexity, Depth, RecallPlan, Turn

pytestmark = pytest.mark.unit

GATE = ReadGate.from_settings(load_settings(), load_judge=False)


def plan(text: str, **kwargs: object) -> RecallPlan:
    return GATE.plan(Turn(text), **kwargs)  # type: ignore[arg-type]  # the tests' own shorthand


@pytest.mark.parametrize(
    "text",
    [
        "where do i work",
        "whats my sisters name",
        "my sisters name what was it",
        "do i have any allergies",
        "Remind me which days I teach.",
        "have i ever told you about the accident",
        "suggest a lunch for me",
        "what should i get my dad for his sixtieth",
        "plan my sunday",
        "will this soup work for me",
        "what do you know about me",
        "play something i like",
        "wo wohnt mein bruder",
        "was könnte ich meiner schwester schenken",
        "comment s'appelle ma fille",
        "suggère-moi un film",
        "cuándo es el cumpleaños de mi madre",
        "qué puedo cocinar para mi hijo",
    ],
)
def test_questions_about_oneself_and_needs_are_recalled(text: str) -> None:
    planned = plan(text)
    assert planned.recall, planned.trigger
    assert planned.budget_tokens > 0
    assert planned.query


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "trivial"),
        ("   ", "trivial"),
        ("thanks", "smalltalk"),
        ("okay great", "smalltalk"),
        ("turn the lamp off", "command"),
        ("set a timer for nine minutes", "command"),
        ("whats my battery at", "command"),
        ("how do i get ink out of a shirt", "general_knowledge"),
        ("are you a person", "smalltalk"),
        ("my brother moved to rome last week", "statement"),
        ("mach das licht aus", "command"),
        ("baisse le volume", "command"),
        ("apaga la luz", "command"),
        ("forget what i told you about my boss", "command"),
    ],
)
def test_the_rest_says_why_not(text: str, why: str) -> None:
    planned = plan(text)
    assert (planned.recall, planned.trigger, planned.budget_tokens) == (False, why, 0)


def test_plan_names_slots_and_people() -> None:
    planned = plan("when is my sisters birthday")
    assert "birthday" in planned.slots
    assert planned.subjects[0] == "user.sister"


def test_needs_map_to_what_they_depend_on() -> None:
    dinner = plan("suggest a dinner for me")
    assert {"allergy", "diet"} <= set(dinner.slots)
    assert "likes" in dinner.soft_slots
    assert dinner.subjects == ("user",)
    assert plan("what can i cook for the five of us tonight").subjects == ()


def test_a_somebody_elses_dentist_is_not_asked_about() -> None:
    assert plan("the dentist asks what am i allergic to").subjects == ("user",)
    assert "user.dentist" in plan("what is my dentist called").subjects


def test_known_names_are_people() -> None:
    known = {"priya": "user.daughter:priya"}
    planned = plan("what is priya allergic to", subjects=known)
    assert planned.recall
    assert planned.subjects == ("user.daughter:priya",)
    assert not plan("what is priya allergic to").recall


def test_the_past_is_asked_for() -> None:
    assert plan("where did i live before").include_past
    assert not plan("where do i live").include_past


def test_follow_ups_inherit_the_plan_before() -> None:
    before = plan("when is my brothers birthday")
    sister = plan("and my sister?", previous=before)
    assert (sister.recall, sister.trigger) == (True, "follow_up")
    assert "birthday" in sister.slots
    assert sister.subjects[0] == "user.sister"
    whole = plan("what animal lives in my shed", previous=before)
    assert (whole.recall, whole.trigger) == (True, "follow_up")
    assert whole.slots == plan("which animal lives in my shed").slots
    assert "birthday" not in whole.query
    why = plan("why?", previous=before)
    assert why.subjects == before.subjects
    assert why.budget_tokens > 0
    assert not plan("why?").recall
    assert not plan("thanks", previous=before).recall


def test_depth_by_voice() -> None:
    short = plan("keep it quick where do i work")
    assert (short.depth, short.recall) == ("minimal", True)
    assert short.budget_tokens == plan("where do i work").budget_tokens // 2
    full = plan("use everything you know about me and plan my year")
    assert (full.depth, full.recall, full.include_all) == ("full", True, True)
    assert full.budget_tokens == CEILING


def test_depth_by_setting() -> None:
    minimal = ReadGate(load_settings(bmo_context_depth="minimal"))
    assert minimal.plan(Turn("where do i work")).trigger == "minimal_depth"
    full = ReadGate(load_settings(bmo_context_depth="full"))
    assert full.plan(Turn("how tall is mont blanc")).trigger == "forced"
    assert not full.plan(Turn("thanks")).recall


def test_the_language_setting_and_the_recogniser_win() -> None:
    assert GATE.plan(Turn("wo arbeite ich", language="de-DE")).recall
    assert ReadGate(load_settings(bmo_language="es")).plan(Turn("dónde vivo")).recall


class FakeJudge:
    """Speaks the judge's protocol with one probability for every turn."""

    version = "fake"

    class thresholds:  # an attribute of the judge, not a class of its own
        read = 0.6

    def __init__(self, read_need: float) -> None:
        self.asked: list[tuple[str, str]] = []
        self._read_need = read_need

    def assess(self, turns: Sequence[tuple[str, str]]) -> list[Assessment]:
        self.asked += turns
        return [Assessment(0.1, 0.1, 0.8, {}, self._read_need, "fake") for _ in turns]


OPEN_TEXT = "could i lift the sofa with my bad shoulder"


@pytest.mark.parametrize(("read_need", "recall"), [(0.9, True), (0.5, False)])
def test_the_judge_is_asked_where_the_rules_are_silent(read_need: float, recall: bool) -> None:
    judge = FakeJudge(read_need)
    gate = ReadGate(load_settings(), judge)  # type: ignore[arg-type]  # speaks the same protocol
    assert gate.plan_by_rules(Turn(OPEN_TEXT)).trigger == OPEN
    planned = gate.plan(Turn(OPEN_TEXT, assistant_before="Hm?"))
    assert (planned.recall, planned.read_need) == (recall, read_need)
    assert planned.trigger == ("judge" if recall else "no_trigger")
    assert judge.asked == [("Hm?", OPEN_TEXT)]
    gate.plan(Turn("where do i work"))
    gate.plan(Turn("turn it up"))
    assert len(judge.asked) == 1


def test_an_assessment_that_is_there_is_used() -> None:
    judge = FakeJudge(0.0)
    gate = ReadGate(load_settings(bmo_judge_read=0.3), judge)  # type: ignore[arg-type]
    given_word = Assessment(0.1, 0.1, 0.8, {}, 0.4, "other")
    assert gate.plan(Turn(OPEN_TEXT), assessment=given_word).recall
    assert not judge.asked


def test_turns_about_nobody_must_convince_the_judge_more() -> None:
    gate = ReadGate(load_settings(), FakeJudge(0.7))  # type: ignore[arg-type]
    assert gate.plan(Turn(OPEN_TEXT)).recall
    assert gate.plan(Turn("why is the sky blue")).trigger == "general_knowledge"


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
        ("what make is my bike", "moderate", "question"),
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


@pytest.mark.parametrize(
    ("text", "read_need", "recall"),
    [
        ("Arrange the chairs the way my choir sits.", 0.95, True),
        ("Arrange the chairs the way my choir sits.", 0.8, False),
        ("how can i clean my jacket", 0.97, True),
        ("how can i clean my jacket", 0.9, False),
        ("remember that my bike is in the shed", 0.99, False),
        ("remind me to sign my form tonight", 0.99, False),
        ("turn it up", 0.99, False),
    ],
)
def test_a_sure_judge_overrules_a_rule_that_saw_no_need(
    text: str, read_need: float, recall: bool
) -> None:
    gate = ReadGate(load_settings(), FakeJudge(read_need))  # type: ignore[arg-type]  # as above
    assert not GATE.plan(Turn(text)).recall, "the rules alone see no need"
    planned = gate.plan(Turn(text))
    assert planned.recall is recall
    assert planned.trigger == ("judge" if recall else GATE.plan(Turn(text)).trigger)


@pytest.mark.parametrize(
    ("closest", "read_need", "recall"),
    [(None, 0.85, False), (-2.0, 0.85, False), (-0.5, 0.85, True), (-0.5, 0.75, False)],
)
def test_a_memory_that_may_be_meant_helps_to_overrule_a_rule(
    closest: float | None, read_need: float, recall: bool
) -> None:
    gate = ReadGate(load_settings(), FakeJudge(read_need))  # type: ignore[arg-type]  # as above
    known = None if closest is None else Familiarity(0.5, named=False, closest=lambda: closest)
    planned = gate.plan(Turn("Arrange the chairs the way my choir sits."), familiar=lambda _: known)
    assert planned.recall is recall


@pytest.mark.parametrize(
    ("known", "read_need", "recall"),
    [
        (None, 0.5, False),
        (Familiarity(2.5, named=False), 0.5, True),
        (Familiarity(2.5, named=False), 0.1, False),
        (Familiarity(1.0, named=False), 0.5, False),
        (Familiarity(0.0, named=False), 0.65, False),
        (Familiarity(0.0, named=False), 0.9, True),
        (Familiarity(0.0, named=True), 0.0, True),
        (Familiarity(0.5, named=False, closest=lambda: 0.5), 0.1, True),
        (Familiarity(0.5, named=False, closest=lambda: -1.0), 0.1, False),
        (Familiarity(0.5, named=False, closest=lambda: 0.5), 0.01, True),
        (Familiarity(0.5, named=False, closest=lambda: -0.5), 0.01, False),
    ],
)
def test_what_memory_holds_moves_the_bar(
    known: Familiarity | None, read_need: float, recall: bool
) -> None:
    gate = ReadGate(load_settings(), FakeJudge(read_need))  # type: ignore[arg-type]  # as above
    planned = gate.plan(Turn("does the sofa go with my bad shoulder?"), familiar=lambda _: known)
    assert planned.recall is recall


@pytest.mark.parametrize(
    ("text", "closest", "recall"),
    [
        ("im ordering lunch", 0.5, True),
        ("im ordering lunch", 0.0, False),
        ("mums coming on friday", 0.5, True),
        ("someone wants their deposit back", 0.5, True),
        ("we went to the lake", 0.5, False),
        ("is the carbonara okay for the flat", 0.1, True),
        ("is the carbonara okay for the flat", -0.1, False),
        ("when is standup", 0.1, True),
        ("cant meet them at weekends", 0.5, False),
        ("were calling her addie at home now", 0.5, False),
    ],
)
def test_an_occasion_or_question_recalls_where_some_memory_fits(
    text: str, closest: float, recall: bool
) -> None:
    gate = ReadGate(load_settings(), FakeJudge(0.0))  # type: ignore[arg-type]  # as above
    known = Familiarity(0.5, named=False, closest=lambda: closest)
    assert gate.plan(Turn(text), familiar=lambda _: known).recall is recall
    assert not gate.plan(Turn(text)).recall, "nothing is known of the memory"


@pytest.mark.parametrize(
    ("text", "closest", "recall"),
    [
        ("theyre giving away a mastiff any use to me", -1.5, True),
        ("theyre giving away a mastiff any use to me", -2.5, False),
        ("is it too late to ring my aunt", -1.5, True),
        ("could i get up that ladder", -1.5, True),
        ("ive gone and locked myself out", -1.5, True),
        ("der chor singt mittwoch geht das bei mir", -1.5, True),
        ("me ofrecen unas gambas puedo", -1.5, True),
        ("on me propose un café je prends", -1.5, True),
        ("that was a daft idea", -1.5, False),
        ("can i pay by card", -1.5, False),
        ("is it too late to plant tulips", -1.5, False),
        ("das war eine gute idee", -1.5, False),
    ],
)
def test_advice_that_is_asked_for_recalls_unless_memory_is_about_other_things(
    text: str, closest: float, recall: bool
) -> None:
    gate = ReadGate(load_settings(), FakeJudge(0.0))  # type: ignore[arg-type]  # as above
    known = Familiarity(0.5, named=False, closest=lambda: closest)
    assert gate.plan(Turn(text), familiar=lambda _: known).recall is recall
    assert not gate.plan(Turn(text)).recall, "nothing is known of the memory"


@pytest.mark.parametrize("text", ["call my brother", "ruf meinen bruder an", "text my brother hi"])
def test_a_call_needs_memory_only_if_it_knows_somebody_to_call(text: str) -> None:
    assert plan(text).recall, "what memory knows is not known here"
    assert plan(text, subjects={"sam": "user.brother:sam"}).recall
    nobody = plan(text, subjects={"mia": "user.wife:mia"})
    assert (nobody.recall, nobody.trigger) == (False, "command")
    assert plan("remind me at my usual time", subjects={}).recall


def test_who_is_asked_about_by_name_is_not_the_assistant() -> None:
    assert plan("what do you know about owen").trigger == "smalltalk"
    assert plan("what do you know about owen", subjects={"owen": "user.friend:owen"}).recall


@pytest.mark.parametrize("text", ["is owen still in hospital", "did owen pass", "has owen moved"])
def test_an_auxiliary_and_a_known_name_ask(text: str) -> None:
    assert plan(text, subjects={"owen": "user.friend:owen"}).recall
    assert not plan(text, subjects={"mia": "user.wife:mia"}).recall


def test_a_name_that_is_an_auxiliary_asks_nothing() -> None:
    assert not plan("will is off sick today", subjects={"will": "user.boss:will"}).recall


@pytest.mark.parametrize(
    "text",
    [
        "puede venir un cliente el viernes",
        "passt es silke am freitag",
        "est-ce que loïc aimerait ça",
    ],
)
def test_a_question_that_yes_or_no_answers_opens_with_its_verb(text: str) -> None:
    assert plan(text, subjects={"silke": "user.sister:silke"}).trigger != "statement"


@pytest.mark.parametrize(
    "text", ["kann ute morgen kommen", "est-ce que ute aimerait un concert", "puede ute venir"]
)
def test_a_question_about_a_known_name_recalls_in_every_language(text: str) -> None:
    planned = plan(text, subjects={"ute": "user.daughter:ute"})
    assert planned.recall
    assert "user.daughter:ute" in planned.subjects


def test_what_says_maybe_in_spanish_asks_nothing() -> None:
    assert plan("puede que dani venga", subjects={"dani": "user.son:dani"}).trigger == "statement"


def test_a_german_article_before_a_word_of_its_own_does_not_lean_back() -> None:
    before = plan("was hab ich nochmal für einen beruf")
    assert before.recall
    assert not plan("wie hoch ist die zugspitze", previous=before).recall
    assert plan("und wie alt ist die", previous=before).trigger == "follow_up"


def test_every_animal_is_a_pet() -> None:
    assert "user.budgie" in plan("what pets have i got").subjects
    assert "user.gecko" in plan("whats my lizard called").subjects


@pytest.mark.parametrize(
    "text",
    [
        "my grandson wants to learn trumpet who in the family could show him",
        "wen aus der familie frag ich wegen meinem motor",
        "qui va s'occuper de mon chat pendant les vacances",
        "a quién de la familia pregunto si mi perro está malo",
    ],
)
def test_who_is_named_where_somebody_is_sought_is_not_who_is_asked_about(text: str) -> None:
    planned = plan(text)
    assert planned.recall
    assert set(planned.subjects) <= {"user"}


def test_who_somebody_is_asks_about_them() -> None:
    assert "user.sister" in plan("who is my sister").subjects
    assert "user.sister" in plan("wer ist meine schwester").subjects


def test_what_must_suit_the_speaker_needs_less_to_be_of_their_own() -> None:
    stranger = Familiarity(0.0, named=False, closest=lambda: -1.9)
    gate = ReadGate.from_settings(load_settings())
    need = Assessment(allow=0.0, hold=0.0, discard=1.0, read_need=0.93, categories={}, version="t")
    for text, recalls in (("is a dip in the sea wise for me", True), ("is a dip wise", False)):
        planned = gate.plan(Turn(text), assessment=need, familiar=lambda _: stranger)
        assert planned.recall is recalls, text
