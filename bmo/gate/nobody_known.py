"""Whether an English statement tells only of people the talk knows nothing of.

What the judge learnt to keep is how people tell of their own ("he starts at the bakery on monday").
A report or a novel tells of strangers in the same words ("dawn had hardly broken when the ranger
began her shift"). What parts them is whom it is about: a statement that names neither the user nor
anybody of theirs, answers nothing, and has a "he" or "her" that nobody brought up, is no memory of
this user's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.gate.talk_words import talk_words
from bmo.language import words

if TYPE_CHECKING:
    from bmo.gate.judge_memories import Asked

_SUBJECTS = {"male": "he", "female": "she"}


def tells_of_nobody_known(asked: Asked) -> bool:
    """Whether a statement is about a "he" or "she" who can be nobody of the user's.

    It is not where the talk has brought up anybody of the user's: a "he" may be them.

    Args:
        asked: The judge and an English turn.
    """
    norm = asked.analysis.words.norm
    said = talk_words("en")
    genders = {said.pronouns.get(w) or said.possessives.get(w) for w in norm}
    pointing = [pronoun for gender, pronoun in _SUBJECTS.items() if gender in genders]
    if not pointing or asked.turn.assistant_before.rstrip().endswith("?"):
        return False
    if _names_the_user(norm) or _names_own(norm) or _names_known(asked) or _got_in_touch(asked):
        return False
    if any(_names_own(words(spoken).norm) for spoken, _ in asked.context.recent_turns):
        return False
    return all(asked.whom(pronoun) is None for pronoun in pointing)


def _names_the_user(norm: Sequence[str]) -> bool:
    users = {phrase[0] for phrase in load_pack("en").lexicons["of_the_user"]}
    return any(word.partition("'")[0] in users for word in norm)


def _names_own(norm: Sequence[str]) -> bool:
    """Whether words name somebody of the user's: "mum", "my brother", but not "his mother"."""
    people, said, spoken = people_lexicon("en"), talk_words("en"), list(norm)
    at, of_others = 0, -1  # index behind the last relation of somebody else's
    while at < len(spoken):
        relation = people.relation_at(spoken, at, len(spoken))
        if relation is None:
            at += 1
            continue
        before = spoken[at - 1] if at else ""
        theirs = before in said.possessives or before in said.new or before == "'s"
        joined = of_others >= 0 and (at == of_others or before in said.joins)
        of_no_house = relation[0].pet and before not in said.definite  # "he milks ninety goats"
        if not theirs and not joined and not of_no_house:
            return True
        at = of_others = relation[1]
    return False


def _got_in_touch(asked: Asked) -> bool:
    """Whether it opens with somebody's call or visit, which was the user's: "elaine rang"."""
    contact, people = open_lexicon().contact, people_lexicon("en")
    return any(
        clause.norm[0] in people.names and not contact.isdisjoint(clause.norm[1:3])
        for clause in asked.analysis.clauses
    )


def _names_known(asked: Asked) -> bool:
    """Whether a name of the turn stands in what the talk or the ledger knows."""
    facts = (*asked.context.recent_facts, *asked.context.known)
    known = {word for fact in facts for entity in fact.entities for word in entity.split()}
    known |= asked.people().keys()
    norm = asked.analysis.words.norm
    # Recognisers print "zuleika's home" without the apostrophe.
    return not known.isdisjoint((*norm, *(word[:-1] for word in norm if word.endswith("s"))))
