from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bmo.ledger import Ledger
from tests.fakes.qdrant_door import QdrantDoor
from tests.fakes.qdrant_forwarding import URL, ForwardedQdrant
from tests.fakes.qdrant_server import FakeQdrantServer
from tests.integration.postgres_server import ENABLED, postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param(
            "postgresql",
            marks=pytest.mark.skipif(
                not ENABLED, reason="PostgreSQL: set BMO_TEST_POSTGRES=1 (Debian's package)"
            ),
        ),
    ]
)
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty database: a SQLite file, or a database of a real PostgreSQL server."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite3'}"
    server: str = request.getfixturevalue("postgres")
    name = f"bmo_{uuid.uuid4().hex}"
    engine = sa.create_engine(f"{server}postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return f"{server}{name}"


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    """An open, empty ledger."""
    opened = Ledger.open(ledger_url)
    yield opened
    opened.close()


@pytest.fixture(
    params=[
        "fake-qdrant",
        pytest.param(
            "real-qdrant",
            marks=pytest.mark.skipif(not URL, reason="a real Qdrant: set BMO_TEST_QDRANT_URL"),
        ),
    ]
)
def server(request: pytest.FixtureRequest) -> Iterator[QdrantDoor]:
    """A Qdrant server without collections: the fake, or this test's part of a real one."""
    door = FakeQdrantServer() if request.param == "fake-qdrant" else ForwardedQdrant()
    yield door
    door.close()
