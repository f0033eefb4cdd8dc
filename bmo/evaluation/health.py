"""``bmo stats`` and ``bmo health``: what memory did over time, and whether that is as it was.

Drift of the verdicts is the population stability index, as the metric ``bmo_verdict_drift`` has it:
over .25 counts as a shift, if it is more than chance makes of so few turns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

from bmo.evaluation.checks import Check, level
from bmo.evaluation.metrics import percentile
from bmo.gate.tables import known_rules
from bmo.ledger import statistics as counts
from bmo.ledger.statistics import LEAST_TURNS, VERDICTS, RuleRecord, Span

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

PSI_SHIFT = 0.25
PSI_WATCH = 0.1
FALLBACK_DAYS = 2
"""How far back turns are looked at that a stage failed at: what was mended since is no alarm."""

FALLBACK_WATCH, FALLBACK_ALERT = 0.01, 0.05
"""Share of turns that a stage failed at."""

HELD_WATCH, HELD_ALERT = 200, 2000
"""Held turns nobody decided on."""

OUTBOX_WATCH_S, OUTBOX_ALERT_S = 60.0, 600.0
"""Age of the oldest memory that the index has not learnt, in seconds."""

GROWTH_WATCH, GROWTH_ALERT = 2.0, 4.0
"""Memories per turn, as a multiple of the baseline's."""

RULE_LEAST, RULE_WATCH, RULE_ALERT = 5, 0.2, 0.4
"""A rule with so many memories, and the shares of them taken back or called unhelpful."""


def statistics_of(
    ledger: Ledger, *, now: datetime, days: int, user_id: str | None = None
) -> dict[str, Any]:
    """What memory did in the latest days, as the documented JSON object.

    Args:
        ledger: The ledger.
        now: The present moment.
        days: How far to look back.
        user_id: Whose; None is everybody's.
    """
    span = Span(user_id, now - timedelta(days=days))
    with ledger.reading() as connection:
        decisions = counts.decision_counts(connection, span)
        recalls = counts.recall_counts(connection, span)
        rules = counts.rule_records(connection, span)
        categories = counts.live_by_category(connection, user_id)
        by_day = counts.verdicts_by_day(connection, span)
        facts_by_day = counts.facts_by_day(connection, span)
        feedback = counts.feedback_counts(connection, span)
    times = recalls.elapsed_ms
    return {
        "days": days,
        "users": 1 if user_id is not None else len(ledger.users()),
        "live": sum(categories.values()),
        "categories": dict(categories),
        "turns": decisions.turns,
        "verdicts": dict(decisions.verdicts),
        "fallbacks": decisions.fallbacks,
        "held_reasons": dict(decisions.held_reasons),
        "signals": dict(decisions.signals),
        "by_day": {day: dict(verdicts) for day, verdicts in by_day.items()},
        "memories_by_day": dict(facts_by_day),
        "rules": [
            {
                "rule_id": rule.rule_id,
                "memories": rule.facts,
                "taken_back": rule.taken_back,
                "unhelpful": rule.unhelpful,
            }
            for rule in rules
        ],
        "silent_rules": sorted(
            {*known_rules()} - {rule.rule_id for rule in rules} - {*decisions.rules}
        ),
        "feedback": feedback,
        "recalls": {
            "turns": recalls.turns,
            "recalled": recalls.recalled,
            "fallbacks": recalls.fallbacks,
            "given": recalls.given,
            "tokens": recalls.tokens,
            "triggers": dict(recalls.triggers),
            "median_ms": round(median(times), 2) if times else None,
            "p95_ms": round(percentile(times, 0.95), 2) if times else None,
        },
    }


def examine(
    ledger: Ledger,
    index: MemoryIndex | None,
    *,
    now: datetime,
    window_days: int,
    baseline_days: int,
    user_id: str | None = None,
    index_absent: str = "",
) -> Iterator[Check]:
    """Compares the latest days with the days before, and looks at what piles up.

    Args:
        ledger: The ledger.
        index: The index, or None when it is not ours to open.
        now: The present moment.
        window_days: The latest days.
        baseline_days: The days before these.
        user_id: Whose; None is everybody's.
        index_absent: Why there is no index.
    """
    recent, before = counts.windows_of(now, window_days, baseline_days, user_id)
    lately = Span(user_id, now - timedelta(days=FALLBACK_DAYS))
    with ledger.reading() as connection:
        new = counts.verdict_counts(connection, recent)
        decided = counts.decision_counts(connection, lately)
        recalled = counts.recall_counts(connection, lately)
        old = counts.verdict_counts(connection, before)
        added = sum(counts.facts_by_day(connection, recent).values())
        added_before = sum(counts.facts_by_day(connection, before).values())
        held, oldest = counts.held_backlog(connection, user_id)
        doubled = counts.duplicates(connection, user_id)
        contradicting = counts.conflicting(connection, user_id)
        rules = counts.rule_records(connection, Span(user_id))
    yield drift_check(old, new)
    yield fallback_check("write fallbacks", decided.fallbacks, decided.turns)
    yield fallback_check("read fallbacks", recalled.fallbacks, recalled.turns)
    yield _held_check(held, oldest, now)
    yield _outbox_check(ledger, now)
    yield _agreement_check(ledger, index, index_absent)
    found = f"{doubled} memories have the words of another"
    fix = "bmo memories list shows them; bmo memories forget removes one."
    yield level("duplicates", found, fix, doubled, 1, math.inf)
    found = f"{contradicting} memories contradict another"
    fix = "bmo memories conflicts shows them; edit or forget the wrong one."
    yield level("conflicts", found, fix, contradicting, 1, math.inf)
    yield growth_check(added_before, sum(old.values()), added, sum(new.values()))
    yield rules_check(rules)


def drift_check(old: Mapping[str, int], new: Mapping[str, int]) -> Check:
    """Whether the shares of the verdicts are what they were."""
    index, by_chance = counts.verdict_drift(old, new)
    before, now = sum(old.values()), sum(new.values())
    if math.isinf(by_chance):
        few = f"fewer than {LEAST_TURNS} say nothing"
        return Check("verdict drift", "ok", f"{now} turns against {before} before: {few}")
    moved = ", ".join(
        f"{v} {old.get(v, 0) / before:.0%} -> {new.get(v, 0) / now:.0%}" for v in VERDICTS
    )
    found = f"{moved} (PSI {index:.2f})"
    fix = "bmo stats shows since when; bmo replay --baseline shows what a change did."
    value = 0 if index <= by_chance else index
    return level("verdict drift", found, fix, value, PSI_WATCH, PSI_SHIFT)


def fallback_check(name: str, failed: int, turns: int) -> Check:
    """How often a stage was missing or failed lately."""
    share = failed / turns if turns else 0.0
    found = f"{failed} of {turns} turns in {FALLBACK_DAYS} days ({share:.1%})"
    fix = "bmo doctor says which part fails."
    alert = FALLBACK_ALERT if turns >= LEAST_TURNS else math.inf
    return level(name, found, fix, share, FALLBACK_WATCH, alert)


def growth_check(added_before: int, turns_before: int, added: int, turns: int) -> Check:
    """Whether memories pile up faster than they did."""
    rate = added / turns if turns else 0.0
    found = f"{added} memories from {turns} turns ({rate:.2f} a turn)"
    if min(turns, turns_before) < LEAST_TURNS or not added_before:
        return Check("growth", "ok", found)
    times = rate / (added_before / turns_before)
    found += f", {times:.1f} times the baseline"
    fix = "bmo stats shows which rules write them."
    return level("growth", found, fix, times, GROWTH_WATCH, GROWTH_ALERT)


def rules_check(rules: Sequence[RuleRecord]) -> Check:
    """Rules that fire and get corrected."""

    def share(rule: RuleRecord) -> float:
        return min(1.0, (rule.taken_back + rule.unhelpful) / rule.facts)

    enough = [rule for rule in rules if rule.facts >= RULE_LEAST]
    bad = sorted(
        (r for r in enough if share(r) >= RULE_WATCH), key=lambda r: (-share(r), r.rule_id)
    )
    if not bad:
        return Check("rules", "ok", f"{len(enough)} rules with {RULE_LEAST} memories or more")
    listed = ", ".join(f"{r.rule_id} {share(r):.0%} of {r.facts}" for r in bad[:5])
    fix = "tighten the rule (docs/rules-and-languages.md), then bmo reprocess."
    return level("rules", f"taken back: {listed}", fix, share(bad[0]), RULE_WATCH, RULE_ALERT)


def _held_check(held: int, oldest: datetime | None, now: datetime) -> Check:
    since = "" if oldest is None else f", the oldest {(now - oldest).days} days old"
    fix = "bmo held lists them; bmo reprocess --held asks the present gate again."
    return level("held backlog", f"{held} turns{since}", fix, held, HELD_WATCH, HELD_ALERT)


def _outbox_check(ledger: Ledger, now: datetime) -> Check:
    waiting = ledger.backlog()
    depth, oldest = waiting.depth, waiting.oldest
    age_s = max(0.0, (now - oldest).total_seconds()) if oldest is not None else 0.0
    found = f"{depth} waiting" + (f", the oldest for {_duration(age_s)}" if depth else "")
    fix = "start BMO, or see bmo doctor about the index."
    return level("outbox", found, fix, age_s, OUTBOX_WATCH_S, OUTBOX_ALERT_S)


def _agreement_check(ledger: Ledger, index: MemoryIndex | None, absent: str) -> Check:
    """Whether there are as many entries as memories; workers compare which ones they are."""
    from bmo.index import IndexUnavailable
    from bmo.recorder import comparison_of, made_anew

    if index is None:
        return Check("index", "warn", f"not compared: {absent}")
    try:
        entries, live = index.count_facts(), ledger.count_indexable()
    except IndexUnavailable as error:
        return Check("index", "fail", str(error), "bmo doctor")
    waiting = ledger.backlog().depth
    state = comparison_of(ledger, index.collection)
    missing = live - entries
    shown = f"{missing} missing" if missing > 0 else f"{-missing} too much"
    if not missing:
        return Check("index", "ok", f"{entries} entries agree with the ledger")
    if abs(missing) <= waiting:
        return Check("index", "ok", f"{shown}: {waiting} wait in the outbox")
    if state.until > time.time():
        found = f"{shown}: being mended, {state.looked} of {state.live} looked for"
        return Check("index", "warn", found, "none needed; see again later.")
    if anew := made_anew(ledger, index):
        fix = "the next chat or worker goes on with it; bmo reindex --missing does it at once."
        return Check("index", "warn", f"it is being made anew: {anew}", fix)
    return Check("index", "fail", shown, "bmo reindex --missing")


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
