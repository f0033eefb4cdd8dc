"""The read gate: whether a turn needs memory, why, how much and which.

Rules decide first and say why; what they leave open, the local judge's read-need decides. Rules
are pure and take microseconds; the judge takes about two milliseconds and is asked off the loop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bmo.recall.addressing import address
from bmo.recall.asked import (
    Ask,
    about_the_assistant,
    asks_of_somebody,
    calls_nobody_known,
    is_for_me,
    is_question,
    names_somebody,
    opens_as_question,
)
from bmo.recall.budget import prefers_accuracy, token_budget
from bmo.recall.classify import Classification, classify
from bmo.recall.judged_need import (
    FAMILIAR,
    FAMILIAR_NEED,
    FITS_NEED,
    NOT_STRANGE,
    OVERRULED,
    STRANGE_NEED,
    STRANGE_OWN_NEED,
    answers,
    may_fit,
    overrules,
)
from bmo.recall.leaning import is_whole, leans
from bmo.recall.lexer import ABOUT_SOMEBODY, OF_ONESELF
from bmo.recall.packs import (
    LANGUAGES,
    Reading,
    guess_language,
    load_pack,
)
from bmo.recall.relevance import Familiarity
from bmo.settings import Settings, load_settings
from bmo.turn import Assessment, Depth, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.judge import Judge

_log = logging.getLogger("bmo.recall")

OPEN: Final = "open"
"""Trigger of a plan that the rules could not settle: a judge may look."""

WEAK_MARGIN = 0.2
"""Turns without "my" or a person in them must clear this share of what is left above the
threshold: the judge's false alarms are mostly services and general knowledge asked with "i"."""

_STRONG = frozenset({"my", "mine", "kin", "ownkin", "barekin", "pet", "pronoun"})
"""Words that say whose life it is about; "can i ..." and "tell me ..." alone do not."""

_STANDS = frozenset({"remember_this", "forget_request", "annoyed_repeat", "set_reminder"})
"""Rules that no judge overrules: what they read is said in so many words."""

_EMPTY = RecallPlan(recall=False, trigger="trivial", complexity="trivial")


class ReadGate:
    """Plans recall for a turn. Stateless and thread-safe."""

    def __init__(self, settings: Settings, judge: Judge | None = None) -> None:
        """Loads the rule packs; see ``from_settings``.

        Args:
            settings: Depth, preference, language, thresholds.
            judge: The local judge, or None to leave open turns without memory.
        """
        self._settings = settings
        self._judge = judge
        self._packs = {language: load_pack(language) for language in LANGUAGES}
        self.version = "rules-" + "".join(p.version[:2] for p in self._packs.values())
        if judge is not None:
            self.version += f"+judge-{judge.version}"

    @classmethod
    def from_settings(
        cls,
        settings: Settings | None = None,
        *,
        judge: Judge | None = None,
        load_judge: bool = True,
    ) -> ReadGate:
        """Makes the gate that the settings ask for.

        Args:
            settings: None reads environment and ``.env``.
            judge: A judge that is already open (shared with the write gate).
            load_judge: Open the judge when none is given and the mode uses one. Where it cannot
                be opened, the rules work alone.
        """
        settings = settings or load_settings()
        if judge is None and load_judge and settings.effective_mode != "pattern":
            judge = _open_judge()
        return cls(settings, judge)

    def plan(
        self,
        turn: Turn,
        *,
        previous: RecallPlan | None = None,
        conversation_turns: int = 0,
        assessment: Assessment | None = None,
        subjects: Mapping[str, str] | None = None,
        familiar: Callable[[str], Familiarity | None] | None = None,
    ) -> RecallPlan:
        """Plans recall for ``turn``: rules, then the judge where they are silent.

        Args:
            turn: The user's turn.
            previous: The plan of the turn before; a follow-up inherits from it.
            conversation_turns: User turns of this conversation so far.
            assessment: The judge's word when it was already asked (the write gate shares it).
            subjects: Lower-case name -> subject of the people the user's memory knows; None where
                that is not known.
            familiar: Tells how much of some words is in the user's memory, or None where that is
                not known; asked only where the rules leave the turn open.

        Returns:
            A plan; ``recall`` False says why in ``trigger``. Blocking, about 2 ms when the judge
            is asked, microseconds otherwise.
        """
        started = time.perf_counter()
        ask = self._asked(turn, conversation_turns, subjects)
        plan = self._by_rules(ask, previous)
        if plan.trigger == OPEN:
            if assessment is None and self._judge is not None:
                assessment = self._judge.assess([(turn.assistant_before, turn.text)])[0]
            plan = self._by_judge(self._silent(ask, previous), ask, assessment, familiar)
        return replace(plan, elapsed_us=(time.perf_counter() - started) * 1e6)

    def warm_up(self) -> None:
        """Compiles what a plan may need, in all languages: 0.2 s that no turn has to wait."""
        for pack in self._packs.values():
            pack.index.compile()

    def plan_by_rules(
        self,
        turn: Turn,
        *,
        previous: RecallPlan | None = None,
        conversation_turns: int = 0,
        subjects: Mapping[str, str] | None = None,
    ) -> RecallPlan:
        """The rules' plan alone; pure. ``trigger`` is ``"open"`` where they are silent."""
        started = time.perf_counter()
        plan = self._by_rules(self._asked(turn, conversation_turns, subjects), previous)
        return replace(plan, elapsed_us=(time.perf_counter() - started) * 1e6)

    def _asked(
        self, turn: Turn, conversation_turns: int, subjects: Mapping[str, str] | None
    ) -> Ask:
        language = (turn.language or "")[:2].lower()
        if language not in self._packs:
            chosen = self._settings.bmo_language
            language = guess_language(turn.text) if chosen == "auto" else chosen
        pack = self._packs[language]
        reading = Reading(pack, turn.text)
        depth = reading.depth() or self._settings.bmo_context_depth
        kind = classify(reading.words, turn.text)
        return Ask(turn, reading, pack, kind, depth, conversation_turns, subjects)

    def _by_rules(self, ask: Ask, previous: RecallPlan | None) -> RecallPlan:
        """The rules' plan; open where they are silent or a sure judge may overrule them."""
        plan = self._ruled(ask, previous)
        return _not(ask.kind, OPEN, ask.depth) if self._may_overrule(ask, plan) else plan

    def _may_overrule(self, ask: Ask, plan: RecallPlan) -> bool:
        if self._judge is None or plan.recall or plan.trigger not in OVERRULED:
            return False
        rule = ask.reading.rule()
        return bool(ask.reading.words.classes & OF_ONESELF) and (
            rule is None or rule.id not in _STANDS
        )

    def _silent(self, ask: Ask, previous: RecallPlan | None) -> RecallPlan:
        """What an open turn is when the judge sees no need either."""
        plan = self._ruled(ask, previous)
        if plan.trigger != OPEN:
            return plan
        about = ask.reading.words.classes & ABOUT_SOMEBODY
        return replace(plan, trigger="no_trigger" if about else "general_knowledge")

    def _ruled(self, ask: Ask, previous: RecallPlan | None) -> RecallPlan:
        words, kind, depth = ask.reading.words, ask.kind, ask.depth
        if not words.words:
            return _EMPTY
        if depth == "minimal" and ask.reading.depth() is None:
            return _not(kind, "minimal_depth", depth)
        rule = ask.reading.rule()
        if rule is not None and rule.outcome == "recall":
            if rule.trigger == "command_needs_fact" and calls_nobody_known(ask):
                return _not(kind, "command", depth)
            plan = self._wanted(ask, rule.trigger, include_all=rule.include_all)
            return replace(plan, categories=rule.categories) if rule.include_all else plan
        if depth == "full" and not words.smalltalk_only:
            return self._wanted(ask, "forced", include_all=True)
        named = names_somebody(words, ask.subjects or {})
        if rule is not None and rule.outcome == "weigh":
            return _not(kind, OPEN, depth)
        if rule is not None and not (named and rule.id == "assistant_itself"):
            return _not(kind, rule.trigger, depth)
        if previous is not None and previous.recall and leans(words):
            return self._inherited(ask, previous)
        if words.smalltalk_only:
            return _not(kind, "smalltalk", depth)
        if (words.asked or "q" in words.classes or asks_of_somebody(ask)) and named:
            return self._wanted(ask, "own_fact_question")
        if not (words.asked or "asking" in words.classes or opens_as_question(ask)):
            return _not(kind, "statement", depth)
        if about_the_assistant(words):
            return _not(kind, "smalltalk", depth)
        return _not(kind, OPEN, depth)

    def _by_judge(
        self,
        silent: RecallPlan,
        ask: Ask,
        assessment: Assessment | None,
        familiar: Callable[[str], Familiarity | None] | None,
    ) -> RecallPlan:
        """The judge's word on an open turn, weighed with how familiar the turn is.

        Args:
            silent: The plan when there is no need.
            ask: The turn.
            assessment: The judge's word, or None without one.
            familiar: See ``plan``.
        """
        classes = ask.reading.words.classes
        need = 0.0 if assessment is None else assessment.read_need
        question = is_question(ask)
        rule = ask.reading.rule()
        occasion = rule is not None and rule.outcome == "weigh"
        advice = rule is not None and occasion and rule.trigger == "indirect_need"
        asking = question or occasion or "q" in classes
        known = None
        if familiar is not None and (asking or need >= FITS_NEED):
            known = familiar(ask.turn.text)
        overruling = bool(classes & OF_ONESELF) and silent.trigger in OVERRULED
        if known is not None and known.named and asking and not overruling:
            return replace(self._wanted(ask, "own_fact_question"), read_need=need)
        if assessment is None:
            return silent
        threshold = self._read_threshold(bool(classes & _STRONG))
        if overruling:
            threshold = max(threshold, overrules(need, known, OVERRULED[silent.trigger]))
        elif known is not None and known.score >= FAMILIAR:
            threshold = min(threshold, FAMILIAR_NEED)
        elif known is not None and known.score <= 0.0:
            own = bool(classes & _STRONG) or is_for_me(ask.reading.words)
            strange = STRANGE_OWN_NEED if own else STRANGE_NEED
            if threshold <= need < strange and known.closest() < NOT_STRANGE:
                threshold = strange
        fits = (
            known is not None
            and not overruling
            and need < threshold
            and (may_fit(need, known) or answers(known, question, occasion, advice))
        )
        if need < threshold and not fits:
            return replace(silent, read_need=need)
        return replace(self._wanted(ask, "judge"), read_need=need)

    def _read_threshold(self, strong: bool) -> float:
        threshold = self._settings.bmo_judge_read
        if threshold is None:
            threshold = self._judge.thresholds.read if self._judge is not None else 0.5
        return threshold if strong else threshold + (1.0 - threshold) * WEAK_MARGIN

    def _wanted(self, ask: Ask, trigger: str, *, include_all: bool = False) -> RecallPlan:
        kind = ask.kind
        if kind.complexity == "trivial":  # "why?" after an answer is small but wants an answer
            kind = replace(kind, complexity="simple")
        if trigger == "explicit_prompt":
            kind = replace(kind, references_history=True)
        found = address(
            ask.reading,
            ask.turn.text,
            ask.pack,
            ask.subjects or {},
            glossed=trigger == "indirect_need",
        )
        prefer = self._settings.bmo_prefer
        accuracy = ask.depth == "full" or prefers_accuracy(kind, ask.conversation_turns, prefer)
        return RecallPlan(
            recall=True,
            trigger=trigger,
            complexity=kind.complexity,
            intent=kind.intent,
            domains=found.domains,
            depth=ask.depth,
            budget_tokens=token_budget(
                kind,
                conversation_turns=ask.conversation_turns,
                prefer=prefer,
                depth=ask.depth,
                accuracy=accuracy,
            ),
            slots=found.slots,
            soft_slots=found.soft,
            subjects=found.subjects,
            categories=() if include_all else found.categories,
            query=found.query,
            references_history=kind.references_history,
            include_past=found.past,
            include_all=include_all,
            prefer_accuracy=accuracy,
        )

    def _inherited(self, ask: Ask, previous: RecallPlan) -> RecallPlan:
        plan = self._wanted(ask, "follow_up", include_all=previous.include_all)
        if is_whole(ask.reading.words):
            return replace(plan, include_all=False)
        return replace(
            plan,
            intent="continuation",
            slots=plan.slots or previous.slots,
            soft_slots=plan.soft_slots or previous.soft_slots,
            subjects=plan.subjects or previous.subjects,
            categories=plan.categories or previous.categories,
            domains=plan.domains or previous.domains,
            query=f"{previous.query} {plan.query}".strip(),
            include_past=plan.include_past or previous.include_past,
        )


def _not(kind: Classification, trigger: str, depth: Depth) -> RecallPlan:
    return RecallPlan(
        recall=False, trigger=trigger, complexity=kind.complexity, intent=kind.intent, depth=depth
    )


def _open_judge() -> Judge | None:
    from bmo.judge import Judge, JudgeUnavailable

    try:
        return Judge.open()
    except JudgeUnavailable as error:
        _log.warning("no local judge", extra={"error": str(error)})
        return None
