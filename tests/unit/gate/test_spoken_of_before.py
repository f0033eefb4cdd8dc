"""Whom a pronoun means over turns: the one who fits, and nobody where it is not clear."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.discourse import open_discourse
from bmo.gate.people import people_lexicon
from bmo.gate.spoken_of_before import meant_in, people_of
from bmo.language import LanguageCode
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


def _meant(
    pronoun: str,
    *turns: str,
    about: tuple[str, ...] = (),
    language: LanguageCode = "en",
    assistant: str = "Okay.",
) -> str:
    """The subject a pronoun points at behind some turns (latest last), "" for nobody."""
    facts = tuple(
        Fact(text="x", category="relationships", subject=subject) for subject in reversed(about)
    )
    context = DialogueContext(
        recent_facts=facts,
        recent_turns=tuple((turn, "Okay.") for turn in reversed(turns)),
        subjects={s.partition(":")[2]: s for s in about if ":" in s},
    )
    talk = open_discourse(people_lexicon(language), context, assistant, language)
    person = talk.antecedent(pronoun)
    return person.subject if person is not None else ""


@pytest.mark.parametrize(
    ("pronoun", "turns", "about", "meant"),
    [
        ("she", ["my sister works at nestle"], ["user.sister"], "user.sister"),
        ("he", ["my sister works at nestle", "tom came by"], ["user.sister"], ""),
        ("he", ["my brother sam is a nurse", "tom came by"], ["user.brother:sam"], ""),
        ("she", ["my sister jo is a nurse", "tom came by"], ["user.sister:jo"], "user.sister:jo"),
        ("he", ["my brother is a nurse", "a bloke came about the boiler"], ["user.brother"], ""),
        ("she", ["my mum and my sister live together"], ["user.mother", "user.sister"], ""),
        ("she", ["my brother's girlfriend is zoe"], ["user.brother.girlfriend:zoe"], "zoe"),
        ("he", ["my brother's girlfriend is zoe"], ["user.brother.girlfriend:zoe"], "user.brother"),
        ("she", ["her best friend is sofia"], ["user.daughter.best_friend:sofia"], ""),
        ("he", ["his name's paul"], ["user.boss.husband:paul"], "paul"),
        ("she", ["she's my sister"], ["user.sister"], "user.sister"),
        ("she", ["my aunt is 80", "she's not my mum"], ["user.aunt"], "user.aunt"),
        ("he", ["my son leo got a hamster"], ["user.son:leo"], ""),
        ("he", ["my son leo is friends with kai"], ["user.son:leo"], "user.son:leo"),
        ("she", ["my cousin rita is a nurse", "i told my mum about it"], ["user.cousin:rita"], ""),
        ("she", ["it rained", "i told my mum about it"], [], "user.mother"),
        ("he", ["i have another brother"], ["user.brother:sam"], "user.other_brother"),
        ("she", ["my boss has a new secretary"], ["user.boss"], ""),
        ("she", ["my boss is a secretary"], ["user.boss"], "user.boss"),
        ("she", ["my friend carl is a vet"], ["user.friend:carl"], ""),
        ("she", ["my sister visits her on sundays"], ["user.sister"], ""),
        ("she", ["my sister loves her dog"], ["user.sister"], "user.sister"),
        ("she", ["my son has a girlfriend"], ["user.son"], "user.son.girlfriend"),
        ("she", ["my youngest is called ivy"], ["user.child:ivy"], "ivy"),
        ("he", ["my youngest is called ivy"], ["user.child:ivy"], ""),
        ("they", ["my parents live in york"], ["user.parent"], "user.parent"),
        ("they", ["my husband is a vet"], ["user.husband"], ""),
    ],
)
def test_a_pronoun_means_who_was_spoken_of_and_nobody_where_two_fit(
    pronoun: str, turns: list[str], about: list[str], meant: str
) -> None:
    found = _meant(pronoun, *turns, about=tuple(about))
    assert found == meant or (meant.isalpha() and found.endswith(f":{meant}"))


@pytest.mark.parametrize(
    ("language", "pronoun", "turns", "about", "meant"),
    [
        ("de", "he", ["mein bruder ist bäcker"], ["user.brother"], "user.brother"),
        ("de", "he", ["mein bruder ist bäcker", "tom kam vorbei"], ["user.brother"], ""),
        ("de", "she", ["mein kollege und meine kollegin"], [], "user.colleague"),
        ("fr", "he", ["mon frère est boulanger", "luc est passé"], ["user.brother"], ""),
        ("fr", "either", ["mon frère et ma soeur sont là"], ["user.brother", "user.sister"], ""),
        ("es", "she", ["mi hermana es médica"], ["user.sister"], "user.sister"),
        ("es", "either", ["mi hermano es piloto"], ["user.brother"], "user.brother"),
        ("es", "she", ["mi hermana la visita los domingos"], ["user.sister"], ""),
        ("fr", "she", ["ma soeur va la voir"], ["user.sister"], ""),
        ("fr", "she", ["ma soeur vend la maison"], ["user.sister"], "user.sister"),
        ("de", "she", ["meine schwester besucht sie"], ["user.sister"], ""),
        ("de", "he", ["mein mann und ich haben einen hund"], ["user.husband"], ""),
    ],
)
def test_the_same_in_other_languages(
    language: LanguageCode, pronoun: str, turns: list[str], about: list[str], meant: str
) -> None:
    assert _meant(pronoun, *turns, about=tuple(about), language=language) == meant


def test_several_at_once_are_written_as_several() -> None:
    facts = (Fact(text="Parents live in York", category="relationships", subject="user.parent"),)
    context = DialogueContext(recent_facts=facts, recent_turns=(("my parents live in york", ""),))
    talk = open_discourse(people_lexicon("en"), context, "Okay.")
    person = talk.antecedent("they")
    assert person is not None and person.label == "Parents"


def test_a_topic_is_meant_before_who_could_be_a_man_or_a_woman() -> None:
    people = people_lexicon("en")
    spoken = people_of("my sister has a new colleague in her team", "en", people, {})
    assert meant_in(spoken, ("female", "unknown"), repr).mention == spoken.mentions[0]
    unclear = people_of("my sister works with my boss jo and my aunt", "en", people, {})
    assert meant_in(unclear, ("female", "unknown"), repr).unclear


@pytest.mark.parametrize(
    ("said", "relation"),
    [
        ("dog walker", "dog walker"),
        ("baby sitter", "babysitter"),
        ("dog", "dog"),
        ("dog food", None),
        ("mother tongue", None),
        ("sister company", None),
        ("father figure", None),
        ("mother walks", "mother"),
    ],
)
def test_a_compound_is_no_relation(said: str, relation: str | None) -> None:
    norm = said.split()
    found = people_lexicon("en").relation_at(norm, 0, len(norm))
    assert (found[0].name if found is not None else None) == relation


def test_no_name_is_in_both_lists_of_names() -> None:
    people = people_lexicon("en")
    assert people.gender_of("tom") == "male" and people.gender_of("rita") == "female"
    assert people.gender_of("robin") == people.gender_of("andrea") == "unknown"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "karim is a teacher and he lives in york"),
        ("en", "i had a brother arthur he was in the navy he died in eighty nine"),
        ("de", "mehdi ist lehrer und er wohnt in ulm"),
        ("fr", "mehdi était prof avant maintenant il est développeur"),
        ("es", "mehdi es profesor y él vive en soria"),
    ],
)
def test_who_leads_the_turn_is_meant_before_whom_the_assistant_named(
    language: LanguageCode, said: str
) -> None:
    sam = Fact(text="Has a brother named Sam", category="relationships", subject="user.brother:sam")
    context = DialogueContext(known=(sam,), recent_facts=(sam,), subjects={"sam": sam.subject})
    gate = WriteGate(load_settings())
    turn = Turn(text=said, language=language, assistant_before="Your brother Sam lives in Leeds.")
    decision = gate.decide(turn, context)
    assert not [fact.text for fact in decision.facts if "Sam" in fact.text]


def test_he_is_whom_the_assistant_named_where_the_turn_names_nobody() -> None:
    sam = Fact(text="Has a brother named Sam", category="relationships", subject="user.brother:sam")
    context = DialogueContext(known=(sam,), recent_facts=(sam,), subjects={"sam": sam.subject})
    turn = Turn(
        text="dinner is ready and he works in york",
        assistant_before="Your brother Sam lives in Leeds.",
    )
    facts = WriteGate(load_settings()).decide(turn, context).facts
    assert {fact.subject for fact in facts} == {sam.subject}
