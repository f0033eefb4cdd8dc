"""Whether a German, French or Spanish statement is about the user at all.

The judge knows these languages less well: "die elbe entspringt im riesengebirge" has the sound of
something told about oneself. A statement about the user says so somewhere: by a pronoun, a
possessive, a verb in the first person, a relation or a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bmo.gate.other_grammar import grammar
from bmo.gate.people import people_lexicon
from bmo.language import LanguageCode

_OBJECTS = {
    "de": frozenset({"mir", "mich", "uns", "ich", "wir", "i", "ma"}),
    "fr": frozenset({"me", "m", "moi", "je", "j", "nous", "on"}),
    "es": frozenset({"me", "mí", "nos", "conmigo", "yo"}),
}
"""The user, whatever the case."""
_I_DID = re.compile(r"[^\W\d_]{2,}[cdfglmnprstvzñ]é")
"""A Spanish verb that says "I did"; "café" and "josé" have the same shape."""
_NO_VERBS = frozenset({"café", "josé", "rené", "comité", "porqué"})


def tells_of_the_user(norm: Sequence[str], language: LanguageCode, subjects: Iterable[str]) -> bool:
    """Whether words name the user or somebody of theirs.

    Args:
        norm: Normalised words of a turn.
        language: de, fr or es.
        subjects: Names the conversation knows.
    """
    rules = grammar(language)
    own = _OBJECTS[language] | rules.own.keys() | rules.own_oblique | rules.experiencer_user
    if not own.isdisjoint(norm):
        return True
    people = people_lexicon(language)
    known = {name.casefold() for name in subjects} | people.names
    if not known.isdisjoint(norm):
        return True
    for i, word in enumerate(norm):
        form = rules.verbs.get(word)
        first = form is not None and form.person == 1
        # Dropped subjects: everywhere in Spanish, in the others at the beginning of a thought.
        if first and (rules.subject_from_verb or i == 0 or norm[i - 1] in rules.openers):
            return True
        if language == "es" and _I_DID.fullmatch(word) and word not in _NO_VERBS:
            return True
    spoken = list(norm)
    return any(people.relation_at(spoken, i, len(spoken)) is not None for i in range(len(spoken)))
