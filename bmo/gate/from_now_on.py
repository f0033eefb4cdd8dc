"""Whether "from now on" opens an order to the assistant or news of somebody's life.

"Ab jetzt esse ich kein Fleisch" and "ab jetzt dürfen Besucher bis acht bleiben" ask nothing of the
assistant; "ab jetzt bitte kurz" and "ab jetzt möchte ich kurze Antworten" do. Words are of
``packs/<language>/from_now_on.toml``; English is read by the rules of standing orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from bmo.gate.pack_tables import read_table
from bmo.language import LanguageCode

_REACH = 5
"""Words behind the opener among which the finite verb of a statement stands."""


@dataclass(frozen=True, slots=True)
class FromNowOn:
    """The word lists of one language.

    Attributes:
        openers: Phrases that say that something holds from now on.
        subjects: Words that are somebody else than the assistant.
        verbs: Finite verbs of third persons and things.
        asked: Words that ask something of the assistant.
        decided: Verbs of a decision, which rules read with its opener.
        verb_second: Whether the subject follows the verb behind such an opener.
    """

    openers: frozenset[tuple[str, ...]]
    subjects: frozenset[str]
    verbs: frozenset[str]
    asked: frozenset[str]
    decided: frozenset[str]
    verb_second: bool


@cache
def lexicon(language: LanguageCode) -> FromNowOn | None:
    """The lists of ``language``; None where its pack has none."""
    raw = read_table(language, "from_now_on.toml")
    if not raw:
        return None
    return FromNowOn(
        frozenset(tuple(phrase.split()) for phrase in raw["openers"]),
        frozenset(raw["subjects"].split()),
        frozenset(raw["verbs"].split()),
        frozenset(raw["asked"].split()),
        frozenset(raw["decided"].split()),
        raw["verb_second"],
    )


def is_opener(said: Sequence[str], language: LanguageCode) -> bool:
    """Whether words are one of the openers of ``language``."""
    lists = lexicon(language)
    return lists is not None and tuple(said) in lists.openers


def tells_of_others(norm: Sequence[str], opener: tuple[str, ...], language: LanguageCode) -> bool:
    """Whether what stands behind an opener is told of the user, of others or of things.

    Args:
        norm: The clause's words behind the opener.
        opener: The phrase that was taken for the opener of an order.
        language: Whose words count.
    """
    lists = lexicon(language)
    if lists is None or not norm or not is_opener(opener, language):
        return False
    if not lists.asked.isdisjoint(norm) or not lists.decided.isdisjoint(norm[:2]):
        return False
    subject_at = 1 if lists.verb_second else 0
    if norm[subject_at : subject_at + 1] and norm[subject_at] in lists.subjects:
        return True
    if lists.verb_second:
        return norm[0] in lists.verbs
    return not lists.verbs.isdisjoint(norm[:_REACH])
