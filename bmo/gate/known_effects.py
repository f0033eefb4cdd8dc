"""What a turn does to what is known: corrections, successors, and memories that it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from bmo.gate.analysed_turn import Analysis, without_doubles
from bmo.gate.bare_corrections import bare_correction
from bmo.gate.changed_memories import ended_memory
from bmo.gate.changed_values import moved_on
from bmo.gate.clause_reader import ClauseAnalysis
from bmo.gate.corrections import restated
from bmo.gate.known_births import child_named
from bmo.gate.known_changes import KnownChange, changes_in
from bmo.gate.known_holders import taken_up
from bmo.gate.people import subject_of
from bmo.gate.pointed_changes import pointed_at
from bmo.gate.speech_act import SpeechAct
from bmo.language import Words, words
from bmo.turn import DialogueContext, Fact, Turn


def with_what_is_known(
    analysis: Analysis, turn: Turn, context: DialogueContext, spoken: Words | None
) -> None:
    """Corrections of what was told before, and who takes whose place."""
    told = spoken if spoken is not None else words(turn.text, analysis.language)
    if not any(clause.speech_act == "question" for clause in analysis.clauses):
        right = restated(told.norm, context, told=bool(analysis.facts), at=turn.at)
        if right:
            analysis.facts = right
            # What is put right is said: nothing of the correction is a memory beside it.
            analysis.clauses = [clause._replace(open=False) for clause in analysis.clauses]
            return
    if "if" in analysis.words.norm:
        # "if i am late again | i am done at aldi": what would end has not ended
        supposed = {
            fact
            for before, clause in pairwise(analysis.clauses)
            if "if" in before.norm[:_OPENS_A_CONDITION]
            for fact in clause.facts
            if fact.op == "retract" and fact.rule_id != "retraction"
        }
        analysis.facts = tuple(fact for fact in analysis.facts if fact not in supposed)
    if any(fact.rule_id == "announced" for fact in analysis.facts):
        # "it is tess they are calling the baby": who is known by name announces nobody else's
        own = [old for old in (*context.known, *context.recent_facts) if _names_user(old)]
        analysis.facts = tuple(
            fact
            for fact in analysis.facts
            if fact.rule_id != "announced"
            or (
                len(turn.text[: (fact.span or (0, 0))[0]].split()) <= _BEFORE_ONE_IS_NAMED
                and all(old.value.lower() == fact.value.lower() for old in own)
            )
        )
        analysis.clauses = [
            clause
            if set(clause.facts) <= set(analysis.facts) or clause.facts == ()
            else clause._replace(open=True, facts=())
            for clause in analysis.clauses
        ]
    if "new" in analysis.words.norm:
        analysis.facts = (*_predecessors(analysis), *analysis.facts)
    analysis.facts = tuple(
        replace(fact, confidence=max(fact.confidence, KNOWN))
        if fact.polarity == "negative" and _denies_known(fact, context)
        else fact
        for fact in analysis.facts
    )


def with_bare_correction(
    analysis: Analysis, turn: Turn, context: DialogueContext, spoken: Words | None
) -> None:
    """A bare value that puts right what was told or repeated just before."""
    told = spoken if spoken is not None else words(turn.text, analysis.language)
    right = bare_correction(told.norm, context, turn.assistant_before, analysis.language, turn.at)
    if right is not None:
        analysis.facts = (right,)
        analysis.clauses = [clause._replace(open=False) for clause in analysis.clauses]


def with_known_changes(analysis: Analysis, turn: Turn, context: DialogueContext) -> None:
    """What the turn ends of the user's live memories; what is told of it only is no memory."""
    if any(fact.op == "correct" or fact.rule_id == "retraction" for fact in analysis.facts):
        return
    told = {(fact.subject, fact.text.lower()) for fact in analysis.facts}
    known = {(old.subject, old.text): old for old in (*context.known, *context.recent_facts)}
    live = [old for key, old in known.items() if (key[0], key[1].lower()) not in told]
    names = analysis.discourse.names if analysis.discourse is not None else {}

    def read(norm: Sequence[str], *, request: bool) -> KnownChange | None:
        return changes_in(norm, live, names, analysis.language, turn.at, turn.text, request=request)

    stated = [c for c in analysis.clauses if c.speech_act in _CHANGING and not c.vetoes]
    ended: list[Fact] = []
    only_changes: list[Fact] = []  # "Said in French about a change": it has been made
    for clause, behind in zip_longest(stated, stated[1:]):
        change = read(clause.norm, request=clause.speech_act != "statement")
        if change is not None:
            ended += _beside(change, clause)
            if behind is not None:
                before = ended
                ended = [
                    moved_on(taken_up(fact, change.who, behind.norm), behind.norm) for fact in ended
                ]
                if ended != before:  # "it's dave now": nobody introduces himself
                    only_changes += [fact for fact in behind.facts if fact.slot == "name"]
                    _close(analysis, [behind])
            if not change.tells_more:
                only_changes += [f for f in clause.facts if f.slot == "change"]
            _close(analysis, [] if change.tells_more else [clause])
    for run in _runs(analysis, stated) if not ended else ():
        change = read(
            _norm_of(analysis, run), request=any(c.speech_act != "statement" for c in run)
        )
        if change is not None:
            ended += change.facts
            _close(analysis, [] if change.tells_more else run)
            break
    for piece in _pieces(analysis, stated) if not ended else ():
        change = read(piece, request=False)
        if change is not None:
            ended += change.facts
    told_of = {fact.slot for fact in analysis.facts}
    if not ended and (analysis.answered or told_of <= {"change"}):
        ended = _pointed_at(analysis, stated, turn, context)
    if ended:
        told_still = [fact for fact in analysis.facts if fact not in only_changes]
        child = child_named(ended, analysis.words.norm)
        if child is not None:
            told_still = _with_child(told_still, child)
        analysis.facts = without_doubles([*ended, *told_still])


def _with_child(told: list[Fact], child: Fact) -> list[Fact]:
    """What is told with who was born; "the baby" that was named is the daughter or the son."""
    others = [f for f in told if f.subject != f"user.child:{child.value.lower()}"]
    return others if any(f.value == child.value != "" for f in others) else [*others, child]


def _pointed_at(
    analysis: Analysis, stated: Sequence[ClauseAnalysis], turn: Turn, context: DialogueContext
) -> list[Fact]:
    """What a clause ends without naming it: "i don't do that any more"."""
    said = [analysis.words.norm] if analysis.answered else [c.norm for c in stated]
    for place, norm in enumerate(said):
        before = [word for words in said[:place] for word in words]
        meant = pointed_at(norm, turn.assistant_before, context, analysis.language, before)
        if meant is not None:
            _close(analysis, analysis.clauses if analysis.answered else stated)
            analysis.facts = ()  # "Said in French about a change", what a "no" settles: the same
            return [ended_memory("pointed_at", meant)]
    return []


_CHANGING: frozenset[SpeechAct] = frozenset({"statement", "directive", "instruction", "forget"})

_SHORT_TURN = 18
"""Words up to which a change may run through several clauses ("we're done, steve and i")."""


def _runs(analysis: Analysis, stated: Sequence[ClauseAnalysis]) -> list[list[ClauseAnalysis]]:
    """Clauses through which one change may run: a short turn as a whole, then pairs."""
    if len(stated) < 2:
        return []
    pairs = [
        [one, other]
        for one, other in pairwise(analysis.clauses)
        if one in stated and other in stated
    ]
    short = len(stated) == len(analysis.clauses) and len(analysis.words.norm) <= _SHORT_TURN
    return [list(stated), *pairs] if short else pairs


def _pieces(analysis: Analysis, stated: Sequence[ClauseAnalysis]) -> list[list[str]]:
    """The words of clauses between commas ("bought trados, memoq's off the machine")."""
    words = analysis.words
    if "," not in words.text:
        return []
    found: list[list[str]] = []
    for clause in stated:
        if clause.speech_act != "statement":
            continue
        first, last = clause.span
        pieces: list[list[str]] = [[]]
        before = first
        for word, start, end in zip(words.norm, words.start, words.end, strict=True):
            if start < first or end > last:
                continue
            if pieces[-1] and "," in words.text[before:start]:
                pieces.append([])
            pieces[-1].append(word)
            before = end
        found += pieces if len(pieces) > 1 else []
    return found


def _norm_of(analysis: Analysis, run: Sequence[ClauseAnalysis]) -> list[str]:
    """The words from the first of some clauses to the last, those between them too."""
    words, first, last = analysis.words, run[0].span[0], run[-1].span[1]
    return [
        word
        for word, start, end in zip(words.norm, words.start, words.end, strict=True)
        if first <= start and end <= last
    ]


def _beside(change: KnownChange, clause: ClauseAnalysis) -> list[Fact]:
    """A change's facts, without what the clause's own facts say or take the place of."""
    told = [fact for fact in clause.facts if fact.op != "retract" and fact.slot != "change"]
    filled = {(fact.subject, fact.slot) for fact in told if fact.cardinality == "one"}
    left = [f for f in change.facts if f.slot is None or (f.subject, f.slot) not in filled]
    if not told:
        return left
    return [
        replace(f, op="retract", scope="memory", text=f.replaces, replaces=None)
        if f.replaces is not None
        else f
        for f in left
    ]


def _close(analysis: Analysis, clauses: Sequence[ClauseAnalysis]) -> None:
    """Takes clauses from the judge: what they tell is the change itself."""
    spans = {clause.span for clause in clauses}
    analysis.clauses = [
        clause._replace(open=False) if clause.span in spans else clause
        for clause in analysis.clauses
    ]


KNOWN = 0.95
"""Confidence of a statement that denies what is known: it is news to nobody else."""


_OPENS_A_CONDITION = 5
"""Words of a clause among which "if" makes the clause behind it a supposition."""

_BEFORE_ONE_IS_NAMED = 4
"""Words in front of "it's maria": a greeting, and no more."""


def _names_user(fact: Fact) -> bool:
    return fact.slot == "name" and fact.subject == "user" and fact.op != "retract"


def _denies_known(fact: Fact, context: DialogueContext) -> bool:
    return any(
        old.slot == fact.slot and old.value.lower() == fact.value.lower()
        for old in (*context.recent_facts, *context.known)
    )


def _predecessors(analysis: Analysis) -> tuple[Fact, ...]:
    """Reads "my new boss is called raj": whoever was the boss before is it no longer."""
    norm, discourse = analysis.words.norm, analysis.discourse
    if discourse is None:
        return ()
    found: list[Fact] = []
    for i, word in enumerate(norm[:-1]):
        if word != "new" or not i or norm[i - 1] not in ("my", "our", "a"):
            continue
        relation = discourse.lexicon.relation_at(norm, i + 1, len(norm))
        if relation is None or relation[0].plural or relation[0].pet:
            continue
        subject = subject_of(relation[0])
        if not any(fact.subject.partition(":")[0] == subject for fact in analysis.facts):
            continue
        found.append(
            Fact(
                text=f"Has a new {relation[0].name}",
                category="relationships",
                slot="successor",
                subject=subject,
                op="retract",
                scope="subject",
                rule_id="new_holder",
                extraction_method="pattern:new_holder",
            )
        )
    return tuple(found)
