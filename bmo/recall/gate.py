"""The read gate: whether a turn needs memory, why, how much and which.

Rules decide what is said in so many words. All else is the encoder's: log-odds of the read-need,
plus those of the answer: how much likelier than ``ANSWER_USUAL`` the best memory answers the turn.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bmo.gate.orders import read_order
from bmo.gate.small_talk import small_talk
from bmo.language import identify
from bmo.language.domains import domains_of
from bmo.recall.budget import prefers_accuracy, token_budget
from bmo.recall.classify import Classification, classify
from bmo.recall.cues import Cues, read_cues
from bmo.recall.people import asked_about
from bmo.settings import Settings, load_settings
from bmo.turn import Assessment, Depth, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.encoder import Encoder

_log = logging.getLogger("bmo.recall")

OPEN: Final = "open"
"""Trigger of a plan that the rules could not settle: the encoder may look."""

ANSWER_USUAL: Final = 0.3
"""P(answers) of the best memory that moves nothing."""

HOPELESS: Final = 0.02
"""Read-need below which no answer could make up for it: memory is not looked at."""

FOLLOW_UP_WORDS: Final = 6
"""A turn that goes on from the one before has at most so many words."""


@dataclass(frozen=True, slots=True)
class _Ask:
    """One turn and what is known of it before anything is decided."""

    turn: Turn
    cues: Cues
    kind: Classification
    depth: Depth
    domains: tuple[str, ...]
    subjects: tuple[str, ...]
    turns: int


class ReadGate:
    """Plans recall for a turn. Stateless and thread-safe."""

    def __init__(self, settings: Settings, encoder: Encoder | None = None) -> None:
        """See ``from_settings``.

        Args:
            settings: Depth, preference, language, threshold.
            encoder: The local encoder, or None to leave open turns without memory.
        """
        self._settings = settings
        self.encoder = encoder
        """The local encoder, or None."""
        self.version = "cues-2" + (f"+judge-{encoder.version}" if encoder is not None else "")

    @classmethod
    def from_settings(
        cls,
        settings: Settings | None = None,
        *,
        encoder: Encoder | None = None,
        load_encoder: bool = True,
    ) -> ReadGate:
        """Makes the gate that the settings ask for; without an encoder the rules work alone.

        Args:
            settings: None reads environment and ``.env``.
            encoder: An encoder that is already open (shared with the write gate).
            load_encoder: Open one when none is given and the mode uses it.
        """
        settings = settings or load_settings()
        if encoder is None and load_encoder and settings.effective_mode != "pattern":
            encoder = _open_encoder()
        return cls(settings, encoder)

    def plan(
        self,
        turn: Turn,
        *,
        previous: RecallPlan | None = None,
        conversation_turns: int = 0,
        subjects: Mapping[str, str] | None = None,
        chances: Callable[[RecallPlan], Mapping[str, float] | None] | None = None,
        assessment: Assessment | None = None,
        before: str = "",
    ) -> RecallPlan:
        """Plans recall for one turn.

        Args:
            turn: What was said.
            previous: The plan of the turn before, which a follow-up inherits.
            conversation_turns: User turns so far.
            subjects: Lower-case name -> subject of the people memory knows.
            chances: P(answers) of what memory holds for a plan (``Recaller.look``); asked only for
                open turns that may need memory.
            assessment: The encoder's word on the turn, where it was asked already.
            before: The user's words of the turn before in the visit.
        """
        started = time.perf_counter()
        ask = self._asked(turn, conversation_turns, subjects)
        plan = self._by_rules(ask, previous)
        if plan.trigger == OPEN:
            plan = self._by_need(ask, assessment, chances, before)
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

    def _asked(
        self, turn: Turn, conversation_turns: int, subjects: Mapping[str, str] | None
    ) -> _Ask:
        cues = read_cues(turn.text)
        language = identify(
            turn.text,
            tag=turn.language,
            setting=self._settings.bmo_language,
            previous=turn.assistant_before,
        )
        depth = self._settings.bmo_context_depth
        if cues.seen & {"full", "minimal"}:
            depth = "full" if "full" in cues.seen else "minimal"
        return _Ask(
            turn=turn,
            cues=cues,
            kind=classify(cues, turn.text, trivial=small_talk(turn.text) is not None),
            depth=depth,
            domains=domains_of(turn.text),
            subjects=asked_about(cues.text, language or "en", cues.topic, subjects or {}),
            turns=conversation_turns,
        )

    def _by_rules(self, ask: _Ask, previous: RecallPlan | None) -> RecallPlan:
        cues, seen = ask.cues, ask.cues.seen
        if not cues.text:
            return _not(ask, "trivial")
        if ask.kind.complexity == "trivial":
            return _not(ask, "smalltalk")
        if "none" in seen:
            return _not(ask, "minimal_depth")
        order = read_order(ask.turn.text)
        if order is not None and order.kind not in ("lift", "show"):
            return _not(ask, "command")
        if ask.depth == "full":
            return self._wanted(ask, "forced", include_all=True)
        if "about_me" in seen:
            return self._wanted(ask, "explicit_prompt", include_all=True)
        known = bool(ask.subjects) and cues.topic in ask.subjects[0]
        if "prompt" in seen or (cues.topic and (cues.about_own or known)):
            return self._wanted(ask, "explicit_prompt")
        if "own_fact" in seen or (
            cues.asks and any(":" in one for one in ask.subjects) and not cues.topic
        ):
            return self._wanted(ask, "own_fact_question")
        short = len(cues.text.split()) <= FOLLOW_UP_WORDS
        if previous is not None and previous.recall and short and "follow_up" in seen:
            return self._inherited(ask, previous)
        if "assistant" in seen:
            return _not(ask, "smalltalk")
        if self._settings.bmo_context_depth == "minimal" and "minimal" not in seen:
            return _not(ask, "minimal_depth")  # a direct question it answers, nothing else
        return _not(ask, OPEN)

    def _by_need(
        self,
        ask: _Ask,
        assessment: Assessment | None,
        chances: Callable[[RecallPlan], Mapping[str, float] | None] | None,
        before: str,
    ) -> RecallPlan:
        """The encoder's word on an open turn, moved by what memory holds."""
        silent = _not(ask, "general_knowledge" if ask.cues.asks else "statement")
        if assessment is None and self.encoder is not None:
            said = (ask.turn.assistant_before, ask.turn.text)
            assessment = self.encoder.assess([said], [before])[0]
        if assessment is None:
            return silent
        need = assessment.read_need
        wanted = replace(self._wanted(ask, "judge"), read_need=need)
        told = chances(wanted) if chances is not None and need >= HOPELESS else None
        moved = 0.0
        if told is not None:
            best = max(told.values(), default=0.0)
            moved = _log_odds(best) - _log_odds(ANSWER_USUAL)
        if _log_odds(need) + moved < _log_odds(self._threshold()):
            return replace(silent, read_need=need)
        return wanted

    def _threshold(self) -> float:
        chosen = self._settings.bmo_judge_read
        if chosen is not None:
            return chosen
        return self.encoder.thresholds.read if self.encoder is not None else 0.5

    def _wanted(self, ask: _Ask, trigger: str, *, include_all: bool = False) -> RecallPlan:
        kind, prefer = ask.kind, self._settings.bmo_prefer
        accuracy = ask.depth == "full" or prefers_accuracy(kind, ask.turns, prefer)
        return RecallPlan(
            recall=True,
            trigger=trigger,
            complexity=kind.complexity,
            intent=kind.intent,
            domains=ask.domains,
            depth=ask.depth,
            budget_tokens=token_budget(
                kind,
                conversation_turns=ask.turns,
                prefer=prefer,
                depth=ask.depth,
                accuracy=accuracy,
            ),
            slots=ask.cues.slots,
            subjects=() if include_all else ask.subjects,
            query=" ".join(ask.turn.text.split()),
            asked=ask.turn.assistant_before,
            references_history=kind.references_history,
            include_past="past" in ask.cues.seen,
            include_all=include_all,
        )

    def _inherited(self, ask: _Ask, previous: RecallPlan) -> RecallPlan:
        """A follow-up's plan: what it names itself, and else what the turn before asked for."""
        plan = self._wanted(ask, "follow_up", include_all=previous.include_all)
        return replace(
            plan,
            intent="continuation",
            domains=plan.domains or previous.domains,
            slots=plan.slots or previous.slots,
            subjects=plan.subjects or previous.subjects,
            query=f"{previous.query} {plan.query}",
            include_past=plan.include_past or previous.include_past,
        )


def _not(ask: _Ask, trigger: str) -> RecallPlan:
    """A plan that asks for nothing; what the turn is, it says all the same."""
    kind = ask.kind
    return RecallPlan(
        recall=False,
        trigger=trigger,
        complexity=kind.complexity,
        intent=kind.intent,
        domains=ask.domains,
        depth=ask.depth,
        references_history=kind.references_history,
    )


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-3), 1.0 - 1e-3)
    return math.log(inside / (1.0 - inside))


def _open_encoder() -> Encoder | None:
    from bmo.encoder import Encoder, EncoderUnavailable  # loads onnxruntime: only where it is used

    try:
        return Encoder.open()
    except EncoderUnavailable as error:
        _log.warning("no local encoder", extra={"error": str(error)})
        return None
