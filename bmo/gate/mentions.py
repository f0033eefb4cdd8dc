"""People and pets named in passing: "with my girlfriend ola", "hamish my neighbour"."""

from __future__ import annotations

from bmo.gate.capture_names import second_names
from bmo.gate.discourse import Discourse
from bmo.gate.named_people import name_fact, one_of
from bmo.gate.people import Relation
from bmo.gate.person_names import is_name_at, proper
from bmo.language import Clause, Words
from bmo.turn import Fact

OWN = frozenset({"my", "our"})
"""Words of which one stands before whoever is named in passing."""
_BEFORE_NAMED = frozenset(
    {"is", "and", "with", "of", "to", "for", "from", "called", "named", "by", "me"}
)
"""Words before "my cat pepper" after which an unknown last word is taken for a name."""


def mentions(
    spoken: Words, clause: Clause, discourse: Discourse, stops: frozenset[str]
) -> list[Fact]:
    """Names that stand beside a relation inside a clause.

    Args:
        spoken: The turn's words.
        clause: A clause that may be stored.
        discourse: Who is who; whoever is found is added to it.
        stops: Words that are no names.
    """
    norm = spoken.norm
    facts: list[Fact] = []
    if OWN.isdisjoint(norm):
        return facts
    for i in range(clause.start, clause.end - 1):
        if norm[i] not in OWN:
            continue
        found = discourse.lexicon.relation_at(norm, i + 1, clause.end)
        if found is None:
            continue
        relation, behind = found
        if relation.plural:
            facts += _several(spoken, clause, behind, discourse, stops, relation)
            continue
        if i == clause.start:
            continue  # the clause's subject: its head has read it
        size = is_name_at(spoken, behind, clause.end, discourse.lexicon, stops, True)
        if (
            not size
            and behind == clause.end - 1
            and norm[i - 1] in _BEFORE_NAMED
            and norm[behind].isalpha()
            and norm[behind] not in stops
            and not norm[behind].endswith(("ing", "ly", "ed"))
        ):
            size = 1
        if size and not (behind + size < clause.end and norm[behind + size] == "'s"):
            name = proper(spoken.text[spoken.start[behind] : spoken.end[behind + size - 1]])
            discourse.introduce(relation, name)
            facts.append(name_fact(relation, name, "user", _span(spoken, i, behind + size)))
            continue
        if behind < clause.end and norm[behind] == "'s":
            continue  # "rosa, my sister's nanny": the nanny
        before = i - 1
        if norm[before] in discourse.lexicon.names and norm[before] not in discourse.names:
            name = proper(spoken.raw(before))
            discourse.introduce(relation, name)
            facts.append(name_fact(relation, name, "user", _span(spoken, before, behind)))
    return facts


def _several(
    spoken: Words,
    clause: Clause,
    behind: int,
    discourse: Discourse,
    stops: frozenset[str],
    several: Relation,
) -> list[Fact]:
    """Reads "both my brothers are coming emeka and chidi": names at the end of the clause."""
    norm = spoken.norm
    relation = one_of(several, discourse.lexicon)
    end = clause.end
    if end - behind < 3 or norm[end - 2] != "and":
        return []
    begin = end - 3
    while begin - 1 >= behind and norm[begin - 1] in discourse.lexicon.names:
        begin -= 1
    places = [i for i in range(begin, end) if norm[i] != "and"]
    if any(norm[i] in stops or not norm[i].isalpha() for i in places):
        return []
    if not any(norm[i] in discourse.lexicon.names for i in places):
        return []
    facts: list[Fact] = []
    for i in places:
        if i + 1 in places and norm[i + 1] in second_names():
            return []  # "mary ann and tom": a rule of names reads them
        name = proper(spoken.raw(i))
        discourse.introduce(relation, name)
        facts.append(name_fact(relation, name, "user", _span(spoken, i, i + 1)))
    return facts


def _span(spoken: Words, first: int, last: int) -> tuple[int, int]:
    return spoken.start[max(first, 0)], spoken.end[last - 1]
