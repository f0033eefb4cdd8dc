"""Figures of the judge alone, without rules, and whether one judge is worse than another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmo.evaluation.annotated import read_conversations
from bmo.evaluation.corpora import read_corpus
from bmo.evaluation.metrics import BOOTSTRAP_ROUNDS, BOOTSTRAP_SEED, Share, share
from bmo.turn import Assessment

if TYPE_CHECKING:
    from bmo.judge import Judge


class ReferenceMissing(RuntimeError):
    """The reference outcomes are not there or not readable; the message names the fix."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What one judge got right, turn by turn.

    Attributes:
        version: Version of the judge.
        right: Digest of a turn and the words before it -> (verdict right, read-need right).
    """

    version: str
    right: dict[str, tuple[bool, bool]]


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more or less often one judge is right than another, on the same turns.

    Attributes:
        name: What is compared.
        turns: Turns both were asked about.
        mean: Share right of the one minus that of the other, -1..1.
        low: Lower end of the 95% bootstrap interval.
        high: Its upper end; below 0 the one is worse by more than noise.
    """

    name: str
    turns: int
    mean: float
    low: float
    high: float

    @property
    def worse(self) -> bool:
        """Whether the interval lies below 0."""
        return self.high < 0

    def __str__(self) -> str:
        """As people read it: "verdicts right: -3.1 points (570 turns; -5.4 to -0.9), worse"."""
        word = ", worse" if self.worse else ""
        return (
            f"{self.name}: {100 * self.mean:+.1f} points ({self.turns} turns; "
            f"{100 * self.low:+.1f} to {100 * self.high:+.1f}){word}"
        )


def verdict_of(judge: Judge, odds: Assessment) -> str:
    """The verdict by the judge's own thresholds."""
    if odds.allow >= judge.thresholds.allow:
        return "allow"
    return "discard" if odds.discard >= judge.thresholds.discard else "hold"


def outcomes_of(judge: Judge, folder: Path) -> Outcomes:
    """Asks a judge about every turn of the annotated conversations in a folder."""
    right: dict[str, tuple[bool, bool]] = {}
    for _, turns in read_conversations(folder):
        for row in turns:
            odds = judge.assess([(row.turn.assistant_before, row.turn.text)])[0]
            said = f"{row.turn.assistant_before}\n{row.turn.text}\n{row.verdict} {row.recall}"
            right[hashlib.sha256(said.encode()).hexdigest()[:12]] = (
                verdict_of(judge, odds) == row.verdict,
                (odds.read_need >= judge.thresholds.read) == row.recall,
            )
    return Outcomes(judge.version, right)


def write_outcomes(outcomes: Outcomes, path: Path) -> None:
    """Writes outcomes as the reference for ``compared``."""
    turns = {key: "".join("01"[bit] for bit in bits) for key, bits in outcomes.right.items()}
    written = {"version": outcomes.version, "turns": turns}
    path.write_text(json.dumps(written, indent=0) + "\n", encoding="utf-8")


def read_outcomes(path: Path) -> Outcomes:
    """Reads what ``write_outcomes`` wrote.

    Raises:
        ReferenceMissing: The file is missing or is something else.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        turns = {key: (bits[0] == "1", bits[1] == "1") for key, bits in raw["turns"].items()}
        return Outcomes(raw["version"], turns)
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ReferenceMissing(
            f"no reference outcomes at {str(path)!r} ({error}): write them with the judge that "
            "is to be kept (bmo eval judge --accept FILE)."
        ) from error


def compared(new: Outcomes, reference: Outcomes) -> list[Difference]:
    """The paired difference between two judges on the turns both know.

    Args:
        new: The judge in question.
        reference: The one it replaces.

    Returns:
        One difference each for verdicts and read-need, with a paired percentile bootstrap
        interval (Efron 1979), seeded so that runs agree.

    Raises:
        ReferenceMissing: They share fewer than half of the turns: the conversations were
            changed, and the reference must be written again.
    """
    import numpy as np

    shared = [key for key in new.right if key in reference.right]
    if 2 * len(shared) < len(new.right):
        raise ReferenceMissing(
            f"the reference knows {len(shared)} of {len(new.right)} turns: write it again with "
            "the judge that is to be kept (bmo eval judge --accept FILE)."
        )
    found = []
    for place, name in enumerate(("verdicts right", "read-need right")):
        apart = np.array(
            [float(new.right[key][place]) - float(reference.right[key][place]) for key in shared]
        )
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        drawn = rng.integers(0, len(apart), (BOOTSTRAP_ROUNDS, len(apart)))
        low, high = np.percentile(apart[drawn].mean(axis=1), (2.5, 97.5))
        found.append(Difference(name, len(shared), float(apart.mean()), float(low), float(high)))
    return found


def conversation_shares(judge: Judge, folder: Path) -> dict[str, Share]:
    """Verdicts and read-need on annotated conversations, in all and by language."""
    right: dict[str, list[bool]] = {}
    allowed: list[bool] = []
    found: list[bool] = []
    asked: list[bool] = []
    needed: list[bool] = []
    for _, turns in read_conversations(folder):
        for row in turns:
            odds = judge.assess([(row.turn.assistant_before, row.turn.text)])[0]
            given = verdict_of(judge, odds)
            for key in ("verdicts right", f"verdicts right ({row.language})"):
                right.setdefault(key, []).append(given == row.verdict)
            if given == "allow":
                allowed.append(row.verdict == "allow")
            if row.verdict == "allow":
                found.append(given == "allow")
            searches = odds.read_need >= judge.thresholds.read
            if searches:
                asked.append(row.recall)
            if row.recall:
                needed.append(searches)
    shares = {key: share(values) for key, values in right.items()}
    shares |= {"allow precision": share(allowed), "allow recall": share(found)}
    return shares | {"read-need precision": share(asked), "read-need recall": share(needed)}


def corpus_shares(judge: Judge, folder: Path) -> dict[str, Share]:
    """Shares allowed, discarded or searched, by source."""

    def rows(name: str) -> list[tuple[Any, Assessment]]:
        return [(row, judge.assess([("", row.text)])[0]) for row in read_corpus(folder, name)]

    def count(
        pairs: Iterable[tuple[Any, Assessment]], holds: Callable[[Any, Assessment], bool]
    ) -> Share:
        return share([holds(row, odds) for row, odds in pairs])

    def allows(_: Any, odds: Assessment) -> bool:
        return verdict_of(judge, odds) == "allow"

    noise, durable = rows("noise"), rows("durable")
    injection, locomo = rows("injection"), rows("locomo_turns")
    shares = {"noise allowed": count(noise, allows)}
    for source in sorted({row.source for row, _ in noise}):
        shares[f"noise allowed ({source})"] = count(
            (pair for pair in noise if pair[0].source == source), allows
        )
    for source in sorted({row.source for row, _ in durable}):
        some = [pair for pair in durable if pair[0].source == source]
        shares[f"durable allowed ({source})"] = count(some, allows)
        shares[f"durable discarded ({source})"] = count(
            some, lambda _, odds: verdict_of(judge, odds) == "discard"
        )
    attacks = [pair for pair in injection if pair[0].label == "attack"]
    shares["attacks allowed, without the firewall"] = count(attacks, allows)
    shares["LoCoMo turns allowed"] = count(locomo, allows)
    evidence = [pair for pair in locomo if pair[0].label == "store"]
    shares["LoCoMo evidence allowed"] = count(evidence, allows)
    for name in ("read_negative", "read_positive"):
        shares[f"{name} above the threshold"] = count(
            rows(name), lambda _, odds: odds.read_need >= judge.thresholds.read
        )
    return shares
