"""The offline responder: sentences from memories, and honesty without them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.chat.acknowledgement import HEARD, NO_WORDS, SECRET, Kept
from bmo.chat.chosen_memories import memories_of
from bmo.chat.screen import safe
from bmo.chat.second_person import second_person
from bmo.chat.wording import (
    ABOUT,
    CANNOT_DO,
    COMPLAINT,
    DONT_KNOW,
    FORGETTING,
    NO_MODEL,
    NO_SOURCE,
    SOURCE,
    answer,
    asks_for_source,
)
from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

RULES = WriteGate(load_settings())
PHRASES = tomllib.loads((files("bmo.chat") / "phrases.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", PHRASES["examples"], ids=lambda e: e["memory"])
def test_examples_of_the_phrases(example: dict[str, str]) -> None:
    assert second_person(example["memory"]) == example["sentence"]


PROFILE = (
    "<profile>\nWhat is known about the user.\n"
    "Facts:\n- Is called Glenn\n- Lives in Leeds\n- Likes jazz\n</profile>"
)
RECALL = (
    "<memory>\nWhat the user told BMO earlier.\nStanding wishes:\n- Never call before nine\n"
    "People and pets:\n- Has a brother named Sam (2026-03-01)\nFacts:\n- Is 41 (2026-03-01)\n"
    "</memory>"
)


def reply(words: str, blocks: Sequence[str] = ()) -> str:
    return answer(words, blocks, RULES.decide_by_rules(Turn(words)).signals)


def test_it_answers_from_what_was_recalled() -> None:
    assert reply("whats my brothers name", [PROFILE, RECALL]) == "Your brother is named Sam."


def test_it_answers_from_the_profile_when_a_word_fits() -> None:
    assert reply("which city do i live in", [PROFILE]) == "You live in Leeds."


def test_what_was_recalled_wins_over_the_profile_of_the_start() -> None:
    profile = "<profile>\nFacts:\n- Loves Thai food\n- Brother Sam lives in Leeds\n</profile>"
    recall = "<memory>\nFacts:\n- Brother Sam lives in Glasgow (2026-03-01)\n</memory>"
    said = reply("where does my brother sam live", [profile, recall])
    assert said == "Your brother Sam lives in Glasgow."
    assert "Thai" not in reply("what food do I love?", [profile, recall])


def test_about_food_the_profile_says_what_must_not_be_eaten() -> None:
    profile = "<profile>\nHealth:\n- Is coeliac\n- Is named Ruth\n</profile>"
    recall = "<memory>\nFacts:\n- Drinks oat milk\n</memory>"
    said = reply("what should i cook tonight", [profile, recall])
    assert said == "You are coeliac. You drink oat milk."
    assert reply("which milk do i drink", [profile, recall]) == "You drink oat milk."


def test_what_is_no_food_does_not_answer_what_to_cook() -> None:
    recall = "<memory>\nFacts:\n- Cannot do dairy\n- His name's biscuit\n- Is 78\n</memory>"
    assert reply("what should i make for dinner", [recall]) == "You cannot do dairy."


def test_an_allergy_is_never_narrowed_away() -> None:
    recall = "<memory>\nFacts:\n- Is allergic to peanuts\n- Loves Thai food\n</memory>"
    said = reply("is there any food I have to avoid?", [recall])
    assert said == "You are allergic to peanuts. You love Thai food."


def test_it_says_when_it_knows_nothing() -> None:
    assert reply("whats my sisters name", [PROFILE]) == DONT_KNOW
    assert reply("what is the capital of france", [PROFILE]) == NO_MODEL
    assert reply("who am i", []) == DONT_KNOW


def test_it_claims_nothing_about_a_statement() -> None:
    assert reply("my sister is ana", [PROFILE]) == HEARD
    assert reply("set a timer for five minutes", []) == CANNOT_DO


def test_a_wide_question_gets_everything() -> None:
    said = reply("what do you know about me", [PROFILE])
    assert said == "Your name is Glenn. You live in Leeds. You like jazz."


def test_a_wide_question_gets_the_standing_wishes_too() -> None:
    said = reply("what do you know about me", [PROFILE, RECALL])
    assert said == "Your brother is named Sam. You are 41. Never call before nine."


def test_it_greets_by_name() -> None:
    assert reply("hello", [PROFILE]) == "Hello, Glenn."
    assert reply("hello", []) == "Hello."


@pytest.mark.parametrize(
    "words",
    [
        "whats my name",
        "um so where do i live",
        "you know my cat?",
        "do you remember my dog",
        "remind me what my dog is called",
        "wie heißt mein bruder",
        "was ist mein lieblingsessen",
    ],
)
def test_a_question_without_memory_is_not_known(words: str) -> None:
    assert reply(words) == DONT_KNOW


@pytest.mark.parametrize(
    "words", ["my name is glenn", "i live in leeds", "", "🎉", "i forget things"]
)
def test_what_asks_for_nothing_is_heard(words: str) -> None:
    assert reply(words) == HEARD


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("remind me to buy milk tomorrow", CANNOT_DO),
        ("play some jazz", CANNOT_DO),
        ("tell me a joke", NO_MODEL),
        ("what should i make for dinner", NO_MODEL),
        ("tell me when my train leaves", DONT_KNOW),
        ("hey there", "Hello, Glenn."),
        ("erzähl mir einen witz", CANNOT_DO),
        ("can you forget everything about ola", FORGETTING),
        ("forget that i have kids", FORGETTING),
        ("why do you know that", SOURCE),
        ("and how do you know i like jazz?", SOURCE),
        ("what can you do?", ABOUT),
        ("hey bmo help", ABOUT),
        ("thanks bye", "Goodbye, Glenn."),
        ("good night", "Goodbye, Glenn."),
        ("thank you", "You're welcome."),
        ("whats my name", "Your name is Glenn."),
    ],
)
def test_what_is_no_question_about_memory(words: str, said: str) -> None:
    profile = "<profile>\nFacts:\n- Is named Glenn\n- Likes jazz\n</profile>"
    assert reply(words, [profile]) == said


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("how do you know that", ""),
        ("why do you know i like jazz", "jazz"),
        ("when did i tell you about my hamster", "hamster"),
        ("woher weißt du das", ""),
        ("comment tu sais ça", ""),
        ("quién te dijo que tengo un perro", "tengo un perro"),
        ("i know that already", None),
    ],
)
def test_what_a_question_for_a_source_names(words: str, named: str | None) -> None:
    assert asks_for_source(words) == named


def test_a_source_is_told_where_it_is_known() -> None:
    assert answer("how do you know that", [], ("question",), None, "You said so.") == "You said so."
    assert answer("how do you know that", [], ("question",), None, "") == NO_SOURCE


@pytest.mark.parametrize("words", ["that's not right", "No, that's wrong!", "das stimmt nicht"])
def test_a_complaint_gets_no_memory_for_an_answer(words: str) -> None:
    assert reply(words, [PROFILE, RECALL]) == COMPLAINT


@pytest.mark.parametrize(
    "words", ["who is my best friend", "is eva still pregnant", "trinke ich alkohol"]
)
def test_a_question_without_a_mark_is_one(words: str) -> None:
    assert reply(words) in (DONT_KNOW, NO_MODEL)


def test_what_others_are_does_not_answer_what_i_am() -> None:
    recall = (
        "<memory>\nFacts:\n- Lotte is vegetarian\n- Brother Max is 4 years old\n"
        "- Is 9 (nine) years old\n</memory>"
    )
    assert reply("how old am i", [recall]) == "You are 9 years old."
    lotte = "<memory>\nFacts:\n- Lotte is vegetarian\n</memory>"
    assert reply("am i vegetarian", [lotte]) == DONT_KNOW
    assert reply("is lotte vegetarian", [lotte]) == "Lotte is vegetarian."


@pytest.mark.parametrize("words", ["was weißt du über mich", "que sais-tu de moi"])
def test_a_wide_question_in_other_languages_gets_everything(words: str) -> None:
    assert "Your name is Glenn." in reply(words, [PROFILE])
    assert "You like jazz." in reply(words, [PROFILE])


def test_a_name_answers_only_who_asks_for_it() -> None:
    recall = "<memory>\nFacts:\n- Is named Marek\n</memory>"
    assert reply("how many kids do i have", [recall]) == DONT_KNOW
    assert reply("who am i", [recall]) == "Your name is Marek."


def test_of_what_was_recalled_the_closest_answers() -> None:
    recall = (
        "<memory>\nFacts:\n- Has a girlfriend named Ola\n- Girlfriend Ola comes from Lublin\n"
        "- Girlfriend Ola hates coriander\n</memory>"
    )
    assert reply("does ola hate coriander", [recall]) == "Your girlfriend Ola hates coriander."
    assert reply("whats my girlfriend called", [recall]) == "Your girlfriend is named Ola."


def test_who_somebody_is_and_not_who_is_no_longer() -> None:
    recall = (
        "<memory>\nFacts:\n- Devraj is not their manager\n- Has a boss named Beatriz\n</memory>"
    )
    assert reply("who's my manager", [recall]) == "Your boss is named Beatriz."


def test_who_is_named_in_a_question_is_named_in_its_answer() -> None:
    recall = "<memory>\nFacts:\n- Callum's fourteen\n- Is 78 (seventy-eight) years old\n</memory>"
    assert reply("how old is Callum", [recall]) == "Callum's fourteen."


@pytest.mark.parametrize(
    ("words", "memory"),
    [
        ("who's my wife", "Noah's teacher is Miss Okafor"),
        ("have we got a dog", "Noah has got an epipen in his bag"),
        ("wo wohnt meine schwester", "Lives in Freiburg"),
        ("where does my older sister work", "Works at the harbour"),
        ("what are you like", "Likes cats"),
    ],
)
def test_what_is_known_of_others_answers_nothing_about_who_is_asked(
    words: str, memory: str
) -> None:
    profile = f"<profile>\nFacts:\n- {memory}\n</profile>"
    recall = profile.replace("profile", "memory")
    blocks = [profile] if "you" in words else [profile, recall]
    assert reply(words, blocks) in (DONT_KNOW, NO_MODEL)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("wie heißt meine schwester", "Your sister is named Annette."),
        ("do i have any kids", "Your daughter is named Lina."),
        ("where does my sister live", "Annette lives in Kiel."),
    ],
)
def test_somebody_of_theirs_is_found_by_relation_family_and_name(words: str, said: str) -> None:
    recall = (
        "<memory>\nPeople and pets:\n- Has a sister named Annette\n- Annette lives in Kiel\n"
        "- Has a daughter named Lina\nFacts:\n- Lives in Freiburg\n</memory>"
    )
    assert said in reply(words, [recall])
    assert "Freiburg" not in reply(words, [recall])


def test_a_wish_answers_a_question_with_its_words() -> None:
    recall = (
        "<memory>\nStanding wishes:\n- Wants the assistant to give code samples in Kotlin\n"
        "Facts:\n- Branch names are ticket numbers\n</memory>"
    )
    said = reply("what language should samples be in", [recall])
    assert said == "You want me to give code samples in Kotlin."


def test_of_many_memories_the_name_comes_first_and_the_rest_is_counted() -> None:
    lines = "\n".join(f"- Likes thing {number}" for number in range(12))
    said = reply(
        "What do you know about me then?", [f"<profile>\n{lines}\n- Is named Bo\n</profile>"]
    )
    assert said.startswith("Your name is Bo. You like thing 0.")
    assert said.endswith("And 5 more: /memories lists them.")


@pytest.mark.parametrize(
    ("words", "kept", "said"),
    [
        ("My PIN is 4471, can you remember that?", Kept("discard", "secret"), SECRET),
        ("bye for now love", Kept("discard", "goodbye", ("greeting",)), "Goodbye."),
        ("thank you dear, that's all", Kept("discard", "thanks"), "You're welcome."),
        ("hallo, ich bin's wieder", Kept("discard", "greeting"), "Hello."),
        ("hello dear, it's me again", Kept("discard", "judged not durable"), "Hello."),
        ("set this up, not sure it's right", Kept("hold", "judged uncertain"), None),
        ("could you speak up a bit?", Kept("discard", "question"), CANNOT_DO),
    ],
)
def test_what_became_of_the_words_tells_what_they_were(
    words: str, kept: Kept, said: str | None
) -> None:
    reply_to = answer(words, [], RULES.decide_by_rules(Turn(words)).signals, kept)
    assert reply_to == said if said else reply_to not in (DONT_KNOW, NO_MODEL)


def test_what_was_kept_is_acknowledged_where_a_question_beside_it_has_no_answer() -> None:
    kept = Kept("allow", "judged durable", added=("Has a hearing aid",))
    said = answer("could you speak up, i have a hearing aid", [], ("question",), kept)
    assert "you have a hearing aid" in said


def test_who_somebody_is_gets_all_that_is_known_of_them() -> None:
    recall = (
        "<memory>\nFacts:\n- Dog Bess died in March\n- Has a dog named Bess\n- Is 41\n</memory>"
    )
    assert reply("who's bess", [recall]) == "Your dog is named Bess. Your dog Bess died in March."


def test_people_of_the_person_answer_who_they_are() -> None:
    recall = "<memory>\nFacts:\n- Flatmates are Josh and Priya\n</memory>"
    assert reply("who do i live with", [recall]) == "Your flatmates are Josh and Priya."
    rule = "<memory>\nFacts:\n- Rule: nobody pushes to main directly\n</memory>"
    assert "nobody pushes to main" in reply("can i push to main", [rule])


def test_wishes_answer_a_question_for_them() -> None:
    recall = "<memory>\nStanding wishes:\n- Never call before nine\n</memory>"
    assert reply("what rules do i have for you", [recall]) == "Never call before nine."
    assert reply("what is my name", [recall]) == DONT_KNOW


def test_a_tool_is_not_what_is_used() -> None:
    recall = "<memory>\nFacts:\n- The team uses Jenkins\n- The team switched to Go\n</memory>"
    assert "switched to Go" in reply("what do we use for ci", [recall])


def test_marks_alone_are_no_question() -> None:
    assert reply("????") == NO_WORDS
    assert reply("We're thinking about moving") == HEARD


def test_dates_and_notes_are_not_part_of_a_memory() -> None:
    block = (
        "<memory>\nHead\nFacts:\n- Lives in Leeds (2026-03-01)\n"
        "- Is 41 (2026-01-01) / Is 42 (2026-02-01) [said differently at different times]\n"
        "- Lives in Oslo (until 2026-02-01, no longer true)\n</memory>"
    )
    assert memories_of(block) == [
        "Lives in Leeds",
        "Is 41",
        "Is 42",
        "Lives in Oslo (until 2026-02-01, no longer true)",
    ]
    assert reply("where did i live", [block]) == (
        "You live in Leeds. Until 2026-02-01: You live in Oslo."
    )


def test_a_lone_surrogate_can_be_shown() -> None:
    assert safe("a\ud800b") == "a?b"


@given(st.text(), st.lists(st.text(), max_size=3))
def test_it_always_answers(words: str, blocks: list[str]) -> None:
    assert reply(words, blocks)


@given(st.text(alphabet=st.characters()))
def test_what_is_shown_never_steers_the_terminal(text: str) -> None:
    shown = safe(text)
    shown.encode("utf-8")
    assert not any(ord(char) < 32 and char not in "\t\n" for char in shown)
    assert "\x7f" not in shown


def test_a_request_gets_what_memory_has_for_it() -> None:
    block = "<memory>\nFacts:\n- Is vegan (2026-03-01)\n</memory>"
    said = reply("suggest a dinner for me", [block])
    assert said == "You are vegan. For more than that I need a language model."


def test_what_memory_wants_said_is_said() -> None:
    notice = "<memory_notice>2 memories are withdrawn. Ask whether to erase them for good."
    assert reply("forget everything", [f"{notice}</memory_notice>"]) == (
        "2 memories are withdrawn. Shall I erase them for good?"
    )
