"""Whom the user says to mean: "he is in leeds, my brother i mean" is "my brother is in leeds".

The words that say it stand behind the clause; they take the place of its pronoun. With a name,
"he's a whippet, the dog i mean, monty" is "my dog is called monty. he is a whippet".
"""

from __future__ import annotations

from bmo.gate.ellipsis import written_with
from bmo.gate.people import PeopleLexicon
from bmo.language import Words

_PRONOUNS = frozenset({"he", "she", "it"})
_WHOSE = frozenset({"the", "my", "our"})
_FARTHEST = 14
"""Words between the pronoun and who is meant."""


def with_whom_meant(spoken: Words, people: PeopleLexicon) -> Words:
    """The turn's words with whom "i mean" tells in the pronoun's place; else as they are.

    Args:
        spoken: The turn's words.
        people: Words for relations.
    """
    norm = spoken.norm
    for mean in range(4, len(norm)):
        if norm[mean] != "mean" or norm[mean - 1] != "i":
            continue
        at = next((i for i in (mean - 3, mean - 4) if norm[i] in _WHOSE), -1)
        found = people.relation_at(norm, at + 1, mean - 1) if at > 0 else None
        if found is None or found[0].plural or found[1] != mean - 1:
            continue
        if not spoken.after[at - 1].startswith((",", ".", "-", "–", "—")):
            continue
        first = next(
            (i for i in range(max(0, at - _FARTHEST), at) if _opens(spoken, i)),
            -1,
        )
        if first < 0:
            continue
        name = _name_at(spoken, mean + 1, people)
        behind = mean + 1 + len(name)
        kin = list(range(at + 1, mean - 1))
        named: list[int | str] = ["my", *kin]
        if name:
            named = ["my", *kin, "is", "called", *name, first]
        rest = [*range(first + 1, at), *range(behind, len(norm))]
        kept: list[int | str] = [*range(first), *named, *rest]
        told = written_with(spoken, kept)
        marks = [spoken.after[part] if isinstance(part, int) else "" for part in kept]
        marks[first : first + len(named)] = [""] * len(named)
        if name:
            marks[first + len(kin) + 3] = "."
        return Words(told.text, told.norm, told.start, told.end, marks, spoken.before)
    return spoken


def _opens(spoken: Words, i: int) -> bool:
    """Whether a pronoun at ``i`` opens a clause."""
    return spoken.norm[i] in _PRONOUNS and (i == 0 or spoken.after[i - 1][:1] in (",", ".", "!"))


def _name_at(spoken: Words, at: int, people: PeopleLexicon) -> list[int]:
    """The index of a bare name at ``at``, between borders."""
    if at >= len(spoken.norm) or spoken.after[at - 1][:1] != ",":
        return []
    raw = spoken.text[spoken.start[at] : spoken.end[at]]
    closes = at + 1 == len(spoken.norm) or spoken.after[at][:1] in (",", ".", "!")
    known = raw[:1].isupper() or spoken.norm[at] in people.names
    return [at] if closes and known else []
