"""Measures the judge alone on lines by strangers: ``python -m training.strangers``.

Conversations and corpora are read where they lie; none of them is part of the training. The gate's
own figures, rules and judge together, are ``bmo eval``'s. Writes ``strangers.json`` beside the
judge, from which ``training.model_card`` writes the card.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bmo.evaluation.annotated import read_conversations
from bmo.evaluation.corpora import read_corpus
from bmo.evaluation.metrics import Share, share
from bmo.judge import MODEL, Judge
from bmo.turn import Assessment

SHARED = Path("/work/shared")


def verdict_of(judge: Judge, odds: Assessment) -> str:
    """The verdict by the judge's own thresholds."""
    if odds.allow >= judge.thresholds.allow:
        return "allow"
    return "discard" if odds.discard >= judge.thresholds.discard else "hold"


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


def main() -> None:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=Path, default=SHARED / "golden")
    parser.add_argument("--corpora", type=Path, default=SHARED / "corpora")
    parser.add_argument("--judge", type=Path, default=MODEL, help="folder of the judge")
    options = parser.parse_args()
    judge = Judge.open(options.judge)
    shares = conversation_shares(judge, options.conversations)
    shares |= corpus_shares(judge, options.corpora)
    for name, value in shares.items():
        print(f"{name}: {value}")
    written = {"version": judge.version, **{name: str(value) for name, value in shares.items()}}
    text = json.dumps(written, indent=1, ensure_ascii=False) + "\n"
    (options.judge / "strangers.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
