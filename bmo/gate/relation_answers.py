"""A relation told in an answer, of somebody the question named: "who's Piotr?", "my flatmate".

The name stands in the assistant's question, the relation in the answer; together they say "Has a
flatmate named Piotr", and the rest of the answer speaks of him. A question with two names, one
about somebody else's relation ("is Gethin your son's friend?") and an answer whose relation does
something ("my husband says he's a crook") tell nothing of whose relation the name is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from bmo.gate.discourse import Discourse
from bmo.gate.named_people import name_fact
from bmo.gate.people import PeopleLexicon, Relation
from bmo.gate.word_tables import word_table
from bmo.language import Clause, Words
from bmo.turn import Fact


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``relation_answers.toml``; what each is for stands there beside its words."""

    no_names: frozenset[str]
    owners: frozenset[str]
    pointing: frozenset[str]
    be: frozenset[str]
    before: frozenset[str]
    describing: frozenset[str]
    professions: frozenset[str]
    goes_on: frozenset[str]
    in_full: frozenset[str]
    yes: frozenset[str]
    own_subjects: frozenset[str]


_words = word_table(_Words, "relation_answers.toml")


_NAME = r"(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?)"
_OPENERS = (
    r"(?:(?i:and|so|oh|ah|but|sorry|wait|hang on|remind me|now|okay|ok|right|well|then|ooh|hmm)"
    r"\b[,;: –—]*)*"
)
_TAILS = (
    r"(?:[, ]+(?i:again|to you|then|now|by the way|if i may ask|exactly|anyway|in all this|though"
    r"|right|or|is (?:he|she|that|it|your)\b.*|or .*))*"
)
_ASKED = tuple(
    re.compile(rf"^{_OPENERS}{shape}{_TAILS}$")
    for shape in (
        rf"(?i:who|what)(?:'s| is| was| are) (?i:this |that |to you )?{_NAME}",
        rf"(?i:who(?:'s| is) (?:that|this|he|she)),? {_NAME}",
        rf"(?i:how do you know) {_NAME}",
        rf"{_NAME}(?:'s| is| was| would be| being)?(?: (?i:who|your))?",
        rf"{_NAME},? (?i:who(?:'s| is) (?:he|she|that))",
        rf"(?i:is|was|would)? ?{_NAME}(?:'s| is|,| be)? (?i:your|a|an|one of your|family|related)"
        r"(?P<kin>(?: [\w'-]+){0,5})",
        rf"(?i:is|was) (?i:that|this|he|she) (?i:your)(?P<kin>(?: [\w'-]+){{1,2}}),? {_NAME}",
        rf"(?i:is|was) your(?P<kin>(?: [\w'-]+){{1,2}}) (?i:called|named) {_NAME}",
    )
)
_QUESTION = re.compile(r"[^.!?\n]*\?")
_DOTS = re.compile(r"\.\.+|…")
_CAPITAL = re.compile(r"\b[A-Z][\w-]+")
_LONGEST_ASIDE = 5


class RelationAnswer(NamedTuple):
    """What a relation answer tells.

    Attributes:
        fact: The name of the relation.
        first: The relation's first word, with its owner.
        behind: Index behind the relation.
        rest: Index from which the answer tells more of them; its own clause may go on there.
    """

    fact: Fact
    first: int
    behind: int
    rest: int


@lru_cache(maxsize=256)
def asked_about(assistant_before: str) -> tuple[str, tuple[str, ...]]:
    """The one person by name whose relation the assistant's last question asks for.

    Args:
        assistant_before: The assistant's words before the turn.

    Returns:
        The name ("" for none), and the words that the question supposes behind it ("your" of "is
        Rhona your sister" left out).
    """
    lists = _words()
    text = _DOTS.sub(" ", assistant_before.replace("’", "'"))
    found = _QUESTION.findall(text)
    if not found:
        return "", ()
    question = " ".join(found[-1].rstrip("? ").split()).strip(" ,\"'–—-")
    for shape in _ASKED:
        match = shape.match(question)
        if match is None:
            continue
        name = match["name"]
        kin = (match.groupdict().get("kin") or "").lower()
        if name.split()[0].lower() in lists.no_names or "'s" in kin:
            continue
        others = [w for w in _CAPITAL.findall(question) if w not in name.split()]
        if any(word.lower() not in lists.no_names for word in others):
            break
        return name, tuple(kin.split()) if _YOUR.search(question) else ()
    return "", ()


_YOUR = re.compile(r"\byour\b", re.IGNORECASE)


def relation_answer(
    spoken: Words, clauses: list[Clause], assistant_before: str, discourse: Discourse
) -> RelationAnswer | None:
    """Reads a turn's beginning as the relation of whom the question named; None when it is not.

    Args:
        spoken: The turn's repaired words.
        clauses: Its clauses.
        assistant_before: The assistant's words before the turn.
        discourse: Who was spoken of; the person is added to it.
    """
    lists = _words()
    name, _ = asked_about(assistant_before)
    if not name:
        return None
    norm, end = spoken.norm, len(spoken.norm)
    first = _behind_denied(norm, discourse.lexicon)
    while first < end and norm[first] in lists.before:
        first += 1
    if norm[first : first + 1] and norm[first] in lists.pointing and norm[first + 1 : first + 2]:
        if norm[first + 1] not in lists.be:
            return None
        first += 2
        while first < end and norm[first] in lists.before:
            first += 1
    clause = next((c for c in clauses if c.start <= first < c.end), None)
    if clause is None or clause.closed_by.startswith("?"):
        return None
    found = _relations_at(norm, first, clause.end, discourse.lexicon)
    if found is None:
        return None
    relations, behind = found
    if norm[behind : behind + 1] in (["from"], ["at"]) and clause.end - behind <= _LONGEST_ASIDE:
        behind = clause.end  # "a friend of mine from choir"
    rest = _rest(spoken, behind, clause, name)
    if rest is None:
        return None
    owner = "user"
    for relation in relations[:-1]:
        owner = discourse.introduce(relation, "", owner).subject
    kin = relations[-1]
    discourse.introduce(kin, name, owner)
    span = (spoken.start[first], spoken.end[behind - 1])
    return RelationAnswer(name_fact(kin, name, owner, span), first, behind, rest)


def confirmed(spoken: Words, assistant_before: str, discourse: Discourse) -> RelationAnswer | None:
    """Reads "yes" to "is Rhona your sister?"; None for any other answer or question.

    Args:
        spoken: The turn's repaired words.
        assistant_before: The assistant's words before the turn.
        discourse: Who was spoken of; the person is added to it.
    """
    lists = _words()
    norm = spoken.norm
    name, supposed = asked_about(assistant_before)
    if not supposed or norm[0] not in lists.yes:
        return None
    kin = discourse.lexicon.relation_at(list(supposed), 0, len(supposed))
    if kin is None or kin[0].plural or kin[1] != len(supposed):
        return None
    behind = next((at for at in (3, 1) if _ends_yes(spoken, at)), 0)
    if not behind:
        return None
    discourse.introduce(kin[0], name)
    fact = name_fact(kin[0], name, "user", (spoken.start[0], spoken.end[behind - 1]))
    return RelationAnswer(fact, 0, behind, behind)


def _ends_yes(spoken: Words, behind: int) -> bool:
    """Whether "yes" or "yes she is" ends at an index."""
    lists = _words()
    norm = spoken.norm
    if behind > len(norm) or (behind == 3 and " ".join(norm[1:3]) not in lists.in_full):
        return False
    return (
        behind == len(norm) or spoken.after[behind - 1] != "" or norm[behind] in lists.own_subjects
    )


def confirming() -> frozenset[str]:
    """Words that confirm what a question supposes."""
    return _words().yes


def _behind_denied(norm: list[str], people: PeopleLexicon) -> int:
    """Index behind "not my sister" at the front, or 0."""
    at = 1 if norm[0] == "no" else 0
    if (
        norm[at : at + 1] != ["not"]
        or norm[at + 1 : at + 2] == []
        or norm[at + 1] not in _words().owners
    ):
        return 0
    denied = people.relation_at(norm, at + 2, len(norm))
    return denied[1] if denied is not None else 0


def _relations_at(
    norm: list[str], first: int, end: int, people: PeopleLexicon
) -> tuple[list[Relation], int] | None:
    """The relation that stands alone at ``first``: "my ex 's mum", "a friend of mine", "boss"."""
    lists = _words()
    own = norm[first] in lists.owners
    article = norm[first] in ("a", "an", "the")
    at = first + 1 if own or article else first
    while at < end and norm[at] in lists.describing and people.relation_at(norm, at, end) is None:
        at += 1
    found = people.relation_at(norm, at, end)
    if found is None or found[0].plural:
        return None
    relations, behind = [found[0]], found[1]
    while own and behind + 1 < end and norm[behind] == "'s" and len(relations) < _MOST_RELATIONS:
        more = people.relation_at(norm, behind + 1, end)
        if more is None or more[0].plural:
            return None
        relations.append(more[0])
        behind = more[1]
    if norm[behind : behind + 2] == ["of", "mine"]:
        return relations, behind + 2
    kin = relations[0]
    if not own and (kin.name in lists.professions or (kin.pet and norm[first] != "the")):
        return None
    return relations, behind


_MOST_RELATIONS = 3


def _rest(spoken: Words, behind: int, clause: Clause, name: str) -> int | None:
    """Where the answer goes on behind the relation; None when the relation is not all of it."""
    lists = _words()
    norm = spoken.norm
    named = [word.lower() for word in name.split()]
    if norm[behind : behind + len(named)] == named:
        behind += len(named)
    if behind >= clause.end or (spoken.after[behind - 1] and norm[behind] != "'s"):
        listed = norm[behind : behind + 1] == ["and"] and norm[behind + 1 : behind + 2]
        return None if listed and norm[behind + 1] in lists.owners else behind
    word = norm[behind]
    if word not in lists.goes_on:
        return None
    if word == "and" and norm[behind + 1 : behind + 2] not in _ITS_SUBJECTS:
        return None  # "my boss and landlord"
    if word == "you" and clause.end - behind <= _LONGEST_ASIDE:
        return clause.end  # "you daft thing"
    if word in ("from", "at", "in", "of") and clause.end - behind > _LONGEST_ASIDE:
        return None
    if word in lists.own_subjects:
        return behind
    return behind if clause.end - behind > _LONGEST_ASIDE else clause.end


_ITS_SUBJECTS = (["he"], ["she"], ["they"], ["it"], ["i"], ["we"])
