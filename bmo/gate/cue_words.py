"""Which stages a turn's words concern: each word is looked up once, for all of them together.

Most stages of the analysis concern few turns, and each can tell by one of its own words that it
has nothing to do. Asking every stage in turn looks at every word again and again; here a table
made of the stages' own vocabularies answers for all of them in one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from bmo.gate import (
    dialect,
    echo_questions,
    lost_apostrophes,
    naming_order,
    pointing_orders,
    restarts,
    said_of_another,
)
from bmo.gate.contrasted_places import contrast_cues
from bmo.gate.ellipsis import words_of_days
from bmo.gate.factuality import factuality_lexicon
from bmo.gate.mentions import OWN
from bmo.gate.named_apart import telling_words
from bmo.gate.negation_scope import scope_cues
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.gate.person_names import ABBREVIATED_TITLES
from bmo.gate.quoted_words import quoting_lexicon
from bmo.gate.standing_orders import order_cues
from bmo.gate.talk_words import talk_words
from bmo.gate.verbless_wishes import POLITE
from bmo.language import LanguageCode
from bmo.language.disfluency import repair_cues

REPAIRED = 1
"""A filler or an editing term: see ``repair``."""
REPORTED = 2
"""A doctor or the like: see ``without_professional``."""
RELATED = 4
"""The last word of a relation: see ``written_out``."""
SAID_OF_ANOTHER = 8
"""A word that says of one what was said of another: see ``with_verb_said``."""
VETOED = 16
"""The telling word of a phrase that speaks against a clause: see ``vetoes``."""
TAKEN_BACK = 32
"""The same of what takes back the whole turn: see ``vetoes_of_turn``."""
NAMED = 64
"""What may be a name: see ``ClauseReader``, as for those that follow."""
OWNED = 128
"""A word before somebody of one's own: see ``mentions``."""
OF_THE_MOMENT = 256
"""A word that ties a clause to the moment: see ``of_the_moment``."""
WISHED = 512
"""A word of a standing wish without a verb: see ``verbless_wish``."""
NAMING = 1024
"""A word with which somebody is named: see ``with_names_in_order``."""
POINTING = 2048
"""A word with which an order points at its reason: see ``with_pointers_resolved``."""
BROUGHT_UP = 4096
"""A word for somebody new: see ``spoken_of_before``."""
STANDING = 8192
"""A word of an order that holds for good: see ``standing_orders``."""
QUOTED = 16384
"""A word around what others say or is dictated: see ``words_not_the_users``."""
SCOPED = 32768
"""A word of a negation whose scope no rule reads: see ``beyond_rules``."""
LEADING = 65536
"""A word that leads into an answer or opens a sentence again: see ``without_leads`` and
``without_restart``."""
DIALECTAL = 131072
"""A word that a dialect uses for another: see ``with_my``."""
DATED = 262144
"""A word of days and times of day: see ``completed``."""
TITLED = 524288
"""A title that is written with a full stop: see ``without_stops_of_titles``."""
CONTRASTED = 1048576
"""A word between what is denied and what holds: see ``without_denied_place``."""
NAMED_APART = 2097152
"""A word with which two are named one by one: see ``with_both_named``."""
ORDERED = RELATED | NAMING | POINTING
"""What talk orders otherwise than writing."""
ANYTHING = 4194303
"""All of them, for words that nobody has looked up."""


@cache
def _cue_words(language: LanguageCode) -> dict[str, int]:
    """Word -> the stages it concerns, added up."""
    factuality = factuality_lexicon(language)
    vocabularies: list[tuple[int, Iterable[str]]] = [
        (REPAIRED, repair_cues(language)),
        (VETOED, factuality.telling),
        (SCOPED, scope_cues(language)),
        (TAKEN_BACK, factuality.taking_back),
        (OF_THE_MOMENT, load_pack(language).transient),
        (WISHED, POLITE),
        (STANDING, order_cues(language)),
        (QUOTED, quoting_lexicon(language).telling),
        (CONTRASTED, contrast_cues(language)),
        (NAMED_APART, telling_words(language)),
    ]
    if language == "en":
        days = words_of_days(load_pack(language).lexicons.get("recurring", frozenset()))
        vocabularies += [
            (DATED, days[0] | days[1]),
            (TITLED, ABBREVIATED_TITLES),
            (NAMED, people_lexicon(language).names),
            (OWNED, OWN),
            (REPORTED, open_lexicon().professionals),
            (RELATED, people_lexicon(language).last),
            (RELATED, lost_apostrophes.cues(people_lexicon(language))),
            (SAID_OF_ANOTHER, said_of_another.CUES),
            (LEADING, echo_questions.leading_cues() | restarts.PRONOUNS),
            (DIALECTAL, dialect.CUES),
            (NAMING, naming_order.CUES),
            (POINTING, pointing_orders.CUES),
            (BROUGHT_UP, talk_words(language).somebody),
        ]
    table: dict[str, int] = {}
    for stage, words in vocabularies:
        for word in words:
            table[word] = table.get(word, 0) | stage
    return table


def stages_of(norm: Sequence[str], language: LanguageCode) -> int:
    """The stages that at least one of the words concerns, added up.

    Args:
        norm: Words of a turn in normal form.
        language: Whose vocabularies apply.
    """
    found, table = 0, _cue_words(language)
    for word in _vocabulary(language).intersection(norm):
        found |= table[word]
    return found


@cache
def _vocabulary(language: LanguageCode) -> frozenset[str]:
    """The words of the table: a set finds which of them were said without a line of Python."""
    return frozenset(_cue_words(language))
