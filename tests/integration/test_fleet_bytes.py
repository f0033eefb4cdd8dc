"""What servers keep of erased bytes: the receipt names them, and the docs' commands remove them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.cli import bmo
from tests.fakes.qdrant_door import API_KEY, QdrantDoor
from tests.fakes.speaker import allowed, likes, turn
from tests.integration.memory_parts import bytes_with, open_parts
from tests.integration.postgres_server import ENABLED, postgres_server

pytestmark = pytest.mark.integration

AGAIN = 12
"""Times that the log's file is changed: once, and once for each file that was already set aside."""

OPERATING = Path(__file__).parents[2] / "docs" / "operating.md"


@pytest.fixture
def postgres() -> Iterator[str]:
    """A server of its own: its log is looked at."""
    with postgres_server() as url:
        yield f"{url}postgres"


@contextmanager
def statements(url: str) -> Iterator[sa.engine.Connection]:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def documented() -> list[str]:
    """The statements of the table in docs/operating.md, in order."""
    rows = OPERATING.read_text("utf-8").partition("| `stays` |")[2].partition("| `qdrant` |")[0]
    quoted = re.findall(r"`((?:VACUUM FULL|ALTER SYSTEM|SELECT)[^`]+)`", rows)
    return [one.strip() for block in quoted for one in block.split(";") if one.strip()]


@pytest.mark.skipif(not ENABLED, reason="PostgreSQL: set BMO_TEST_POSTGRES=1")
def test_what_the_servers_keep_is_named_and_can_be_made_to_go(
    tmp_path: Path, postgres: str, server: QdrantDoor
) -> None:
    fleet: dict[str, Any] = {
        "bmo_ledger_url": postgres,
        "qdrant_url": server.url,
        "qdrant_api_key": API_KEY,
    }
    with open_parts(tmp_path, **fleet) as parts:
        for number in range(40):
            words = f"i like zydeco of {number}"
            parts.say(turn(words), allowed(words, likes(f"zydeco of {number}")))
            parts.say(turn("so do i", user="ben"), allowed("so do i", likes(f"band {number}")))
        parts.settled()
    ran = bmo(
        tmp_path,
        *("memories", "wipe", "--user", "ana", "--yes", "--json"),
        BMO_LEDGER_URL=postgres,
        QDRANT_URL=server.url,
        QDRANT_API_KEY=API_KEY,
    )
    receipt = json.loads(ran.out)
    assert (ran.code, receipt["complete"], set(receipt["stays"])) == (
        0,
        True,
        {"postgresql", "qdrant"},
    )
    assert "ledger_files" not in receipt["places"]
    with statements(postgres) as connection:
        data = Path(str(connection.exec_driver_sql("SHOW data_directory").scalar()))
        connection.exec_driver_sql("CHECKPOINT")
        assert any(file.startswith("pg_wal") for file in bytes_with(data, "zydeco"))
        *once, switch, checkpoint, _ = documented()
        for statement in once:
            connection.exec_driver_sql(statement)
        for _ in range(AGAIN):
            connection.exec_driver_sql(switch)
            connection.exec_driver_sql(checkpoint)
            if not bytes_with(data, "zydeco"):
                break
        assert bytes_with(data, "zydeco") == []
        assert connection.exec_driver_sql("SELECT count(*) FROM facts").scalar() == 40


def test_where_all_files_are_its_own_nothing_stays(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        parts.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        receipt = parts.recorder.call(parts.ledger.erase_user, "ana").result(30)
        parts.settled()
        final = parts.ledger.receipt("ana", receipt.id)
        assert final is not None and (final.complete, final.stays) == (True, ())
