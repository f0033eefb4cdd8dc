"""What both gates need of language: words, the language of a text, fillers."""

from bmo.language.fillers import without_fillers
from bmo.language.identification import LANGUAGES, LanguageCode, identify
from bmo.language.words import MAX_CHARACTERS, clean, spoken, words

__all__ = [
    "LANGUAGES",
    "MAX_CHARACTERS",
    "LanguageCode",
    "clean",
    "identify",
    "spoken",
    "without_fillers",
    "words",
]
