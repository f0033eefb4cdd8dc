"""The rules' verdict: facts allow; skips, questions and commands discard; the rest is held."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from bmo.gate.analysis import Analysis
from bmo.gate.skip_rules import skip
from bmo.gate.speech_act import SpeechAct
from bmo.language import LanguageCode, Words
from bmo.turn import CATEGORY_SIGNALS, Category, Fact, Signal, Turn, Verdict

_ACT_SIGNALS: dict[SpeechAct, Signal] = {
    "question": "question",
    "directive": "command",
    "remember": "remember",
    "forget": "forget",
}


class RulesVerdict(NamedTuple):
    """What the rules say of a turn; fields as in ``Decision``."""

    verdict: Verdict
    signals: tuple[Signal, ...]
    reason: str
    confidence: float
    rule_id: str = ""
    facts: tuple[Fact, ...] = ()
    open: bool = False
    extraction_method: str = ""


def rules_verdict(analysis: Analysis, turn: Turn, spoken: Words) -> RulesVerdict:
    """Sums up the clauses of a turn.

    Args:
        analysis: What the rules made of each clause.
        turn: The turn.
        spoken: Its words before repair.
    """
    language = analysis.language
    facts = analysis.facts
    if len(analysis.clauses) == 1 and not turn.assistant_before:
        asks = _ONLY_ASKS.get(analysis.clauses[0].speech_act)
        if asks is not None and not facts:
            return asks  # most turns to an assistant
    signals = _signals(analysis, facts)
    if facts:
        first, sure = facts[0], facts[0].confidence
        if len(facts) > 1:
            first = next((fact for fact in facts if fact.op != "retract"), first)
            sure = max([fact.confidence for fact in facts])
        still_open = True in [clause.open for clause in analysis.clauses]
        told = ("allow", signals, _reason(first), sure, first.rule_id, facts, still_open, "")
        return _made(RulesVerdict, told)
    if turn.assistant_before and not analysis.answered and len(spoken.norm) <= 14:
        skipped = skip(spoken.norm, language)
        if skipped is not None:
            # A judge may know whether the question was worth asking.
            left_open = analysis.asked != ""
            return RulesVerdict("discard", (skipped[0],), skipped[1], 0.98, open=left_open)
    acts = set()
    vetoed = None
    substantive = []
    for c in analysis.clauses:
        _, _, norm, act, vetoes, *_ = c
        acts.add(act)
        if vetoed is None and vetoes:
            vetoed = vetoes[0]
        if act not in _ASKING and not (len(norm) <= _FILLER_WORDS and _is_filler(norm, language)):
            substantive.append(c)
    if not acts:
        return RulesVerdict("discard", ("other",), "empty", 0.99)
    if not substantive:
        if "question" in acts:
            return _made(RulesVerdict, ("discard", signals, "question", 0.97, "", (), False, ""))
        if "directive" in acts:
            return _made(RulesVerdict, ("discard", signals, "command", 0.95, "", (), False, ""))
        return RulesVerdict("discard", signals, "nothing said", 0.9)
    if "question" in acts:
        # "if i get her a room does it matter what floor it is on": all of it asks.
        if all(len(c.norm) < 5 or c.vetoes == _ONLY_IF for c in substantive):
            return RulesVerdict("discard", signals, "question", 0.9)
    if all(c.vetoes and _NOTHING_MEANT.issuperset(c.vetoes[:1]) for c in substantive):
        return RulesVerdict("discard", signals, substantive[0].vetoes[0], 0.9)
    if all(c.vetoes == _IDLE_WISH for c in substantive):
        return RulesVerdict("discard", signals, "idiom", 0.9)
    still_open = True in [c.open for c in substantive]
    if vetoed is not None:
        return RulesVerdict("hold", signals, vetoed, 0.8, open=still_open)
    return _made(RulesVerdict, ("hold", signals, "no rule vouches", 0.5, "", (), still_open, ""))


_made = tuple.__new__
"""Makes a named tuple of all its fields in a third of the time."""
_ONLY_ASKS: dict[SpeechAct, RulesVerdict] = {
    "question": RulesVerdict("discard", ("question",), "question", 0.97),
    "directive": RulesVerdict("discard", ("command",), "command", 0.95),
}
_ASKING = frozenset({"question", "directive"})
_ONLY_IF = ("conditional",)
_IDLE_WISH = ("wish", "idiom")
"""Vetoes of "i'd give my right arm for it"."""
_NOTHING_MEANT = frozenset({"idiom", "joke"})
"""Vetoes of what says nothing about anybody ("i like that one", "who am i kidding")."""
_FILLER_WORDS = 6
"""A longer clause is never filler."""


@lru_cache(maxsize=4096)
def _is_filler(norm: tuple[str, ...], language: LanguageCode) -> bool:
    return skip(norm, language) is not None


def _signals(analysis: Analysis, facts: tuple[Fact, ...]) -> tuple[Signal, ...]:
    found: list[Signal] = []
    for fact in facts:
        asked = fact.op == "retract" and fact.rule_id == "retraction"
        signal: Signal = "forget" if asked else CATEGORY_SIGNALS[fact.category]
        if fact.op == "correct" and "correction" not in found:
            found.append("correction")
        if signal not in found:
            found.append(signal)
    for clause in analysis.clauses:
        of_act = _ACT_SIGNALS.get(clause.speech_act)
        if of_act is not None and of_act not in found:
            found.append(of_act)
    return tuple(found) or ("other",)


def _reason(fact: Fact) -> str:
    if fact.op == "retract":
        return "asked to forget" if fact.rule_id == "retraction" else "no longer so"
    if fact.op == "correct":
        return "correction"
    return _STATED[fact.category]


_STATED: dict[Category, str] = {
    "relationships": "stated relationship",
    "preferences": "stated preference",
    "goals": "stated goal",
    "personal_facts": "stated personal fact",
    "policies": "stated policy",
    "decisions": "stated decision",
}
