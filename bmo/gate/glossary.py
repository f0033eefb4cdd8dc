"""Common words of German, French and Spanish values in English ("veganerin" is "vegan").

Canonical text is English with values as spoken; what every language has a word for (diets, months,
numbers, colours, everyday animals and foods) is translated by ``packs/<language>/glossary.toml``,
so that a value agrees across languages and with the words of later questions.
"""

from __future__ import annotations

from functools import lru_cache

from bmo.gate.pack_tables import read_table
from bmo.language import LanguageCode


@lru_cache(maxsize=4)
def _glossary(language: LanguageCode) -> tuple[dict[str, str], dict[str, str]]:
    """(whole values, single words inside a value) of ``language``."""
    raw = read_table(language, "glossary.toml")
    if not raw:
        return {}, {}
    return dict(raw["values"]), dict(raw["words"])


def translate(value: str, language: LanguageCode) -> str:
    """A value with its known words in English; unknown words stay as they were said.

    Args:
        value: A captured value, as spoken.
        language: Of the value; English is returned as it is.
    """
    if language == "en" or not value:
        return value
    whole, words = _glossary(language)
    known = whole.get(value.lower())
    if known is not None:
        return known
    return " ".join(w for word in value.split() if (w := words.get(word.lower(), word)))
