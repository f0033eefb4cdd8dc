"""What speech looks like, in four languages: tokens, repairs, clauses, verb groups, times."""

from bmo.language.clauses import Clause, segment
from bmo.language.disfluency import repair
from bmo.language.identification import Identified, identify
from bmo.language.lexicon import LANGUAGES, LanguageCode, SurfaceLexicon, surface_lexicon
from bmo.language.times import TimeExpression, find_times
from bmo.language.tokens import MAX_CHARACTERS, Words, clean, words
from bmo.language.verb_forms import base_form, past_lemma, progressive_lemma, third_person
from bmo.language.verb_group import VerbGroup, parse_verb_group

__all__ = [
    "LANGUAGES",
    "MAX_CHARACTERS",
    "Clause",
    "Identified",
    "LanguageCode",
    "SurfaceLexicon",
    "TimeExpression",
    "VerbGroup",
    "Words",
    "base_form",
    "clean",
    "find_times",
    "identify",
    "parse_verb_group",
    "past_lemma",
    "progressive_lemma",
    "repair",
    "segment",
    "surface_lexicon",
    "third_person",
    "words",
]
