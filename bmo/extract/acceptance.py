"""Acceptance: what a model proposes passes every stage that a turn's own words pass, and more.

A model only points (a quote of the user's words) and rephrases (a plain first-person sentence);
the write gate reads that sentence as if the user had said it, with its rules, validation,
canonical templates, sensitive filter and injection firewall, and writes the fact. Where no rule
knows a slot, open canonicalisation writes the text and the model's category counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bmo.extract.echo import Fingerprints, fingerprints
from bmo.extract.extractor import Candidate, Known, Refusal, RefusalReason
from bmo.extract.grounding import has_meaning, is_grounded, keeps_polarity
from bmo.extract.quoting import locate
from bmo.turn import Category, DialogueContext, Fact, Kind, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.language import LanguageCode

CONFIDENCE_CAP = 0.8
"""Most a model's word counts: under the precision from which a rule's fact is not doubted."""

UNDER_THE_RULE = 0.95
"""Share of a rule's measured precision that its reading of a model's sentence has at most."""

MAX_FACTS = 5
"""Most facts of one turn that are stored."""

_KINDS: dict[Category, Kind] = {"preferences": "preference", "policies": "policy"}
_STANDING = re.compile(r"Wants the assistant (?:never|always|not|to) ?")
_FORBIDS = re.compile(r"^(?:please )?(?:do not|don['’]?t|never)(?: ever)? ", re.IGNORECASE)
"""A wish to the assistant in the form of an order; it has no subject to take off."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of a turn's candidates.

    Attributes:
        facts: Facts that may be stored, each once.
        refused: The others, with the reason.
    """

    facts: tuple[Fact, ...]
    refused: tuple[Refusal, ...]


def accept(
    candidates: Sequence[Candidate], turn: Turn, known: Known, gate: WriteGate, method: str
) -> Accepted:
    """Turns a model's candidates for a turn into facts, or refuses them.

    Args:
        candidates: What the model proposes.
        turn: The turn they should come from; its text as the ledger has it.
        known: People, memories given in the visit, neighbouring turns.
        gate: The write gate that reads turns.
        method: "gemini:<model>" or the like; the facts' extraction method.
    """
    reading = _Reading(turn, known, gate, method, fingerprints(known.injected))
    facts: list[Fact] = []
    refused: list[Refusal] = []
    for candidate in candidates:
        found = reading.facts_of(candidate)
        if isinstance(found, str):
            refused.append(Refusal(candidate, found))
        else:
            facts += found
    from bmo.gate.analysis import without_doubles

    return Accepted(without_doubles(facts)[:MAX_FACTS], tuple(refused))


class _Reading:
    """One turn and everything its candidates are held against."""

    def __init__(
        self, turn: Turn, known: Known, gate: WriteGate, method: str, given: Fingerprints
    ) -> None:
        self.turn = turn
        self.known = known
        self.gate = gate
        self.method = method
        self.given = given
        self.language = self._language()
        self.context = DialogueContext(subjects=known.subjects, known=known.facts)
        earlier = [one for one in known.neighbours if (one.at, one.id) < (turn.at, turn.id)]
        self.earlier = " ".join(one.text for one in sorted(earlier, key=lambda one: one.at))
        self.forbidden = self._forbidden()

    def facts_of(self, candidate: Candidate) -> list[Fact] | RefusalReason:
        """The facts of one candidate, or why it is refused."""
        from bmo.gate import injection
        from bmo.gate.sensitive import MASKED

        span = locate(candidate.quote, self.turn.text)
        if span is None or not has_meaning(candidate.quote):
            return "quote"
        if MASKED.search(candidate.quote) or MASKED.search(candidate.statement):
            return "sensitive"
        for start, end, why in self.forbidden:
            if span[0] < end and start < span[1]:
                return why
        if injection.scan(candidate.statement) is not None:
            return "injection"
        if not _is_english(candidate.statement):
            return "unread"
        if not is_grounded(
            candidate.statement,
            self.turn.text,
            earlier=self.earlier,
            subjects=self.known.subjects,
            language=self.language,
        ):
            return "grounding"
        if not keeps_polarity(candidate.statement, self.turn.text[span[0] : span[1]]):
            return "polarity"
        written = self._written(candidate)
        if isinstance(written, str):
            return written
        news = [fact for fact in written if not self.given.echoes(fact.text)]
        if not news:
            return "echo"
        return [self._stamped(fact, candidate, span) for fact in news]

    def _written(self, candidate: Candidate) -> list[Fact] | RefusalReason:
        """The sentence in canonical words, by the gate."""
        said = replace(
            self.turn,
            text=candidate.statement,
            assistant_before="",
            assistant_after="",
            language="en",
            confidence=None,
        )
        decision = self.gate.decide_by_rules(said, self.context)
        if decision.extraction_method == "raw":
            decision = replace(decision, verdict="hold", facts=(), reason="no rule vouches")
        if decision.verdict == "allow":
            ends = [fact for fact in decision.facts if fact.op == "retract"]
            if any(fact.scope not in _NARROW for fact in ends) or (ends and self._asks(said)):
                return "scope"
            return list(decision.facts)
        if "injection" in decision.signals:
            return "injection"
        if "sensitive" in decision.signals or decision.text != candidate.statement:
            return "sensitive"
        if decision.verdict == "discard":
            return "question" if {"question", "command"} & set(decision.signals) else "unread"
        if decision.reason != "no rule vouches":
            return "factuality"
        return self._open(candidate)

    def _asks(self, said: Turn) -> bool:
        """Whether a sentence asks to forget, where it should only state."""
        from bmo.gate import analyse

        clauses = analyse(said, self.context, "en").clauses
        return any(clause.speech_act == "forget" for clause in clauses)

    def _open(self, candidate: Candidate) -> list[Fact] | RefusalReason:
        """A slotless memory, by open canonicalisation and the model's category."""
        from bmo.gate.open_canonicalisation import canonicalise
        from bmo.language import words

        plain = _FORBIDS.sub("I want you not to ", candidate.statement)
        told = canonicalise(words(plain, "en"), "", "en", self.known.subjects)
        if told is None or ";" in told.text:
            return "unread"
        category = candidate.category
        standing = _STANDING.match(told.text) is not None
        if standing and category not in ("policies", "preferences"):
            category = "preferences"
        team = category in ("policies", "decisions")
        return [
            Fact(
                text=told.text,
                category=category,
                subject="team" if team else told.subject,
                kind="hard_rule" if standing else _KINDS.get(category, "fact"),
                confidence=CONFIDENCE_CAP,
            )
        ]

    def _stamped(self, fact: Fact, candidate: Candidate, span: tuple[int, int]) -> Fact:
        ceiling = min(CONFIDENCE_CAP, fact.confidence * UNDER_THE_RULE)
        return replace(
            fact,
            confidence=round(min(candidate.confidence, ceiling), 3),
            extraction_method=self.method,
            span=span,
        )

    def _language(self) -> LanguageCode | None:
        from bmo.language import identify

        setting = self.gate.settings.bmo_language
        found = identify(self.turn.text, tag=self.turn.language, setting=setting)
        if found.by == "default" and self.turn.assistant_before:
            found = identify(self.turn.assistant_before)
        return found.pack

    def _forbidden(self) -> list[tuple[int, int, RefusalReason]]:
        """Stretches of the turn that no fact may come from, as the rules read them."""
        from bmo.gate import analyse
        from bmo.gate.published_signals import is_sarcastic

        whole = len(self.turn.text)
        if is_sarcastic(self.turn.text):
            return [(0, whole, "factuality")]
        if self.language is None:
            return []
        found: list[tuple[int, int, RefusalReason]] = []
        for clause in analyse(self.turn, self.context, self.language).clauses:
            start, end = clause.span
            if clause.vetoes:
                found.append((start, end, "factuality"))
            elif clause.speech_act in ("question", "forget"):
                found.append((start, end, "question"))
        return found


def _is_english(statement: str) -> bool:
    """Whether a model's sentence is in the language canonical text is written in."""
    from bmo.language import identify

    found = identify(statement)
    return found.by == "default" or found.pack == "en"


_NARROW = ("value", "slot")
"""What a model may end: one thing that is no longer so. It never erases."""
