"""The read gate: whether a turn needs memory, why, how much and which.

Rules decide first and say why; what they leave open, the local judge's read-need decides. Rules
are pure and take microseconds; the judge takes about two milliseconds and is asked off the loop.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bmo.recall.addressing import address
from bmo.recall.budget import prefers_accuracy, token_budget
from bmo.recall.classify import Classification, classify
from bmo.recall.lexer import Words
from bmo.recall.packs import LANGUAGES, Pack, Reading, guess_language, load_pack
from bmo.settings import Settings, load_settings
from bmo.turn import Assessment, Depth, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.judge import Judge

OPEN: Final = "open"
"""Trigger of a plan that the rules could not settle: a judge may look."""

FOLLOW_UP_WORDS = 7
"""A turn of at most this many words may lean on the one before it."""

BARE_WORDS = 2
"""One of at most this many words leans on it whatever they are."""

_GOES_ON = frozenset("and or but so also same und oder aber et ou mais y o pero".split())
_LEANING = frozenset(
    (
        "one ones that those it else other others another same first last second older younger "
        "das die der anderer andere älter jünger celui celle autre plus ese esa otro otra mayor"
    ).split()
)
"""Words by which a short question leans on the turn before."""

WEAK_MARGIN = 0.5
"""Turns without "my" or a person in them must clear this share of what is left above the
threshold: the judge's false alarms are mostly services and general knowledge asked with "i"."""

_STRONG = frozenset({"my", "mine", "kin", "ownkin", "barekin", "pet", "pronoun"})
"""Words that say whose life it is about; "can i ..." and "tell me ..." alone do not."""

_ABOUT_SOMEBODY = frozenset({"self", "kin", "ownkin", "barekin", "pet", "pronoun"})
_OF_MEMORY = frozenset({"remembering", "stored", "said", "suggest"})

_EMPTY = RecallPlan(recall=False, trigger="trivial", complexity="trivial")


@dataclass(frozen=True, slots=True)
class _Ask:
    """One call of the gate: the turn, read, and what is known around it."""

    turn: Turn
    reading: Reading
    pack: Pack
    kind: Classification
    depth: Depth
    conversation_turns: int
    subjects: Mapping[str, str]


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
    ) -> RecallPlan:
        """Plans recall for ``turn``: rules, then the judge where they are silent.

        Args:
            turn: The user's turn.
            previous: The plan of the turn before; a follow-up inherits from it.
            conversation_turns: User turns of this conversation so far.
            assessment: The judge's word when it was already asked (the write gate shares it).
            subjects: Lower-case name -> subject of the people the user's memory knows.

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
            plan = self._by_judge(plan, ask, assessment)
        return replace(plan, elapsed_us=(time.perf_counter() - started) * 1e6)

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

    def rule_for(self, text: str, language: str = "en") -> str | None:
        """Id of the rule that settles ``text``, or None: what tests and ``bmo plan`` show."""
        pack = self._packs[language]
        rule = Reading(pack, text).rule()
        return rule.id if rule else None

    def _asked(
        self, turn: Turn, conversation_turns: int, subjects: Mapping[str, str] | None
    ) -> _Ask:
        language = (turn.language or "")[:2].lower()
        if language not in self._packs:
            chosen = self._settings.bmo_language
            language = guess_language(turn.text) if chosen == "auto" else chosen
        pack = self._packs[language]
        reading = Reading(pack, turn.text)
        depth = reading.depth() or self._settings.bmo_context_depth
        kind = classify(reading.words, turn.text)
        return _Ask(turn, reading, pack, kind, depth, conversation_turns, subjects or {})

    def _by_rules(self, ask: _Ask, previous: RecallPlan | None) -> RecallPlan:
        words, kind, depth = ask.reading.words, ask.kind, ask.depth
        if not words.words:
            return _EMPTY
        if depth == "minimal" and ask.reading.depth() is None:
            return _not(kind, "minimal_depth", depth)
        rule = ask.reading.rule()
        if rule is not None and rule.outcome == "recall":
            return self._wanted(ask, rule.trigger, include_all=rule.include_all)
        if depth == "full" and not words.smalltalk_only:
            return self._wanted(ask, "forced", include_all=True)
        if rule is not None:
            return _not(kind, rule.trigger, depth)
        if previous is not None and previous.recall and _follows(words):
            return self._inherited(ask, previous)
        if words.smalltalk_only:
            return _not(kind, "smalltalk", depth)
        if (words.asked or "q" in words.classes) and _names_somebody(words, ask.subjects):
            return self._wanted(ask, "own_fact_question")
        if not (words.asked or "asking" in words.classes):
            return _not(kind, "statement", depth)
        if _about_the_assistant(words):
            return _not(kind, "smalltalk", depth)
        return _not(kind, OPEN, depth)

    def _by_judge(self, plan: RecallPlan, ask: _Ask, assessment: Assessment | None) -> RecallPlan:
        classes = ask.reading.words.classes
        silent = "no_trigger" if classes & _ABOUT_SOMEBODY else "general_knowledge"
        if assessment is None:
            return replace(plan, trigger=silent)
        if assessment.read_need < self._read_threshold(bool(classes & _STRONG)):
            return replace(plan, trigger=silent, read_need=assessment.read_need)
        return replace(self._wanted(ask, "judge"), read_need=assessment.read_need)

    def _read_threshold(self, strong: bool) -> float:
        threshold = self._settings.bmo_judge_read
        if threshold is None:
            threshold = self._judge.thresholds.read if self._judge is not None else 0.5
        return threshold if strong else threshold + (1.0 - threshold) * WEAK_MARGIN

    def _depth(self, reading: Reading) -> tuple[Depth, bool]:
        wish = reading.depth()
        return (self._settings.bmo_context_depth, False) if wish is None else (wish, True)

    def _wanted(self, ask: _Ask, trigger: str, *, include_all: bool = False) -> RecallPlan:
        kind = ask.kind
        if kind.complexity == "trivial":  # "why?" after an answer is small but wants an answer
            kind = replace(kind, complexity="simple")
        if trigger == "explicit_prompt":
            kind = replace(kind, references_history=True)
        found = address(
            ask.reading,
            ask.turn.text,
            ask.pack,
            ask.subjects,
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
            categories=found.categories,
            query=found.query,
            references_history=kind.references_history,
            include_past=found.past,
            include_all=include_all,
            prefer_accuracy=accuracy,
        )

    def _inherited(self, ask: _Ask, previous: RecallPlan) -> RecallPlan:
        plan = self._wanted(ask, "follow_up", include_all=previous.include_all)
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


def _names_somebody(words: Words, subjects: Mapping[str, str]) -> bool:
    return bool(subjects) and any(
        word in subjects or word.removesuffix("s") in subjects for word in words.words
    )


def _about_the_assistant(words: Words) -> bool:
    """Whether a question speaks of BMO and of nobody else, and not of what BMO remembers."""
    return "you" in words.classes and words.classes.isdisjoint(_ABOUT_SOMEBODY | _OF_MEMORY)


def _follows(words: Words) -> bool:
    """Whether a turn leans on the one before: short, a question, and not whole by itself.

    A question of several words that speaks of nobody ("how many planets are there") is whole.
    """
    said = words.words
    if len(said) > FOLLOW_UP_WORDS or words.smalltalk_only:
        return False
    if not (words.asked or "follow" in words.classes):
        return False
    leans = words.classes & _ABOUT_SOMEBODY or not _LEANING.isdisjoint(said)
    return bool(leans) or len(said) <= BARE_WORDS or said[0] in _GOES_ON


def _not(kind: Classification, trigger: str, depth: Depth) -> RecallPlan:
    return RecallPlan(
        recall=False, trigger=trigger, complexity=kind.complexity, intent=kind.intent, depth=depth
    )


def _open_judge() -> Judge | None:
    from bmo.judge import Judge, JudgeUnavailable

    try:
        return Judge.open()
    except JudgeUnavailable:
        return None
