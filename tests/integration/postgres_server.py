"""A real PostgreSQL server from Debian's package, for one test run.

It is started when ``BMO_TEST_POSTGRES=1``; the server's own programs refuse to run as root, so
they run as the package's user ``postgres`` then.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENABLED = os.environ.get("BMO_TEST_POSTGRES") == "1"


@contextmanager
def postgres_server() -> Iterator[str]:
    """Starts a server in a directory of its own; gives a URL up to the database's name."""
    programs = _programs()
    directory = Path(tempfile.mkdtemp(prefix="bmo-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(directory, "postgres", "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = directory / "data"
    control = [*as_user, str(programs / "pg_ctl"), "-D", str(data), "-w", "-t", "60"]
    subprocess.run(
        [
            *as_user,
            str(programs / "initdb"),
            "-D",
            str(data),
            "-U",
            "bmo",
            "-A",
            "trust",
            "-E",
            "UTF8",
        ],
        check=True,
        capture_output=True,
        cwd=directory,
    )
    options = f"-p {port} -k {directory} -c listen_addresses=127.0.0.1 -c fsync=off"
    subprocess.run(
        [*control, "-o", options, "-l", str(directory / "log"), "start"],
        check=True,
        capture_output=True,
        cwd=directory,
    )
    try:
        yield f"postgresql+psycopg://bmo@127.0.0.1:{port}/"
    finally:
        subprocess.run(
            [*control, "-m", "immediate", "stop"], check=True, capture_output=True, cwd=directory
        )
        shutil.rmtree(directory)


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise RuntimeError("BMO_TEST_POSTGRES=1 needs Debian's package postgresql: install it")
    return found[-1].parent
