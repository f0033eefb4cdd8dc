"""German "der", "die" that take up somebody named: "mein Mann heißt Jochen, der ist Förster".

With the verb right behind it such a word opens a clause of its own, as "er" does; in a relative
clause ("der in Ulm wohnt") the verb stands at the end.
"""

from __future__ import annotations

from bmo.gate.ellipsis import written_with
from bmo.gate.other_grammar import grammar
from bmo.language import Words

_MEANS = {"der": "er", "die": "sie"}


def with_pronouns_for_pointers(spoken: Words) -> Words:
    """German words with "er" and "sie" where "der" and "die" open a clause behind a comma.

    Args:
        spoken: The turn's words; returned as they are where nobody is taken up.
    """
    norm, after = spoken.norm, spoken.after
    rules = grammar("de")
    parts: list[int | str] = list(range(len(norm)))
    for i in range(2, len(norm) - 2):
        if norm[i] not in _MEANS or after[i - 1] != "," or after[i]:
            continue
        form = rules.form(norm, i + 1)
        if form is not None and form.person == 3 and not form.plural and not form.participle:
            parts[i] = _MEANS[norm[i]]
    if parts == list(range(len(norm))):
        return spoken
    told = written_with(spoken, parts)
    return Words(told.text, told.norm, told.start, told.end, list(after), spoken.before)
