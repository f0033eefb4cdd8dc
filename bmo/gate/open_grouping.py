"""Which clauses of a turn belong to one memory.

A clause the judge would keep on its own opens a memory; what only makes sense beside it ("the
smell of them", "that's my husband") is told with it. So each memory is one statement, and no word
of content is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bmo.gate.analysis import ClauseAnalysis
from bmo.gate.open_fragments import comma_borders, has_predicate
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.people import people_lexicon
from bmo.language import Words, past_lemma
from bmo.language.times import NUMBER_WORDS

CARRIES = 0.6
"""P(allow) from which a clause opens a memory of its own."""
ALONE = 0.95
"""The same of a clause behind a comma: it mostly tells more of the one before."""
NOTHING = 0.9
"""P(discard) from which a clause without content for a memory is left out."""
SHORT = 4
"""A clause of fewer words does not open a memory beside others."""

_HELPING = frozenset({"'s", "is", "was", "has", "does", "will", "can", "cannot"})
_NOBODY = frozenset("it he she that this there what who mine one all everything i we".split())
_AGES = frozenset({*NUMBER_WORDS, *map(str, range(100))})
_LEFT_OPEN = frozenset(("it them").split())
"""Objects that stand for something said before ("decent at it by June")."""


@dataclass(frozen=True, slots=True)
class ClauseOdds:
    """A clause and what the judge makes of it alone.

    Attributes:
        clause: The clause.
        allow: P(allow) of its words.
        discard: P(discard).
        tied: ":" or ";" ties it to the one before.
        listed: A comma stands before it.
    """

    clause: ClauseAnalysis
    allow: float
    discard: float
    tied: bool = False
    listed: bool = False


def grouped(
    odds: Sequence[ClauseOdds], needed: float, most: int, *, keep_all: bool = False
) -> list[list[ClauseAnalysis]]:
    """Sorts clauses into memories, in the order they were said.

    Args:
        odds: The clauses that may carry a fact.
        needed: P(allow) that the best clause of a memory must reach; 0 for none.
        most: Most memories; later ones join the last.
        keep_all: Leave no clause out.

    Returns:
        One list of clauses a memory.
    """
    carrying = [item.allow >= (ALONE if item.listed else CARRIES) for item in odds]
    if not any(carrying):
        if needed:
            return []
        kept = [item.clause for item in odds if keep_all or item.discard < NOTHING]
        return [kept or [item.clause for item in odds]]
    groups: list[list[ClauseOdds]] = []
    waiting: list[ClauseOdds] = []
    told = False  # whether a memory has the clause before
    dropped: ClauseOdds | None = None  # the clause before, when none has it
    before: ClauseOdds | None = None
    for item, carries in zip(odds, carrying, strict=True):
        short = before is not None and _elaborates(before.clause, item.clause)
        another = before is not None and of_another(before.clause, item.clause)
        leans = not another and (item.tied or short or leans_back(item.clause))
        carries = carries or (another and told and item.discard < NOTHING)
        before = item
        if carries and tells_event(item.clause) and not groups:
            waiting.append(item)  # "sold the old one" is told with what is true now
        elif carries and not (leans and groups) and len(groups) < most:
            if dropped is not None and points_back(item.clause):
                waiting.append(dropped)  # "never cooks with it" needs what "it" is
            groups.append([*waiting, item])
            waiting = []
        elif not carries and _left_out(item, keep_all or (leans and told)):
            told, dropped = False, item
            continue
        elif groups:
            groups[-1].append(item)
        else:
            waiting.append(item)
        told, dropped = True, None
    if not groups:
        groups.append(waiting)
    return [
        [item.clause for item in group]
        for group in groups
        if max(item.allow for item in group) >= needed
    ]


def parted_clauses(clauses: Sequence[ClauseAnalysis], words: Words) -> list[ClauseAnalysis]:
    """Clauses of a turn, parted where a comma stands between two ("bought it, the old one's gone").

    Args:
        clauses: As the rules read them.
        words: The turn's repaired words.
    """
    found: list[ClauseAnalysis] = []
    for clause in clauses:
        at = _inside(clause, words)
        norm = tuple(words.norm[i] for i in at)
        if norm != clause.norm:  # a carried clause has words of the one before
            found.append(clause)
            continue
        borders = comma_borders(norm, [words.after[i][:1] == "," for i in at]) or _ages(norm)
        for first, last in pairwise([0, *borders, len(at)]):
            place = (at[first], at[last - 1] + 1)
            part = clause._replace(spoken=words, place=place, norm=norm[first:last])
            found.append(part if borders else clause)
    return found


def _ages(norm: Sequence[str]) -> list[int]:
    """Where another's age begins in one breath: "noah's seven | maya's four"."""
    return [
        at
        for at in range(3, len(norm) - 2)
        if norm[at - 1] in _AGES
        and norm[at - 2] in ("'s", "is")
        and norm[at].isalpha()
        and norm[at + 1] in ("'s", "is")
        and norm[at + 2] in _AGES
    ]


def _inside(clause: ClauseAnalysis, words: Words) -> list[int]:
    """Indices of a clause's words in the turn."""
    first, last = clause.span
    return [i for i in range(len(words)) if words.start[i] >= first and words.end[i] <= last]


def tells_event(clause: ClauseAnalysis) -> bool:
    """Whether a clause of the user's tells what happened, and no lasting state."""
    norm = clause.norm
    if norm[0] not in ("i", "we") or len(norm) < 2:
        return False
    return bool(past_lemma(norm[1])) and norm[1] not in open_lexicon().lasting


def leans_back(clause: ClauseAnalysis) -> bool:
    """Whether a clause speaks of what was just said."""
    norm = clause.norm
    return points_back(clause) or (clause.speech_act != "instruction" and len(norm) < SHORT)


def points_back(clause: ClauseAnalysis) -> bool:
    """Whether a word of a clause stands for something said before it."""
    if clause.norm[-1] == "then" and len(clause.norm) > 2:
        return True  # "(mum rings every sunday at 4) so never schedule anything then"
    if clause.speech_act == "instruction":
        return False  # "keep lists short when you show them": its words are its own
    return clause.norm[0] in open_lexicon().leans or not _LEFT_OPEN.isdisjoint(clause.norm[2:])


def _elaborates(before: ClauseAnalysis, clause: ClauseAnalysis) -> bool:
    """Whether a phrase says more of a short clause ("i translate | contracts, mostly")."""
    return (
        before.norm[0] in ("i", "we")
        and len(before.norm) < SHORT
        and not has_predicate(clause.norm)
    )


def of_another(before: ClauseAnalysis, clause: ClauseAnalysis) -> bool:
    """Whether two clauses tell of two people ("zosia's 7", "janek is four")."""
    one, other = named_first(before), named_first(clause)
    return bool(one and other) and one != other


def named_first(clause: ClauseAnalysis) -> str:
    """The given name that a clause is about, or ""."""
    name, verb = clause.norm[0], clause.norm[1:2]
    if not verb or not name.isalpha() or name in _NOBODY or clause.norm[-1] in _HELPING:
        return ""
    if name in people_lexicon("en").names:
        return name if verb[0] in _HELPING or has_predicate(clause.norm) else ""
    aged = verb[0] in ("'s", "is") and clause.norm[2:3] != () and clause.norm[2] in _AGES
    return name if aged and clause.norm[3:4] in ((), ("years",), ("now",)) else ""


def _left_out(item: ClauseOdds, leans: bool) -> bool:
    """Whether a clause that carries nothing is not told with another.

    One that leans on a clause of a memory is told with it when it has a word of content.
    """
    if item.discard < NOTHING or item.clause.norm == ("me",):
        return False  # "me (and shaz have been together since school)"
    return not leans or open_lexicon().says_nothing.issuperset(item.clause.norm)


def runs(group: Sequence[ClauseAnalysis], words: Words) -> list[tuple[int, int]]:
    """Stretches of the turn's words that the clauses of a group cover, without gaps."""
    found: list[tuple[int, int]] = []
    for clause in group:
        inside = _inside(clause, words)
        if not inside:
            continue
        carried = bool(found) and inside[0] == found[-1][0]  # "i gave in | i gave in and got one"
        if carried or (found and 0 <= inside[0] - found[-1][1] <= 2):
            found[-1] = (found[-1][0], max(inside[-1] + 1, found[-1][1]))
        else:
            found.append((inside[0], inside[-1] + 1))
    return found
