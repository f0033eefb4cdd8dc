"""Export and import of a user's memory as JSON lines, without loss.

The first line is ``{"type": "bmo-ledger", "version": 1, "user_id": ..., "counted": true}``, the
last one ``{"type": "end", "rows": {"turns": 12, ...}}``: how many rows of each kind stand between
them, so that a file that was cut off is known. Exports of versions before are not ``counted`` and
have no last line. Every other line is a row: ``type`` is the table (``turns``, ``decisions``,
``facts``, ``fact_turns``, ``feedback``), the other keys are its columns; moments are ISO 8601 in
UTC. Ids are kept, so that importing twice changes nothing. The index is not exported: it is made
from the facts. Nor is what waits to be forgotten, with the words of its turns: it would be known
again where it is imported.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, get_args

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import doubles, erasure, fact_writing, model_queue, outbox
from bmo.ledger import facts as rows
from bmo.ledger.facts import as_fact
from bmo.ledger.records import EndReason, HeldResolution
from bmo.ledger.redaction import EMPTIED
from bmo.ledger.schema import UtcDateTime, as_utc, decisions, fact_turns, facts, feedback, turns
from bmo.ledger.values import text_key, value_key
from bmo.settings import checked_user_id
from bmo.turn import CATEGORIES, MASKS, Cardinality, Kind, Polarity, Turn, Verdict, Visibility

LONGEST_TEXT = 20_000
"""Most characters of one text of a row."""
LONGEST_NAME = 1_000
"""Most characters of any other column: a subject, a reason, a version."""
MOST_LISTED = 1_000
"""Most entries of a row's list."""
_REMEMBERED = 1_000
"""Texts of a file whose judgement is kept: the same words stand in rows near each other."""


class Guard(Protocol):
    """Who says how words of a file are written down, and whether a memory may hold them."""

    def masked(self, text: str, asked: str = "") -> str:
        """The words masked; ``asked``: the assistant's words before them."""

    def may_hold(self, text: str, asked: str = "") -> bool:
        """Whether a memory may hold masked words."""


FORMAT = "bmo-ledger"
_END = "end"
VERSION = 1

_TABLES: dict[str, sa.Table] = {
    "turns": turns,
    "decisions": decisions,
    "facts": facts,
    "fact_turns": fact_turns,
    "feedback": feedback,
}
# Of this ledger alone: where the index keeps the fact, what waits for a confirmation, and ids
# that are only counters.
_LEFT_OUT = {
    "facts": {"index_id", "withdrawn_by", "value_key", "text_key", "digest"},
    "turns": {"seq"},
    "decisions": {"id"},
    "feedback": {"id"},
}


# A turn has a decision for every pass of a gate and for what a person decided, all of its moment.
_TELLS_APART = {
    "decisions": (
        "turn_id",
        "user_id",
        "at",
        "verdict",
        "reason",
        "rule_id",
        "gate_version",
        "extraction_method",
    ),
    "feedback": ("turn_id", "user_id", "at", "fact_id"),
}


_CLOSED: dict[tuple[str, str], tuple[str, ...]] = {
    ("facts", "category"): CATEGORIES,
    ("facts", "kind"): get_args(Kind),
    ("facts", "cardinality"): get_args(Cardinality),
    ("facts", "polarity"): get_args(Polarity),
    ("facts", "end_reason"): ("", *get_args(EndReason)),
    ("facts", "source_type"): ("gate", "tool", "model", "import", "manual"),
    ("fact_turns", "role"): ("stated", "confirmed", "ended"),
    ("turns", "visibility"): get_args(Visibility),
    ("facts", "visibility"): get_args(Visibility),
    ("decisions", "verdict"): get_args(Verdict),
    ("decisions", "resolution"): ("", *get_args(HeldResolution)),
}
_WORDS = {
    "turns": ("text", "assistant_before", "assistant_after"),
    "facts": ("text", "said", "asked", "value"),
}
_NAMES = ("subject", "slot", "domain", "when")
"""Names in a fact: a file may hold any words there."""
_ID = re.compile(r"[\w.:-]{1,64}")
_IDS = ("id", "turn_id", "fact_id", "superseded_by")
_RANDOM = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An id that BMO or another program made by chance: what looks for keys takes it for one."""
_YEARS = range(1970, 2200)


class ExchangeError(ValueError):
    """A line cannot be read; the message names the line and what is wrong."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        added: Rows written.
        known: Rows that were there already.
        suppressed: Rows of what was erased here since, and stays so: facts, and all that was said
            before the user was wiped.
        refused: Ids of the facts that no memory may hold.
        masked: Rows of which secrets or identifiers were masked, or the assistant's words before
            were left out.
    """

    added: int
    known: int
    suppressed: int
    refused: tuple[str, ...] = ()
    masked: int = 0


class _Row(NamedTuple):
    """A row of a file, judged: what its words became, and whether a memory may hold them."""

    number: int
    table: str
    values: dict[str, Any]
    masked: bool
    harmless: bool


@dataclass(frozen=True, slots=True)
class Export:
    """A file that was read and judged.

    Attributes:
        user_id: Whose memory it becomes.
        rows: Its rows in their order.
    """

    user_id: str
    rows: tuple[_Row, ...]


class _Remembering:
    """A guard that judges the same words once: a fact's text is most often what was said."""

    def __init__(self, guard: Guard) -> None:
        self.masked = lru_cache(_REMEMBERED)(guard.masked)
        self.may_hold = lru_cache(_REMEMBERED)(guard.may_hold)


def export_lines(connection: Connection, user_id: str) -> Iterator[str]:
    """All of a user's memory, a JSON object a line, without line ends."""
    yield json.dumps({"type": FORMAT, "version": VERSION, "user_id": user_id, "counted": True})
    written: Counter[str] = Counter(dict.fromkeys(_TABLES, 0))
    taken_out = sa.select(fact_turns.c.turn_id).join(facts).where(_withdrawn(user_id))
    wordless = set(connection.execute(taken_out).scalars())
    for name, table in _TABLES.items():
        for row in connection.execute(_rows_of(table, user_id)):
            values = {
                key: value.isoformat() if isinstance(value, datetime) else value
                for key, value in row._mapping.items()
                if key not in _LEFT_OUT.get(name, ())
            }
            if table is turns and values["id"] in wordless:
                values |= EMPTIED
            yield json.dumps({"type": name, **values}, ensure_ascii=False)
            written[name] += 1
    yield json.dumps({"type": _END, "rows": written})


def read_export(
    lines: Iterable[str], *, user_id: str | None = None, guard: Guard | None = None
) -> Export:
    """Reads and judges what :func:`export_lines` wrote, without a database.

    A gate reads every text of a file: milliseconds each, for which nobody else's writing may wait.

    Args:
        lines: The lines.
        user_id: Whose memory it becomes; None for the user in the file.
        guard: The gate; None for a file that is trusted: one's own backup.

    Raises:
        ExchangeError: A line is not what it should be, or lines are missing.
    """
    header: dict[str, Any] | None = None
    rows: list[_Row] = []
    read: Counter[str] = Counter()
    told: object = None
    gate = None if guard is None else _Remembering(guard)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = _parse(line, number)
        if header is None:
            header = _checked_header(row, number)
            user_id = checked_user_id(header["user_id"] if user_id is None else user_id)
            if not _RANDOM.fullmatch(user_id) and guard and MASKS[0] in guard.masked(user_id):
                raise ExchangeError(f"line {number}: the user id is a secret: name one by --user")
            continue
        name = str(row.pop("type", ""))
        if told is not None:
            raise ExchangeError(f"line {number} stands behind the last line of the export")
        if name == _END:
            told = row.get("rows", {})
            continue
        read[name] += 1
        if name not in _TABLES:
            raise ExchangeError(
                f"line {number}: type {name[:40]!r} is not one of {sorted(_TABLES)}"
            )
        values = _columns(_TABLES[name], row, number)
        before = dict(values)
        harmless = gate is None or _inspected(name, values, gate)
        rows.append(_Row(number, name, values, values != before, harmless))
    if header is None or user_id is None:
        raise ExchangeError("there is nothing to import: the file is empty")
    _check_whole(header, read, told)
    return Export(user_id, tuple(rows))


def import_rows(connection: Connection, export: Export) -> Imported:
    """Writes the rows of an export, on a writing connection of its user; all of it or nothing.

    Raises:
        ExchangeError: A row belongs to what is not in the file, or is somebody else's.
    """
    user_id = export.user_id
    counts = {"added": 0, "known": 0, "suppressed": 0, "masked": 0}
    skipped: set[str] = set()
    refused: list[str] = []
    new: dict[str, list[str]] = {"turns": [], "facts": []}
    for number, name, values, masked, harmless in export.rows:
        if values.get("fact_id") in skipped or (
            name != "facts" and values.get("turn_id") in skipped
        ):
            counts["suppressed"] += 1
            continue
        if name == "turns" and erasure.is_buried(connection, user_id, values["at"]):
            counts["suppressed"] += 1
            skipped.add(values["id"])
            continue
        if not harmless:
            skipped.add(values["id"])
            refused.append(values["id"])
            continue
        result = _import_row(connection, name, values, user_id, number)
        if result == "suppressed":
            skipped.add(values["id"])
        if result == "added" and name in new:
            new[name].append(values["id"])
        counts[result] += 1
        counts["masked"] += masked and result == "added"
    model_queue.queue_held(connection, user_id, new["turns"])
    # Once their sources are there: what is here already, or stands twice in the file, is merged.
    doubles.settle_by_ids(connection, user_id, new["facts"])
    return Imported(**counts, refused=tuple(refused))


def _check_whole(header: dict[str, Any], read: Counter[str], told: object) -> None:
    """An export that says how many rows it has must have them."""
    if told is None:
        if header.get("counted"):
            total = read.total()
            raise ExchangeError(f"the file is cut off after {total} rows: its last line is missing")
        return
    wanted = told if isinstance(told, dict) else {}
    wrong = [name for name in _TABLES if wanted.get(name, 0) != read[name]]
    if wrong:
        counts = ", ".join(f"{read[name]} of {wanted.get(name, 0)} {name}" for name in wrong)
        raise ExchangeError(f"lines are missing or doubled: the file has {counts}")


def _inspected(name: str, values: dict[str, Any], guard: Guard) -> bool:
    """Masks the words of a row; False for a fact that no memory may hold.

    The assistant's words before a fact go alone where they would steer it.
    """
    harmless, asked = True, values.get("asked") or values.get("assistant_before") or ""
    told = (*_WORDS["facts"], *_NAMES) if name == "facts" else ()
    for column, text in values.items():
        if isinstance(text, str) and text and not _is_plain(name, column, text):
            own = asked if column in ("text", "said") else ""
            values[column] = guard.masked(text, own)
            if column in told and not guard.may_hold(values[column], own):
                harmless = harmless and column == "asked"
                values[column] = ""
    if values.get("entities"):
        values["entities"] = [guard.masked(entity) for entity in values["entities"]]
    return harmless


def _is_plain(name: str, column: str, value: str) -> bool:
    """Whether a column holds no words: an id that is looked up, a closed set, random digits."""
    known = column in _IDS or (name, column) in _CLOSED
    return known or _RANDOM.fullmatch(value) is not None


def _import_row(
    connection: Connection, name: str, values: dict[str, Any], user_id: str, number: int
) -> str:
    table = _TABLES[name]
    if "user_id" in table.c:
        values["user_id"] = user_id
    key = {column.name: values.get(column.name) for column in table.primary_key}
    if name in _TELLS_APART:
        key = {column: values[column] for column in _TELLS_APART[name] if column in values}
    same = [table.c[column] == value for column, value in key.items()]
    if connection.execute(sa.select(sa.literal(1)).where(*same).limit(1)).first() is not None:
        return "known"
    _check_owner(connection, name, values, user_id, number)
    if name == "turns":
        values["seq"] = (connection.execute(sa.select(sa.func.max(turns.c.seq))).scalar() or 0) + 1
    if name == "facts":
        return _import_fact(connection, values, user_id)
    connection.execute(sa.insert(table), values)
    return "added"


def _import_fact(connection: Connection, values: dict[str, Any], user_id: str) -> str:
    values["value_key"] = value_key(values["value"])
    values["text_key"] = text_key(values["text"])
    connection.execute(sa.insert(facts), values)
    fact = rows.by_ids(connection, user_id, [values["id"]])[0]
    if erasure.is_buried(connection, user_id, values["recorded_at"], as_fact(fact)):
        connection.execute(sa.delete(facts).where(facts.c.id == fact.id))
        return "suppressed"
    fact_writing.write_words(connection, fact, fresh=True)
    if fact.valid_until is None:
        outbox.put(connection, "add", user_id, fact.id)
    return "added"


def _check_owner(
    connection: Connection, name: str, values: dict[str, Any], user_id: str, number: int
) -> None:
    """Rows may only hang on the same user's turns and facts, and take nobody's id."""
    references = {"turn_id": turns, "fact_id": facts}
    for column, table in references.items():
        wanted = values.get(column)
        if wanted is None or (name == "facts" and column == "fact_id"):
            continue
        owner = connection.execute(sa.select(table.c.user_id).where(table.c.id == wanted)).scalar()
        if owner != user_id:
            if name == "facts":
                values[column] = None
                continue
            why = (
                "is not in this file"
                if owner is None
                else "is another user's here: ids are kept, so a copy goes into another BMO_HOME"
            )
            raise ExchangeError(f"line {number}: {column} {wanted!r} {why}")


def _withdrawn(user_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(facts.c.user_id == user_id, facts.c.withdrawn_by.is_not(None))


def _rows_of(table: sa.Table, user_id: str) -> sa.Select[Any]:
    if table is fact_turns:
        kept = [facts.c.user_id == user_id, facts.c.withdrawn_by.is_(None)]
        return sa.select(fact_turns).where(
            fact_turns.c.fact_id.in_(sa.select(facts.c.id).where(*kept))
        )
    query = sa.select(table).where(table.c.user_id == user_id)
    if table is facts:
        query = query.where(facts.c.withdrawn_by.is_(None))
    if table is feedback:
        gone = sa.select(facts.c.id).where(_withdrawn(user_id))
        query = query.where(sa.or_(feedback.c.fact_id.is_(None), feedback.c.fact_id.not_in(gone)))
    if table is turns:
        return query.order_by(turns.c.seq)
    return query.order_by(*table.primary_key)


def _columns(table: sa.Table, row: dict[str, Any], number: int) -> dict[str, Any]:
    unknown = sorted(set(row) - set(table.c.keys()))
    if unknown:
        raise ExchangeError(f"line {number}: {table.name} has no {unknown[0][:40]!r}")
    own = {"user_id", *_LEFT_OUT.get(table.name, ())}
    values: dict[str, Any] = {}
    for column in table.c:
        if column.name in row and column.name not in _LEFT_OUT.get(table.name, ()):
            try:
                values[column.name] = _value(column, row[column.name])
            except ExchangeError as error:
                raise ExchangeError(f"line {number}: {error}") from None
        elif column.name not in own and not (column.nullable or column.default is not None):
            if not column.primary_key:
                raise ExchangeError(f"line {number}: {table.name} needs {column.name!r}")
    return values


def check_turn(turn: Turn) -> None:
    """Looks whether a turn can be recorded so that its export can be read again; not at its words.

    Raises:
        ValueError: One sentence that names what is wrong.
    """
    for name in ("id", "session_id", "at", "language", "confidence", "agent_id", "visibility"):
        try:
            _value(turns.c[name], getattr(turn, name))
        except ExchangeError as error:
            raise ValueError(f"The turn cannot be recorded: {error}.") from None


def _value(column: sa.Column[Any], value: Any) -> Any:
    """The value of a column.

    Raises:
        ExchangeError: It cannot stand there.
    """
    problem = f"{column.table.name}.{column.name} cannot be {reprlib.repr(value)}"
    if value is None:
        if column.nullable:
            return None
        raise ExchangeError(problem)
    if isinstance(column.type, UtcDateTime):
        try:
            moment = as_utc(value if isinstance(value, datetime) else datetime.fromisoformat(value))
        except (TypeError, ValueError, OverflowError):
            raise ExchangeError(f"{problem}: it is a moment in ISO 8601") from None
        if moment.year not in _YEARS:
            raise ExchangeError(f"{problem}: its year is {_YEARS[0]} to {_YEARS[-1]}")
        return moment
    allowed = _CLOSED.get((column.table.name, column.name))
    if allowed is not None and value not in allowed:
        raise ExchangeError(f"{problem}: it is one of {[one for one in allowed if one]}")
    kind: dict[type[Any], Callable[[Any], bool]] = {
        sa.Boolean: lambda v: isinstance(v, bool),
        sa.Float: _is_number,
        sa.Integer: lambda v: type(v) is int and 0 <= v < 1 << 31,
        sa.JSON: _is_list,
    }
    told = column.name in _WORDS.get(column.table.name, ())
    length = LONGEST_TEXT if told else getattr(column.type, "length", None) or LONGEST_NAME
    fits = kind.get(type(column.type), lambda v: isinstance(v, str) and len(v) <= length)
    if not fits(value):
        most = f": it is text of {length} characters at most" if isinstance(value, str) else ""
        raise ExchangeError(f"{problem}{most}")
    if column.name == "confidence" and not 0 <= value <= 1:
        raise ExchangeError(f"{problem}: it is a number from 0 to 1")
    if column.name in _IDS and not _ID.fullmatch(value):
        raise ExchangeError(f"{problem}: it is 1 to 64 of letters, digits and _ . : -")
    return value


def _is_number(value: Any) -> bool:
    return (type(value) is int and abs(value) < 1 << 53) or (
        isinstance(value, float) and math.isfinite(value)
    )


def _is_list(value: Any) -> bool:
    """Whether it is a short list of words: entities, signals."""
    few = isinstance(value, list) and len(value) <= MOST_LISTED
    return few and all(isinstance(one, str) and len(one) <= LONGEST_NAME for one in value)


def _parse(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ExchangeError(f"line {number}: not JSON ({error.msg})") from None
    except (RecursionError, ValueError):  # too deep, or a number of thousands of digits
        raise ExchangeError(f"line {number}: not JSON that can be read") from None
    if not isinstance(row, dict):
        raise ExchangeError(f"line {number}: not a JSON object")
    return row


def _checked_header(row: dict[str, Any], number: int) -> dict[str, Any]:
    if row.get("type") != FORMAT or not isinstance(row.get("user_id"), str):
        raise ExchangeError(
            f'line {number}: the first line must be {{"type": "{FORMAT}", "version": {VERSION}, '
            '"user_id": ...}'
        )
    if row.get("version") != VERSION:
        raise ExchangeError(f"line {number}: version {row.get('version')!r} is not {VERSION}")
    return row
