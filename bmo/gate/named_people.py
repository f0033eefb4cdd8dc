"""Names as facts: whose name a rule states, and how "Has a brother named Sam" is written."""

from __future__ import annotations

from bmo.frozen import maker
from bmo.gate.captures import CaptureContext
from bmo.gate.clause_head import Head
from bmo.gate.discourse import Person
from bmo.gate.people import PeopleLexicon, Relation, label_of, subject_of
from bmo.turn import Fact

_new_fact = maker(Fact)

NAMED = "person_named"
"""Id of the rule of names told in passing ("my brother sam lives ...")."""

_ONE_OF = {"twin": "child"}
"""Relations that mean another of several: "my twin" is a sibling, "my twins" are one's children."""

ANYBODY = frozenset({"fella"})
"""Words for a partner behind "my" and for anybody behind "a" ("we've got a fella called tunde")."""


def name_relation(
    head: Head, values: dict[str, str], context: CaptureContext
) -> tuple[Relation, str] | None:
    """Whose name a ``names`` rule states: the relation in k, one found in x, or the subject."""
    if "k" in values:
        found = context.people.relation_at(values["k"].lower().split(), 0, len(values["k"].split()))
        relation = found[0] if found else context.people.forms.get(tuple(values["k"].split()))
    elif "x" in values:
        relation = None
        words = values["x"].lower().split()
        for i in range(len(words)):
            found = context.people.relation_at(words, i, len(words))
            if found is not None and words[i] not in ANYBODY:
                relation = found[0]
    elif isinstance(head.who, Person):
        relation = context.people.forms.get(tuple(head.who.relation.split()))
        owner = head.who.subject.partition(":")[0].rpartition(".")[0]
        if relation is not None and head.plural:
            relation = one_of(relation, context.people)
        return (relation, owner) if relation is not None else None
    else:
        return None
    if relation is None:
        return None
    owner = head.who.subject if isinstance(head.who, Person) else "user"
    return (one_of(relation, context.people) if relation.plural else relation), owner


def one_of(several: Relation, people: PeopleLexicon) -> Relation:
    """What each of several is: one of "my twins" is a child, one of "my dogs" a dog."""
    name = _ONE_OF.get(several.name, several.name)
    return people.forms.get(tuple(name.split()), several)


def name_fact(
    relation: Relation,
    name: str,
    owner: str,
    span: tuple[int, int] | None,
    confidence: float = 0.95,
    spoken: str = "",
) -> Fact:
    """Reads "Has a brother named Sam"."""
    article = "an" if relation.name[0] in "aeiou" else "a"
    kin = f"{relation.name} ({spoken})" if spoken else relation.name
    text = f"Has {article} {kin} named {name}"
    if owner != "user":
        text = f"{label_of(owner)} has {article} {kin} named {name}"
    return _new_fact(
        text=text,
        category="relationships",
        slot="name",
        value=name,
        subject=subject_of(relation, name, owner),
        cardinality="one",
        confidence=confidence,
        rule_id=NAMED,
        extraction_method=f"pattern:{NAMED}",
        span=span,
        entities=(name.lower(),),
    )


def spoken_relation(
    relation: Relation, norm: list[str], first: int, last: int, people: PeopleLexicon
) -> str:
    """The words of another language for a relation, "" where they are the English ones.

    Args:
        relation: What they say.
        norm: The turn's words.
        first: Where to look from.
        last: Index behind the last word to look at.
        people: Words for relations of the language.
    """
    for place in range(max(first, 0), last):
        found = people.relation_at(norm, place, last)
        if found is not None and found[0].name == relation.name:
            said = " ".join(norm[place : found[1]])
            # The word for several is none for each of them.
            return "" if said == relation.name or found[0].plural else said
    return ""
