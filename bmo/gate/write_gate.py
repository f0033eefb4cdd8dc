"""The write gate: rules on the loop in microseconds, then the local judge off it."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bmo.frozen import maker
from bmo.gate import injection, sensitive
from bmo.gate.analysis import Analysis, analyse
from bmo.gate.beside_secrets import A_SECRET, told_beside_secret
from bmo.gate.custom_rules import CustomRules, load_custom_rules
from bmo.gate.kept_as_said import kept_by_custom_rule, kept_raw
from bmo.gate.masked_identifiers import MASKED_REASON, without_identifiers, without_masks
from bmo.gate.open_coverage import incomplete, untold
from bmo.gate.other_answers import language_asked_in
from bmo.gate.packs import load_pack, pack_version
from bmo.gate.published_signals import signals_and_sarcasm
from bmo.gate.published_verdicts import with_published_signals
from bmo.gate.skip_rules import is_loop, match_skip
from bmo.gate.taken_back import taken_back
from bmo.gate.turn_pieces import (
    MAY_BE_SENSITIVE,
    NO_SMALL_TALK,
    WORTH_A_LOOK,
    are_english,
    may_steer,
    read_pieces,
)
from bmo.gate.verdict import RulesVerdict, rules_verdict
from bmo.language import LANGUAGES, LanguageCode, identify, words
from bmo.settings import Settings, load_settings
from bmo.telemetry import log_decision
from bmo.turn import Decision, DialogueContext, Fact, Turn

if TYPE_CHECKING:
    from bmo.judge import Judge, JudgeThresholds

_NO_CONTEXT = DialogueContext()
_DUMP = 16
"""More identifiers or secrets in one turn are a list that was read out: nothing is told."""
_LONGEST_SMALL_TALK = 120
"""Characters of a turn from which on it is not taken for a greeting or a confirmation."""
_NOTHING_SENSITIVE = sensitive.SensitiveScan("")
_new_decision = maker(Decision)
_JUDGED_MODES = ("local", "hybrid", "llm")
_log = logging.getLogger("bmo.gate")


class _Rules(NamedTuple):
    """The rules' verdict and what it rests on."""

    verdict: RulesVerdict
    analysis: Analysis | None
    turn: Turn


class Ruled(NamedTuple):
    """The rules' word on a turn, and what the judge goes on from (``WriteGate.decide_ruled``).

    Attributes:
        decision: Their decision, as ``decide_by_rules`` gives it.
        rules: What it rests on.
        context: What the gate knew of the conversation.
    """

    decision: Decision
    rules: _Rules
    context: DialogueContext


class WriteGate:
    """Decides what of a turn is kept, and writes it as canonical facts.

    Attributes:
        settings: Mode, thresholds and policies.
        judge: The local judge, or None when there is none (see ``judge_problem``).
        judge_problem: Why there is no judge although the mode asks for one, or "".
        custom_rules: Rules of GATEKEEPER_CUSTOM_RULES_PATH; their problems are in ``problems``.
    """

    def __init__(self, settings: Settings, judge: Judge | None = None) -> None:
        """A gate with these settings; ``from_settings`` also opens the judge."""
        self.settings = settings
        self.judge = judge
        self.judge_problem = ""
        self.custom_rules = CustomRules()
        if settings.gatekeeper_custom_rules_path is not None:
            self.custom_rules = load_custom_rules(settings.gatekeeper_custom_rules_path)
        load_pack("en")
        if settings.bmo_language in ("de", "fr", "es"):
            load_pack(settings.bmo_language)  # 50 ms that the first turn need not wait for
        _warm_up()
        versions = "".join(pack_version(language) for language in LANGUAGES)
        self._rules_version = f"rules-{_short(versions)}"

    @classmethod
    def from_settings(
        cls,
        settings: Settings | None = None,
        *,
        judge: Judge | None = None,
        load_judge: bool = True,
    ) -> WriteGate:
        """Builds the gate of these settings.

        Args:
            settings: Default: those of the process.
            judge: A judge that is already open.
            load_judge: Whether to open the package's judge when none is given and the mode uses
                one. A judge that cannot be opened leaves ``judge_problem`` and the rules' word.
        """
        settings = settings if settings is not None else load_settings()
        gate = cls(settings, judge)
        if judge is None and load_judge and settings.effective_mode in _JUDGED_MODES:
            from bmo.judge import Judge, JudgeUnavailable

            try:
                gate.judge = Judge.open()
            except JudgeUnavailable as error:
                gate.judge_problem = str(error)
                _log.warning("no local judge", extra={"error": str(error)})
        return gate

    @property
    def version(self) -> str:
        """Version of rules and judge ("rules-1a2b3c4d+judge-...")."""
        if self.judge is None or self.settings.effective_mode not in _JUDGED_MODES:
            return self._rules_version
        return f"{self._rules_version}+{self.judge.version}"

    def decide_by_rules(self, turn: Turn, context: DialogueContext = _NO_CONTEXT) -> Decision:
        """The rules' word: pure, in microseconds; it never raises, whatever the text."""
        started = time.perf_counter_ns()
        rules = self._rules(turn, context)
        verdict = rules.verdict
        if verdict.verdict == "hold":
            verdict = self._last_stage(rules)
        return self._finished(self._decision(verdict, rules.turn.text, started))

    def rule(self, turn: Turn, context: DialogueContext = _NO_CONTEXT) -> Ruled:
        """``decide_by_rules`` for a caller that asks the judge then: no rule runs twice."""
        started = time.perf_counter_ns()
        rules = self._rules(turn, context)
        decision = self._decision(self._last_stage(rules), rules.turn.text, started)
        return Ruled(self._finished(decision), rules, context)

    def decide_ruled(self, ruled: Ruled) -> Decision:
        """``decide`` from what the rules said already: only the judge is asked (blocking)."""
        before = int(ruled.decision.elapsed_us * 1000)
        return self._settled(ruled.rules, ruled.context, time.perf_counter_ns() - before)

    def decide(self, turn: Turn, context: DialogueContext = _NO_CONTEXT) -> Decision:
        """Rules, then the judge where they leave the turn open (blocking, about 2 ms).

        A judge that is missing or fails leaves the rules' word, with ``fallback`` set.
        """
        started = time.perf_counter_ns()
        return self._settled(self._rules(turn, context), context, started)

    def _settled(self, rules: _Rules, context: DialogueContext, started: int) -> Decision:
        """The judge's word where the rules leave a turn open, else theirs."""
        if rules.analysis is None or self.settings.effective_mode not in _JUDGED_MODES:
            verdict = self._last_stage(rules)
            return self._finished(self._decision(verdict, rules.turn.text, started))
        decision = self._judged(rules, rules.analysis, context, started)
        if decision.verdict == "hold" and self._allows_raw(decision.open):
            raw = kept_raw(rules.turn, "fail policy open")
            decision = replace(
                decision,
                verdict="allow",
                facts=raw.facts,
                reason=raw.reason,
                extraction_method="raw",
                open=False,
            )
        elapsed = (time.perf_counter_ns() - started) / 1000
        return self._finished(replace(decision, elapsed_us=elapsed))

    def _judged(
        self, rules: _Rules, analysis: Analysis, context: DialogueContext, started: int
    ) -> Decision:
        from bmo.gate.judge_binding import bind, wants_judge
        from bmo.judge import JudgeUnavailable

        decision = self._decision(rules.verdict, rules.turn.text, started)
        if not wants_judge(decision):
            return decision
        if self.judge is None:
            return replace(decision, fallback=True)
        try:
            bound = bind(
                decision, analysis, rules.turn, context, self.judge, self._thresholds(self.judge)
            )
        except JudgeUnavailable as error:
            _log.warning("the local judge failed", extra={"error": str(error)})
            return replace(decision, fallback=True)
        bound = replace(bound, gate_version=self.version)
        return self._without_identifiers(bound, rules.turn.text)

    def _without_identifiers(self, decision: Decision, text: str) -> Decision:
        """The judge's memories without those that would hold a masked identifier."""
        if self.settings.bmo_sensitive != "drop" or not decision.facts or "[" not in text:
            return decision
        facts = without_masks(decision.facts, text)
        if len(facts) == len(decision.facts):
            return decision
        if facts:
            return replace(decision, facts=facts)
        return replace(
            decision,
            verdict="discard",
            facts=(),
            reason=MASKED_REASON,
            signals=("sensitive", *decision.signals),
            open=False,
        )

    def _thresholds(self, judge: Judge) -> JudgeThresholds:
        given = {
            "allow": self.settings.bmo_judge_allow,
            "discard": self.settings.bmo_judge_discard,
            "read": self.settings.bmo_judge_read,
        }
        return replace(judge.thresholds, **{k: v for k, v in given.items() if v is not None})

    def _rules(self, turn: Turn, context: DialogueContext) -> _Rules:
        """Every stage before the judge."""
        mode = self.settings.effective_mode
        pieces = turn.text.split(" ")
        told = read_pieces(pieces)
        scan = _NOTHING_SENSITIVE
        if told >= WORTH_A_LOOK and told & MAY_BE_SENSITIVE:
            scan = sensitive.scan(turn.text, self.settings.bmo_sensitive, pieces=pieces)
        if scan.secrets:
            masked = replace(turn, text=scan.masked)
            verdict = A_SECRET
            if len(scan.secrets) <= _DUMP and mode != "disabled":
                verdict = told_beside_secret(masked, context, self._language_of(masked, None))
            return _Rules(verdict, None, masked)
        if scan.identifiers:
            turn = replace(turn, text=scan.masked)
            pieces = turn.text.split(" ")
            told = read_pieces(pieces)
            if len(scan.identifiers) > _DUMP:
                verdict = RulesVerdict("discard", ("sensitive",), "a list of identifiers", 1.0)
                return _Rules(verdict, None, turn)
        if mode == "disabled":
            return _Rules(kept_raw(turn, "gatekeeper disabled"), None, turn)
        unread = self._without_reading(turn, context, told, pieces)
        if unread is not None:
            return _Rules(unread, None, turn)
        language: LanguageCode | None = "en"
        told_apart = turn.language is not None or self.settings.bmo_language != "auto"
        if told_apart or not are_english(told, turn.text, pieces):
            language = self._language_of(turn, pieces)
        if language is None:
            verdict = RulesVerdict("hold", ("other",), "language", 0.5)
            return _Rules(verdict, None, turn)
        spoken = words(turn.text, language, pieces=pieces)
        asking = _with_own_question(turn, context) if context.recent_turns else turn
        analysis = analyse(asking, context, language, spoken)
        verdict = rules_verdict(analysis, turn, spoken)
        if (
            mode != "pattern"
            and verdict.verdict == "allow"
            and _tells_more(analysis, verdict.facts)
        ):
            verdict = verdict._replace(open=True)
        if scan.identifiers and self.settings.bmo_sensitive == "drop":
            verdict = without_identifiers(verdict, turn.text)
        verdict = with_published_signals(verdict, turn, self.settings, told)
        return tuple.__new__(_Rules, (verdict, analysis, turn))

    def _without_reading(
        self, turn: Turn, context: DialogueContext, told: int, pieces: Sequence[str]
    ) -> RulesVerdict | None:
        """The verdict on a turn that no rule of the packs has to read; None for most turns.

        Custom rules, small talk, attacks and loops; ``told`` is what its pieces tell.
        """
        own = self.custom_rules.match_skip(turn.text) if self.custom_rules.skip else None
        if own is not None:
            return RulesVerdict("discard", ("other",), own.reason, 1.0, own.rule_id)
        asked = "?" in turn.assistant_before
        skipped = None
        if not told & NO_SMALL_TALK and not asked and len(turn.text) < _LONGEST_SMALL_TALK:
            limit = self.settings.gatekeeper_greeting_length_limit
            skipped = match_skip(turn.text, turn.language, greeting_limit=limit, pieces=pieces)
        if skipped is not None and not self._takes_back(turn, context):
            return RulesVerdict("discard", (skipped.signal,), skipped.reason, 0.99, skipped.rule_id)
        attack = None
        if told >= WORTH_A_LOOK and may_steer(told, turn.text, pieces):
            attack = injection.scan(turn.text, pieces=pieces)
        if attack is not None:
            return RulesVerdict("hold", ("injection",), "injection", 0.95, attack.rule_id)
        if is_loop(turn.text):
            return RulesVerdict("discard", ("other",), "loop", 0.95, "skip.loop")
        kept = None
        if self.custom_rules.keep:
            kept = self.custom_rules.match_keep(turn.text, turn.assistant_after)
        return kept_by_custom_rule(turn, kept) if kept is not None else None

    def _takes_back(self, turn: Turn, context: DialogueContext) -> bool:
        """Whether a turn that else would carry nothing undoes the one before ("no, not true")."""
        language = self._language_of(turn, None) if context.last_facts else None
        if language is None:
            return False
        said = words(turn.text, language)
        return bool(said.norm) and (
            taken_back(said, context, turn.assistant_before, language) is not None
        )

    def _language_of(self, turn: Turn, pieces: Sequence[str] | None) -> LanguageCode | None:
        """Whose rules apply; None for a language without a pack.

        What is too short to tell is in the language the assistant speaks.
        """
        setting = self.settings.bmo_language
        found = identify(turn.text, tag=turn.language, setting=setting, pieces=pieces)
        if found.by == "default" and turn.assistant_before:
            found = identify(turn.assistant_before)
            if found.by == "default" and "?" in turn.assistant_before:
                return language_asked_in(turn.assistant_before) or found.pack
        return found.pack

    def _allows_raw(self, still_open: bool) -> bool:
        return still_open and self.settings.gatekeeper_fail_policy == "open"

    def _last_stage(self, rules: _Rules) -> RulesVerdict:
        """GATEKEEPER_FAIL_POLICY=open: what nothing vouched for is allowed raw."""
        verdict = rules.verdict
        if verdict.verdict == "hold" and self._allows_raw(verdict.open):
            return kept_raw(rules.turn, "fail policy open")._replace(signals=verdict.signals)
        return verdict

    def _decision(self, verdict: RulesVerdict, text: str, started: int) -> Decision:
        word, signals, reason, confidence, rule_id, facts, still_open, method = verdict
        return _new_decision(
            word,
            signals,
            reason,
            confidence,
            rule_id,
            facts,
            self._rules_version,
            method or (f"pattern:{rule_id}" if rule_id else "pattern"),
            False,
            still_open,
            text,
            (time.perf_counter_ns() - started) / 1000,
        )

    def _finished(self, decision: Decision) -> Decision:
        """Writes the debug line (GATEKEEPER_DEBUG)."""
        if self.settings.gatekeeper_debug:
            log_decision(decision)
        return decision


def _warm_up() -> None:
    """Reads and compiles every table a turn may need (0.2 s), so that no turn waits for it."""
    sensitive.scan("call me on +1 212 555 0100")
    injection.scan("hello")
    match_skip("hello there")
    signals_and_sarcasm("hello")
    identify("hello there")


def _with_own_question(turn: Turn, context: DialogueContext) -> Turn:
    """Lets a short answer settle what the user asked the turn before.

    "Which database should we use?" "your choice" "postgres": the assistant asked nothing itself.
    """
    if "?" in turn.assistant_before or len(turn.text) > 40:
        return turn
    asked = context.recent_turns[0][0]
    words_of = asked.lower().split()
    if not asked.rstrip().endswith("?") or not {"we", "our"} & set(words_of):
        return turn
    return replace(turn, assistant_before=asked)


def _tells_more(analysis: Analysis, facts: Sequence[Fact]) -> bool:
    """Whether a turn says more than its facts: the judge has a say in what is told with them."""
    return bool(incomplete(analysis, facts) or untold(analysis, facts))


def _short(versions: str) -> str:
    import hashlib

    return hashlib.sha256(versions.encode()).hexdigest()[:8]
