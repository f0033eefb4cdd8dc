"""Whole utterances that ask something of memory itself, and their near twins that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.language import spoken
from bmo.memory.wishes import keeps_nothing, wish_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Yes, please.", "yes"),
        ("um yes do it", "yes"),
        ("Ja, bitte!", "yes"),
        ("no, keep it", "no"),
        ("No no wait", None),
        ("Off the record, please.", "off_record"),
        ("hey bmo don't remember this", "off_record"),
        ("okay back on the record", "on_record"),
        ("Stop listening, please.", "off_record"),
        ("bmo stop listening to me", "off_record"),
        ("stop recording", "off_record"),
        ("Don't record this!", "off_record"),
        ("Hör auf, mir zuzuhören.", "off_record"),
        ("nimm das nicht auf", "off_record"),
        ("Arrête d'écouter.", "off_record"),
        ("n'enregistre pas ça", "off_record"),
        ("deja de escucharme", "off_record"),
        ("No grabes esto.", "off_record"),
        ("you can listen again", "on_record"),
        ("hör wieder zu", "on_record"),
        ("off the record for a sec", "off_record"),
        ("Can we go off the record for a minute, please?", "off_record"),
        ("Don't remember this for now", "off_record"),
        ("off the record for a little while", "off_record"),
        ("das bleibt unter uns", "off_record"),
        ("ab jetzt nichts mehr merken", "off_record"),
        ("nicht mehr mitschreiben bitte", "off_record"),
        ("Unter uns!", "off_record"),
        ("ne retiens plus rien", "off_record"),
        ("deja de apuntar", "off_record"),
        ("unter uns wohnt eine familie", None),
        ("nicht aufnehmen, einen Moment", "off_record"),
        ("lets keep this between us", "off_record"),
        ("back on the record for a bit", None),
        ("off the record for years", None),
        ("i stopped listening to jazz", None),
        ("my kids never stop listening to that song", None),
        ("stop listening to jazz", None),
        ("stop recording the football", None),
        ("no grabes el partido", None),
        ("yes my brother is called sam", None),
        ("he told me off the record that he quits", None),
        ("the memory on my phone is full", None),
        ("", None),
    ],
)
def test_wishes_and_their_twins(text: str, wish: str | None) -> None:
    assert wish_of(text) == wish


@given(st.text(max_size=300))
def test_any_text_is_a_wish_or_none(text: str) -> None:
    assert wish_of(text) in (None, "yes", "no", "off_record", "on_record")


def test_case_and_punctuation_do_not_count() -> None:
    assert spoken("Don't -- STOP!") == spoken("dont stop") == "dont stop"


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("off the record, i am thinking of leaving", True),
        ("um so off the record i hate my job", True),
        ("off the record", False),
        ("he said it off the record", False),
        ("don't remember this i am pregnant", True),
        ("please do not store this, my husband drinks", True),
        ("merk dir das bitte nicht ich bin schwanger", True),
        ("unter uns, nicht mitschreiben: ich hab angst vor der operation", True),
        ("nicht aufschreiben: ich bin krank", True),
        ("unter uns: ich bin krank", True),
        ("unter uns wohnt meine schwester", False),
        ("ne note pas, je suis enceinte", True),
        ("no lo apuntes, estoy embarazada", True),
        ("no lo apunté y se me olvidó", False),
        ("nur für dich hab ich kuchen gebacken", False),
        ("ne note pas trop sévèrement les copies", False),
        ("sans le noter j'oublie tout", False),
        ("nicht merken lassen dass ich da bin", False),
        ("i am pregnant but don't write that down", True),
        ("i hate my job, off the record", True),
        ("soy alérgico pero no lo apuntes", True),
        ("my wife is pregnant. Don't remember that.", True),
        ("keep this between us, my brother is in rehab", True),
        ("my brother is in rehab, keep that between us", True),
        ("between us if it is sold by eid i would be happy", False),
        ("don't remember that", False),
        ("i live in oslo, scratch that, bergen", False),
        ("don't remember this", False),
        ("i don't remember this film", False),
        ("my sister lives in leeds and i don't remember that", False),
        ("i don't write this down any more", False),
        ("remember this i am pregnant", False),
    ],
)
def test_a_turn_that_says_so_of_itself_is_not_kept(text: str, nothing: bool) -> None:
    assert keeps_nothing(text) is nothing
