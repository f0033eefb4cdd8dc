"""From a question to the slots, people and topics that answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bmo.recall.lexer import Words
from bmo.recall.packs import LANGUAGES, Pack, Reading, function_words
from bmo.turn import Category

_SPEAKER = frozenset({"self"})
_ALWAYS_OWN = frozenset({"ownkin", "barekin", "pet"})
_OWNER_REACH = 3
"""Words back in which "my" still belongs to a relation ("my dear old dad")."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where in memory the answer would stand.

    Attributes:
        slots: Slots, most important first; empty means semantic search only.
        soft: Slots that may matter.
        subjects: Whose: "user", "user.brother", "user.brother:sam", "team"; empty means anybody.
        categories: Categories to search; empty means all.
        domains: Topics.
        past: Ended facts are wanted.
        query: Words to embed, with the needs' English gloss.
    """

    slots: tuple[str, ...]
    soft: tuple[str, ...]
    subjects: tuple[str, ...]
    categories: tuple[Category, ...]
    domains: tuple[str, ...]
    past: bool
    query: str


def address(
    reading: Reading, text: str, pack: Pack, known: Mapping[str, str], *, glossed: bool = False
) -> Address:
    """Maps a turn to memory.

    Args:
        reading: The turn, read.
        text: The turn as it was said.
        pack: Its language's pack.
        known: Lower-case name -> subject of people the memory knows.
        glossed: Add the needs' gloss to the search text in English too: a request ("which hot
            drink for me now?") names the occasion, and memory the thing ("only decaf").
    """
    words, needs = reading.words, reading.needs()
    wide = any(need.wide for need in needs)
    people = _people(words, pack, known)
    subjects = [s for need in needs for s in need.subjects]
    if people and not wide:
        subjects = [*people, *(["user"] if _speaks_too(words, pack) else []), *subjects]
    elif not wide and words.classes & _SPEAKER:
        subjects = [*subjects, "user"]
    slots = _unique(slot for need in needs for slot in need.slots)
    categories = {c for need in needs for c in need.categories}
    soft = _unique(s for need in needs for s in need.soft if s not in slots)
    if any(not need.categories and (need.slots or need.soft) for need in needs):
        categories = set()
    gloss = _unique(
        part
        for part in (
            *(pack.gloss[w] for w in words.words if w in pack.gloss),
            *(need.gloss for need in needs if need.gloss and (glossed or pack.language != "en")),
        )
    )
    said = text.strip() if pack.language == "en" else " ".join(_telling(words, pack))
    # A word said twice tells no more, and every word takes the embedder its time.
    query = " ".join((said, *_unique(word for part in gloss for word in part.split())))
    return Address(
        slots=slots,
        soft=soft,
        subjects=_unique(subjects),
        categories=tuple(sorted(categories)),
        domains=_unique(d for need in needs for d in need.domains),
        past=any(need.past for need in needs),
        query=query[:500].replace("_", " "),
    )


def _speaks_too(words: Words, pack: Pack) -> bool:
    """Whether the speaker is in it beside others: "what do i want to open with my sister".

    In Spanish the verb alone says so; French and German are not told apart further either.
    """
    return bool(words.classes & {"i", "we"}) or pack.language != "en"


def _telling(words: Words, pack: Pack) -> tuple[str, ...]:
    """Words that are no function words of the language.

    English memories hold none of them, and in the search by words each counts as one missing.
    """
    bit = 1 << LANGUAGES.index(pack.language)
    seen = function_words()
    return tuple(w for w in words.words if not seen.get(w, 0) & bit) or words.words


def _people(words: Words, pack: Pack, known: Mapping[str, str]) -> list[str]:
    named: list[str] = []
    groups: list[list[str]] = []
    for position, word in enumerate(words.words):
        bare = word.removeprefix("the_")
        for form in (word, bare, bare.removesuffix("s")):
            subject = known.get(form)
            if subject is not None:
                named.append(subject)
                break
            relations = pack.relations.get(form)
            if relations is not None and _is_ones_own(words, position, pack):
                groups.append([f"user.{relation}" for relation in relations])
                break
    # "my brother tom" asks for Tom and not for every brother.
    told = {subject.partition(":")[0] for subject in named}
    return [*named, *(s for group in groups if told.isdisjoint(group) for s in group)]


def _is_ones_own(words: Words, position: int, pack: Pack) -> bool:
    """Whether a relation's word means the speaker's own: "my dentist", "mum"; not "the dentist"."""
    classes = pack.lexer.classes_of(words.words[position])
    if classes & _ALWAYS_OWN:
        return True
    before = words.words[max(0, position - _OWNER_REACH) : position]
    return any("my" in pack.lexer.classes_of(word) for word in before)


def _unique(items: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))  # type: ignore[call-overload]
