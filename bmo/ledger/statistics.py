"""Counting what the ledger holds: verdicts over time, rules and how they fared, duplicates.

Only the newest decision on a turn counts. Reads; writes nothing.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import facts as rows
from bmo.ledger.schema import as_utc, decisions, facts, feedback, recall_items, recalls, turns

VERDICTS = ("allow", "hold", "discard")

CHI_SQUARE_99 = 9.21
"""99% quantile of chi-square with two degrees of freedom (three verdicts)."""

LEAST_TURNS = 50
"""Fewer turns in a window say nothing about a share."""

_TAKEN_BACK = ("corrected", "edited", "retracted")
"""Reasons of an end that say the memory should not have been there."""


_LATER = decisions.alias("later")
_IS_NEWEST = ~sa.exists().where(
    _LATER.c.turn_id == decisions.c.turn_id, _LATER.c.id > decisions.c.id
)
"""Of a turn that was decided again the newest decision alone; asked of those in the span only."""


@dataclass(frozen=True, slots=True)
class Span:
    """Whose turns of which time are counted.

    Attributes:
        user_id: Whose; None is everybody's.
        since: From this moment on; None is from the beginning.
        until: Before this moment; None is up to now.
    """

    user_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def conditions(self, table: sa.Table, moment: str = "at") -> list[sa.ColumnElement[bool]]:
        """The same as SQL, on a table's user and moment."""
        column = table.c[moment]
        wanted: list[sa.ColumnElement[bool]] = []
        if self.user_id is not None:
            wanted.append(table.c.user_id == self.user_id)
        if self.since is not None:
            wanted.append(column >= self.since)
        if self.until is not None:
            wanted.append(column < self.until)
        return wanted


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """What the write gate said in a span.

    Attributes:
        turns: Turns decided.
        verdicts: Verdict -> turns.
        fallbacks: Turns where a stage was missing or failed.
        held_reasons: Reason -> held turns.
        signals: Signal -> turns that had it.
        rules: Rule that decided -> turns ("" left out).
    """

    turns: int
    verdicts: Mapping[str, int]
    fallbacks: int
    held_reasons: Mapping[str, int]
    signals: Mapping[str, int]
    rules: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """How the memories of one rule fared.

    Attributes:
        rule_id: The rule, or the extraction method where no rule wrote it.
        facts: Memories it wrote.
        taken_back: Of these, corrected, edited or retracted later.
        unhelpful: Of these, with feedback that it did not help.
    """

    rule_id: str
    facts: int
    taken_back: int
    unhelpful: int


@dataclass(frozen=True, slots=True)
class RecallCounts:
    """What the read gate did in a span.

    Attributes:
        turns: Turns with a plan.
        recalled: Of these, with memory asked for.
        fallbacks: Recalls that failed or missed the deadline.
        given: Memories given.
        tokens: Tokens given.
        triggers: Trigger -> turns.
        elapsed_ms: Time of each recall that asked for memory, in milliseconds, ascending.
    """

    turns: int
    recalled: int
    fallbacks: int
    given: int
    tokens: int
    triggers: Mapping[str, int]
    elapsed_ms: tuple[float, ...]


def population_stability(old: Sequence[int], new: Sequence[int]) -> float:
    """Population stability index of two counts over the same categories (Siddiqi 2006).

    Half a case is added to every category, so that an empty one has a logarithm.
    """
    old_sum, new_sum = sum(old) + 0.5 * len(old), sum(new) + 0.5 * len(new)
    shares = [((a + 0.5) / old_sum, (b + 0.5) / new_sum) for a, b in zip(old, new, strict=True)]
    return sum((b - a) * math.log(b / a) for a, b in shares)


def verdict_drift(old: Mapping[str, int], new: Mapping[str, int]) -> tuple[float, float]:
    """How far the shares of the verdicts moved, and how far they move by chance alone.

    With few turns the index is large by chance: under no change it is distributed like
    (1/n + 1/m) times a chi-square with categories - 1 degrees of freedom (Yurdakul 2018).

    Args:
        old: Verdict -> turns before.
        new: Verdict -> turns since.

    Returns:
        The population stability index, and its 99% quantile under no change (infinite with fewer
        than ``LEAST_TURNS`` turns on a side).
    """
    before, now = [old.get(v, 0) for v in VERDICTS], [new.get(v, 0) for v in VERDICTS]
    if min(sum(before), sum(now)) < LEAST_TURNS:
        return 0.0, math.inf
    by_chance = CHI_SQUARE_99 * (1 / sum(before) + 1 / sum(now))
    return population_stability(before, now), by_chance


def verdicts_by_day(connection: Connection, span: Span) -> dict[str, dict[str, int]]:
    """Day (YYYY-MM-DD, UTC) -> verdict -> turns, oldest day first."""
    day = sa.func.date(decisions.c.at)
    query = (
        sa.select(day, decisions.c.verdict, sa.func.count())
        .where(_IS_NEWEST, *span.conditions(decisions))
        .group_by(day, decisions.c.verdict)
        .order_by(day)
    )
    found: dict[str, dict[str, int]] = {}
    for when, verdict, count in connection.execute(query):
        found.setdefault(str(when), {})[verdict] = count
    return found


def verdict_counts(connection: Connection, span: Span) -> dict[str, int]:
    """Verdict -> turns of a span."""
    query = sa.select(decisions.c.verdict, sa.func.count()).where(
        _IS_NEWEST, *span.conditions(decisions)
    )
    found = connection.execute(query.group_by(decisions.c.verdict))
    return {row.verdict: row[1] for row in found}


def decision_counts(connection: Connection, span: Span) -> DecisionCounts:
    """What the write gate said in a span."""
    alike = (
        decisions.c.verdict,
        decisions.c.reason,
        decisions.c.fallback,
        sa.cast(decisions.c.signals, sa.Text),  # PostgreSQL groups by no JSON
        decisions.c.rule_id,
    )
    query = (
        sa.select(*alike, sa.func.count())
        .where(_IS_NEWEST, *span.conditions(decisions))
        .group_by(*alike)
    )
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    signals: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    fallbacks = 0
    for verdict, reason, fallback, had, rule_id, turns_alike in connection.execute(query):
        verdicts[verdict] += turns_alike
        fallbacks += turns_alike if fallback else 0
        signals.update(dict.fromkeys(json.loads(had), turns_alike))
        if verdict == "hold":
            reasons[reason] += turns_alike
        if rule_id:
            rules[rule_id] += turns_alike
    return DecisionCounts(
        turns=verdicts.total(),
        verdicts=_ranked(verdicts),
        fallbacks=fallbacks,
        held_reasons=_ranked(reasons),
        signals=_ranked(signals),
        rules=_ranked(rules),
    )


def windows_of(
    now: datetime, window_days: int, baseline_days: int, user_id: str | None = None
) -> tuple[Span, Span]:
    """The latest days, and the days before them."""
    start = now - timedelta(days=window_days)
    return Span(user_id, start), Span(user_id, start - timedelta(days=baseline_days), start)


def recall_counts(connection: Connection, span: Span) -> RecallCounts:
    """What the read gate did in a span."""
    rows_of = sa.select(
        recalls.c.trigger,
        recalls.c.recalled,
        recalls.c.fallback,
        recalls.c.tokens,
        recalls.c.elapsed_ms,
    ).where(*span.conditions(recalls))
    triggers: Counter[str] = Counter()
    elapsed: list[float] = []
    recalled = fallbacks = tokens = 0
    for row in connection.execute(rows_of):
        triggers[row.trigger] += 1
        fallbacks += bool(row.fallback)
        tokens += row.tokens
        if row.recalled:
            recalled += 1
            elapsed.append(row.elapsed_ms)
    return RecallCounts(
        turns=triggers.total(),
        recalled=recalled,
        fallbacks=fallbacks,
        given=int(connection.execute(_given(span)).scalar_one()),
        tokens=tokens,
        triggers=_ranked(triggers),
        elapsed_ms=tuple(sorted(elapsed)),
    )


def feedback_counts(connection: Connection, span: Span) -> dict[str, Any]:
    """Whether what was recalled in a span helped, and whether rules that were given were kept.

    Returns:
        The object ``feedback`` of ``bmo stats --json``: judgements by their source, rules (hard
        rules and policies) given for turns, corrections of and complaints about those, and the
        shares of both, None of nothing.
    """
    judged = (
        sa.select(feedback.c.helpful, feedback.c.source, sa.func.count())
        .where(*span.conditions(feedback))
        .group_by(feedback.c.helpful, feedback.c.source)
    )
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for helpful, source, count in connection.execute(judged):
        found[bool(helpful)][source] += count
    is_rule = facts.c.kind.in_(("hard_rule", "policy"))
    rules_given = _given(span).join(facts, facts.c.id == recall_items.c.fact_id).where(is_rule)
    broken = (
        sa.select(sa.func.count())
        .select_from(feedback)
        .join(facts, facts.c.id == feedback.c.fact_id)
        .where(feedback.c.helpful.is_(False), is_rule, *span.conditions(feedback))
    )
    given_count = int(connection.execute(rules_given).scalar_one())
    broken_count = int(connection.execute(broken).scalar_one())
    judged_count = found[True].total() + found[False].total()
    return {
        "helpful": _ranked(found[True]),
        "unhelpful": _ranked(found[False]),
        "helpful_rate": found[True].total() / judged_count if judged_count else None,
        "rules_given": given_count,
        "rules_broken": broken_count,
        "rule_violation_rate": broken_count / given_count if given_count else None,
    }


def _given(span: Span) -> sa.Select[int]:
    """How many memories were given."""
    return (
        sa.select(sa.func.count())
        .select_from(recall_items)
        .join(recalls, recalls.c.id == recall_items.c.recall_id)
        .where(recall_items.c.given.is_(True), *span.conditions(recalls))
    )


def facts_by_day(connection: Connection, span: Span) -> dict[str, int]:
    """Day (YYYY-MM-DD, UTC) -> memories recorded, oldest day first."""
    day = sa.func.date(facts.c.valid_from)
    query = sa.select(day, sa.func.count()).where(*span.conditions(facts, "valid_from"))
    query = query.group_by(day).order_by(day)
    return {str(when): count for when, count in connection.execute(query)}


def live_by_category(connection: Connection, user_id: str | None) -> dict[str, int]:
    """Category -> live memories, most first."""
    query = sa.select(facts.c.category, sa.func.count()).where(
        rows.is_live(), *Span(user_id).conditions(facts, "valid_from")
    )
    found = connection.execute(query.group_by(facts.c.category))
    return _ranked({row.category: row[1] for row in found})


def rule_records(connection: Connection, span: Span) -> list[RuleRecord]:
    """How the memories of each rule fared, most memories first."""
    name = sa.case((facts.c.rule_id != "", facts.c.rule_id), else_=facts.c.extraction_method)
    # All at once: asked of each memory it costs as much again.
    unhelpful = facts.c.id.in_(
        sa.select(feedback.c.fact_id).where(
            feedback.c.helpful.is_(False), feedback.c.fact_id.is_not(None)
        )
    )
    query = (
        sa.select(
            name.label("rule"),
            sa.func.count().label("facts"),
            sa.func.sum(sa.case((facts.c.end_reason.in_(_TAKEN_BACK), 1), else_=0)).label("back"),
            sa.func.sum(sa.case((unhelpful, 1), else_=0)).label("unhelpful"),
        )
        .where(facts.c.source_type == "gate", *span.conditions(facts, "valid_from"))
        # By its label: PostgreSQL takes the same expression with parameters for another one.
        .group_by("rule")
    )
    found = [
        RuleRecord(row.rule, row.facts, int(row.back), int(row.unhelpful))
        for row in connection.execute(query)
    ]
    return sorted(found, key=lambda record: (-record.facts, record.rule_id))


def held_backlog(connection: Connection, user_id: str | None) -> tuple[int, datetime | None]:
    """Held turns nobody has decided on, and when the oldest was said."""
    query = (
        sa.select(sa.func.count(), sa.func.min(turns.c.at))
        .select_from(decisions)
        .join(turns, turns.c.id == decisions.c.turn_id)
        .where(
            decisions.c.verdict == "hold",
            decisions.c.resolution == "",
            _IS_NEWEST,
            *Span(user_id).conditions(decisions),
        )
    )
    count, oldest = connection.execute(query).one()
    return int(count), _moment(oldest)


def duplicates(connection: Connection, user_id: str | None) -> int:
    """Live memories of one user that have the words of another one, whatever else differs.

    Two that state the same cannot be (see ``doubles``).
    """
    key, mine = facts.c.text_key, Span(user_id).conditions(facts, "valid_from")
    # Which words stand twice the index tells alone, in a quarter of the time of reading the rows.
    twice = sa.select(facts.c.user_id, key).where(key != "", *mine)
    found = twice.group_by(facts.c.user_id, key).having(sa.func.count() > 1).subquery()
    again = (
        sa.select((sa.func.count() - 1).label("again"))
        .select_from(found)
        .join(facts, sa.and_(facts.c.user_id == found.c.user_id, key == found.c.text_key))
        .where(rows.is_live())
        .group_by(facts.c.user_id, key)
        .subquery()
    )
    return int(connection.execute(sa.select(sa.func.sum(again.c.again))).scalar() or 0)


def conflicting(connection: Connection, user_id: str | None) -> int:
    """Live memories that contradict another one, two values of a slot that holds one as well."""
    mine = Span(user_id).conditions(facts, "valid_from")
    query = sa.select(sa.func.count()).select_from(facts).where(rows.contradicts(), *mine)
    return int(connection.execute(query).scalar_one())


def _ranked(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _moment(value: object) -> datetime | None:
    """An aggregate's moment; SQLite gives text for ``min`` of a column."""
    if value is None:
        return None
    return as_utc(value if isinstance(value, datetime) else datetime.fromisoformat(str(value)))
