from __future__ import annotations

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
def postgres() -> Iterator[sa.Engine]:
    """A real PostgreSQL server with a database for one test after the other."""
    with postgres_server() as url:
        engine = sa.create_engine(f"{url}postgres", isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql("CREATE DATABASE bmo")
        engine.dispose()
        engine = sa.create_engine(f"{url}bmo", isolation_level="AUTOCOMMIT")
        yield engine
        engine.dispose()


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
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty database: a SQLite file, or a database of a real PostgreSQL server."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'ledger.sqlite3'}"
        return
    engine: sa.Engine = request.getfixturevalue("postgres")
    yield engine.url.render_as_string(hide_password=False)
    # Emptied, and not made anew for each test: 300 databases are 2 GB that the disk must take.
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = 'bmo' AND pid <> pg_backend_pid()"
        )
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")


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
