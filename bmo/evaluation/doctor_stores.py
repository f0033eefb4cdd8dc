"""What ``bmo doctor`` looks at where memory lies: home, disk, ledger, index."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bmo.evaluation.checks import Check, level
from bmo.evaluation.doctor_services import CONNECT_TIMEOUT_S, without_password
from bmo.settings import Settings, quiet_third_parties

LITTLE_SPACE = 1 << 30
NO_SPACE = 100 << 20
"""Free bytes below which there is a warning, and below which it fails."""


def check_home(settings: Settings) -> Iterator[Check]:
    """Whether BMO_HOME can be written."""
    home = settings.bmo_home
    nearest = _nearest(home)
    if not nearest.is_dir():
        found, fix = f"{nearest} is no directory", "point BMO_HOME to a directory."
        yield Check("home", "fail", found, fix)
    elif not os.access(nearest, os.W_OK | os.X_OK):
        fix = "make it writable or set BMO_HOME."
        yield Check("home", "fail", f"{nearest} cannot be written", fix)
    elif not home.exists():
        yield Check("home", "ok", f"{home}: made at the first start")
    elif os.name == "posix" and home.stat().st_mode & 0o077:
        yield Check("home", "warn", f"{home}: others may read it", f"chmod 700 {home}")
    else:
        yield Check("home", "ok", str(home))


def check_disk(settings: Settings) -> Iterator[Check]:
    """Whether there is room for memory."""
    nearest = _nearest(settings.bmo_home)
    free = shutil.disk_usage(nearest).free
    fix = "free some space or move BMO_HOME."
    yield level(
        "disk", f"{free / 1e9:.1f} GB free at {nearest}", fix, -free, -LITTLE_SPACE, -NO_SPACE
    )


def check_ledger(settings: Settings) -> Iterator[Check]:
    """Whether the ledger is there, whole, and of this BMO's schema."""
    from bmo.ledger import inspect_ledger

    seen = inspect_ledger(settings.ledger_url)
    if seen.problem:
        fix = _ledger_fix(settings, seen.problem)
        yield Check("ledger", "fail", f"{seen.place}: {seen.problem}", fix)
    elif not seen.exists and _has_no_folder(settings, seen.place):
        fix = "correct the path in BMO_LEDGER_URL, or make the folder."
        yield Check("ledger", "fail", f"{seen.place}: there is no such folder", fix)
    elif not seen.exists:
        yield Check("ledger", "ok", f"{seen.place}: made at the first start")
    elif seen.schema is None or seen.schema.newest == seen.head:
        size = f", {seen.size_bytes / 1e6:.1f} MB" if seen.size_bytes else ""
        yield Check("ledger", "ok", f"schema {seen.head}{size}: {seen.place}")
    else:
        found = f"schema {seen.schema.newest}, this BMO has {seen.head}"
        fix = "" if seen.schema.fits else "use the BMO that made it, or another BMO_HOME."
        yield Check("ledger", "fail" if fix else "ok", found, fix)


def _has_no_folder(settings: Settings, place: str) -> bool:
    """Whether BMO_LEDGER_URL names a file in a folder that nobody makes."""
    typed = settings.bmo_ledger_url or ""
    return typed.startswith("sqlite") and not Path(place).parent.is_dir()


def _ledger_fix(settings: Settings, problem: str) -> str:
    if "no driver" in problem:
        return 'pip install "psycopg[binary]", or correct BMO_LEDGER_URL.'
    if not settings.ledger_url.startswith("sqlite"):
        return "correct BMO_LEDGER_URL or start the server."
    if "folder" in problem:
        return "move it away, or name another place by BMO_HOME or BMO_LEDGER_URL."
    if "unable to open" in problem or "readonly" in problem:
        return "give yourself the right to write there, or name another place by BMO_HOME."
    return "restore a copy, or move it away and bmo memories import an export."


def check_qdrant(settings: Settings) -> Iterator[Check]:
    """Whether the index can be opened, and who owns the embedded store."""
    if settings.qdrant_url is not None:
        yield from _qdrant_server(settings)
        return
    from bmo.index import IndexDamaged, IndexUnavailable, StoreInUse

    quiet_third_parties(settings.bmo_home)
    edge = importable("qdrant_edge")
    backend = "edge" if edge else "local"
    if not edge:
        yield Check(
            "qdrant edge",
            "warn",
            "no wheel for this platform: qdrant-client's local mode is used",
            "set QDRANT_URL from some thousand memories on.",
        )
    directory = settings.bmo_home / f"qdrant-{backend}"
    if not directory.is_dir():
        yield Check("qdrant", "ok", f"embedded ({backend}), made at the first start")
        return
    try:
        count = _embedded_count(settings)
    except StoreInUse as error:
        owner = str(error).partition(";")[0].rpartition(" by ")[2]
        yield Check("qdrant", "ok", f"embedded ({backend}), in use by {owner}")
    except IndexDamaged as error:
        yield Check("qdrant", "fail", str(error), "bmo reindex.")
    except IndexUnavailable as error:
        yield Check("qdrant", "fail", str(error), "do what it says.")
    else:
        yield Check("qdrant", "ok", f"embedded ({backend}), free, {count} memories")


def _embedded_count(settings: Settings) -> int:
    from bmo.index import EmbedderUnavailable, MemoryIndex, UnopenedEmbedder

    try:
        index = MemoryIndex.open(settings, UnopenedEmbedder(settings))
    except EmbedderUnavailable:
        return 0  # the embedder has a line of its own
    with closing(index):
        return index.count()


def _qdrant_server(settings: Settings) -> Iterator[Check]:
    """Whether the server answers, fits the client, and has the collection as it is made today."""
    from qdrant_client.common.version_check import is_compatible
    from qdrant_client.http.exceptions import ApiException

    from bmo.index import IndexUnavailable, meaning_of, server_client

    shown = without_password(settings.qdrant_url or "")
    try:
        with closing(server_client(settings, int(CONNECT_TIMEOUT_S))) as client:
            started = time.perf_counter()
            version = client.info().version
            took_ms = (time.perf_counter() - started) * 1000
            names = [one.name for one in client.get_collections().collections]
            own = [client.get_collection(name) for name in names if name.startswith("bmo-")]
    except IndexUnavailable as error:
        yield Check("qdrant", "fail", str(error), "do what it says.")
        return
    except (ApiException, OSError, ValueError) as error:
        start = "start it (docker compose -f docker-compose.qdrant.yml up -d) or unset QDRANT_URL."
        wrong, fix = meaning_of(error, start)
        yield Check("qdrant", "fail", f"server {shown} {wrong}", fix)
        return
    ours = importlib.metadata.version("qdrant-client")
    found = f"server {shown} {version}, {len(names)} collections, {took_ms:.0f} ms"
    if not is_compatible(ours, version):
        found += f": it does not fit qdrant-client {ours}"
        fix = f"use a server of {ours.rpartition('.')[0]}, or of the minor version before or after."
        yield Check("qdrant", "warn", found, fix)
    elif not all(one.config.hnsw_config.payload_m for one in own):
        found += ": made by an earlier BMO, with one graph for all users"
        yield Check("qdrant", "warn", found, "bmo reindex makes it with a graph for each.")
    else:
        yield Check("qdrant", "ok", found)


def _nearest(path: Path) -> Path:
    """``path``, or the nearest of its parents that exists."""
    return next(one for one in (path, *path.parents) if one.exists())


def importable(name: str) -> bool:
    """Whether a package is there and loads."""
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
