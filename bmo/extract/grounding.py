"""Whether the user's words carry what a model says they do: names, numbers, denial, the rest."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from bmo.language import LanguageCode
from bmo.ledger.values import content_words, stem

CARRIED = 0.6
"""Share of a sentence's words of meaning that must be the user's own."""

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class _Lexicon:
    frame: frozenset[str]
    deny: frozenset[str]
    deny_by_meaning: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    source = resources.files(__package__) / "data" / "grounding.toml"
    raw = tomllib.loads(source.read_text("utf-8"))
    return _Lexicon(
        frozenset(stem(word) for word in raw["frame"]),
        frozenset(raw["deny"]),
        frozenset(raw["deny_by_meaning"]),
        frozenset(raw["numbers"]),
    )


def is_grounded(
    statement: str,
    said: str,
    *,
    earlier: str = "",
    subjects: Mapping[str, str] | None = None,
    language: LanguageCode | None = "en",
) -> bool:
    """Whether a sentence says no more than the user's words do.

    Every number in it must be the user's own; every name and every relation ("sister") too, or
    said earlier in the visit, or known to the ledger. Of the other words of meaning at least
    ``CARRIED`` must be the user's own.

    Args:
        statement: A model's sentence, English.
        said: The user's words in this turn.
        earlier: The user's words in earlier turns of the visit.
        subjects: Lower-case name -> subject of people the ledger knows.
        language: Of the user's words; other than English only names, numbers and relations can
            be compared. None: a language without a pack.
    """
    people = dict(subjects or {})
    lexicon = _lexicon()
    spoken, before = _spoken(said), _spoken(earlier)
    named = before | {part for name in people for part in _TOKEN.findall(name.casefold())}
    for word, number in _exact(statement, lexicon):
        forms = {word, stem(word)}
        if forms.isdisjoint(spoken) and (number or forms.isdisjoint(named)):
            return False
    told = _relations(f"{said} {earlier}", language) | {
        part.replace("_", " ")
        for subject in people.values()
        for part in subject.partition(":")[0].split(".")[1:]
    }
    related = _relations(statement, "en")
    if language is not None and not related <= told:
        return False
    if language != "en":
        return True
    others = {stem(word) for word in content_words([statement])} - lexicon.frame
    others -= {stem(word) for word in named - spoken}
    others -= {stem(word) for relation in related for word in relation.split()}
    if not others:
        return not content_words([statement]).isdisjoint(content_words([said]))
    return len(others & spoken) / len(others) >= CARRIED


def _spoken(said: str) -> frozenset[str]:
    """The words of a text as they are compared: as said, by stem, and by their main name."""
    content = content_words([said])
    plain = [word.replace("’", "'").removesuffix("'s") for word in _TOKEN.findall(said.casefold())]
    return content | {stem(word) for word in content} | set(plain) | {stem(w) for w in plain}


def _relations(text: str, language: LanguageCode | None) -> frozenset[str]:
    """The relations a text speaks of ("my missus" -> "wife")."""
    from bmo.gate.people import people_lexicon

    lexicon = people_lexicon(language or "en")
    norm = [word.replace("’", "'").removesuffix("'s") for word in _TOKEN.findall(text.casefold())]
    found = (lexicon.relation_at(norm, i, len(norm)) for i in range(len(norm)))
    return frozenset(one[0].name for one in found if one is not None)


def keeps_polarity(statement: str, quote: str) -> bool:
    """Whether a sentence denies where the quoted words deny, and affirms where they affirm.

    "I gave up meat" may become "I do not eat meat"; "I don't eat meat" may not become "I eat
    meat", nor "I eat meat" become "I do not eat meat".
    """
    stated, quoted = _denies(statement), _denies(quote)
    if stated == quoted:
        return True
    lexicon = _lexicon()
    plain = quote if stated else statement
    return not lexicon.deny_by_meaning.isdisjoint(_TOKEN.findall(plain.casefold()))


def has_meaning(quote: str) -> bool:
    """Whether a quote has a word of meaning in it ("yes" and "it is" have none)."""
    return bool(content_words([quote]) - {"yes", "yeah", "no", "ok", "okay", "right", "sure"})


def _exact(statement: str, lexicon: _Lexicon) -> list[tuple[str, bool]]:
    """Names and numbers of a sentence, with whether it is a number.

    Words with a capital inside the sentence, digits, number words.
    """
    found = []
    for position, token in enumerate(_TOKEN.finditer(statement)):
        word = token[0].replace("’", "'").removesuffix("'s")
        low = word.casefold()
        if any(c.isdigit() for c in word) or low in lexicon.numbers:
            found.append((low, True))
        elif position and word[:1].isupper() and low not in _PRONOUN:
            found.append((low, False))
    return found


_PRONOUN = frozenset({"i", "i'm", "i've", "i'd", "i'll"})


def _denies(text: str) -> bool:
    words = _TOKEN.findall(text.casefold().replace("’", "'"))
    return any(word in _lexicon().deny or word.endswith("n't") for word in words)
