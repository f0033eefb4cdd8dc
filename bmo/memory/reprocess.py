"""The present gate over turns that were logged earlier: what it would do otherwise now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from bmo.ledger.redaction import MASK
from bmo.ledger.turn_log import as_turn
from bmo.memory.dialogue import Dialogue
from bmo.turn import Decision, Turn, Verdict

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.ledger import Ledger, LoggedTurn, Restated

KNOWN = 60
"""Memories of its time that a turn is read with, newest first."""


@dataclass(frozen=True, slots=True)
class Reprocessing:
    """What another pass of the gate changes.

    Attributes:
        gate_version: The gate that made the pass.
        turns: Turns it looked at.
        without_words: Turns left out because their words were erased or dropped.
        settled: Held turns left out because a person decided on them.
        reclassified: (before, now) verdict -> number of turns.
        changes: The turns about which something changes: their facts, or that they are held.
    """

    gate_version: str
    turns: int
    without_words: int
    settled: int
    reclassified: dict[tuple[str, str], int]
    changes: tuple[Restated, ...]


def reprocess(
    ledger: Ledger,
    gate: WriteGate,
    users: Sequence[str],
    *,
    since: datetime | None = None,
    version: str | None = None,
    held: bool = False,
    only: Collection[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Reprocessing:
    """Runs the gate over logged turns and compares; ``Ledger.write_passes`` writes the changes.

    Each turn is read with the conversation and the memories of its time. Turns whose words were
    erased or dropped cannot be read again.

    Args:
        ledger: Has the turns.
        gate: The present one.
        users: Whose turns.
        since: Only what was said from then on.
        version: Only what a gate of this version decided.
        held: Only what is held.
        only: Only turns of these ids.
        progress: Told the turns done, and those in all.
    """
    verdict: Verdict | None = "hold" if held else None
    logged = [
        turn
        for user_id in users
        for turn in ledger.turns(user_id, since=since, gate_version=version, verdict=verdict)
        if only is None or turn.id in only
    ]
    worded = [turn for turn in logged if turn.text.strip() and MASK not in turn.text]
    readable = [turn for turn in worded if not turn.by_hand]
    reclassified: dict[tuple[str, str], int] = {}
    passes: list[tuple[Turn, Decision]] = []
    let_go: set[str] = set()
    for number, (said, turn, decision) in enumerate(_passes(ledger, gate, readable), 1):
        if said.verdict != decision.verdict:
            key = (said.verdict, decision.verdict)
            reclassified[key] = reclassified.get(key, 0) + 1
            if said.verdict == "hold":
                let_go.add(turn.id)
        passes.append((turn, decision))
        if progress is not None:
            progress(number, len(readable))
    return Reprocessing(
        gate_version=gate.version,
        turns=len(readable),
        without_words=len(logged) - len(worded),
        settled=len(worded) - len(readable),
        reclassified=reclassified,
        # Without a fact the new verdict is all there is to write: the turn waits for nobody now.
        changes=tuple(one for one in ledger.compare_passes(passes) if one or one.turn.id in let_go),
    )


def _passes(
    ledger: Ledger, gate: WriteGate, logged: Iterable[LoggedTurn]
) -> Iterable[tuple[LoggedTurn, Turn, Decision]]:
    dialogues: dict[tuple[str, str], Dialogue] = {}
    for said in logged:
        dialogue = dialogues.setdefault((said.user_id, said.session_id), Dialogue())
        turn = as_turn(said)
        known = ledger.live_facts(said.user_id, at=said.at, limit=KNOWN)
        decision = gate.decide(turn, dialogue.context(known))
        dialogue.note_turn(turn, decision)
        yield said, turn, decision
