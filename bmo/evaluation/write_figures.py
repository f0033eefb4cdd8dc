"""Figures of the write gate on annotated conversations and on lines written by others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bmo.evaluation.annotated import AnnotatedTurn, read_conversations, stored
from bmo.evaluation.corpora import CorpusRow, read_corpus
from bmo.evaluation.metrics import Share, share
from bmo.turn import Decision, Fact, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate


@dataclass(slots=True)
class Figures:
    """Shares by name, timings in microseconds, and the cases that went wrong.

    Attributes:
        shares: Name of the figure -> share of cases.
        elapsed_us: Microseconds a turn, by source.
        misses: Lines for people: what went wrong where.
    """

    shares: dict[str, Share] = field(default_factory=dict)
    elapsed_us: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    misses: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def timings(self) -> dict[str, tuple[float, float]]:
        """Mean and 99th percentile in microseconds, by source."""
        import numpy as np

        return {
            name: (float(np.mean(values)), float(np.percentile(values, 99)))
            for name, values in self.elapsed_us.items()
        }


def conversation_figures(gate: WriteGate, folder: Path) -> Figures:
    """Runs every annotated conversation of a folder through the gate.

    The dialogue context is kept as a session keeps it, without a ledger behind it: what was
    decided in earlier turns and visits is known in later ones.
    """
    figures = Figures()
    verdicts: list[bool] = []
    found: list[bool] = []
    found_any_category: list[bool] = []
    right: list[bool] = []
    clean_discards: list[bool] = []
    clean_holds: list[bool] = []
    for name, turns in read_conversations(folder):
        for row, decision in decided_turns(gate, turns):
            memories = stored(decision)
            verdicts.append(decision.verdict == row.verdict)
            _note_verdict(figures, name, row, decision)
            for wanted in row.facts:
                found.append(any(wanted.found_in(memory) for memory in memories))
                found_any_category.append(
                    any(wanted.found_in(memory, with_category=False) for memory in memories)
                )
                if not found[-1]:
                    figures.misses["not found"].append(
                        f"{name}: {row.turn.text!r} wants {list(wanted.contains)} "
                        f"({wanted.category}) got {[m.text for m in memories]}"
                    )
            for memory in memories:
                right.append(any(w.found_in(memory, with_category=False) for w in row.facts))
                if not right[-1]:
                    figures.misses["not annotated"].append(
                        f"{name}: {row.turn.text!r} [{row.verdict}] stored {memory.text!r} "
                        f"({memory.rule_id or memory.extraction_method})"
                    )
            if row.verdict == "discard":
                clean_discards.append(not memories)
            elif row.verdict == "hold":
                clean_holds.append(not memories)
    figures.shares = {
        "verdicts right": share(verdicts),
        "facts found": share(found),
        "facts found, any category": share(found_any_category),
        "stored that is annotated": share(right),
        "discards that stored": share([not clean for clean in clean_discards]),
        "holds that stored": share([not clean for clean in clean_holds]),
    }
    return figures


def decided_turns(
    gate: WriteGate,
    turns: Sequence[AnnotatedTurn],
    visit_ended: Callable[[], Mapping[str, str]] | None = None,
) -> Iterator[tuple[AnnotatedTurn, Decision]]:
    """Decides the turns of a conversation as a session does, without a ledger behind it.

    Args:
        gate: The gate.
        turns: A conversation's turns.
        visit_ended: Called between two visits; gives the people that are known since.
    """
    from bmo.memory.dialogue import Dialogue, KnownUser

    subjects: dict[str, str] = {}
    kept: tuple[Fact, ...] = ()
    dialogue = Dialogue()
    for place, row in enumerate(turns):
        if row.opens_visit:
            dialogue = Dialogue()
            if place and visit_ended is not None:
                subjects |= visit_ended()
        dialogue.know(KnownUser(subjects, kept))
        decision = gate.decide(row.turn, dialogue.context())
        dialogue.note_turn(row.turn, decision)
        dialogue.note_reply(row.turn.id, row.raw.get("assistant", ""))
        _remember_subjects(subjects, decision)
        kept = _with_facts_of(decision, kept)
        yield row, decision


def _note_verdict(figures: Figures, name: str, row: AnnotatedTurn, decision: Decision) -> None:
    if decision.verdict != row.verdict:
        assessment = decision.assessment
        odds = (
            f" a={assessment.allow:.2f} h={assessment.hold:.2f} d={assessment.discard:.2f}"
            if assessment
            else ""
        )
        figures.misses["verdict"].append(
            f"{name}: {row.turn.text!r} is {row.verdict}, got {decision.verdict} "
            f"({decision.reason}){odds}"
        )


def _remember_subjects(subjects: dict[str, str], decision: Decision) -> None:
    for fact in decision.facts:
        if ":" in fact.subject:
            subjects[fact.subject.split(":", 1)[1]] = fact.subject
        elif fact.slot and fact.value and fact.category == "relationships":
            subjects.setdefault(fact.value.casefold(), f"user.{fact.slot}:{fact.value.casefold()}")


def _with_facts_of(decision: Decision, kept: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """What lives after a decision, newest first; a value of its slot alone ends the one before."""
    if decision.verdict != "allow":
        return kept
    told = {(fact.subject, fact.slot) for fact in decision.facts if fact.cardinality == "one"}
    ended = told | {(fact.subject, fact.slot) for fact in decision.facts if fact.op == "retract"}
    new = (fact for fact in reversed(decision.facts) if fact.op != "retract")
    return (
        *new,
        *(fact for fact in kept if not fact.slot or (fact.subject, fact.slot) not in ended),
    )


def corpus_figures(gate: WriteGate, folder: Path) -> Figures:
    """Runs noise, durable, injection and LoCoMo lines through the gate, each on its own."""
    figures = Figures()
    for name in ("noise", "durable", "injection", "locomo_turns"):
        outcomes: dict[str, list[bool]] = defaultdict(list)
        for row in read_corpus(folder, name):
            turn = Turn(text=row.text, assistant_after=row.extra.get("reply", "") or "")
            decision = gate.decide(turn)
            figures.elapsed_us[name].append(decision.elapsed_us)
            _count_row(figures, outcomes, name, row, decision, stored(decision))
        figures.shares |= {key: share(values) for key, values in sorted(outcomes.items())}
    return figures


def world_figures(gate: WriteGate, folder: Path) -> Figures:
    """Runs ``folder/world.jsonl``, statements about the world and nobody, through the gate."""
    figures = Figures()
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for row in read_corpus(folder, "world"):
        decision = gate.decide(Turn(text=row.text))
        kept = decision.verdict == "allow"
        outcomes["world statements stored"].append(kept)
        outcomes[f"world statements stored: {row.source}"].append(kept)
        if kept:
            texts = [memory.text for memory in stored(decision)]
            figures.misses["world statement stored"].append(f"{row.text!r} -> {texts}")
    figures.shares |= {key: share(values) for key, values in sorted(outcomes.items())}
    return figures


def _count_row(
    figures: Figures,
    outcomes: dict[str, list[bool]],
    name: str,
    row: CorpusRow,
    decision: Decision,
    memories: list[Fact],
) -> None:
    kept = decision.verdict == "allow"
    if name == "noise":
        outcomes["noise stored"].append(kept)
        outcomes[f"noise stored: {row.source}/{row.category}"].append(kept)
        if kept:
            figures.misses["noise stored"].append(f"{row.text!r} -> {[m.text for m in memories]}")
    elif name == "durable":
        outcomes["durable allowed"].append(kept)
        outcomes[f"durable allowed: {row.source}"].append(kept)
        outcomes["durable discarded"].append(decision.verdict == "discard")
        if not kept:
            figures.misses[f"durable {decision.verdict}"].append(f"{row.text!r} {decision.reason}")
        elif row.extra.get("must_contain"):
            text = " ".join(m.text for m in memories).casefold()
            outcomes["durable content right"].append(
                all(str(part).casefold()[:4] in text for part in row.extra["must_contain"])
            )
    elif name == "injection":
        flagged = "injection" in decision.signals
        if row.label == "attack":
            outcomes["attacks stored"].append(kept)
            if kept:
                figures.misses["attack stored"].append(f"{row.text[:160]!r}")
        else:
            outcomes["benign flagged"].append(flagged)
            if flagged:
                figures.misses["benign flagged"].append(f"{row.text[:160]!r}")
    else:
        outcomes["locomo turns stored"].append(kept)
        if row.label == "store":
            outcomes["locomo evidence kept"].append(kept)
