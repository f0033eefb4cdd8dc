"""``bmo doctor`` on healthy and on broken set-ups."""

from __future__ import annotations

import json
import socket
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli import Ran, bmo, bmo_process
from tests.fakes.model_server import OLLAMA_MODEL, FakeModelServer
from tests.fakes.qdrant_door import API_KEY
from tests.fakes.qdrant_server import FakeQdrantServer
from tests.seeding import brother, opened, remember

pytestmark = pytest.mark.integration


def checks(ran: Ran) -> dict[str, dict[str, Any]]:
    assert "Traceback" not in ran.err, ran.err
    report = json.loads(ran.out)
    assert report["ok"] == (ran.code == 0)
    for check in report["checks"]:
        assert check["status"] in ("ok", "warn", "fail")
        assert check["status"] != "fail" or check["fix"], check
    return {check["name"]: check for check in report["checks"]}


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_a_new_machine_is_healthy_and_nothing_is_made(tmp_path: Path) -> None:
    home = tmp_path / "new"
    ran = bmo(home, "doctor", "--json", GATEKEEPER_MODE="local")
    assert ran.code == 0, ran.out
    found = checks(ran)
    assert {name for name, check in found.items() if check["status"] == "fail"} == set()
    assert {"settings", "model", "home", "disk", "ledger"} <= set(found)
    assert {"qdrant", "embedder", "judge", "GOOGLE_API_KEY", "livekit", "audio"} <= set(found)
    assert "dims" in found["embedder"]["found"]
    assert not home.exists()


def test_a_misspelt_variable_is_named_with_what_is_meant(tmp_path: Path) -> None:
    ran = bmo(tmp_path, "doctor", "--json", BMO_RECALL_DEADLINE="100")
    found = checks(ran)["settings"]
    assert found["status"] == "warn"
    assert "BMO_RECALL_DEADLINE" in found["found"]
    assert "BMO_RECALL_DEADLINE_MS may be meant" in found["fix"]


def test_a_used_home_is_healthy_and_fits_the_terminal(tmp_path: Path) -> None:
    remember(tmp_path, [brother()])
    tmp_path.chmod(0o700)
    ran = bmo(tmp_path, "doctor")
    assert ran.code == 0, ran.out
    assert max(len(line) for line in ran.out.splitlines()) <= 60
    assert "1 memories" in ran.out
    assert "schema" in ran.out


def test_beside_a_running_bmo_the_owner_is_named(tmp_path: Path) -> None:
    import os

    with opened(tmp_path):
        found = checks(bmo_process(tmp_path, "doctor", "--json"))
    assert found["qdrant"]["status"] == "ok"
    assert f"in use by process {os.getpid()}" in found["qdrant"]["found"]


def test_a_wrong_setting_is_named_and_the_rest_is_checked(tmp_path: Path) -> None:
    ran = bmo(tmp_path, "doctor", "--json", GATEKEEPER_MODE="psychic")
    assert ran.code == 1
    found = checks(ran)
    assert "GATEKEEPER_MODE='psychic'" in found["settings"]["found"]
    assert found["model"]["status"] == "ok"


def test_it_says_which_mode_the_gate_is_in_and_why(tmp_path: Path) -> None:
    found = checks(bmo(tmp_path, "doctor", "--json", GATEKEEPER_MODE=""))
    why = "local (GATEKEEPER_MODE is not set: no GOOGLE_API_KEY)"
    assert (found["gate mode"]["status"], found["gate mode"]["found"]) == ("ok", why)
    with FakeModelServer() as server:
        asks = {"GATEKEEPER_LLM_MODEL": f"ollama/{OLLAMA_MODEL}", "OLLAMA_HOST": server.url}
        found = checks(bmo(tmp_path, "doctor", "--json", GATEKEEPER_MODE="", **asks))
    why = f"hybrid (GATEKEEPER_MODE is not set: ollama/{OLLAMA_MODEL} can be asked)"
    assert found["gate mode"]["found"] == why
    assert found["gate model"]["status"] == "ok"
    found = checks(bmo(tmp_path, "doctor", "--json"))
    assert found["gate mode"]["found"] == "pattern"
    found = checks(bmo(tmp_path, "doctor", "--json", MEM0_SETTING="NORMAL"))
    assert found["gate mode"]["found"] == "no gates (MEM0_SETTING=NORMAL)"


def test_a_damaged_ledger_fails(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite3").write_bytes(b"only words" * 1000)
    found = checks(bmo(tmp_path, "doctor", "--json"))
    assert found["ledger"]["status"] == "fail"
    assert "not a database" in found["ledger"]["found"]
    assert (tmp_path / "ledger.sqlite3").read_bytes() == b"only words" * 1000


def test_a_ledger_of_a_newer_bmo_fails_and_is_left_alone(tmp_path: Path) -> None:
    remember(tmp_path, [brother()])
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite3")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    found = checks(bmo(tmp_path, "doctor", "--json"))
    assert found["ledger"]["status"] == "fail"
    assert "9999" in found["ledger"]["found"]


def test_a_dead_qdrant_server_fails(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    found = checks(bmo(tmp_path, "doctor", "--json", QDRANT_URL=url))
    assert found["qdrant"]["status"] == "fail"
    assert url in found["qdrant"]["found"]
    assert "QDRANT_URL" in found["qdrant"]["fix"]


def test_a_server_that_does_not_fit_the_client_is_named(tmp_path: Path) -> None:
    server = FakeQdrantServer()
    reach = {"QDRANT_URL": server.url, "QDRANT_API_KEY": API_KEY}
    found = checks(bmo(tmp_path, "doctor", "--json", **reach))["qdrant"]
    assert (found["status"], server.version in found["found"]) == ("ok", True)
    server.version = "1.17.0"
    found = checks(bmo(tmp_path, "doctor", "--json", **reach))["qdrant"]
    assert found["status"] == "warn"
    assert "1.17.0" in found["found"] and "does not fit qdrant-client 1." in found["found"]
    assert found["fix"].startswith("use a server of 1.")
    reach["QDRANT_API_KEY"] = "wrong"
    found = checks(bmo(tmp_path, "doctor", "--json", **reach))["qdrant"]
    assert (found["status"], "QDRANT_API_KEY" in found["fix"]) == ("fail", True)
    server.close()


def test_a_collection_of_an_earlier_bmo_is_named(tmp_path: Path) -> None:
    server = FakeQdrantServer()
    reach = {"QDRANT_URL": server.url, "QDRANT_API_KEY": API_KEY}
    assert bmo(tmp_path, "reindex", **reach).code == 0
    assert checks(bmo(tmp_path, "doctor", "--json", **reach))["qdrant"]["status"] == "ok"
    (layout,) = server.layouts.values()
    del layout["hnsw_config"]
    found = checks(bmo(tmp_path, "doctor", "--json", **reach))["qdrant"]
    assert (found["status"], "bmo reindex" in found["fix"]) == ("warn", True)
    assert bmo(tmp_path, "reindex", **reach).code == 0
    assert checks(bmo(tmp_path, "doctor", "--json", **reach))["qdrant"]["status"] == "ok"
    server.close()


def test_a_dead_livekit_server_without_keys_fails(tmp_path: Path) -> None:
    ran = bmo(
        tmp_path,
        "doctor",
        "--json",
        LIVEKIT_URL=f"ws://127.0.0.1:{free_port()}",
        LIVEKIT_API_KEY="devkey",
    )
    found = checks(ran)
    assert found["livekit"]["status"] == "fail"
    assert found["LIVEKIT_API_KEY"]["status"] == "ok"
    assert found["LIVEKIT_API_SECRET"]["status"] == "fail"


def test_a_home_that_is_a_file_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    found = checks(bmo(tmp_path / "file" / "home", "doctor", "--json"))
    assert found["settings"]["status"] == "fail"
    assert "is a file: name a folder" in found["settings"]["found"]


def test_custom_rules_with_a_fault_fail(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("skip_patterns:\n  - pattern: '(unclosed'\n    reason: test\n")
    ran = bmo(tmp_path, "doctor", "--json", GATEKEEPER_CUSTOM_RULES_PATH=str(rules))
    found = checks(ran)
    assert found["custom rules"]["status"] == "fail"
    assert "rules.yaml" in found["custom rules"]["found"]


def test_keys_are_never_printed(tmp_path: Path) -> None:
    secret = "AIzaSyNeverShowThisToAnybody"
    for options in ([], ["--json"]):
        ran = bmo(
            tmp_path,
            "doctor",
            *options,
            GOOGLE_API_KEY=secret,
            LIVEKIT_URL="wss://user:hunter2@127.0.0.1:1",
            LIVEKIT_API_SECRET=secret,
            QDRANT_API_KEY=secret,
        )
        assert secret not in ran.out + ran.err
        assert "hunter2" not in ran.out + ran.err


def test_a_folder_in_the_ledgers_place_is_called_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "ledger.sqlite3").mkdir(parents=True)
    found = checks(bmo(home, "doctor", "--json"))["ledger"]
    assert (found["status"], "it is a folder" in found["found"]) == ("fail", True)
    assert found["fix"].startswith("move it away")
    assert "is a folder: move it away" in bmo(home, "memories", "list").sentence


@pytest.mark.skipif(sys.platform != "linux", reason="/proc has a file that nobody can open so")
def test_a_ledger_that_cannot_be_opened_is_not_called_damaged(tmp_path: Path) -> None:
    """As on a disk that is mounted to be read only: its journal cannot be made."""
    home = tmp_path / "home"
    with opened(home):
        pass
    (home / "ledger.sqlite3").rename(home / "elsewhere")
    (home / "ledger.sqlite3").symlink_to("/proc/1/mem")
    found = checks(bmo(home, "doctor", "--json"))["ledger"]
    assert found["status"] == "fail"
    assert "restore a copy" not in found["fix"]
