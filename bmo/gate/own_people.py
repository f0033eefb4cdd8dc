"""People and animals of one's own behind "the": "the wife's been made redundant", "the dog's ill".

At home "the wife", "the kids" and "the dog" are the speaker's, so "the" is written as "my": then
the rules read whom the clause is about, and "she" of the next turn is known. It stays where the
words are somebody else's ("a dog, and the dog bit him"), part of a compound ("the dog park"),
described further ("the boy next door") or of a tale ("the dog in that film").
"""

from __future__ import annotations

from bmo.gate.people import PeopleLexicon
from bmo.language import Words, past_lemma
from bmo.language.lexicon import surface_lexicon
from bmo.turn import DialogueContext

_AT_HOME = frozenset(
    (
        "bairn bairns bf boss boyfriend boys cat cats dad daughter dog dogs eldest "
        "fella fiance fiancee fiancé fiancée gaffer gf girlfriend girls grandad grandchildren "
        "grandkids gran hubby husband in-laws kids kitten lad lads missus mother-in-law mum nan "
        "oldest puppy son toddler wean weans wife wifey youngest"
    ).split()
)
"""Words behind "the" that are the speaker's own where nobody else's were spoken of."""
_TWO_WORDS = frozenset(
    {
        ("other", "half"),
        ("better", "half"),
        ("little", "ones"),
        ("in", "laws"),
        ("mother", "in"),
        ("father", "in"),
        ("ex", "wife"),
        ("ex", "husband"),
    }
)
_SURELY = frozenset("hubby missus wife wifey in-laws mother-in-law fella gaffer".split())
"""Of these even "the wife is a saint" is no sentence about wives in general."""
_GOES_ON = frozenset(
    (
        "'s a about again all always an and any are as at because both but calls cos don't every "
        "finally for goes had has have he her here him his i in is it just keeps likes loves my "
        "never not now off on our out over really she since so still that "
        "them then they though to too until up used usually was we went were when while will "
        "with would yet you"
    ).split()
)
_OF_MARRIAGE = frozenset("brother daughter father mother sister son".split())
_OF_SEVERAL = frozenset("and are both do have live were who".split())
_OTHERS = frozenset("a an another her his 's that their this whose your every some any".split())
_TALE = frozenset(
    (
        "advert book cartoon comic documentary episode fable film game joke movie novel painting "
        "play poem series show song story"
    ).split()
)
_WHOSE_DESCRIBED = frozenset("in of from with who that which whose next".split())
_GENERAL = frozenset("a an the man's".split())


def with_in_laws(words: Words) -> Words:
    """The recogniser's "my sister in laws a nurse" as "my sister-in-law's a nurse".

    Args:
        words: English words of a turn.

    Returns:
        ``words`` itself where none stands.
    """
    while "laws" in words.norm:
        norm = words.norm
        at = norm.index("laws") - 2
        if at < 0 or norm[at + 1] != "in" or norm[at] not in _OF_MARRIAGE or at + 3 >= len(norm):
            return words
        if norm[at + 3] in _OF_SEVERAL:
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
    norm = words.norm
    if "the" not in norm or not _TALE.isdisjoint(norm):
        return words
    last = len(norm) - 1
    places = [
        i
        for i in range(last)
        if norm[i] == "the" and not words.after[i] and _is_own(words, i, people, context)
    ]
    if not places:
        return words
    changed = list(norm)
    for i in places:
        changed[i] = "my"
    return Words(words.text, changed, words.start, words.end, words.after, words.before)


def _is_own(words: Words, i: int, people: PeopleLexicon, context: DialogueContext) -> bool:
    norm, size = words.norm, len(words)
    if norm[i + 1] not in _AT_HOME and tuple(norm[i + 1 : i + 3]) not in _TWO_WORDS:
        return False
    found = people.relation_at(norm, i + 1, size)
    if found is None or _told_of_another(words, i, people):
        return False
    relation, end = found
    named = end < size and norm[end] in people.names
    if end < size and not words.after[end - 1] and not named and not _states(norm, end):
        return False
    if i + 1 < size and end < size and not words.after[end - 1]:
        if norm[end] in _WHOSE_DESCRIBED and norm[end] not in _SAID_BEHIND:
            return False
        general = norm[end] == "is" and norm[end + 1 : end + 2] != []
        if general and norm[end + 1] in _GENERAL and norm[i + 1] not in _SURELY:
            return False
    if any(norm[at] in _OTHERS and norm[at + 1] == norm[i + 1] for at in range(i)):
        return False
    return not _is_of_another(relation.key, context)


def _told_of_another(words: Words, i: int, people: PeopleLexicon) -> bool:
    """Whether the clause is about somebody else: "my ex lives with the kids"."""
    norm, after = words.norm, words.after
    for at in range(i - 1, -1, -1):
        if after[at] or norm[at] in _SPEAKER:
            return False
        if norm[at] in _THIRD or norm[at] in people.first or norm[at] in people.names:
            return True
    return False


_SPEAKER = frozenset({"i", "we", "me", "us"})
_THIRD = frozenset({"he", "she", "they", "you", "who"})
_SAID_BEHIND = frozenset({"with", "in", "that"})
"""Words that go on with the clause where a verb or nothing stood before ("feed the cat with")."""


def _states(norm: list[str], at: int) -> bool:
    word = norm[at]
    return (
        word in _GOES_ON
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
