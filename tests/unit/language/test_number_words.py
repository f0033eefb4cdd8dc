"""Numbers in words of German, French and Spanish."""

from __future__ import annotations

import pytest

from bmo.language import LanguageCode
from bmo.language.number_words import spoken_number


@pytest.mark.parametrize(
    ("language", "said", "number", "size"),
    [
        ("de", "vierunddreißig jahre", 34, 1),
        ("de", "einundachtzig", 81, 1),
        ("de", "dreizehn", 13, 1),
        ("de", "hundert", 100, 1),
        ("fr", "trente et un ans", 31, 3),
        ("fr", "vingt deux", 22, 2),
        ("fr", "dix sept ans", 17, 2),
        ("fr", "soixante et onze ans", 71, 3),
        ("fr", "soixante dix sept ans", 77, 3),
        ("fr", "quatre vingts ans", 80, 2),
        ("fr", "quatre-vingt-dix-neuf ans", 99, 1),
        ("fr", "quatre ans", 4, 1),
        ("es", "cuarenta y ocho años", 48, 3),
        ("es", "ochenta y un años", 81, 3),
        ("es", "ochenta y pico", 80, 1),
        ("es", "veintitrés", 23, 1),
        ("es", "treinta", 30, 1),
    ],
)
def test_a_number_is_read_whole(language: LanguageCode, said: str, number: int, size: int) -> None:
    tokens = said.split()
    assert spoken_number(tokens, 0, len(tokens), language) == (number, size)


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "forty eight"), ("de", "achtung"), ("fr", "dix-huitième"), ("es", "hermano")],
)
def test_what_is_no_number_is_none(language: LanguageCode, said: str) -> None:
    tokens = said.split()
    assert spoken_number(tokens, 0, len(tokens), language) == (None, 0)


def test_nothing_is_read_behind_the_last_word() -> None:
    assert spoken_number(["cuarenta", "y", "ocho"], 0, 1, "es") == (40, 1)
