"""Many facts at once, for benchmarks: rows and entries as the recorder writes them, but quickly.

The recorder takes some 20 ms a fact, mostly for its transactions. Here one fact goes the real way,
and its rows are the pattern for all others: the same tables and columns, with other ids, moments,
values and words, in one transaction. The entries are made by ``rebuild``, as ``bmo reindex`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

import sqlalchemy as sa

from bmo.ids import new_id
from bmo.ledger import Ledger
from bmo.ledger.doubles import settle_some
from bmo.ledger.schema import decisions, fact_turns, fact_words, facts, turns
from bmo.ledger.values import content_words, text_key, value_key
from bmo.turn import Fact

_ROWS = 500
"""Facts per statement."""


def multiply(
    ledger: Ledger, pattern_id: str, made: Callable[[int], Fact], numbers: Sequence[int]
) -> None:
    """Writes facts like one that is there, live and not in the index yet.

    Args:
        ledger: Where it is.
        pattern_id: Id of the fact whose rows are the pattern; it came with a turn of its own.
        made: Number -> fact; its subject and everything but category, slot, value and text are
            the pattern's.
        numbers: What is written; also the seconds between their turns.
    """
    with ledger.reading() as connection:
        fact = _only(connection, facts, facts.c.id == pattern_id)
        turn = _only(connection, turns, turns.c.id == fact["turn_id"])
        decision = _only(connection, decisions, decisions.c.turn_id == turn["id"])
        link = _only(connection, fact_turns, fact_turns.c.fact_id == pattern_id)
        newest = connection.execute(sa.select(sa.func.max(turns.c.seq))).scalar_one()
    del decision["id"]
    rest = iter(numbers)
    with ledger.writing() as connection:
        while chunk := list(islice(rest, _ROWS)):
            written: dict[sa.Table, list[dict[str, Any]]] = {
                turns: [],
                decisions: [],
                facts: [],
                fact_turns: [],
                fact_words: [],
            }
            for number in chunk:
                new, newest = made(number), newest + 1
                ids = {"fact_id": new_id(), "turn_id": new_id()}
                at = turn["at"] + timedelta(seconds=number)
                said = {"id": ids["turn_id"], "at": at, "text": new.text, "seq": newest}
                written[turns].append({**turn, **said})
                written[decisions].append({**decision, "turn_id": ids["turn_id"], "at": at})
                told = {
                    "id": ids["fact_id"],
                    "turn_id": ids["turn_id"],
                    "category": new.category,
                    "slot": new.slot,
                    "value": new.value,
                    "value_key": value_key(new.value),
                    "text": new.text,
                    "text_key": text_key(new.text),
                    "said": new.said,
                    "asked": new.asked,
                    "recorded_at": at,
                    "valid_from": at,
                    "index_id": None,
                    "digest": None,
                }
                written[facts].append({**fact, **told})
                written[fact_turns].append({**link, **ids})
                written[fact_words] += [
                    {"fact_id": ids["fact_id"], "word": word, "user_id": fact["user_id"]}
                    for word in sorted(content_words([new.text, new.value, new.asked]))
                ]
            for table, values in written.items():
                connection.execute(sa.insert(table), values)
            settle_some(connection, _ROWS)  # otherwise the next opening does


def _only(
    connection: sa.Connection, table: sa.Table, condition: sa.ColumnElement[bool]
) -> dict[str, Any]:
    return dict(connection.execute(sa.select(table).where(condition)).one()._mapping)
