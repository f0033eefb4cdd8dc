"""What German, French and Spanish speakers type into ``bmo chat``, and the twins beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import bmo
from tests.homes import files_with

pytestmark = pytest.mark.integration


def replies(home: Path, *lines: str) -> list[str]:
    """What is answered to each line, with the line under it."""
    typed = "\n".join(lines) + "\n"
    done = bmo(home, "chat", stdin=typed.encode(), GATEKEEPER_MODE="local")
    assert done.code == 0, done.err
    shown = " ".join(done.out.split()).split("you> ")[1:]
    assert len(shown) == len(lines)
    return [turn.partition("bmo> ")[2] for turn in shown]


@pytest.mark.parametrize(
    ("typed", "secret"),
    [
        ("mdp netflix: chaussette59", "chaussette59"),
        ("mi contraseña de netflix: pancho1952", "pancho1952"),
        ("mein Passwort amazon: Karpfen77", "Karpfen77"),
        ("password for my netflix account: marmalade", "marmalade"),
    ],
)
def test_the_password_of_a_service_is_in_no_file(tmp_path: Path, typed: str, secret: str) -> None:
    home = tmp_path / "home"
    replies(home, typed)
    assert files_with(home, secret) == []


def test_a_wish_never_to_be_reminded_is_no_answer(tmp_path: Path) -> None:
    """Also in words that no rule knows, which are kept as a standing wish."""
    for said in (
        "nunca me vuelvas a mencionar a mi hermana Meche",
        "hágame el favor de no hablarme de Meche",
        "nunca me andes con cuentos de mi hermana Meche",
    ):
        told = replies(tmp_path / said[:9], said, "¿dónde vive mi hermana?", "¿qué me gusta?")
        assert "Meche" not in " ".join(turn.split("recall")[0] for turn in told[1:])


def test_asking_about_what_is_banned_is_answered_once(tmp_path: Path) -> None:
    _, _, asked, wide = replies(
        tmp_path / "fr",
        "mon ex s'appelle Julien",
        "ne me parlez plus jamais de mon ex",
        "parle moi de mon ex",
        "que sais-tu de moi ?",
    )
    assert "mon ex s'appelle Julien" in asked
    assert "Julien" not in wide


def test_a_confidence_is_in_no_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    replies(
        home,
        "unter uns: der Murat trinkt a weng viel, des musst dir ned merkn",
        "between you and me our Janet drinks",
        "aquí entre nos, mi hijo Paco anda en la carcel",
    )
    assert [files_with(home, word) for word in ("Murat", "Janet", "Paco")] == [[], [], []]


def test_a_missed_deadline_is_told_as_one(tmp_path: Path) -> None:
    """Not as a want of a language model."""
    home = tmp_path / "home"
    lines = b"wir wohnen in Schwabach\nwo wohnen wir?\n"
    late = bmo(home, "chat", stdin=lines, GATEKEEPER_MODE="local", BMO_RECALL_DEADLINE_MS="1")
    assert "nicht rechtzeitig geantwortet" in " ".join(late.out.split())
    (asked,) = replies(home, "wo wohnen wir?")
    assert "wir wohnen in Schwabach" in asked


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("wir sind umgezogen, wohnen jetzt in Schwabach", "wo wohn i?"),
        ("bin der Schorsch", "wie heiß ich?"),
        ("meine Töchter heißen Lena und Eva", "wie heißen meine Töchter?"),
        ("moi c'est Manon", "je m'appelle comment ?"),
        ("je travaille à la poste", "je bosse où ?"),
        ("soy la Lupita", "como me llamo?"),
        ("vivo en Puebla", "donde vivo?"),
        ("my lads are called Joe and Sid", "what are my lads called"),
    ],
)
def test_what_was_told_of_oneself_is_found(tmp_path: Path, told: str, asked: str) -> None:
    _, answer = replies(tmp_path / "home", told, asked)
    assert told in answer.split("recall")[0]
    assert "own_fact_question" in answer


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("Servus BMO", "Hallo."),
        ("buenas noches mijito", "Te escucho."),
        ("salut bmo", "Bonjour."),
        ("ta", "You're welcome."),
    ],
)
def test_a_greeting_tells_its_language(tmp_path: Path, typed: str, answer: str) -> None:
    (said,) = replies(tmp_path / "home", typed)
    assert said.startswith(answer)


def test_a_question_about_somebody_is_answered_with_what_speaks_of_them(tmp_path: Path) -> None:
    *_, asked = replies(
        tmp_path / "home",
        "mi hijo Beto trabaja en una llantera",
        "mi comadre Socorro vive en Puebla",
        "me llamo Lupita",
        "¿en qué trabaja mi hijo Beto?",
    )
    answer = asked.split("recall")[0]
    assert "mi hijo Beto trabaja en una llantera" in answer
    assert "Socorro" not in answer
    assert "Lupita" not in answer
