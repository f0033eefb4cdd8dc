"""Binds the local judge to the rules: what they leave open, and their doubtful facts.

Rules come first. The judge speaks where they cannot vouch either way, and as a second opinion on
facts of rules whose measured precision is under ``SURE``. It never overrules a stage that forbids:
clauses with a factuality veto are not stored whatever it says, and turns that the sensitive or
injection stage stopped do not come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bmo.gate.analysis import Analysis, without_doubles
from bmo.gate.judge_answers import as_stated, memory_of_answer
from bmo.gate.judge_beside_rules import completed, stands_alone, told_with_rules
from bmo.gate.judge_commands import REQUESTED, memories_of_command, told_for_good
from bmo.gate.judge_memories import Asked, is_wish, may_carry, open_memories
from bmo.gate.momentary_questions import asks_of_the_moment
from bmo.gate.nobody_known import tells_of_nobody_known
from bmo.gate.open_coverage import missing
from bmo.gate.other_moments import soon_over
from bmo.gate.people import Gender
from bmo.gate.personal_words import orders, tells_of_the_user
from bmo.gate.requests import is_request
from bmo.gate.rest_of_turn import with_rest_of_turn
from bmo.gate.said_of_another import told_of
from bmo.gate.talk_words import talk_words
from bmo.gate.told_beside_requests import told_part
from bmo.turn import CATEGORY_SIGNALS, Category, Decision, DialogueContext, Fact, Signal, Turn

if TYPE_CHECKING:
    from bmo.judge import Judge, JudgeThresholds

SURE = 0.82
"""Measured precision from which a rule's fact needs no second opinion."""
REFUTED = 0.3
"""P(allow) of the turn under which a doubtful fact of a rule is not stored."""
STRANGE = 2.0
"""Word pieces a word from which an "English" turn is in no language the judge knows."""
OTHER_LANGUAGES = 0.76
"""P(allow) from which a turn in German, French or Spanish is kept that speaks of no moment: on
turns that their rules leave open it is right in nine of ten from here on."""
ASKED_FOR = 0.2
"""P(allow) from which something is kept that the user asks to remember."""
NEVER = 1.1
"""A probability that is not reached."""
EXTRA = 0.93
"""P(allow) that a clause alone must reach to be stored beside what the rules wrote of the turn."""
REASON = 0.95
"""The same beside a standing wish, whose reason is told with it ("i read them in meetings")."""
BESIDE_AN_END = 0.3
"""The same, where the rules only ended something: what takes its place is told with it."""
BESIDE_REQUEST = 0.1
"""P(allow) of a turn that opens with a request from which what it tells then is judged alone:
under it the request shows that it is of the moment ("set a timer for me i am baking bread")."""
OF_ANYBODY: frozenset[Category] = frozenset({"personal_facts", "relationships", "goals"})
"""Categories whose statements name the user or somebody of theirs."""
ORDERED: frozenset[Category] = frozenset({"policies", "preferences"})
"""Categories whose statements name them, or order something."""


def wants_judge(rules: Decision) -> bool:
    """Whether the judge has a say: the rules left something open or out, or are not sure."""
    unvouched = rules.verdict == "hold" and rules.reason == "no rule vouches"
    return (
        rules.open
        or unvouched
        or any(_doubtful(fact) for fact in rules.facts)
        or told_for_good(rules)
    )


def bind(
    rules: Decision,
    analysis: Analysis,
    turn: Turn,
    context: DialogueContext,
    judge: Judge,
    thresholds: JudgeThresholds,
) -> Decision:
    """The judge's word on what the rules left open (blocking, about 2 ms and 2 ms a clause).

    Args:
        rules: The rules' decision.
        analysis: What they made of each clause.
        turn: The turn.
        context: The conversation.
        judge: An open judge.
        thresholds: From which probabilities it counts.

    Raises:
        JudgeUnavailable: The judge failed; the caller falls back to the rules.
    """
    if not wants_judge(rules):
        return rules
    if _of_the_moment(rules, analysis, turn):
        return replace(rules, open=False, reason="of the moment")
    if analysis.asked:
        return _settled_question(rules, analysis, turn, context, judge, thresholds)
    said = rules.text or turn.text
    whole = judge.assess([(turn.assistant_before, said)])[0]
    if analysis.language == "en" and not rules.facts and whole.allow >= BESIDE_REQUEST:
        told = told_part(said, analysis.clauses)
        if told != said:
            said = told
            whole = judge.assess([(turn.assistant_before, said)])[0]
    asked = Asked(judge, thresholds, turn, context, analysis, whole, {said: whole})
    if told_for_good(rules):
        memories = memories_of_command(rules, asked)
        return _allowed(rules, asked, memories) if memories else rules
    if analysis.language == "en" and judge.pieces_per_word(said) > STRANGE and not rules.facts:
        return replace(_without_memory(rules, asked), verdict="hold", reason="unknown language")
    if rules.facts:
        return _beside_rules(rules, asked)
    return _instead_of_rules(rules, asked)


_THEMSELVES = frozenset({"i", "we"})


def _of_the_moment(rules: Decision, analysis: Analysis, turn: Turn) -> bool:
    """Whether the turn only answers what was asked of this moment: the judge need not be asked."""
    if rules.facts or analysis.language != "en":
        return False
    if not analysis.asked and not _THEMSELVES.isdisjoint(analysis.words.norm):
        return False  # "are you going out tonight?" "no i broke my hip"
    return asks_of_the_moment(turn.assistant_before, analysis.words.norm)


def _settled_question(
    rules: Decision,
    analysis: Analysis,
    turn: Turn,
    context: DialogueContext,
    judge: Judge,
    thresholds: JudgeThresholds,
) -> Decision:
    """A yes or no to the assistant's question: the judge is asked what the question asks."""
    whole = judge.assess([("", analysis.asked)])[0]
    asked = as_stated(Asked(judge, thresholds, turn, context, analysis, whole, {}))
    if rules.facts:
        return _beside_rules(replace(rules, open=False), asked)
    memory = memory_of_answer(asked)
    if memory is not None:
        return _allowed(rules, asked, [memory])
    return (
        replace(rules, open=False) if rules.verdict == "discard" else _without_memory(rules, asked)
    )


def _doubtful(fact: Fact) -> bool:
    return fact.op == "assert" and fact.confidence < SURE


def _beside_rules(rules: Decision, asked: Asked) -> Decision:
    """Doubtful facts refuted, open clauses added."""
    whole = asked.whole
    # Who asks to remember something is not second-guessed.
    refuted = whole.allow < REFUTED and "remember" not in rules.signals
    kept = [f for f in rules.facts if not (refuted and _doubtful(f))]
    if whole.allow >= asked.thresholds.allow:
        kept = completed(asked, kept)
    if rules.open and whole.allow >= asked.thresholds.allow:
        more = [c for c in asked.analysis.open_clauses if may_carry(c)]
        kept, more = told_with_rules(asked, kept, more)
        alone = [c for c in more if stands_alone(asked, c) and missing(c.norm, kept)]
        needed = REASON if any(is_wish(c) for c in asked.analysis.clauses) else EXTRA
        if kept and all(fact.op == "retract" for fact in kept):
            needed = BESIDE_AN_END
        kept += open_memories(asked, alone, needed)
    if kept:
        facts = with_rest_of_turn(asked, without_doubles(kept))
        return replace(rules, facts=facts, assessment=whole)
    verdict = _without_memory(rules, asked)
    return replace(verdict, facts=(), rule_id="", reason=f"{verdict.reason}; rule refuted")


def _instead_of_rules(rules: Decision, asked: Asked) -> Decision:
    """Allow with open memories, discard, or hold."""
    whole = asked.whole
    needed = asked.thresholds.allow
    if asked.analysis.language != "en":
        needed = max(needed, OTHER_LANGUAGES)
        told_by_others = any("third_party" in clause.vetoes for clause in asked.analysis.clauses)
        if told_by_others or soon_over(asked.analysis.words.norm, asked.analysis.language):
            needed = NEVER
        if _of_nobody(asked):
            needed = NEVER
        acts = [clause.speech_act for clause in asked.analysis.clauses]
        if "question" in acts or ("directive" in acts and len(acts) > 1):
            needed = NEVER  # the words go down as they were said: no orders among them
    elif any(is_request(clause.norm) for clause in asked.analysis.clauses):
        needed = max(needed, REQUESTED)
    elif whole.allow >= needed and tells_of_nobody_known(asked):
        held = _without_memory(rules, asked)
        return replace(held, reason="about nobody the talk knows", confidence=whole.allow)
    if "remember" in rules.signals:
        needed = min(needed, ASKED_FOR)
    if whole.allow >= needed:
        spoken = [c for c in asked.analysis.clauses if may_carry(c)]
        wished = [c for c in spoken if is_wish(c)]
        if wished and len(wished) < len(spoken):
            # "no calls while i work | my hands are full": the reason of a wish is no memory.
            spoken = [c for c in spoken if c in wished or asked.odds(c.text).allow >= REASON]
        memories = open_memories(asked, spoken, 0.0)
        if memories:
            told = with_rest_of_turn(asked, memories)
            if asked.analysis.stranger is not None:
                told = told_of(told, asked.analysis.stranger)
            return _allowed(rules, asked, told)
        return replace(
            rules,
            verdict="hold",
            reason="judged durable, but not to be understood alone",
            confidence=whole.allow,
            extraction_method=f"judge:{whole.version}",
            assessment=whole,
        )
    return _without_memory(rules, asked)


def _of_nobody(asked: Asked) -> bool:
    """Whether a German, French or Spanish statement answers nothing and is about nobody known."""
    language, norm = asked.analysis.language, asked.analysis.words.norm
    if language == "en" or asked.turn.assistant_before.rstrip().endswith("?"):
        return False
    likely = max(asked.whole.categories, key=lambda name: asked.whole.categories[name])
    if likely in ORDERED and orders(norm, language):
        return False
    if _leans(asked):
        return True
    named = likely in OF_ANYBODY or likely in ORDERED
    return named and not tells_of_the_user(norm, language, asked.context.subjects)


_POINTS: dict[Gender, str] = {"male": "he", "female": "she", "unknown": "either"}


def _leans(asked: Asked) -> bool:
    """Whether a statement opens with "she" or "her" of whom the talk knows nobody."""
    said = talk_words(asked.analysis.language)
    first = asked.analysis.words.norm[0]
    pronoun = _POINTS.get(said.pronouns.get(first) or said.possessives.get(first, "thing"))
    return pronoun is not None and asked.whom(pronoun) is None


def _allowed(rules: Decision, asked: Asked, memories: Sequence[Fact]) -> Decision:
    return replace(
        rules,
        verdict="allow",
        facts=tuple(memories),
        signals=_signals(rules, memories),
        reason="judged durable",
        confidence=asked.whole.allow,
        extraction_method=f"judge:{asked.whole.version}",
        open=False,
        assessment=asked.whole,
    )


def _without_memory(rules: Decision, asked: Asked) -> Decision:
    whole = asked.whole
    discard = whole.discard >= asked.thresholds.discard
    return replace(
        rules,
        verdict="discard" if discard else "hold",
        reason="judged not durable" if discard else "judged uncertain",
        confidence=whole.discard if discard else max(whole.hold, 1 - whole.allow - whole.discard),
        extraction_method=f"judge:{whole.version}",
        open=not discard,
        assessment=whole,
    )


def _signals(rules: Decision, memories: Sequence[Fact]) -> tuple[Signal, ...]:
    found: list[Signal] = []
    for fact in memories:
        if CATEGORY_SIGNALS[fact.category] not in found:
            found.append(CATEGORY_SIGNALS[fact.category])
    left = ("other", "command")
    return (*found, *(s for s in rules.signals if s not in found and s not in left))
