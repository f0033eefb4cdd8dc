"""The write gate: guards on the loop in microseconds, then the encoder off it."""

from __future__ import annotations

import hashlib
import logging
import time
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

from bmo.gate.custom_rules import CustomRules, load_custom_rules
from bmo.gate.edits import Edits, edits_of
from bmo.gate.firewall import attack
from bmo.gate.guards import (
    Guarded,
    NotStorable,
    by_rule,
    guard,
    mask,
    open_mode,
    raw_ruling,
    words_fact,
)
from bmo.gate.slots import SlotReading, read_slots
from bmo.language.domains import domain_of
from bmo.settings import Settings, load_settings
from bmo.telemetry import log_decision, memory_span
from bmo.turn import (
    CATEGORIES,
    CATEGORY_SIGNALS,
    Assessment,
    Category,
    Decision,
    DialogueContext,
    Fact,
    Signal,
    Turn,
    Verdict,
)

if TYPE_CHECKING:
    from bmo.encoder import Encoder, EncoderThresholds

SURE_DISCARD = 0.9
"""From this probability of discard a plain slot is not believed either."""
MIN_CATEGORY = 0.5
"""From this probability a category is a signal of its own."""

_NO_CONTEXT = DialogueContext()
_log = logging.getLogger("bmo.gate")


@dataclass(frozen=True, slots=True)
class Ruled:
    """The guards' word on a turn, and what the encoder goes on from.

    Attributes:
        decision: What stands while nobody asks the encoder.
        guarded: The turn behind the guards.
        slots: What plain slots read.
        context: What the gate knew of the conversation.
    """

    decision: Decision
    guarded: Guarded
    slots: SlotReading
    context: DialogueContext


class WriteGate:
    """Decides what of a turn is kept.

    Attributes:
        settings: Mode, thresholds and policies.
        encoder: The encoder, or None when there is none (see ``encoder_problem``).
        encoder_problem: Why there is none although the mode asks for one, or "".
        custom_rules: Rules of GATEKEEPER_CUSTOM_RULES_PATH; their problems are in ``problems``.
    """

    def __init__(self, settings: Settings, encoder: Encoder | None = None) -> None:
        """A gate with these settings; ``from_settings`` also opens the encoder."""
        self.settings = settings
        self.encoder = encoder
        self.encoder_problem = ""
        self.custom_rules = CustomRules()
        if settings.gatekeeper_custom_rules_path is not None:
            self.custom_rules = load_custom_rules(settings.gatekeeper_custom_rules_path)
        self._rules_version = f"rules-{tables_version()}"

    @classmethod
    def from_settings(
        cls,
        settings: Settings | None = None,
        *,
        encoder: Encoder | None = None,
        load_encoder: bool = True,
    ) -> WriteGate:
        """Builds the gate of these settings.

        Args:
            settings: Default: those of the process.
            encoder: An encoder that is already open.
            load_encoder: Whether to open the package's when none is given and the mode uses one.
                One that cannot be opened leaves ``encoder_problem`` and the guards' word.
        """
        settings = settings if settings is not None else load_settings()
        gate = cls(settings, encoder)
        if encoder is None and load_encoder and open_mode(settings.effective_mode):
            from bmo.encoder import Encoder, EncoderUnavailable

            try:
                gate.encoder = Encoder.open()
            except EncoderUnavailable as error:
                gate.encoder_problem = str(error)
                _log.warning("no local encoder", extra={"error": str(error)})
        return gate

    @property
    def version(self) -> str:
        """Version of rules and encoder ("rules-1a2b3c4d+judge-...")."""
        if self.encoder is None or not open_mode(self.settings.effective_mode):
            return self._rules_version
        return f"{self._rules_version}+{self.encoder.version}"

    def decide_by_rules(self, turn: Turn, context: DialogueContext = _NO_CONTEXT) -> Decision:
        """Guards and plain slots alone: pure, in microseconds; it never raises."""
        ruled = self.rule(turn, context)
        return self._finished(self._last_stage(ruled.decision, ruled), ruled)

    def decide(self, turn: Turn, context: DialogueContext = _NO_CONTEXT) -> Decision:
        """Guards, then the encoder where they leave the turn open (blocking, milliseconds).

        An encoder that is missing or fails leaves the guards' word, with ``fallback`` set.
        """
        with memory_span("bmo.gate.rules"):
            ruled = self.rule(turn, context)
        if not ruled.decision.open or not open_mode(self.settings.effective_mode):
            decision = self._in_context(self._last_stage(ruled.decision, ruled))
            return self._finished(decision, ruled)
        if self.encoder is None:
            return self._unasked(ruled)
        started = time.perf_counter_ns()
        try:
            with memory_span("bmo.gate.judge"):
                decision = self._understood(ruled, self.encoder)
                if self.settings.effective_mode == "local":  # else a model behind it is asked
                    decision = self._last_stage(decision, ruled)
                decision = self._in_context(decision)
        except Exception as error:  # the guards' word stands, whatever the encoder does
            _log.warning("the local encoder failed", extra={"error": repr(error)})
            return self._unasked(ruled)
        elapsed = ruled.decision.elapsed_us + (time.perf_counter_ns() - started) / 1000
        return self._finished(replace(decision, elapsed_us=elapsed), ruled)

    def rule(self, turn: Turn, context: DialogueContext = _NO_CONTEXT) -> Ruled:
        """The guards' word, and what the encoder goes on from."""
        started = time.perf_counter_ns()
        guarded = guard(turn, context, self.settings, self.custom_rules)
        slots = SlotReading()
        if guarded.ruling is None and guarded.language is not None:
            turn = guarded.turn
            slots = read_slots(turn.text, guarded.language, turn.assistant_before)
        decision = guarded.ruling or self._without_encoder(guarded, slots)
        if decision.rule_id == "order.remember":  # the encoder adds its category and edits
            decision = replace(decision, open=open_mode(self.settings.effective_mode))
        decision = replace(
            decision,
            gate_version=self._rules_version,
            text=guarded.turn.text,
            elapsed_us=(time.perf_counter_ns() - started) / 1000,
        )
        return Ruled(decision, guarded, slots, context)

    def _unasked(self, ruled: Ruled) -> Decision:
        """The guards' word where the encoder should have been asked and gave no answer."""
        decision = self._last_stage(ruled.decision, ruled)
        return self._finished(replace(decision, fallback=True, gate_version=self.version), ruled)

    def masked(self, text: str, asked: str = "") -> str:
        """Words as they may be written down; ``asked``: the assistant's words they answer."""
        return mask(text, self.settings.bmo_sensitive, asked)[0]

    def may_hold(self, text: str, asked: str = "", *, by_rules: bool = False) -> bool:
        """Whether a memory may hold masked words: those of a spoken turn, an edit or an import.

        Args:
            text: The words, masked.
            asked: The assistant's words they answer.
            by_rules: Without the encoder, which blocks for milliseconds.
        """
        if attack(text, asked) is not None:
            return False
        if by_rules or self.encoder is None:
            return True
        from bmo.encoder import EncoderUnavailable

        try:
            steers = self.encoder.assess([(asked, text)])[0].steers
        except EncoderUnavailable as error:  # the rules' word stands
            _log.warning("the local encoder failed", extra={"error": str(error)})
            return True
        return steers < self._thresholds(self.encoder).steers

    def kept_context(self, asked: str, *, by_rules: bool = False) -> str:
        """The assistant's masked words as a memory keeps them: "" where they would steer it."""
        return asked if asked and self.may_hold(asked, by_rules=by_rules) else ""

    def check_given(self, text: str) -> None:
        """Refuses words that a person typed for a memory and that it may not hold as they are.

        Raises:
            NotStorable: They would steer the assistant, or hold a secret or an identifier.
        """
        masked = self.masked(text)
        if not self.may_hold(masked):
            raise NotStorable(
                "the words tell the assistant what it is, may do or must say; a memory holds what "
                "is so, or a wish about how to be treated."
            )
        if mask(text, "keep")[0] != text:
            raise NotStorable("the words hold a secret, which no memory keeps; say it without.")
        if masked != text:
            raise NotStorable(
                "the words hold a telephone number or a mail address; leave it out, or set "
                "BMO_SENSITIVE=keep."
            )

    def _without_encoder(self, guarded: Guarded, slots: SlotReading) -> Decision:
        """What guards and slots alone say of an open turn."""
        published, turn = guarded.published, guarded.turn
        asks_encoder = open_mode(self.settings.effective_mode)
        signals: tuple[Signal, ...] = published.keep or ("other",)
        if slots.facts:
            facts = tuple(_spoken(fact, turn) for fact in slots.facts)
            first = facts[0]
            own = (CATEGORY_SIGNALS[first.category],)
            signals = (*own, *(s for s in published.keep if s not in own))
            reason = _stated(first.category)
            said = by_rule("allow", signals, reason, 0.95, first.rule_id, facts)
            return replace(said, open=asks_encoder)
        work = next((s for s in published.keep if s in ("policy", "decision")), None)
        if work is not None and not asks_encoder and not turn.text.endswith("?"):
            category: Category = "policies" if work == "policy" else "decisions"
            rule = f"published.{work}"
            fact = words_fact(turn, category, 0.7, f"pattern:{rule}", rule_id=rule)
            said = by_rule("allow", signals, published.reason, 0.7, rule, (fact,))
        elif published.keep:
            rule = f"published.{published.keep[0]}"
            said = by_rule("hold", signals, published.reason, 0.5, rule)
        elif published.advice:
            said = by_rule("hold", signals, "work advice", 0.5, "published.advice")
        elif self._is_short_exchange(turn):
            said = by_rule("discard", signals, "short exchange", 0.7, "published.short")
        else:
            said = by_rule("hold", signals, "nothing vouches for it", 0.3)
        return replace(said, open=True)

    def _is_short_exchange(self, turn: Turn) -> bool:
        """The published threshold: both said little. An answer to a question is none."""
        return (
            turn.assistant_after != ""
            and "?" not in turn.assistant_before
            and len(turn.text.strip()) < self.settings.gatekeeper_short_user_threshold
            and len(turn.assistant_after.strip())
            < self.settings.gatekeeper_short_assistant_threshold
        )

    def _understood(self, ruled: Ruled, encoder: Encoder) -> Decision:
        """The encoder's word on an open turn, with its memories and edits."""
        turn = ruled.guarded.turn
        said = (turn.assistant_before, turn.text)
        recent = ruled.context.recent_turns
        thresholds = self._thresholds(encoder)
        seen = encoder.assess([said], [recent[0][0] if recent else ""])[0]
        if seen.steers >= thresholds.steers:
            return replace(
                ruled.decision,
                verdict="hold",
                signals=("injection",),
                reason="injection",
                confidence=seen.steers,
                rule_id="encoder.steers",
                facts=(),
                gate_version=self.version,
                extraction_method=f"encoder:{encoder.version}",
                open=False,
                assessment=seen,
            )
        edits = edits_of(said, ruled.context, encoder, thresholds.ends)
        category = _likeliest(seen)
        if ruled.decision.rule_id == "order.remember":
            return self._remembered(ruled, seen, category, edits)
        verdict = self._verdict(seen, ruled.guarded, thresholds)
        facts: tuple[Fact, ...] = ()
        method, rule_id = f"encoder:{encoder.version}", ""
        if seen.discard < SURE_DISCARD:
            facts = tuple(_spoken(fact, turn) for fact in ruled.slots.facts)
        if verdict == "allow" and not (facts and ruled.slots.covers):
            facts = (*facts, words_fact(turn, category, seen.allow, method))
        if facts:
            if verdict != "allow" or ruled.slots.covers:
                method, rule_id = facts[0].extraction_method, facts[0].rule_id
                category = facts[0].category
            verdict = "allow"
            facts = (*facts[:-1], replace(facts[-1], ends=edits.ends, rests=edits.rests))
        return replace(
            ruled.decision,
            verdict=verdict,
            signals=_signals(verdict, seen, category, ruled.guarded),
            reason=_reason(verdict, category, ruled.guarded),
            confidence=getattr(seen, verdict) if not rule_id else 0.95,
            rule_id=rule_id,
            facts=facts,
            gate_version=self.version,
            extraction_method=method,
            open=verdict == "hold",
            assessment=seen,
        )

    def _remembered(
        self, ruled: Ruled, seen: Assessment, category: Category, edits: Edits
    ) -> Decision:
        """A turn that was to be remembered: kept whatever the verdict, in its category."""
        fact = replace(
            ruled.decision.facts[0],
            category=category,
            ends=edits.ends,
            rests=edits.rests,
            kind=words_fact(ruled.guarded.turn, category, 1.0, "").kind,
        )
        return replace(
            ruled.decision,
            facts=(fact,),
            signals=("remember", CATEGORY_SIGNALS[category]),
            gate_version=self.version,
            open=False,
            assessment=seen,
        )

    def _verdict(
        self, seen: Assessment, guarded: Guarded, thresholds: EncoderThresholds
    ) -> Verdict:
        """By thresholds; a published keep signal is lowered to hold at most."""
        if seen.allow >= thresholds.allow:
            return "allow"
        if seen.discard >= thresholds.discard:
            return "hold" if guarded.published.keep or guarded.published.advice else "discard"
        return "hold"

    def _thresholds(self, encoder: Encoder) -> EncoderThresholds:
        given = {
            "allow": self.settings.bmo_judge_allow,
            "discard": self.settings.bmo_judge_discard,
            "read": self.settings.bmo_judge_read,
        }
        return replace(encoder.thresholds, **{k: v for k, v in given.items() if v is not None})

    def _last_stage(self, decision: Decision, ruled: Ruled) -> Decision:
        """GATEKEEPER_FAIL_POLICY=open: what nothing vouched for is allowed raw."""
        wished = self.settings.gatekeeper_fail_policy == "open"
        if not wished or decision.verdict != "hold" or not decision.open:
            return decision
        raw, seen = raw_ruling(ruled.guarded.turn, "fail policy open"), decision.assessment
        facts = raw.facts
        if seen is not None:
            facts = tuple(replace(fact, category=_likeliest(seen)) for fact in facts)
        return replace(
            decision,
            verdict="allow",
            facts=facts,
            reason=raw.reason,
            extraction_method="raw",
            open=False,
        )

    def _in_context(self, decision: Decision) -> Decision:
        """With the assistant's words beside what is stored only where they may be kept."""
        asked = next((fact.asked for fact in decision.facts if fact.asked), "")
        if self.encoder is None or self.kept_context(asked) == asked:
            return decision
        return replace(decision, facts=tuple(replace(fact, asked="") for fact in decision.facts))

    def _finished(self, decision: Decision, ruled: Ruled) -> Decision:
        """With what the turn takes back; writes the debug line (GATEKEEPER_DEBUG)."""
        if ruled.guarded.takes_back:
            decision = replace(
                decision,
                verdict="allow",
                signals=("forget", *decision.signals),
                facts=(*ruled.guarded.takes_back, *decision.facts),
            )
        if self.settings.gatekeeper_debug:
            log_decision(decision)
        return decision


def tables_version() -> str:
    """A digest of the gate's tables: part of every decision."""
    folder = resources.files("bmo.gate.tables")
    digest = hashlib.sha256()
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith((".toml", ".txt")):
            digest.update(entry.read_bytes())
    return digest.hexdigest()[:8]


def _spoken(fact: Fact, turn: Turn) -> Fact:
    """A canonical memory with its topic and the words it came from."""
    asked = turn.assistant_before
    return replace(fact, said=turn.text, asked=asked, domain=domain_of(fact.text))


def _likeliest(seen: Assessment) -> Category:
    return max(CATEGORIES, key=seen.categories.__getitem__)


def _signals(
    verdict: Verdict, seen: Assessment, category: Category, guarded: Guarded
) -> tuple[Signal, ...]:
    signals: list[Signal] = list(guarded.published.keep)
    if verdict == "allow":
        likely = [c for c in CATEGORIES if c != category and seen.categories[c] >= MIN_CATEGORY]
        signals = [*(CATEGORY_SIGNALS[c] for c in (category, *likely)), *signals]
    elif guarded.turn.text.rstrip().endswith("?"):
        signals.append("question")
    return tuple(dict.fromkeys(signals)) or ("other",)


def _stated(category: Category) -> str:
    return f"stated {CATEGORY_SIGNALS[category].replace('_', ' ')}"


def _reason(verdict: Verdict, category: Category, guarded: Guarded) -> str:
    if verdict == "allow":
        return _stated(category)
    if verdict == "discard":
        return "nothing durable"
    return guarded.published.reason or "may be durable"
