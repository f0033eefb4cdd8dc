"""What the facts of a turn leave out of it: words of their own clauses, and whole clauses.

A rule captures what its slot asks for: "i go to the mosque on fridays before two" gives "Goes to
the mosque". Where two words of content or more are missing and the judge would keep the turn, the
fact keeps its slot and value and gets the clause's own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bmo.gate.analysis import Analysis, ClauseAnalysis
from bmo.gate.open_fragments import LONGEST_FRONT, opens_front
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.third_person import third_person_lexicon
from bmo.turn import Fact

MISSING = 2
"""Words of content that make a fact incomplete."""

_NOT_TOLD = frozenset({"question", "directive", "forget"})
_SUPPOSED = frozenset("would could might should were wish had d".split())
"""Words of a condition that is only supposed; without them it says what is generally so."""
_BE = frozenset("i we am is are was were have has do does did".split())
_FULL_SLOTS = frozenset(
    "name age birthday nickname called pronouns assistant_name language address_form".split()
)
"""Slots whose value is all there is to say."""
_WORD = re.compile(r"[^\W_]+")


def incomplete(analysis: Analysis, facts: Sequence[Fact]) -> list[tuple[ClauseAnalysis, Fact]]:
    """Clauses whose only fact leaves words of content out, each with its fact.

    Args:
        analysis: What the rules made of the turn; English.
        facts: The facts that are to be stored.
    """
    if analysis.language != "en":
        return []
    found = []
    for clause in analysis.clauses:
        own = [fact for fact in facts if fact in clause.facts]
        if len(own) > 1:  # who somebody is stands beside what is told
            own = [fact for fact in own if fact.slot != "name"]
        if len(own) != 1 or clause.vetoes or clause.speech_act != "statement":
            continue
        fact = own[0]
        if fact.op != "assert" or fact.kind == "hard_rule" or (fact.slot or "") in _FULL_SLOTS:
            continue
        front = front_of(analysis, clause)
        norm = (*front.norm, *clause.norm) if front else clause.norm
        left = missing(norm, facts)
        days = third_person_lexicon().capitalised
        circumstance = front is not None and _is_untold(front.norm, fact)
        if len(left) >= MISSING or circumstance or not days.isdisjoint(left):
            found.append((clause, fact))
    return found


def untold(analysis: Analysis, facts: Sequence[Fact]) -> list[ClauseAnalysis]:
    """Clauses that state something of which no fact has a word.

    Args:
        analysis: What the rules made of the turn.
        facts: The facts that are to be stored.

    Returns:
        The clauses in the order they were said; none outside English, whose clauses are kept whole.
        A condition counts where it says what is generally so ("if he's off, it comes to me").
    """
    if analysis.language != "en" or not any(fact.op == "assert" for fact in facts):
        return []
    conditions = [c for c in analysis.clauses if set(c.vetoes) == {"conditional"}]
    vetoed = [clause for clause in analysis.clauses if "conditional" in clause.vetoes]
    supposed = any(not _SUPPOSED.isdisjoint(clause.norm) for clause in vetoed)
    allowed = [c for c in analysis.clauses if not c.vetoes or (c in conditions and not supposed)]
    stating = [clause for clause in allowed if clause.speech_act not in _NOT_TOLD]
    return [clause for clause in stating if missing(clause.norm, facts)]


def front_of(analysis: Analysis, clause: ClauseAnalysis) -> ClauseAnalysis | None:
    """The phrase set before a clause ("every sunday after church"), where it was cut off."""
    starts = [one.place[0] if one.spoken is clause.spoken else -1 for one in analysis.clauses]
    if clause.place[0] not in starts[1:]:
        return None
    before = _with_opener(analysis.clauses[starts.index(clause.place[0], 1) - 1])
    lexicon = third_person_lexicon()
    opens = opens_front(before.norm) or before.norm[0] in lexicon.capitalised
    said = before.norm[1:]
    phrase = (
        len(before.norm) <= LONGEST_FRONT
        and lexicon.carried.isdisjoint(said)
        and lexicon.fixed.isdisjoint(said)
        and _BE.isdisjoint(said)
    )
    return before if opens and phrase and not before.facts and not before.vetoes else None


def _is_untold(front: Sequence[str], fact: Fact) -> bool:
    """Whether a fact has no word of the phrase set before its clause ("once a month")."""
    prepositions = third_person_lexicon().prepositions
    stored = _stems(fact.text)
    return not any(
        word[:4] in stored for word in front if len(word) > 2 and word not in prepositions
    )


def _with_opener(clause: ClauseAnalysis) -> ClauseAnalysis:
    """A phrase with the "since" or "before" that was cut off as the opener of a clause."""
    start, end = clause.place
    word = clause.spoken.norm[start - 1] if start else ""
    if word not in third_person_lexicon().fronted or clause.spoken.after[start - 1]:
        return clause
    return clause._replace(place=(start - 1, end), norm=(word, *clause.norm))


@lru_cache(maxsize=1)
def _empty_words() -> frozenset[str]:
    """Words without content of their own; joined once, the gate asks on every stored turn."""
    lexicon = third_person_lexicon()
    return open_lexicon().told_anyway | lexicon.adverbs | lexicon.prepositions | lexicon.asides


def missing(norm: Sequence[str], facts: Sequence[Fact]) -> list[str]:
    """Words of content among ``norm`` that no fact has."""
    stored = _stems(" ".join(f"{fact.text} {fact.value or ''}" for fact in facts))
    lexicon = third_person_lexicon()
    empty = _empty_words()
    others = any(fact.subject != "user" for fact in facts)
    kin = lexicon.people.first if others else frozenset()  # "mum" is "mother" in a fact
    return [
        word
        for word in dict.fromkeys(norm)
        if len(word) > 2 and word not in empty and word not in kin and word[:4] not in stored
    ]


def says_all_of(text: str, fact: Fact) -> bool:
    """Whether a text has every word of a fact's value."""
    words = [word for word in _WORD.findall((fact.value or fact.text).lower()) if len(word) > 2]
    stems = _stems(text)
    return all(word[:4] in stems for word in words if word not in open_lexicon().told_anyway)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:4] for word in _WORD.findall(text.lower()))
