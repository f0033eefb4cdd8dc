"""What people found wrong when they used BMO: each class with what stands beside it."""

from __future__ import annotations

import pytest

from bmo.gate.addressed_names import addressed, own_names
from bmo.gate.meant_referents import with_whom_meant
from bmo.gate.own_clause import is_own_clause
from bmo.gate.pack_tables import read_table
from bmo.gate.people import people_lexicon
from bmo.gate.taken_up import with_pronouns_for_pointers
from bmo.gate.untrue_of_people import tells_kind
from bmo.gate.write_gate import WriteGate
from bmo.language import words
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


ADDRESSES = read_table("en", "addressed_names.toml")


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings()


def _texts(
    gate: WriteGate,
    text: str,
    before: str = "",
    language: str | None = None,
    context: DialogueContext | None = None,
) -> list[str]:
    turn = Turn(text=text, assistant_before=before, language=language)
    return [fact.text for fact in gate.decide(turn, context or DialogueContext()).facts]


@pytest.mark.parametrize("before", ADDRESSES["examples"])
def test_the_assistant_addresses_the_user_by_name(gate: WriteGate, before: str) -> None:
    assert addressed(before) == {"margaret"}
    for text in ("She works at the infirmary.", "Elaine rang yesterday, she's got a new job."):
        assert "margaret" not in " ".join(_texts(gate, text, before)).lower()


@pytest.mark.parametrize("before", ADDRESSES["non_examples"])
def test_a_name_spoken_of_is_no_address(before: str) -> None:
    assert addressed(before) == frozenset()


def test_who_was_asked_about_is_still_meant(gate: WriteGate) -> None:
    told = _texts(gate, "She works at the infirmary.", "Hello Margaret, how is Elaine?")
    assert told == ["Elaine works at the infirmary"]


def test_the_users_own_name_of_the_ledger_is_nobody_elses(gate: WriteGate) -> None:
    name = Fact(
        text="Is named Margaret",
        category="personal_facts",
        subject="user",
        slot="name",
        value="Margaret",
        confidence=0.95,
        rule_id="name",
        extraction_method="pattern:name",
    )
    assert own_names([name]) == {"margaret"}
    context = DialogueContext(known=(name,))
    assert (
        _texts(gate, "She works at the infirmary.", "That is Margaret then.", None, context) == []
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Elaine rang yesterday, she's got a new job at the infirmary, starts after Easter.",
            "Elaine has got a new job at the infirmary, starts after Easter",
        ),
        ("Elaine popped in, she lives in Hull now.", "Elaine lives in Hull now"),
    ],
)
def test_whoever_rang_is_meant_by_the_pronoun(gate: WriteGate, text: str, told: str) -> None:
    assert _texts(gate, text) == [told]


def test_he_is_not_the_woman_who_rang(gate: WriteGate) -> None:
    told = " ".join(_texts(gate, "Elaine rang yesterday, he's got a new job at the infirmary."))
    assert "Elaine has got" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "He's a whippet, the dog I mean, Monty, daft as a brush.",
            "Has a dog named Monty, a whippet",
        ),
        ("she's nearly ninety, my gran i mean", "Grandmother is 90 (ninety) years old"),
        ("He lives in Leeds, my brother I mean.", "Brother lives in Leeds"),
    ],
)
def test_i_mean_says_whom_a_pronoun_means(gate: WriteGate, text: str, told: str) -> None:
    assert told in " | ".join(_texts(gate, text, "How is your husband?"))


@pytest.mark.parametrize(
    "text", ["what is the dog i mean to buy", "i like the dog i mean to adopt", "i mean the dog"]
)
def test_i_mean_to_do_something_names_nobody(text: str) -> None:
    spoken = words(text, "en")
    assert with_whom_meant(spoken, people_lexicon("en")) is spoken


def _after(gate: WriteGate, first: str) -> DialogueContext:
    """The context behind a turn of which the facts were stored."""
    facts = gate.decide(Turn(text=first)).facts
    assert facts
    subjects = {f.subject.partition(":")[2]: f.subject for f in facts if ":" in f.subject}
    return DialogueContext(
        recent_facts=facts, recent_turns=((first, ""),), subjects=subjects, known=facts
    )


def test_no_breed_goes_to_a_person(gate: WriteGate) -> None:
    context = _after(gate, "my brother tom visits on sundays")
    for text in ("he's a labrador", "he's a lovely little whippet", "he is a border collie cross"):
        assert "rother" not in " ".join(_texts(gate, text, context=context))
    assert "Brother Tom is a nurse" in " ".join(_texts(gate, "he is a nurse", context=context))


def test_who_breeds_dogs_is_a_person() -> None:
    assert tells_kind("he is a whippet".split())
    assert tells_kind("she is a border collie cross".split())
    for text in ("he is a whippet breeder", "he is a dog walker", "i am a cat", "he is a boxer"):
        assert not tells_kind(text.split())


def test_a_pet_has_its_breed(gate: WriteGate) -> None:
    context = _after(gate, "we have a dog called monty")
    assert "Dog Monty is a whippet" in _texts(gate, "he's a whippet", context=context)


def test_the_dead_do_nothing_new(gate: WriteGate) -> None:
    context = _after(gate, "my husband arthur passed away three years ago")
    for text in ("he lives in leeds", "he works at the mill", "he's a keen gardener"):
        assert "rthur" not in " ".join(_texts(gate, text, context=context)), text
    told = _texts(gate, "he was a miner", context=context)
    assert told == ["Husband Arthur used to be a miner"]


def test_the_dead_of_other_languages(gate: WriteGate) -> None:
    context = _after(gate, "my husband arthur passed away three years ago")
    for language, text in (
        ("de", "er wohnt in Leipzig"),
        ("fr", "il habite à Lyon"),
        ("es", "él vive en Sevilla"),
    ):
        assert "rthur" not in " ".join(_texts(gate, text, "", language, context)), text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "eigentlich wohnen wir nicht direkt in Freiburg, sondern in Kirchzarten"),
        ("de", "Ich wohne nicht in Freiburg, sondern in Kirchzarten"),
        ("fr", "J'habite pas à Freiburg mais à Kirchzarten"),
        ("fr", "On n'habite pas à Freiburg même mais à Kirchzarten"),
        ("es", "No vivo en Freiburg sino en Kirchzarten"),
        ("en", "I don't live in Freiburg itself but in Kirchzarten"),
    ],
)
def test_what_holds_instead_is_told(gate: WriteGate, language: str, text: str) -> None:
    assert _texts(gate, text, "", language) == ["Lives in Kirchzarten"]


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("en", "I don't live in Leeds but in the summer I go there", "Does not live in Leeds"),
        ("en", "I'm not good at maths but at school I loved art", "Is not good at maths"),
        ("de", "Ich mag nicht Tee, sondern Kaffee", "Does not like tea (Tee)"),
        ("fr", "Je n'aime pas le café mais le thé", "Does not like coffee (café)"),
    ],
)
def test_what_is_denied_beside_no_place_stands(
    gate: WriteGate, language: str, text: str, told: str
) -> None:
    assert told in _texts(gate, text, "", language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich wohne in Freiburg und arbeite als Hebamme"),
        ("de", "Ich lebe in Köln und bin Lehrer von Beruf"),
        ("fr", "J'habite à Lyon et travaille comme infirmière"),
        ("es", "Yo vivo en Sevilla y trabajo como enfermera"),
    ],
)
def test_what_is_carried_on_leaves_no_stump(gate: WriteGate, language: str, text: str) -> None:
    told = _texts(gate, text, "", language)
    assert len(told) == 2
    assert not any(one.startswith("Said in") for one in told)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("What do you make of it?", "harman wants me to put in a coffee machine"),
        ("Where do you work?", "harman works at tesco"),
        ("What do you do at weekends?", "my brother has a boat"),
    ],
)
def test_a_clause_of_its_own_fills_no_question(gate: WriteGate, before: str, text: str) -> None:
    assert is_own_clause(text.split())
    told = " ".join(_texts(gate, text, before)).lower()
    assert "makes of it" not in told
    assert "works at harman" not in told
    assert "works as" not in told


@pytest.mark.parametrize(
    ("before", "text", "told"),
    [
        ("What do you make?", "wooden spoons", "Makes wooden spoons"),
        ("What do you drink?", "hot drinks", "Drinks hot drinks"),
        ("Where do you work?", "a bakery in leeds", "Works at a bakery in Leeds"),
        ("Who do you live with?", "my brother", "Lives with their brother"),
    ],
)
def test_a_phrase_fills_the_question(gate: WriteGate, before: str, text: str, told: str) -> None:
    assert not is_own_clause(text.split())
    assert told in _texts(gate, text, before)


def test_two_of_one_name_keep_it(gate: WriteGate) -> None:
    told = _texts(gate, "my dad is called peter. my stepdad is called peter too. peter plays golf.")
    assert told == ["Has a father named Peter", "Has a stepfather named Peter"]


def test_a_name_told_in_passing_stays(gate: WriteGate) -> None:
    told = _texts(gate, "my wife jess is away till friday she's in dublin for work")
    assert told[0].startswith("Has a wife named Jess")


def test_who_has_what_is_no_correction_of_a_name(gate: WriteGate) -> None:
    context = _after(gate, "my daughter maya is five")
    told = " ".join(_texts(gate, "nut allergy noah not maya", context=context))
    assert "Nut Allergy Noah" not in told


def test_a_sentence_is_no_value(gate: WriteGate) -> None:
    context = _after(gate, "i live in otley")
    told = _texts(gate, "we're not in leeds but in otley", context=context)
    assert "We Are" not in " ".join(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "I'm Tomasz, backend engineer at a logistics startup called Ferrywell",
            [
                "Is named Tomasz",
                "Is a backend engineer",
                "Works at a logistics startup called Ferrywell",
            ],
        ),
        (
            "Hi, I'm Priya, data analyst at a bank called Norwell in Leeds",
            ["Is named Priya", "Is a data analyst", "Works at a bank called Norwell in Leeds"],
        ),
        ("I work at a bakery", ["Works at a bakery"]),
    ],
)
def test_a_job_and_its_firm_are_told_once(gate: WriteGate, text: str, told: list[str]) -> None:
    assert _texts(gate, text)[: len(told)] == told


def test_the_firm_is_the_employer(gate: WriteGate) -> None:
    facts = gate.decide(Turn(text="I work at a bakery called Crumb")).facts
    assert [fact.value for fact in facts if fact.slot == "employer"] == ["Crumb"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Vergiss bitte, dass wir einen Hund haben"),
        ("de", "Vergiss bitte, dass ich einen Hund habe"),
        ("fr", "Oublie qu'on a un chien"),
        ("es", "Olvida que tenemos un perro"),
    ],
)
def test_who_is_to_be_forgotten_is_named_as_memories_name_them(
    gate: WriteGate, language: str, text: str
) -> None:
    (fact,) = gate.decide(Turn(text=text, language=language)).facts
    assert (fact.op, fact.scope, fact.value) == ("retract", "value", "dog")


def test_a_place_to_be_forgotten_keeps_its_name(gate: WriteGate) -> None:
    (fact,) = gate.decide(Turn(text="Vergiss, dass wir in Ulm wohnen", language="de")).facts
    assert (fact.op, fact.value) == ("retract", "ulm")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Mein Mann heißt Jochen, der ist Förster", "Husband Jochen works as Förster"),
        ("Meine Schwester heißt Annette, die wohnt in Kiel", "Sister Annette lives in Kiel"),
        ("Wir haben drei Kinder, Lina, Paul und die kleine Emmi", "Has a child named Emmi"),
        ("Wir haben zwei Söhne, Tim und den kleinen Ole", "Has a son named Ole"),
        ("Wir haben zwei Kinder, Lina (11) und Paul (9)", "Has a child named Paul"),
    ],
)
def test_german_families(gate: WriteGate, text: str, told: str) -> None:
    assert told in _texts(gate, text, "", "de")


@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("Wir haben zwei Söhne, Tim und den kleinen Ole", "Kleinen"),
        ("Die Frau, die das sagt, kenne ich nicht", "named"),
        ("Ich mag den Film, der ist lustig", "works"),
    ],
)
def test_what_takes_up_nobody(gate: WriteGate, text: str, untold: str) -> None:
    assert untold not in " ".join(_texts(gate, text, "", "de"))


def test_a_relative_clause_keeps_its_pronoun() -> None:
    for text in ("Mein Bruder, der in Ulm wohnt, ist Arzt", "Ich kenne die Frau, die das sagt"):
        spoken = words(text, "de")
        assert with_pronouns_for_pointers(spoken) is spoken


@pytest.mark.parametrize(
    ("text", "language", "told"),
    [
        ("thats right i live in hull", "en", "Lives in Hull"),
        ("quite right i work at the docks", "en", "Works at the docks"),
        ("es verdad vivo en madrid", "es", "Lives in Madrid"),
    ],
)
def test_who_agrees_asks_nothing(gate: WriteGate, text: str, language: str, told: str) -> None:
    assert _texts(gate, text, "", language) == [told]


def test_a_tag_still_asks(gate: WriteGate) -> None:
    assert gate.decide(Turn(text="i told you i live in hull right")).verdict == "discard"
