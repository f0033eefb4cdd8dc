"""Open canonicalisation of German, French and Spanish: the user's own words, marked as such.

Turning any sentence into English would need a model; turning half of its words gives text that
nobody understands. So a statement that no rule of its language reads is kept as it was said, and
says in which language: 'Said in German: "ich wohn seit samstag in leipzig"'. A short one that
answers a question has the question beside it, without which it says little.
"""

from __future__ import annotations

import re
from functools import lru_cache

from bmo.gate.open_text import OpenText
from bmo.gate.pack_tables import read_table
from bmo.language import LanguageCode, Words

_LANGUAGE_NAMES = {"de": "German", "fr": "French", "es": "Spanish"}

LEAST_WORDS = 3
"""Fewer words of content cannot be understood alone."""
ANSWER_WORDS = 6
"""So many words or fewer may be an answer that needs its question."""
MAX_QUESTION = 120
"""Characters of a question that are kept."""

_LAST_QUESTION = re.compile(r"[^.!?¿]*\?\s*$")


@lru_cache(maxsize=4)
def asides(language: LanguageCode) -> frozenset[str]:
    """Words of a language that carry nothing at either end of a statement."""
    return frozenset(read_table(language, "asides.toml")["drop"])


def canonicalise_other(
    words: Words, start: int, stop: int, language: LanguageCode, asked: str = ""
) -> OpenText | None:
    """Writes a part of a turn as canonical text.

    Args:
        words: The turn's words, repaired.
        start: First word of the part.
        stop: Index behind its last.
        language: de, fr or es.
        asked: The assistant's words just before, "" when this part can't answer them.

    Returns:
        The text, or None when nothing of content is there.
    """
    drop = asides(language)
    while start < stop and words.norm[start] in drop:
        start += 1
    while stop > start and words.norm[stop - 1] in drop:
        stop -= 1
    question = _LAST_QUESTION.search(asked) if stop - start <= ANSWER_WORDS else None
    if stop - start < (1 if question else LEAST_WORDS):
        return None
    text = quoted(words, start, stop, language)
    if question is None:
        return OpenText(text)
    return OpenText(f'{text} (asked "{question[0].strip()[-MAX_QUESTION:]}")', whole=False)


def quoted(words: Words, start: int, stop: int, language: LanguageCode, about: str = "") -> str:
    """Reads 'Said in German about work: "ich fahr straßenbahn"'.

    Args:
        words: The turn's words, repaired.
        start: First word of the part.
        stop: Index behind its last.
        language: de, fr or es.
        about: What the part is about, in English, "" for nothing.
    """
    drop = asides(language)
    while start < stop - 1 and words.norm[start] in drop:
        start += 1
    while stop - 1 > start and words.norm[stop - 1] in drop:
        stop -= 1
    spans = dict.fromkeys((words.start[place], words.end[place]) for place in range(start, stop))
    said, behind = "", -1
    for first, last in spans:  # a contraction is one span, an elision two that touch
        said += (
            words.text[first:last] if first == behind or not said else f" {words.text[first:last]}"
        )
        behind = last
    topic = f" about {about}" if about else ""
    return f'Said in {_LANGUAGE_NAMES.get(language, language)}{topic}: "{said}"'
