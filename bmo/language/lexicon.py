"""Surface-form tables of one language, read once from ``data/<language>.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import compress
from typing import Literal, get_args

LanguageCode = Literal["en", "de", "fr", "es"]
"""Languages that have a table and rule packs."""

LANGUAGES: tuple[LanguageCode, ...] = get_args(LanguageCode)

Phrases = dict[str, tuple[frozenset[tuple[str, ...]], dict[str, tuple[int, ...]]]]
"""First word -> all phrases that start with it, and their second words, each with the lengths of
the phrases that have it, longest first."""


@dataclass(frozen=True, slots=True)
class SurfaceLexicon:
    """Words that shape speech: fillers, editing terms, clause borders.

    Attributes:
        language: ISO 639-1 code.
        contractions: Heard form -> the words it stands for.
        fillers: Words without content.
        openers: Phrases taken off the front of a clause.
        denials: Words of denial, taken off where a subject follows ("no his name is tom").
        strong_edits: Editing terms that repair even without a rough copy.
        weak_edits: Editing terms that repair only with a rough copy.
        late_edits: Editing terms that say what no longer holds ("well it was tuesdays").
        restating: Phrases that lead to what is so instead ("now it is").
        repair_tails: Words behind a repair that belong to the repairing ("thursdays now").
        dayparts: Words that belong to a day before or behind them ("tuesday evening").
        asides: Phrases addressed to the hearer that say nothing of the matter.
        closing_asides: Those that are asides only at the end of what they belong to.
        leading_asides: Those that are asides only before the subject of what they belong to.
        tags: Words that are asides before a comma.
        before_tags: Words that claim what is behind them ("i do not mind").
        classes: Function word -> class ("article", "preposition", "pronoun", "possessive", "be").
        clause_subjects: Pronouns that start a clause.
        weak_clause_subjects: Pronouns that start a clause when a finite verb follows.
        finite_verbs: Verbs that show that a clause has begun.
        coordinators: Conjunctions between clauses.
        subordinators: Conjunctions that always start a clause.
        embedders: Words after which a pronoun belongs to the clause it stands in.
        carried_verbs: Verbs that, after "and", take the subject of the clause before.
        disfluencies: What is looked for in repairs, by a word of it that ordinary sentences seldom
            hold: (phrase, place of the word in it). Without any of them only repetitions are left.
    """

    language: LanguageCode
    contractions: dict[str, tuple[str, ...]]
    fillers: frozenset[str]
    openers: Phrases
    denials: frozenset[str]
    strong_edits: Phrases
    weak_edits: Phrases
    late_edits: Phrases
    restating: Phrases
    repair_tails: frozenset[str]
    dayparts: frozenset[str]
    asides: Phrases
    closing_asides: Phrases
    leading_asides: Phrases
    tags: Phrases
    before_tags: frozenset[str]
    classes: dict[str, str]
    clause_subjects: frozenset[str]
    weak_clause_subjects: frozenset[str]
    finite_verbs: frozenset[str]
    coordinators: frozenset[str]
    subordinators: frozenset[str]
    embedders: frozenset[str]
    carried_verbs: frozenset[str]
    disfluencies: dict[str, tuple[tuple[tuple[str, ...], int], ...]]


@cache
def opener_words(language: LanguageCode) -> dict[str, frozenset[str] | None]:
    """The words of which one begins whatever is taken off the front of a clause.

    Returns:
        Word -> the words of which one must follow it, or None where any may.
    """
    lexicon = surface_lexicon(language)
    follows: dict[str, frozenset[str] | None] = {}
    subjects = [w for w, kind in lexicon.classes.items() if kind in BEHIND_DENIALS]
    for word in lexicon.denials.union(lexicon.openers):
        phrases, seconds = lexicon.openers.get(word, (frozenset(), {}))
        behind = frozenset(seconds).union(subjects if word in lexicon.denials else ())
        follows[word] = None if (word,) in phrases else behind
    return follows


BEHIND_DENIALS = ("pronoun", "possessive")
"""Classes of words before which "no" is taken off the front of a clause."""


def phrase_table(phrases: list[str]) -> Phrases:
    """Groups phrases by first word, for a scan from left to right."""
    table: dict[str, set[tuple[str, ...]]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        table.setdefault(words[0], set()).add(words)
    return {first: (frozenset(items), _sizes(items)) for first, items in table.items()}


def _sizes(phrases: Iterable[tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
    """The second words of phrases -> how long those phrases are, longest first."""
    sizes: dict[str, set[int]] = {}
    for phrase in phrases:
        if len(phrase) > 1:
            sizes.setdefault(phrase[1], set()).add(len(phrase))
    return {second: tuple(sorted(found, reverse=True)) for second, found in sizes.items()}


def match_phrase(table: Phrases, words: list[str], at: int) -> int:
    """Length of the longest phrase of ``table`` that stands at ``words[at]``, or 0."""
    entry = table.get(words[at])
    if entry is None:
        return 0
    phrases, seconds = entry
    if at + 1 < len(words):
        for size in seconds.get(words[at + 1], ()):
            if at + size <= len(words) and tuple(words[at : at + size]) in phrases:
                return size
    return 1 if (words[at],) in phrases else 0


def places_of(words: Container[str], norm: Sequence[str]) -> list[int]:
    """Where in a line those of its words stand that are among ``words``."""
    return list(compress(range(len(norm)), map(words.__contains__, norm)))


_COMMON_IN_EDITS = frozenset(
    (
        "i or that what am let me oh hold hang on say should make you is ich ou je dire veux o "
        "if with know so it not do as can have to for your the just please will going said "
        "told before was were used be ce que es war "
    ).split()
)


def phrase_stands(
    table: dict[str, tuple[tuple[tuple[str, ...], int], ...]], norm: list[str]
) -> bool:
    """Whether a phrase stands among words; ``table`` as ``SurfaceLexicon.disfluencies``."""
    for place in places_of(table, norm):
        for phrase, at in table[norm[place]]:
            begin = place - at
            if begin >= 0 and tuple(norm[begin : begin + len(phrase)]) == phrase:
                return True
    return False


def _by_telling_word(
    fillers: list[str], *tables: Phrases
) -> dict[str, tuple[tuple[tuple[str, ...], int], ...]]:
    """Fillers and phrases, each by a word that ordinary sentences seldom hold."""
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for table in tables:
        for items, _ in table.values():
            for phrase in sorted(items):
                telling = [word for word in phrase if word not in _COMMON_IN_EDITS]
                word = max(telling or phrase, key=len)
                found.setdefault(word, []).append((phrase, phrase.index(word)))
    found.pop("like", None)  # looked at by itself: too common to look for repairs because of it
    for filler in fillers:
        found.setdefault(filler, []).append(((filler,), 0))
    return {word: tuple(phrases) for word, phrases in found.items()}


@cache
def surface_lexicon(language: LanguageCode) -> SurfaceLexicon:
    """The tables of ``language``; read from the package on first use."""
    source = resources.files("bmo.language") / "data" / f"{language}.toml"
    raw = tomllib.loads(source.read_text("utf-8"))
    contractions = {key: tuple(value.split()) for key, value in raw["contractions"].items()}

    def spoken(phrase: str) -> str:
        """The phrase after contractions, because that is what it is compared with."""
        return " ".join(w for word in phrase.split() for w in contractions.get(word, (word,)))

    classes: dict[str, str] = {}
    for name, key in (
        ("be", "be_forms"),
        ("article", "articles"),
        ("preposition", "prepositions"),
        ("possessive", "possessives"),
        ("pronoun", "subject_pronouns"),
    ):
        classes.update(dict.fromkeys(raw[key], name))
    strong = phrase_table([spoken(p) for p in raw["strong_edits"]])
    weak = phrase_table([spoken(p) for p in raw["weak_edits"]])
    asides, closing, leading, tags, late, restating = (
        phrase_table([spoken(p) for p in raw.get(key, [])])
        for key in ("asides", "closing_asides", "leading_asides", "tags", "late_edits", "restating")
    )
    return SurfaceLexicon(
        language=language,
        contractions=contractions,
        fillers=frozenset(raw["fillers"]),
        openers=phrase_table([spoken(p) for p in raw["openers"]]),
        denials=frozenset(raw.get("denials", [])),
        strong_edits=strong,
        weak_edits=weak,
        late_edits=late,
        restating=restating,
        repair_tails=frozenset(raw.get("repair_tails", [])),
        dayparts=frozenset(raw.get("dayparts", [])),
        asides=asides,
        closing_asides=closing,
        leading_asides=leading,
        tags=tags,
        before_tags=frozenset(raw.get("before_tags", [])),
        classes=classes,
        clause_subjects=frozenset(raw["clause_subjects"]),
        weak_clause_subjects=frozenset(raw["weak_clause_subjects"]),
        finite_verbs=frozenset(raw["finite_verbs"]),
        coordinators=frozenset(raw["coordinators"]),
        subordinators=frozenset(raw["subordinators"]),
        embedders=frozenset(raw["embedders"]),
        carried_verbs=frozenset(raw["carried_verbs"]),
        disfluencies=_by_telling_word(
            raw["fillers"], strong, weak, late, asides, closing, leading, tags
        ),
    )
