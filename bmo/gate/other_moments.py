"""What ties a clause to the moment, in the words of a language's pack.

"mañana tengo turno con el dentista" is over soon; "todas las mañanas" is a habit. The words are the
lexicons ``transient`` (words), ``recurring`` (words before which a word of the moment tells a
habit) and ``moments`` (phrases that only the judge's word is held against).
"""

from __future__ import annotations

from collections.abc import Sequence

from bmo.gate.packs import Pack, load_pack
from bmo.language import LanguageCode


def of_the_moment(norm: Sequence[str], pack: Pack) -> bool:
    """Whether a word of the moment stands among ``norm`` that is not one of a habit."""
    if pack.transient.isdisjoint(norm):
        return False
    recurring = pack.lexicons.get("recurring", frozenset())
    return any(
        word in pack.transient and (i == 0 or (norm[i - 1],) not in recurring)
        for i, word in enumerate(norm)
    )


def soon_over(norm: Sequence[str], language: LanguageCode) -> bool:
    """Whether a turn that no rule reads speaks of today, of one coming day, or the like."""
    pack = load_pack(language)
    if of_the_moment(norm, pack):
        return True
    phrases = pack.lexicons.get("moments", frozenset())
    return any(tuple(norm[i : i + size]) in phrases for size in (1, 2, 3) for i in range(len(norm)))
