"""German, French and Spanish: rules on speech that the packs do not list."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.gate import WriteGate
from bmo.gate.discourse import Discourse
from bmo.gate.glossary import translate
from bmo.gate.other_heads import read_other_clauses
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.language import LanguageCode, repair, words
from bmo.settings import Settings
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit

OTHERS: tuple[LanguageCode, ...] = ("de", "fr", "es")


@cache
def pattern_gate() -> WriteGate:
    values = Settings.model_validate({"gatekeeper_mode": "pattern"})
    return WriteGate.from_settings(values, load_judge=False)


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return pattern_gate()


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_its_slots(language: LanguageCode) -> None:
    pack = load_pack(language)
    assert len({rule.data.slot for rule in pack.rules}) >= 25
    assert all(rule.data.id.startswith(f"{language}.") for rule in pack.rules)


@pytest.mark.parametrize(
    ("language", "text", "facts"),
    [
        (
            "de",
            "also ich bin die sabine und komme aus rostock",
            ["Is named Sabine", "Comes from Rostock"],
        ),
        ("de", "wir haben drei kinder", ["Has three children (kinder)"]),
        ("de", "meine beiden brüder wohnen in münchen", ["Brothers (brüder) live in München"]),
        ("de", "ich trinke keinen alkohol mehr", ["Does not drink alcohol (alkohol)"]),
        ("de", "ich kann tomaten nicht ausstehen", ["Does not like tomatoes (tomaten)"]),
        ("de", "ich hab seit drei jahren diabetes", ["Has diabetes"]),
        ("de", "ich wohne nicht mehr in berlin ich wohne jetzt in potsdam", ["Lives in Potsdam"]),
        ("de", "mein lieblingsessen ist lasagne", ["Favourite food is lasagne"]),
        ("de", "früher hab ich geraucht", ["Used to smoke"]),
        (
            "de",
            "merk dir dass meine schwiegermutter keine nüsse verträgt",
            ["Mother-in-law (schwiegermutter) does not tolerate nuts (nüsse)"],
        ),
        (
            "fr",
            "moi j'habite à toulouse avec ma copine clara",
            ["Lives in Toulouse", "Has a girlfriend (copine) named Clara"],
        ),
        ("fr", "mon frère paul habite au canada", ["Brother Paul lives in Canada"]),
        ("fr", "je ne bois plus d'alcool", ["Does not drink alcohol (alcool)"]),
        ("fr", "j'aime pas les champignons", ["Does not like mushrooms (champignons)"]),
        ("fr", "le fromage j'aime pas ça", ["Does not like cheese (fromage)"]),
        (
            "fr",
            "ma fille léa a huit ans",
            ["Has a daughter (fille) named Léa", "Daughter Léa is 8 years old"],
        ),
        ("fr", "avant je fumais", ["Used to smoke"]),
        (
            "fr",
            "souviens-toi que ma soeur est végétarienne",
            ["Sister (soeur) is vegetarian (végétarienne)"],
        ),
        ("es", "me llamo rodrigo y vivo en sevilla", ["Is named Rodrigo", "Lives in Sevilla"]),
        ("es", "mi hermano pablo vive en canadá", ["Brother Pablo lives in Canadá"]),
        ("es", "ya no bebo alcohol", ["Does not drink alcohol"]),
        ("es", "a mi mujer le gusta el chocolate", ["Wife (mujer) likes chocolate"]),
        ("es", "soy alérgico a los cacahuetes", ["Is allergic to peanuts (cacahuetes)"]),
        ("es", "noelia es mi prima", ["Has a cousin (prima) named Noelia"]),
        ("es", "antes fumaba", ["Used to smoke"]),
    ],
)
def test_facts(gate: WriteGate, language: str, text: str, facts: list[str]) -> None:
    decision = gate.decide_by_rules(Turn(text=text, language=language))
    assert decision.verdict == "allow"
    assert set(facts) <= {fact.text for fact in decision.facts}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "wenn ich reich wäre würde ich in italien wohnen"),
        ("de", "mein nachbar sagt ich bin verrückt"),
        ("de", "vielleicht zieh ich nächstes jahr um"),
        ("de", "kannst du mir einen wecker stellen"),
        ("de", "ruf meine schwester an"),
        ("de", "wo wohnt meine schwester nochmal"),
        ("de", "Ich bin Student und suche einen Job"),
        ("de", "ich will musik hören"),
        ("fr", "si j'étais riche j'habiterais à tahiti"),
        ("fr", "peut-être que je vais déménager"),
        ("fr", "mets un réveil à sept heures"),
        ("fr", "appelle ma mère"),
        ("fr", "où habite mon frère"),
        ("fr", "j'aime cette idée"),
        ("es", "si fuera rico viviría en tahití"),
        ("es", "quizás me mude"),
        ("es", "llama a mi madre"),
        ("es", "dónde vive mi hermano"),
        ("es", "me gusta esa idea"),
        ("es", "hoy me duele la cabeza"),
    ],
)
def test_never_stored(gate: WriteGate, language: str, text: str) -> None:
    decision = gate.decide_by_rules(Turn(text=text, language=language))
    stored = [fact.text for fact in decision.facts if not fact.text.startswith("Works as")]
    assert stored == []


@pytest.mark.parametrize(
    ("language", "question", "answer", "fact"),
    [
        ("de", "Und wo wohnst du?", "in bremen", "Lives in Bremen"),
        ("de", "Hast du Allergien?", "ja gegen nüsse", "Is allergic to nuts (nüsse)"),
        ("fr", "As-tu des allergies ?", "oui au latex", "Is allergic to latex"),
        ("fr", "Où habites-tu ?", "à lyon", "Lives in Lyon"),
        ("es", "¿Dónde vives?", "pues en salamanca", "Lives in Salamanca"),
    ],
)
def test_short_answers(
    gate: WriteGate, language: str, question: str, answer: str, fact: str
) -> None:
    turn = Turn(text=answer, language=language, assistant_before=question)
    assert fact in [f.text for f in gate.decide_by_rules(turn).facts]


def test_an_answer_about_two_people(gate: WriteGate) -> None:
    known = Fact("Has a sister named Maite", "relationships", "name", "Maite", "user.sister:maite")
    decision = gate.decide_by_rules(
        Turn(
            text="pues yo en salamanca y maite en oviedo",
            language="es",
            assistant_before="¿Dónde vivís?",
        ),
        DialogueContext(recent_facts=(known,)),
    )
    assert [fact.subject for fact in decision.facts] == ["user", "user.sister:maite"]


def test_people_of_people(gate: WriteGate) -> None:
    decision = gate.decide_by_rules(
        Turn(
            text="meine schwester anna hat einen mann ihr mann tarek verträgt kein gluten",
            language="de",
        )
    )
    assert any("husband" in fact.subject for fact in decision.facts)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("de", "S wohnen in hamburg "),
        ("fr", "S habiter à nantes "),
        ("es", "S vivir en lugo "),
    ],
)
def test_heads_are_positive_and_present(language: LanguageCode, line: str) -> None:
    text = {
        "de": "früher hab ich nicht in hamburg gewohnt",
        "fr": "avant je n'habitais pas à nantes",
        "es": "antes no vivía en lugo",
    }[language]
    spoken = repair(words(text, language), language)
    discourse = Discourse(people_lexicon(language))
    heads = read_other_clauses(spoken, 0, len(spoken), discourse, language)[0].heads
    assert heads[0].line == line
    assert heads[0].group is not None
    assert (heads[0].group.polarity, heads[0].group.tense) == ("negative", "past")


def test_glossary() -> None:
    assert translate("Veganerin", "de") == "vegan"
    assert translate("nüsse und milch", "de") == "nuts and milk"
    assert translate("roquefort", "fr") == "roquefort"
    assert translate("vegan", "en") == "vegan"


@settings(deadline=None)  # the first example reads the tables
@given(st.text(max_size=120), st.sampled_from(OTHERS))
def test_any_text(text: str, language: LanguageCode) -> None:
    spoken = repair(words(text, language), language)
    discourse = Discourse(people_lexicon(language))
    clauses = read_other_clauses(spoken, 0, len(spoken), discourse, language, text)
    assert all(head.tokens[0] in ("S", "P") for clause in clauses for head in clause.heads)


WORDS = (
    "ich nicht kein mein bruder tom wohne in bern und mag je ne pas ma soeur léa habite à lyon "
    "yo no mi hermana ana vive en lugo gusta der die la el"
).split()


@settings(deadline=None)  # the first example reads the tables
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), st.sampled_from(OTHERS))
def test_any_words_are_decided(said: list[str], language: LanguageCode) -> None:
    gate = pattern_gate()
    turn = Turn(text=" ".join(said), language=language)
    first, again = gate.decide_by_rules(turn), gate.decide_by_rules(turn)
    assert (first.verdict, first.facts) == (again.verdict, again.facts)


@pytest.mark.parametrize(
    ("language", "text", "scope", "value"),
    [
        ("de", "vergiss mal bitte das mit flensburg", "value", "flensburg"),
        ("de", "du vergiss mal was ich dir über den frank erzählt hab", "value", "frank"),
        ("de", "vergiss alles", "all", ""),
        ("de", "lösch das wieder", "last", ""),
        ("de", "vergiss dass ich jazz mag", "value", "jazz"),
        ("de", "bitte vergiss, dass ich in kassel wohne", "value", "kassel"),
        ("fr", "oublie ce que je t'ai dit sur mon régime", "value", "régime"),
        ("fr", "efface tout ce que jai dit sur didier", "value", "didier"),
        ("es", "olvídate de lo que te dije de la dieta", "value", "dieta"),
        ("es", "borra todo lo que dije de dieter", "value", "dieter"),
    ],
)
def test_asked_to_forget(gate: WriteGate, language: str, text: str, scope: str, value: str) -> None:
    decision = gate.decide_by_rules(Turn(text=text, language=language))
    assert decision.verdict == "allow"
    assert [(f.op, f.scope, f.value) for f in decision.facts] == [("retract", scope, value)]


@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "vergiss den wecker"), ("fr", "efface le minuteur"), ("es", "borra la alarma")],
)
def test_an_alarm_is_no_memory(gate: WriteGate, language: str, text: str) -> None:
    assert gate.decide_by_rules(Turn(text=text, language=language)).facts == ()


@pytest.mark.parametrize(
    ("language", "text", "over"),
    [
        ("de", "das mit der gitarre hab ich wieder aufgegeben", "gitarre"),
        ("fr", "jai arrêté le tennis", "tennis"),
        ("es", "dejé el gimnasio", "gimnasio"),
    ],
)
def test_what_is_given_up_ends_what_was_known(
    gate: WriteGate, language: str, text: str, over: str
) -> None:
    facts = gate.decide_by_rules(Turn(text=text, language=language)).facts
    ended = [fact for fact in facts if fact.op == "retract"]
    assert [(fact.slot, fact.value) for fact in ended] == [("change", over)]
    assert [over in fact.text for fact in facts if fact.op == "assert"] == [True]


def test_a_breakup_does_not_end_a_person(gate: WriteGate) -> None:
    facts = gate.decide_by_rules(Turn(text="mit meinem vater red ich nicht mehr", language="de"))
    assert [fact.op for fact in facts.facts] == ["assert"]


@pytest.mark.parametrize(
    ("language", "text", "people"),
    [
        (
            "de",
            "also kinder hab ich zwei die große die pauline die macht grad abi und der kleine "
            "heißt emil",
            {"user.daughter:pauline", "user.son:emil"},
        ),
        ("de", "meine kleine wohnung ist schön hell", set()),
        ("fr", "jai un apprenti il sappelle moussa", {"user.apprentice:moussa"}),
        ("fr", "léna ma copine elle est végane", {"user.girlfriend:léna"}),
        ("es", "tengo dos hijas una se llama carla y la otra julia", {"user.daughter:carla"}),
        (
            "es",
            "tengo una nieta lucía que está en madrid y un nieto tomás que vive conmigo",
            {"user.granddaughter:lucía", "user.grandson:tomás"},
        ),
    ],
)
def test_people_are_known_by_name(
    gate: WriteGate, language: str, text: str, people: set[str]
) -> None:
    facts = gate.decide_by_rules(Turn(text=text, language=language)).facts
    named = {fact.subject for fact in facts if fact.slot == "name"}
    assert people <= named if people else not named


@pytest.mark.parametrize(
    ("language", "moment", "habit"),
    [
        ("de", "ich arbeite morgen im laden", "ich arbeite jeden morgen im laden"),
        ("fr", "je travaille demain à la boutique", "je travaille le matin à la boutique"),
        ("es", "trabajo mañana en la tienda", "trabajo por la mañana en la tienda"),
    ],
)
def test_a_habit_is_kept_and_a_day_is_not(
    gate: WriteGate, language: str, moment: str, habit: str
) -> None:
    assert gate.decide_by_rules(Turn(text=moment, language=language)).facts == ()
    assert gate.decide_by_rules(Turn(text=habit, language=language)).verdict == "allow"
