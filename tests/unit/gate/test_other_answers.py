"""Short answers in German, French and Spanish, read with the assistant's question."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.other_answers import asked_for, other_answers
from bmo.language import LanguageCode
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


@pytest.mark.parametrize(
    ("asked", "said", "memories"),
    [
        ("Bist du allergisch gegen Nüsse?", "ja", ["Is allergic to nuts (nüsse)"]),
        ("Bist du allergisch gegen Nüsse?", "nein", ["Is not allergic to nuts (nüsse)"]),
        ("Sind Sie gegen Penicillin allergisch?", "ja leider", ["Is allergic to penicillin"]),
        (
            "Hast du Allergien?",
            "gegen nüsse und gegen milch",
            ["Is allergic to nuts (nüsse)", "Is allergic to milk (milch)"],
        ),
        ("Hat deine Frau Allergien?", "nüsse", ["Wife (frau) is allergic to nuts (nüsse)"]),
        ("Schön! Bist du Vegetarier?", "ja", ["Is vegetarian (vegetarier)"]),
        ("Bist du Vegetarierin?", "nein vegan", ["Is vegan"]),
        ("Isst du Fleisch?", "nein", ["Does not eat meat (fleisch)"]),
        ("Rauchst du noch?", "nicht mehr", ["Does not smoke"]),
        ("Wo wohnst du?", "köln", ["Lives in Köln"]),
        ("Wohnst du noch in Köln?", "nein in bonn", ["Lives in Bonn"]),
        ("Wohnst du in Köln oder Bonn?", "bonn", ["Lives in Bonn"]),
        ("Wo wohnt deine Tochter?", "in köln", ["Daughter (tochter) lives in Köln"]),
        ("Wie heißt deine Frau?", "anna", ["Has a wife named Anna"]),
        ("Wie alt bist du?", "zweiundvierzig", ["Is 42 years old"]),
        ("Wie alt ist deine Tochter?", "sechs", ["Daughter (tochter) is 6 years old"]),
        ("Was machst du beruflich?", "lehrerin", ["Works as teacher (lehrerin)"]),
        ("Bist du verheiratet?", "nein geschieden", ["Is divorced (geschieden)"]),
        ("Hast du Kinder?", "ja zwei", ["Has two children (kinder)"]),
        (
            "Hast du Kinder?",
            "ja eine tochter und einen sohn",
            ["Has daughter (tochter)", "Has son (sohn)"],
        ),
        (
            "Hast du einen Hund?",
            "nein eine katze",
            ["Has cat (katze)", "Does not have dog (hund)"],
        ),
        ("Hast du einen Hund?", "ja er heißt rex", ["Has a dog named Rex"]),
        ("Sprichst du Französisch?", "ja", ["Speaks French (Französisch)"]),
        ("¿Eres alérgico a los frutos secos?", "sí", ["Is allergic to nuts (frutos secos)"]),
        ("¿Es usted alérgico a las nueces?", "sí", ["Is allergic to nuts (nueces)"]),
        ("¿Eres vegetariana?", "no vegana", ["Is vegan"]),
        ("¿Fumas?", "no", ["Does not smoke"]),
        ("¿Vives en Madrid?", "no en toledo", ["Lives in Toledo"]),
        ("¿A qué te dedicas?", "camarero", ["Works as waiter (camarero)"]),
        ("¿Tienes hijos?", "sí dos", ["Has two children (hijos)"]),
        ("¿Cuántos años tienes?", "cuarenta y dos", ["Is 42 years old"]),
        ("¿Cómo se llama tu mujer?", "ana", ["Has a wife named Ana"]),
        ("Tu es allergique aux noix ?", "oui", ["Is allergic to nuts (noix)"]),
        ("Tu fumes ?", "non", ["Does not smoke"]),
        ("Tu habites à Lyon ?", "non à grenoble", ["Lives in Grenoble"]),
        ("Où habite ta fille ?", "à lyon", ["Daughter (fille) lives in Lyon"]),
        ("Tu as des enfants ?", "oui deux", ["Has two children (enfants)"]),
        ("Comment s'appelle ta femme ?", "anne", ["Has a wife named Anne"]),
        ("Quel âge as-tu ?", "quarante-deux ans", ["Is 42 years old"]),
        ("Tu parles anglais ?", "oui", ["Speaks English (Anglais)"]),
    ],
)
def test_a_short_answer_is_kept(
    gate: WriteGate, asked: str, said: str, memories: list[str]
) -> None:
    decision = gate.decide(Turn(text=said, assistant_before=asked))
    assert [fact.text for fact in decision.facts] == memories


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Soll ich Musik spielen?", "ja"),
        ("Bist du gegen Corona geimpft?", "ja"),
        ("Bist du allergisch gegen Nüsse oder Milch?", "ja"),
        ("Rauchst du gerade?", "ja"),
        ("Hast du einen Hund gesehen?", "ja"),
        ("Wie heißt der Film?", "titanic"),
        ("Kommst du aus dem Büro?", "ja"),
        ("¿Eres de los que madrugan?", "sí"),
        ("¿Hablas en serio?", "sí"),
        ("Bist du müde?", "ja"),
        ("Bist du zu Hause?", "nein"),
        ("Hast du Hunger?", "ja"),
        ("Ist sie allergisch gegen Nüsse?", "ja"),
        ("Deine Kinder, sind sie Vegetarier?", "ja"),
        ("Wo wohnst du?", "weiß nicht"),
        ("Wo wohnst du?", "rate mal"),
        ("Wie heißt du?", "warum fragst du"),
        ("Wie alt bist du?", "das sag ich nicht"),
        ("Hast du Kinder?", "noch nicht"),
        ("Hast du Kinder?", "sie ist sechs"),
        ("¿Quieres que ponga música?", "sí"),
        ("¿Estás cansado?", "sí"),
        ("¿Es vegetariana?", "sí"),
        ("¿Dónde vives?", "no sé"),
        ("¿Tienes hijos?", "no vivo solo"),
        ("Tu veux de la musique ?", "oui"),
        ("Tu es à la maison ?", "oui"),
        ("Elle est végétarienne ?", "oui"),
        ("Où habites-tu ?", "devine"),
    ],
)
def test_what_settles_nothing_is_not(gate: WriteGate, asked: str, said: str) -> None:
    assert not gate.decide(Turn(text=said, assistant_before=asked)).facts


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_every_template_is_filled_by_its_pattern(language: LanguageCode) -> None:
    for question in other_answers(language).questions:
        named = {name.rstrip("2") for name in question.pattern.groupindex}
        for template in (question.yes, question.no, question.clause, question.which):
            template.format(A="", **dict.fromkeys(named, ""))


@pytest.mark.parametrize(
    ("language", "asked"),
    [
        ("de", "Sind sie Vegetarier?"),
        ("de", "Wo wohnst du gern?"),
        ("es", "¿Vive en Madrid?"),
        ("fr", "Il fume ?"),
        ("en", "Do you smoke?"),
    ],
)
def test_a_question_about_others_is_not_in_the_table(language: LanguageCode, asked: str) -> None:
    assert asked_for(asked, language) is None
