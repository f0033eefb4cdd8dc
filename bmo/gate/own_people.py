"""People and animals of one's own behind "the": "the wife's been made redundant", "the dog's ill".

At home "the wife", "the kids" and "the dog" are the speaker's, so "the" is written as "my": then
the rules read whom the clause is about, and "she" of the next turn is known. It stays where the
words are somebody else's ("a dog, and the dog bit him"), part of a compound ("the dog park"),
described further ("the boy next door") or of a tale ("the dog in that film").
"""

from __future__ import annotations

from dataclasses import dataclass

from bmo.gate.people import PeopleLexicon
from bmo.gate.word_tables import word_table
from bmo.language import Words, past_lemma
from bmo.language.lexicon import surface_lexicon
from bmo.turn import DialogueContext


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``own_people.toml``; what each is for stands there beside its words."""

    at_home: frozenset[str]
    two_words: frozenset[str]
    surely: frozenset[str]
    goes_on: frozenset[str]
    of_marriage: frozenset[str]
    of_several: frozenset[str]
    others: frozenset[str]
    tale: frozenset[str]
    described: frozenset[str]
    said_behind: frozenset[str]
    general: frozenset[str]
    speaker: frozenset[str]
    third: frozenset[str]


_words = word_table(_Words, "own_people.toml")


def with_in_laws(words: Words) -> Words:
    """The recogniser's "my sister in laws a nurse" as "my sister-in-law's a nurse".

    Args:
        words: English words of a turn.

    Returns:
        ``words`` itself where none stands.
    """
    lists = _words()
    while "laws" in words.norm:
        norm = words.norm
        at = norm.index("laws") - 2
        if (
            at < 0
            or norm[at + 1] != "in"
            or norm[at] not in lists.of_marriage
            or at + 3 >= len(norm)
        ):
            return words
        if norm[at + 3] in lists.of_several:
            return words  # "my brother in laws are nice"
        found = words.select([*range(at + 1), *range(at + 2, len(norm))])
        changed = [*norm[:at], f"{norm[at]}-in-law", "'s", *norm[at + 3 :]]
        words = Words(found.text, changed, found.start, found.end, found.after, found.before)
    return words


def with_own_people(words: Words, people: PeopleLexicon, context: DialogueContext) -> Words:
    """The words with "my" before whoever "the" makes one's own; ``words`` itself where nobody is.

    Args:
        words: Repaired English words of a turn.
        people: Relations.
        context: Whom the talk knows: somebody else's dog is "the dog" too.
    """
    lists = _words()
    norm = words.norm
    if "the" not in norm or not lists.tale.isdisjoint(norm):
        return words
    last = len(norm) - 1
    places = [
        i
        for i in range(last)
        if norm[i] == "the"
        and not words.after[i]
        and norm[i - 1 : i] != ["say"]  # "when i say the boss i mean my wife"
        and _is_own(words, i, people, context)
    ]
    if not places:
        return words
    changed = list(norm)
    for i in places:
        changed[i] = "my"
    return Words(words.text, changed, words.start, words.end, words.after, words.before)


def _is_own(words: Words, i: int, people: PeopleLexicon, context: DialogueContext) -> bool:
    lists = _words()
    norm, size = words.norm, len(words)
    if norm[i + 1] not in lists.at_home and " ".join(norm[i + 1 : i + 3]) not in lists.two_words:
        return False
    found = people.relation_at(norm, i + 1, size)
    if found is None or _told_of_another(words, i, people):
        return False
    relation, end = found
    named = end < size and norm[end] in people.names
    if end < size and not words.after[end - 1] and not named and not _states(norm, end):
        return False
    if i + 1 < size and end < size and not words.after[end - 1]:
        if norm[end] in lists.described and norm[end] not in lists.said_behind:
            return False
        general = norm[end] == "is" and norm[end + 1 : end + 2] != []
        if general and norm[end + 1] in lists.general and norm[i + 1] not in lists.surely:
            return False
    if any(norm[at] in lists.others and norm[at + 1] == norm[i + 1] for at in range(i)):
        return False
    return not _is_of_another(relation.key, context)


def _told_of_another(words: Words, i: int, people: PeopleLexicon) -> bool:
    """Whether the clause is about somebody else: "my ex lives with the kids"."""
    lists = _words()
    norm, after = words.norm, words.after
    for at in range(i - 1, -1, -1):
        if after[at] or norm[at] in lists.speaker:
            return False
        if norm[at] in lists.third or norm[at] in people.first or norm[at] in people.names:
            return True
    return False


def _states(norm: list[str], at: int) -> bool:
    word = norm[at]
    return (
        word in _words().goes_on
        or word in surface_lexicon("en").finite_verbs
        or bool(past_lemma(word))
        or word in surface_lexicon("en").carried_verbs
    )


def _is_of_another(relation: str, context: DialogueContext) -> bool:
    """Whether the talk knows such a one of somebody else's, and none of the user's."""
    subjects = {
        subject.partition(":")[0]
        for subject in (*context.subjects.values(), *(f.subject for f in context.recent_facts))
    }
    of_others = any(
        subject.endswith(f".{relation}") and subject.count(".") > 1 for subject in subjects
    )
    return of_others and f"user.{relation}" not in subjects
