"""Requests in the form of a statement: what somebody wants here and now, and not for months."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from bmo.gate.pack_tables import read_table
from bmo.language.lexicon import Phrases, match_phrase, phrase_table


@lru_cache(maxsize=1)
def _lexicon() -> tuple[Phrases, frozenset[str]]:
    raw = read_table("en", "requests.toml")
    return phrase_table(raw["requests"]), frozenset(raw["passed_over"])


def is_request(norm: Sequence[str]) -> bool:
    """Whether a clause opens like a request ("i need a car for march").

    Args:
        norm: The clause's words in normal form.
    """
    openings, passed_over = _lexicon()
    words = [word for word in norm[:8] if word not in passed_over]
    return bool(words) and match_phrase(openings, words, 0) > 0
