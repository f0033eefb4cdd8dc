"""The published gatekeeper, whole: every example of its documentation, with its author's wish.

Where the documentation calls its own result a miss or a false positive, the wish is tested and
not the result. Two examples contradict the documentation's own thresholds ("Why?" and "Update the
README" are short on both sides, yet called kept "because the assistant has content"): for them
the published signals follow the thresholds, see ``test_short_exchange_thresholds``.
"""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.published_signals import (
    Thresholds,
    find_published_signals,
    is_sarcastic,
    is_work_advice,
    keep_signals,
    load_pack,
)
from bmo.settings import Settings
from bmo.turn import Category, Decision, DialogueContext, Signal, Turn

pytestmark = pytest.mark.unit


def gate(**overrides: object) -> WriteGate:
    values = {"gatekeeper_mode": "pattern", **overrides}
    settings = Settings.model_validate(values)
    return WriteGate.from_settings(settings, load_judge=False)


@pytest.fixture(scope="module")
def closed() -> WriteGate:
    return gate()


@pytest.fixture(scope="module")
def opened() -> WriteGate:
    return gate(gatekeeper_fail_policy="open")


def said(user: str, assistant: str = "") -> Turn:
    return Turn(text=user, assistant_after=assistant)


def both_ways(writer: WriteGate, turn: Turn) -> Decision:
    """The rules' word, which ``decide`` must not change without a judge."""
    by_rules = writer.decide_by_rules(turn)
    decided = writer.decide(turn)
    assert (decided.verdict, decided.signals) == (by_rules.verdict, by_rules.signals)
    return by_rules


GREETINGS = [
    "Hi",
    "Hello",
    "Hey",
    "Good morning",
    "Good afternoon",
    "Good evening",
    "Howdy",
    "Sup",
    "What's up",
    "Whats up",
]
CONFIRMATIONS = [
    *("Ok", "Okay", "K", "Got it", "Sure", "Thanks", "Thanks!", "Thank you", "Ty", "Great", "Yes"),
    *("No", "Yep", "Nope", "Alright", "Understood", "Roger", "Cool", "Nice", "Ack", "ok.", "Yes?"),
]


@pytest.mark.parametrize("text", GREETINGS)
def test_greetings_are_skipped(closed: WriteGate, opened: WriteGate, text: str) -> None:
    for writer in (closed, opened):
        decision = both_ways(writer, said(text, "Hello!"))
        assert decision.verdict == "discard"
        assert decision.signals[0] == "greeting"
    assert find_published_signals(text, "Hello!").keep is False


@pytest.mark.parametrize("text", CONFIRMATIONS)
def test_confirmations_are_skipped(closed: WriteGate, opened: WriteGate, text: str) -> None:
    for writer in (closed, opened):
        decision = both_ways(writer, said(text, "Fine."))
        assert decision.verdict == "discard"
        assert decision.signals[0] == "confirmation"
    assert find_published_signals(text, "Fine.").reason == "bare confirmation"


KEPT: list[tuple[str, str, Signal]] = [
    ("Hi, I prefer using TypeScript for all new features", "", "preference"),
    ("Hi, I prefer dark mode and always use Vim keybindings", "Got it", "preference"),
    ("Sure, let's use React", "", "decision"),
    ("Ok let's use React", "", "decision"),
    ("I prefer dark mode", "Got it", "preference"),
    ("I like using Vim keybindings", "", "preference"),
    ("I want dark mode everywhere", "", "preference"),
    ("I love functional programming", "", "preference"),
    ("I hate semicolons", "", "preference"),
    ("I dislike jQuery", "", "preference"),
    ("I always use TypeScript", "", "preference"),
    ("I never use semicolons", "", "preference"),
    ("I usually write tests first", "", "preference"),
    ("I prefer functional components", "", "preference"),
    ("We prefer functional components", "", "preference"),
    ("The team prefers functional components", "", "preference"),
    ("No, I prefer PostgreSQL", "", "preference"),
    ("I prefer NOT using jQuery", "", "preference"),
    ("No, that's wrong", "", "correction"),
    ("No, that's wrong, we use PostgreSQL", "", "correction"),
    ("Actually, I meant React Native", "", "correction"),
    ("Incorrect, we use PostgreSQL", "", "correction"),
    ("Wrong, the port is 8080", "", "correction"),
    ("Not what I said", "", "correction"),
    ("I said use Expo, not React Native", "", "correction"),
    ("We always use Prettier", "", "policy"),
    ("We never deploy on Fridays", "", "policy"),
    ("We should add tests", "", "policy"),
    ("We must review every change", "", "policy"),
    ("Our standard is Prettier", "", "policy"),
    ("Our convention is kebab case", "", "policy"),
    ("Our policy is two reviews", "", "policy"),
    ("Don't ever push directly to main", "", "policy"),
    ("Don't use Realm", "", "policy"),
    ("Avoid using Realm", "", "policy"),
    ("Always wrap async calls in try/catch", "", "policy"),
    ("Let's go with PostgreSQL", "", "decision"),
    ("Let's use Tailwind CSS", "", "decision"),
    ("Let's choose Vue", "", "decision"),
    ("Let's pick the blue one for the logo", "", "decision"),
    ("I've decided to use Rust", "", "decision"),
    ("We'll use Expo for the mobile app", "", "decision"),
    ("The decision is PostgreSQL", "", "decision"),
    ("I prefer TypeScript, and we should always add tests", "", "preference"),
]
DEFAULTS: list[tuple[str, str]] = [
    (
        "Ok I understand",
        "Good. I will keep to it from here on and tell you when something differs. " * 2,
    ),
    ("We use Clerk for authentication", "Noted."),
    ("We use Clerk for auth", "Noted."),
    ("The API endpoint is /api/users", "Noted."),
    ("The API base URL is /api/v2", "Noted."),
    ("Use error boundaries for React", "Noted."),
    ("Use Prettier for formatting", "Noted."),
    ("Use Expo for mobile apps", "Noted."),
    ("PostgreSQL because of its extensions", "A good reason."),
]


@pytest.mark.parametrize(("text", "assistant", "signal"), KEPT)
def test_signals_keep(
    closed: WriteGate, opened: WriteGate, text: str, assistant: str, signal: Signal
) -> None:
    published = find_published_signals(text, assistant)
    assert published.keep is True
    assert published.signals[0] == signal
    for writer in (closed, opened):
        decision = both_ways(writer, said(text, assistant))
        assert decision.verdict != "discard"
        assert signal in decision.signals
    assert opened.decide_by_rules(said(text, assistant)).verdict == "allow"


@pytest.mark.parametrize(("text", "assistant"), DEFAULTS)
def test_the_default_holds_when_closed_and_keeps_when_open(
    closed: WriteGate, opened: WriteGate, text: str, assistant: str
) -> None:
    assert both_ways(closed, said(text, assistant)).verdict in ("allow", "hold")
    kept = both_ways(opened, said(text, assistant))
    assert kept.verdict == "allow"
    assert kept.facts
    assert all(fact.kind for fact in kept.facts)


@pytest.mark.parametrize(
    ("text", "category", "contains"),
    [
        ("We use Clerk for authentication", "decisions", "Clerk"),
        ("Avoid using Realm", "policies", "Realm"),
        ("We always use Prettier", "policies", "Prettier"),
        ("Let's go with PostgreSQL", "decisions", "PostgreSQL"),
        ("We prefer functional components", "preferences", "functional components"),
        ("Don't ever push directly to main", "policies", "main"),
        ("We'll use Expo for the mobile app", "decisions", "Expo"),
        ("I prefer dark mode", "preferences", "dark mode"),
        ("I never use semicolons", "personal_facts", "semicolons"),
        ("I prefer NOT using jQuery", "preferences", "jQuery"),
    ],
)
def test_work_talk_becomes_facts(
    closed: WriteGate, text: str, category: Category, contains: str
) -> None:
    decision = both_ways(closed, said(text))
    assert decision.verdict == "allow"
    matching = [fact for fact in decision.facts if contains.lower() in fact.text.lower()]
    assert matching
    assert matching[0].category == category
    assert not decision.fallback


def test_a_negated_preference_is_stored_negated(closed: WriteGate) -> None:
    decision = both_ways(closed, said("I prefer NOT using jQuery"))
    assert decision.verdict == "allow"
    assert "not" in " ".join(fact.text.lower() for fact in decision.facts)


def test_the_answer_to_a_technology_question_is_the_decision(closed: WriteGate) -> None:
    context = DialogueContext(recent_turns=(("What database should we use?", "Your choice."),))
    turn = Turn(text="PostgreSQL", assistant_before="What database should we use?")
    for decision in (
        closed.decide_by_rules(turn),
        closed.decide_by_rules(Turn(text="PostgreSQL", assistant_before="Your choice."), context),
    ):
        assert decision.verdict == "allow"
        assert any("postgresql" in fact.text.lower() for fact in decision.facts)


def test_a_correction_names_what_was_meant(closed: WriteGate) -> None:
    turn = Turn(text="Actually, I meant React Native", assistant_before="Expo it is.")
    context = DialogueContext(recent_turns=(("We use Expo for the app", "Expo it is."),))
    decision = closed.decide_by_rules(turn, context)
    assert decision.verdict in ("allow", "hold")
    assert "correction" in decision.signals


@pytest.mark.parametrize(
    "text",
    [
        "I prefer to think before acting",
        "We should go to lunch",
        "Yeah, sure, I *totally* love using jQuery",
        "Use try/catch for error handling",
        "Use async/await",
    ],
)
def test_known_false_positives_are_not_stored(closed: WriteGate, text: str) -> None:
    decision = both_ways(closed, said(text))
    assert decision.verdict != "allow"
    assert decision.facts == ()


@pytest.mark.parametrize(
    "text",
    ["Should we use React or Vue?", "What database should we use?", "How should I structure this?"],
)
def test_questions_are_never_stored(closed: WriteGate, text: str) -> None:
    decision = both_ways(closed, said(text, "That depends on what the project needs. " * 5))
    assert decision.verdict != "allow"
    assert "question" in decision.signals


def test_all_signals_are_listed(closed: WriteGate) -> None:
    text = "I prefer TypeScript, and we should always add tests"
    assert keep_signals(text) == ("preference", "policy")
    signals = both_ways(closed, said(text)).signals
    assert {"preference", "policy"} <= set(signals)


def test_policies_and_decisions_count_in_the_assistants_words() -> None:
    assert find_published_signals("and here", "Our standard is to avoid Realm").signals == (
        "policy",
    )
    decided = find_published_signals("and here", "I've decided to implement it this way")
    assert decided.signals == ("decision",)
    assert find_published_signals("and here", "I prefer React Context").keep is False


def test_short_exchange_thresholds() -> None:
    assert find_published_signals("Fix it", "Done").short_exchange
    assert find_published_signals("Why?", "Because it's faster").short_exchange
    assert not find_published_signals("Why?", "Because " + "it is faster " * 10).short_exchange
    assert not find_published_signals("Fix the bug in the login flow", "Done").short_exchange
    assert not find_published_signals("Fix it", "Done", Thresholds(short_user=5)).short_exchange
    assert not find_published_signals(
        "Fix it", "Done", Thresholds(short_assistant=3)
    ).short_exchange
    edge = "x" * 20
    assert find_published_signals(edge[:19], "").short_exchange
    assert not find_published_signals(edge, "").short_exchange


def test_greeting_limit_is_a_setting() -> None:
    long_greeting = "good morning good morning good evening hello hello hi"
    assert find_published_signals(long_greeting).keep is not False
    assert find_published_signals(long_greeting, thresholds=Thresholds(greeting=80)).keep is False


def test_fix_it_is_skipped(closed: WriteGate, opened: WriteGate) -> None:
    for writer in (closed, opened):
        assert both_ways(writer, said("Fix it", "Done")).verdict == "discard"


@pytest.mark.parametrize("text", ["Hi", "Ok", "Fix it", "Should we use React or Vue?"])
def test_a_disabled_gate_allows_everything_raw(text: str) -> None:
    writer = gate(gatekeeper_enabled=False)
    decision = writer.decide_by_rules(said(text))
    assert decision.verdict == "allow"
    assert [fact.text for fact in decision.facts] == [text]


@pytest.mark.parametrize(
    ("text", "language", "contains"),
    [
        ("Je préfère TypeScript", "fr", "TypeScript"),
        ("Ich bevorzuge React", "de", "React"),
    ],
)
def test_preferences_in_other_languages(
    closed: WriteGate, text: str, language: str, contains: str
) -> None:
    decision = closed.decide_by_rules(Turn(text=text, language=language))
    assert decision.verdict == "allow"
    assert contains in decision.facts[0].text


def test_advice_on_work_is_no_tool_request() -> None:
    advice = load_pack()["advice"]
    assert all(is_work_advice(text) for text in advice["examples"])
    assert not any(is_work_advice(text) for text in advice["counter_examples"])


def test_put_on_praise_is_seen() -> None:
    sarcasm = load_pack()["sarcasm"]
    assert all(is_sarcastic(text) for text in sarcasm["examples"])
    assert not any(is_sarcastic(text) for text in sarcasm["counter_examples"])


@pytest.mark.parametrize(
    ("signal", "text"),
    [(item["signal"], text) for item in load_pack()["signal"] for text in item["examples"]],
)
def test_pack_examples_show_their_signal(signal: Signal, text: str) -> None:
    assert signal in keep_signals(text)
