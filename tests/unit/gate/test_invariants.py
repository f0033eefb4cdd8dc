"""What holds for every turn: no exception, the same word twice, nothing from questions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bmo.gate import WriteGate
from bmo.gate.packs import load_pack
from bmo.settings import load_settings
from bmo.turn import Decision, Turn

pytestmark = pytest.mark.unit

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GATE = WriteGate(load_settings(gatekeeper_mode="pattern"))
SAID = sorted({e[0] for rule in load_pack("en").rules for e in rule.data.examples})
FILLERS = st.sampled_from(["um", "uh", "erm", "hmm"])
WORDS = st.sampled_from(
    (
        "i my im is a the no wait not like love live in leeds and because if he she we "
        "called brother sam you what forget remember that never always "
        "have two dogs , . ? ! \" ' 72 june ninth"
    ).split()
)


def decide(text: str, before: str = "") -> Decision:
    return GATE.decide_by_rules(Turn(text=text, at=AT, assistant_before=before, language="en"))


def facts(decision: Decision) -> list[tuple[object, ...]]:
    return sorted(
        (f.subject, f.slot or "", f.value.lower(), f.polarity, f.op) for f in decision.facts
    )


@given(st.text(max_size=400))
@example("")
@example("\x00\ud800 \U0001f600 ‏שלום")
@example("'" * 300)
@example("no wait " * 200)
def test_never_raises(text: str) -> None:
    decision = decide(text)
    assert decision.verdict in ("allow", "hold", "discard")
    assert bool(decision.facts) == (decision.verdict == "allow")


@given(st.lists(WORDS, max_size=40).map(" ".join), st.lists(WORDS, max_size=12).map(" ".join))
@settings(max_examples=300)
def test_never_raises_on_speech_like_text(text: str, before: str) -> None:
    decision = decide(text, before)
    assert bool(decision.facts) == (decision.verdict == "allow")


ASKED: dict[str, tuple[str, str]] = {
    "en": (
        "what which where who when how why do does did are is have can name any you your he she it "
        "wife son old many long time a the or not don't right still ever kids live in called both",
        "yes no yeah i do am not my wife he it tom leeds two and the both since may in works never "
        "only , actually is isn't used to 's mine",
    ),
    "de": (
        "was wo wer wie heißt du bist hast deine frau sohn alt viele allergisch gegen noch",
        "ja nein ich bin habe zwei meine frau in köln nie nur heißt tom und der seit mai nicht",
    ),
    "fr": (
        "que où qui comment tu as es ta femme fils habite âge combien allergique aux encore",
        "oui non je suis ai deux ma femme à lyon jamais s'appelle tom et le depuis mai pas",
    ),
    "es": (
        "qué dónde quién cómo te llamas tienes eres tu mujer hijo edad cuántos alérgico a",
        "sí no soy tengo dos mi mujer en lima nunca se llama tom y el desde mayo ya",
    ),
}


@pytest.mark.parametrize("code", ASKED)
@given(data=st.data())
@settings(max_examples=150)
def test_never_raises_on_an_answer(code: str, data: st.DataObject) -> None:
    asks, says = (st.sampled_from(words.split()) for words in ASKED[code])
    question = " ".join(data.draw(st.lists(asks, min_size=1, max_size=7)))
    answer = " ".join(data.draw(st.lists(says, min_size=1, max_size=9)))
    turn = Turn(text=answer, at=AT, assistant_before=f"Oh nice! {question}?", language=code)
    decision = GATE.decide_by_rules(turn)
    assert bool(decision.facts) == (decision.verdict == "allow")


@pytest.mark.parametrize("question", ["what?", "don't?", "can name any?", "do?", "is it?", "you?"])
@pytest.mark.parametrize("answer", ["yes", "no", "i do", "yeah is dead", "two and a half"])
def test_never_raises_on_a_broken_question(question: str, answer: str) -> None:
    decision = decide(answer, question)
    assert bool(decision.facts) == (decision.verdict == "allow")


def test_a_hundred_thousand_characters() -> None:
    assert decide("i like jazz and " * 7000).verdict in ("allow", "hold", "discard")


@given(st.sampled_from(SAID))
def test_deterministic(text: str) -> None:
    turn = Turn(text=text, at=AT, language="en")
    first, second = GATE.decide_by_rules(turn), GATE.decide_by_rules(turn)
    assert replace(first, elapsed_us=0.0) == replace(second, elapsed_us=0.0)


@given(st.sampled_from(SAID), FILLERS, st.integers(min_value=0, max_value=3))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_fillers_change_nothing(text: str, filler: str, place: int) -> None:
    words = text.split(" ")
    at = min(place, len(words))
    spoken = " ".join([*words[:at], filler, *words[at:]])
    assert facts(decide(spoken)) == facts(decide(text))


@pytest.mark.parametrize("text", SAID)
def test_case_changes_nothing(text: str) -> None:
    assert facts(decide(text.lower())) == facts(decide(text.upper()))


@given(
    st.sampled_from(SAID), st.sampled_from(["do you know if", "is it true that", "why do you say"])
)
def test_never_stores_from_a_question(text: str, opener: str) -> None:
    plain = text.rstrip(".!?,").replace(".", "").replace("!", "").replace("?", "").replace(",", "")
    asserted = [f for f in decide(f"{opener} {plain}?").facts if f.op == "assert"]
    assert not asserted


@given(st.sampled_from(SAID))
def test_spans_lie_in_the_turn(text: str) -> None:
    for fact in decide(text).facts:
        if fact.span is not None:
            start, end = fact.span
            assert 0 <= start <= end <= len(text)
