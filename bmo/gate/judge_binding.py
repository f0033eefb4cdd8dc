"""Binds the local judge to the rules: what they leave open, and their doubtful facts.

Rules come first. The judge speaks where they cannot vouch either way, and as a second opinion on
facts of rules whose measured precision is under ``SURE``. It never overrules a stage that forbids:
clauses with a factuality veto are not stored whatever it says, and turns that the sensitive or
injection stage stopped do not come here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bmo.gate.analysis import Analysis, ClauseAnalysis, without_doubles
from bmo.gate.open_canonicalisation import canonicalise
from bmo.gate.open_category import asks_for_a_choice, category_of, is_standing
from bmo.gate.open_grouping import ClauseOdds, grouped, runs, tells_event
from bmo.gate.open_text import OpenText
from bmo.gate.requests import is_request
from bmo.turn import Assessment, Category, Decision, DialogueContext, Fact, Kind, Signal, Turn

if TYPE_CHECKING:
    from bmo.judge import Judge, JudgeThresholds

SURE = 0.82
"""Measured precision from which a rule's fact needs no second opinion."""
REFUTED = 0.3
"""P(allow) of the turn under which a doubtful fact of a rule is not stored."""
CARRIED = 0.25
"""P(allow) that the clauses of a memory must reach by themselves, without the rest of the turn."""
STRANGE = 2.0
"""Word pieces a word from which an "English" turn is in no language the judge knows."""
OTHER_LANGUAGES = 0.9
"""P(allow) from which a turn that is not English is kept: the judge knows less of it."""
ASKED_FOR = 0.2
"""P(allow) from which something is kept that the user asks to remember."""
NEVER = 1.1
"""A probability that is not reached."""
REQUESTED = 0.93
"""P(allow) from which a wish for something here and now ("i need a car for march") is kept."""
EXTRA = 0.93
"""P(allow) that a clause alone must reach to be stored beside what the rules wrote of the turn."""
MAX_MEMORIES = 5
"""Most memories of one turn; what is more is told in the last."""

EXTRA_WORDS = 4
"""Least words of such a clause."""
_REASONS = frozenset({"because", "cos", "cause", "since", "so", "as", "if", "when", "but"})

_ASKED_OF_YOU = frozenset({"can", "could", "will", "would"})
_SIGNALS: dict[Category, Signal] = {
    "relationships": "relationship",
    "preferences": "preference",
    "goals": "goal",
    "personal_facts": "personal_fact",
    "policies": "policy",
    "decisions": "decision",
}
_KINDS: dict[Category, Kind] = {"preferences": "preference", "policies": "policy"}
_WISH = re.compile(
    r"\W*(?:(?:so|well|um|uh|oh|and|yeah) )*"
    r"i(?: would|['’]?d) (?:really )?(?:like|love) to \w|"
    r"\W*(?:(?:so|well|um|uh|oh|and|yeah) )*i (?:really |still )?(?:want|need) \w|"
    r"\W*(?:(?:so|well|um|uh|oh|and|yeah) )*i(?: am|['’]?m) (?:still )?trying to \w",
    re.IGNORECASE,
)
_AIMS = ("Would like", "Would love", "Wants", "Needs", "Is trying")
"""How the memory of such a wish begins, when none of its words were lost."""
_CAPITAL = re.compile(r"(?<!^)\b[^\W\d_][\w'’-]+")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The judge and what a decision needs of it."""

    judge: Judge
    thresholds: JudgeThresholds
    turn: Turn
    context: DialogueContext
    analysis: Analysis
    whole: Assessment
    known: dict[str, Assessment]

    def odds(self, said: str) -> Assessment:
        """The judge on a part of the turn, asked once a part."""
        found = self.known.get(said)
        if found is None:
            found = self.judge.assess([(self.turn.assistant_before, said)])[0]
            self.known[said] = found
        return found


def wants_judge(rules: Decision) -> bool:
    """Whether the judge has a say: the rules left something open, or are not sure."""
    unvouched = rules.verdict == "hold" and rules.reason == "no rule vouches"
    return (
        rules.open
        or unvouched
        or any(_doubtful(fact) for fact in rules.facts)
        or _may_be_an_aim(rules)
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
    said = rules.text or turn.text
    whole = judge.assess([(turn.assistant_before, said)])[0]
    asked = _Asked(judge, thresholds, turn, context, analysis, whole, {said: whole})
    if _may_be_an_aim(rules):
        return _aim_or_command(rules, asked)
    if analysis.language == "en" and judge.pieces_per_word(said) > STRANGE and not rules.facts:
        return replace(_without_memory(rules, asked), verdict="hold", reason="unknown language")
    if rules.facts:
        return _beside_rules(rules, asked)
    return _instead_of_rules(rules, asked)


def _may_be_an_aim(rules: Decision) -> bool:
    """Whether rules read a command in words that may as well tell what somebody wants of life."""
    return rules.reason == "command" and _WISH.match(rules.text) is not None


def _aim_or_command(rules: Decision, asked: _Asked) -> Decision:
    """Takes "i would like to have children" for an aim where the judge is very sure of it."""
    clauses = [c for c in asked.analysis.clauses if not c.vetoes]
    asks = any(clause.speech_act == "question" for clause in clauses)
    if asks or asked.analysis.language != "en" or asked.whole.allow < REQUESTED:
        return rules
    memories = _memories(asked, clauses, 0.0)
    if not memories or not memories[0].text.startswith(_AIMS):
        return rules
    return _allowed(rules, asked, memories)


def _doubtful(fact: Fact) -> bool:
    return fact.op == "assert" and fact.confidence < SURE


def _beside_rules(rules: Decision, asked: _Asked) -> Decision:
    """Doubtful facts refuted, open clauses added."""
    whole = asked.whole
    # Who asks to remember something is not second-guessed.
    refuted = whole.allow < REFUTED and "remember" not in rules.signals
    kept = [f for f in rules.facts if not (refuted and _doubtful(f))]
    if rules.open and whole.allow >= asked.thresholds.allow:
        more = [c for c in asked.analysis.open_clauses if _may_carry(c) and _stands_alone(asked, c)]
        if asked.analysis.language == "en":  # elsewhere only heads are translated: rules do better
            kept += _memories(asked, more, EXTRA)
    if kept:
        facts = without_doubles(kept)
        return replace(rules, facts=facts, assessment=whole)
    verdict = _without_memory(rules, asked)
    return replace(verdict, facts=(), rule_id="", reason=f"{verdict.reason}; rule refuted")


def _instead_of_rules(rules: Decision, asked: _Asked) -> Decision:
    """Allow with open memories, discard, or hold."""
    whole = asked.whole
    needed = asked.thresholds.allow
    if asked.analysis.language != "en":
        needed = max(needed, OTHER_LANGUAGES)
        acts = [clause.speech_act for clause in asked.analysis.clauses]
        if "question" in acts or ("directive" in acts and len(acts) > 1):
            needed = NEVER  # the words go down as they were said: no orders among them
    elif any(is_request(clause.norm) for clause in asked.analysis.clauses):
        needed = max(needed, REQUESTED)
    if "remember" in rules.signals:
        needed = min(needed, ASKED_FOR)
    if whole.allow >= needed:
        spoken = [c for c in asked.analysis.clauses if _may_carry(c)]
        memories = _memories(asked, spoken, 0.0)
        if memories:
            return _allowed(rules, asked, memories)
        return replace(
            rules,
            verdict="hold",
            reason="judged durable, but not to be understood alone",
            confidence=whole.allow,
            extraction_method=f"judge:{whole.version}",
            assessment=whole,
        )
    return _without_memory(rules, asked)


def _allowed(rules: Decision, asked: _Asked, memories: Sequence[Fact]) -> Decision:
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


def _without_memory(rules: Decision, asked: _Asked) -> Decision:
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


def _may_carry(clause: ClauseAnalysis) -> bool:
    asks = clause.norm[0] in _ASKED_OF_YOU and clause.norm[1:2] == ("you",)
    storable = clause.speech_act not in ("question", "directive", "forget")
    return storable and not asks and not clause.vetoes


def _stands_alone(asked: _Asked, clause: ClauseAnalysis) -> bool:
    """Whether a clause may be a memory beside those of the rules.

    Not a reason ("because ..."), not an event told on the way to what is true now ("sold the old
    one"), not a few words.
    """
    norm = clause.norm
    if len(norm) < EXTRA_WORDS:
        return False
    before = asked.turn.text[: clause.span[0]].lower().split()
    if before and before[-1] in _REASONS:
        return False
    return not tells_event(clause)


def _memories(asked: _Asked, clauses: Sequence[ClauseAnalysis], needed: float) -> list[Fact]:
    """Open memories of ``clauses``: found by the judge, written by open canonicalisation.

    Args:
        asked: The judge and the turn.
        clauses: Clauses that may carry a fact.
        needed: P(allow) a group of clauses must reach on its own; 0 takes what carries the turn.
    """
    if not clauses:
        return []
    alone = [asked.odds(clause.text) for clause in clauses]
    odds = [ClauseOdds(c, a.allow, a.discard) for c, a in zip(clauses, alone, strict=True)]
    groups = grouped(odds, needed, MAX_MEMORIES)
    facts: list[Fact] = []
    for group in groups:
        fact = _memory(asked, group)
        if fact is not None:
            facts.append(fact)
    return list(without_doubles(facts))


def _memory(asked: _Asked, group: Sequence[ClauseAnalysis]) -> Fact | None:
    found: list[OpenText] = []
    for start, stop in runs(group, asked.analysis.words):
        part = canonicalise(
            asked.analysis.words,
            asked.turn.assistant_before,
            asked.analysis.language,
            asked.context.subjects,
            start=start,
            end=stop,
        )
        if part is not None:
            found.append(part)
    if not found:
        return None
    text = "; ".join([found[0].text, *(_lowered(more.text) for more in found[1:])])
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


def _lowered(text: str) -> str:
    first, _, rest = text.partition(" ")
    lowered = first if first.isupper() and len(first) > 1 else first[:1].lower() + first[1:]
    return f"{lowered} {rest}".strip()


def _signals(rules: Decision, memories: Sequence[Fact]) -> tuple[Signal, ...]:
    found: list[Signal] = []
    for fact in memories:
        if _SIGNALS[fact.category] not in found:
            found.append(_SIGNALS[fact.category])
    left = ("other", "command")
    return (*found, *(s for s in rules.signals if s not in found and s not in left))
