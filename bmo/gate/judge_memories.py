"""Memories that the judge found in a turn: which clauses carry them, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bmo.gate.addressed_names import own_names
from bmo.gate.analysis import Analysis, ClauseAnalysis, without_doubles
from bmo.gate.left_open import leaves_open, opens_with_part, tells_only_when
from bmo.gate.open_canonicalisation import canonicalise
from bmo.gate.open_category import (
    asks_for_a_choice,
    asks_for_name,
    asks_for_someone,
    category_of,
    is_standing,
)
from bmo.gate.open_coverage import front_of
from bmo.gate.open_grouping import ClauseOdds, grouped, named_first, parted_clauses, runs
from bmo.gate.open_text import OpenText
from bmo.gate.open_wishes import is_order
from bmo.gate.people import people_lexicon
from bmo.gate.said_of_another import is_only_another
from bmo.gate.third_person import third_person_lexicon, written_names
from bmo.gate.untrue_of_people import PRONOUNS, untrue_of
from bmo.turn import Assessment, Category, DialogueContext, Fact, Kind, Turn

if TYPE_CHECKING:
    from bmo.judge import Judge, JudgeThresholds

CARRIED = 0.25
"""P(allow) that the clauses of a memory must reach by themselves, without the rest of the turn."""
MAX_MEMORIES = 5
"""Most memories of one turn; what is more is told in the last."""

_LET = frozenset({"can", "may", "should", "must", "need"})
"""What follows "you" where the user lets the assistant do something."""


OPENING = 12
"""Characters within which an answer begins ("well, joost, from ghent")."""


_NOT_TOLD_TO = frozenset(
    (
        "i we you he she they it to not never always sometimes often would will can could might "
        "people and or ever"
    ).split()
)
_ASKED_OF_YOU = frozenset({"can", "could", "will", "would"})
_TAKING_BACK = frozenset({"no", "nope", "sorry", "wait", "actually"})
_LONGEST_CORRECTION = 7
_SUBJECTS = frozenset("i we my our he she they it you".split())
_KINDS: dict[Category, Kind] = {"preferences": "preference", "policies": "policy"}
_CAPITAL = re.compile(r"(?<!^)\b[^\W\d_][\w'’-]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """The judge and what a decision needs of it."""

    judge: Judge
    thresholds: JudgeThresholds
    turn: Turn
    context: DialogueContext
    analysis: Analysis
    whole: Assessment
    known: dict[str, Assessment]

    def people(self) -> dict[str, str]:
        """Lower-case name -> subject of whom the talk knows; "user" where only the name is known.

        Names are those of memories without a slot and those the assistant wrote.
        """
        lexicon = third_person_lexicon()
        spoken = [
            name
            for fact in (*self.context.recent_facts, *self.context.known)
            if fact.category == "relationships"
            for name in fact.entities
        ]
        for _, reply in self.context.recent_turns:
            spoken += written_names(reply)
        known = {
            name: "user"
            for name in spoken
            if name.isalpha() and len(name) > 2 and name not in lexicon.capitalised
        }
        return known | dict(self.context.subjects)

    def own_names(self) -> frozenset[str]:
        """Names of the user, lower-case, as far as the talk and the ledger tell."""
        return own_names((*self.context.recent_facts, *self.context.known))

    def spoken_names(self, text: str) -> frozenset[str]:
        """The first word of a text, where it is a name the talk knows or that was said large."""
        first = text.partition(" ")[0].removesuffix("'s").rstrip(",")
        name = first.lower()
        lexicon = third_person_lexicon()
        given = name in lexicon.people.names and name not in lexicon.common_names
        if given or name in lexicon.capitalised or name in self.context.subjects:
            return frozenset({first})
        return frozenset({first} if name in written_names(self.turn.text) else ())

    def whom(self, pronoun: str) -> tuple[str, str] | None:
        """Label and subject of the person a pronoun means: the latest that fits."""
        discourse = self.analysis.discourse
        person = discourse.antecedent(pronoun) if discourse is not None else None
        return (person.label, person.subject) if person is not None else None

    def odds(self, said: str) -> Assessment:
        """The judge on a part of the turn, asked once a part."""
        found = self.known.get(said)
        if found is None:
            found = self.judge.assess([(self.turn.assistant_before, said)])[0]
            self.known[said] = found
        return found


def may_carry(clause: ClauseAnalysis) -> bool:
    """Whether a clause may carry a memory: it states something, or orders it from now on."""
    asks = clause.norm[0] in _ASKED_OF_YOU and clause.norm[1:2] == ("you",)
    if clause.norm[0] == "you" and _LET.isdisjoint(clause.norm[1:2]):
        return False  # "(here is our rule) so you do not get it wrong"
    if _takes_back(clause.norm):
        return False
    storable = clause.speech_act not in ("question", "directive", "forget")
    if storable and is_order(clause.norm):  # "never wake me unless i ask" supposes nothing
        return set(clause.vetoes) <= {"conditional"}
    if not storable or asks or clause.vetoes or _only_corrects(clause.norm):
        return False
    return not is_only_another(clause.norm, people_lexicon("en"))


def is_wish(clause: ClauseAnalysis) -> bool:
    """Whether a clause is a standing wish: "keep it short", "please, no jokes ever"."""
    unwanted = clause.norm[:1] == ("no",) or clause.norm[:2] == ("please", "no")
    return clause.speech_act == "instruction" or unwanted or is_order(clause.norm)


def _takes_back(norm: tuple[str, ...]) -> bool:
    """Whether words tell the assistant to forget something: "the big plan, forget the boat"."""
    at = next((i for i, word in enumerate(norm) if i and word == "forget"), 0)
    return at > 0 and norm[at - 1] not in _NOT_TOLD_TO and norm[at + 1 : at + 2] != ()


def _only_corrects(norm: tuple[str, ...]) -> bool:
    """Whether words only take something back: "sorry not calais, dover" is no memory alone."""
    if norm[0] not in _TAKING_BACK or len(norm) > _LONGEST_CORRECTION or "not" not in norm[:3]:
        return False
    return norm[-1] != "not" and _SUBJECTS.isdisjoint(norm)


def open_memories(asked: Asked, clauses: Sequence[ClauseAnalysis], needed: float) -> list[Fact]:
    """Open memories of ``clauses``: found by the judge, written by open canonicalisation.

    Args:
        asked: The judge and the turn.
        clauses: Clauses that may carry a fact.
        needed: P(allow) a group of clauses must reach on its own; 0 takes what carries the turn.
    """
    if not clauses:
        return []
    if asked.analysis.language == "en":
        clauses = parted_clauses(clauses, asked.analysis.words)
    alone = [asked.odds(clause.text) for clause in clauses]
    odds = [
        ClauseOdds(c, a.allow, a.discard, **_tied(asked, c))
        for c, a in zip(clauses, alone, strict=True)
    ]
    whole = asked.analysis.language != "en"  # its clauses are known less well: no word is lost
    groups = grouped(odds, needed, MAX_MEMORIES, keep_all=whole)
    facts = [fact for group in _told_together(asked, groups) if (fact := memory_of(asked, group))]
    return list(without_doubles(facts))


def _told_together(
    asked: Asked, groups: Sequence[Sequence[ClauseAnalysis]]
) -> list[list[ClauseAnalysis]]:
    """Joins what one breath tells of the same subject under the same category.

    People tell a fact and dwell on it: of strangers' memories that nobody had annotated most were
    the second half of one that stood already, and facts were missed because their words lay in two.
    """
    together: dict[tuple[str, Category, str], list[ClauseAnalysis]] = {}
    for group in groups:
        fact = memory_of(asked, group)
        if fact is not None:
            about = _named_apart(group[0], together)
            together.setdefault((fact.subject, fact.category, about), []).extend(group)
    return list(together.values())


def _named_apart(clause: ClauseAnalysis, before: Iterable[tuple[str, Category, str]]) -> str:
    """The name a clause is about, else the one that was told of last: it may tell more of them."""
    return named_first(clause) or next(reversed([name for *_, name in before]), "")


def _tied(asked: Asked, clause: ClauseAnalysis) -> dict[str, bool]:
    """How punctuation ties a clause to the one before ("one rule: paper only")."""
    before = asked.turn.text[: clause.span[0]].rstrip()
    return {"tied": before.endswith((":", ";")), "listed": before.endswith(",")}


def memory_of(asked: Asked, group: Sequence[ClauseAnalysis]) -> Fact | None:
    """The open memory of some clauses; None when they would not be understood later."""
    found: list[OpenText] = []
    people = asked.people()
    named_until = asked.analysis.named_until
    front = front_of(asked.analysis, group[0]) if asked.analysis.language == "en" else None
    spoken = group if front is None else [front, *group]
    for start, stop in runs(spoken, asked.analysis.words):
        part = canonicalise(
            asked.analysis.words,
            "" if 0 < named_until <= start else asked.turn.assistant_before,
            asked.analysis.language,
            people,
            whom=asked.whom,
            own=asked.own_names(),
            start=start,
            end=stop,
            short=asked.analysis.settled is not None,
        )
        if part is not None:
            found.append(part)
    if not found:
        return None
    behind = [lowered(more.text, asked.spoken_names(more.text)) for more in found[1:]]
    text = "; ".join([found[0].text, *behind])
    if asked.analysis.language == "en" and _left_open(asked, group[0], text, alone=len(group) == 1):
        return None
    discourse = asked.analysis.discourse
    if discourse is not None and group[0].norm[0] in PRONOUNS:
        about = found[0].subject
        pet = discourse.person(about).pet
        if untrue_of(about, group[0].norm, discourse.departed, pet=pet):
            return None
    said = " ".join(clause.text for clause in group)
    odds = asked.odds(said)
    if odds.allow < CARRIED:
        return None
    category = category_of(
        text,
        found[0].subject,
        odds,
        asked.whole,
        settles_choice=not found[0].whole and asks_for_a_choice(asked.turn.assistant_before),
        names_someone=not found[0].whole and asks_for_someone(asked.turn.assistant_before),
        introduces=group[0].span[0] < OPENING and asks_for_name(asked.turn.assistant_before),
    )
    return Fact(
        text=text,
        category=category,
        subject="team" if category in ("policies", "decisions") else found[0].subject,
        kind="hard_rule" if is_standing(text) else _KINDS.get(category, "fact"),
        confidence=round(min(asked.whole.allow, odds.allow), 3),
        extraction_method=f"judge:{odds.version}",
        span=(group[0].span[0], group[-1].span[1]),
        entities=tuple(dict.fromkeys(w.lower() for w in _CAPITAL.findall(text) if w[0].isupper())),
    )


def _left_open(asked: Asked, first: ClauseAnalysis, text: str, *, alone: bool) -> bool:
    """Whether nobody could tell later of whom a memory speaks, or what is so."""
    discourse = asked.analysis.discourse
    shared = discourse.shared if discourse is not None else set()
    name = text.split()[0].lower().removesuffix("'s")
    people = third_person_lexicon().people
    unclear = name in shared or opens_with_part(first.norm)
    return unclear or leaves_open(text, people) or (alone and tells_only_when(first.norm, people))


def lowered(text: str, names: frozenset[str] = frozenset()) -> str:
    """A canonical text as it stands behind another.

    Args:
        text: The text, with a capital.
        names: Words that keep their capital.
    """
    first, _, rest = text.partition(" ")
    lexicon = third_person_lexicon()
    word = first.removesuffix("'s").rstrip(",")
    given = word.lower() in lexicon.people.names and word.lower() not in lexicon.common_names
    large = given or (first.isupper() and len(first) > 1) or word in names
    return f"{first if large else first[:1].lower() + first[1:]} {rest}".strip()
