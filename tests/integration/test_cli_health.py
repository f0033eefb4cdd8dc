"""``bmo stats`` and ``bmo health`` on ledgers with a history."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bmo.index import MemoryIndex
from bmo.settings import load_settings
from tests.cli import Ran, bmo
from tests.seeding import Said, brother, held, home_in, likes, opened, record, remember

pytestmark = pytest.mark.integration

NOW = datetime.now(UTC)


def dropped(text: str, at: datetime, *, fallback: bool = False) -> Said:
    return Said(
        text, (), "discard", signals=("question",), reason="question", at=at, fallback=fallback
    )


def ordinary(days_ago: float, number: int) -> Said:
    """One in five turns is kept, the others are questions."""
    at = NOW - timedelta(days=days_ago, minutes=number)
    if number % 5:
        return dropped("what time is it", at)
    one = likes(f"thing {number} of {days_ago}")
    return Said(one.text, one.facts, at=at)


def month() -> list[Said]:
    return [ordinary(days, number) for days in (20, 3) for number in range(60)]


def checks(ran: Ran) -> dict[str, dict[str, Any]]:
    assert "Traceback" not in ran.err, ran.err
    report = json.loads(ran.out)
    assert report["ok"] == (ran.code == 0)
    return {check["name"]: check for check in report["checks"]}


def execute(home: Path, statement: str) -> int:
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        changed = database.execute(statement).rowcount
        database.commit()
        return changed


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("steady")
    remember(home, month())
    return home


def test_a_steady_month_is_healthy(steady: Path) -> None:
    found = checks(bmo(steady, "health", "--json"))
    assert {name: check["status"] for name, check in found.items()} == dict.fromkeys(found, "ok")
    assert set(found) == {
        "verdict drift",
        "write fallbacks",
        "read fallbacks",
        "held backlog",
        "outbox",
        "index",
        "duplicates",
        "conflicts",
        "growth",
        "rules",
    }
    assert "24 entries agree" in found["index"]["found"]
    shown = bmo(steady, "health")
    assert shown.code == 0
    assert max(len(line) for line in shown.out.splitlines()) <= 60


def test_a_new_home_is_healthy(tmp_path: Path) -> None:
    assert bmo(tmp_path, "health").code == 0


def test_stats_count_what_was_recorded(steady: Path) -> None:
    found = bmo(steady, "stats", "--days", "30", "--json").rows[0]
    assert found["turns"] == 120
    assert found["verdicts"] == {"discard": 96, "allow": 24}
    assert found["live"] == 24
    assert sum(sum(day.values()) for day in found["by_day"].values()) == 120
    assert found["rules"] == [{"rule_id": "likes", "memories": 24, "taken_back": 0, "unhelpful": 0}]
    assert "likes" not in found["silent_rules"]
    assert bmo(steady, "stats", "--days", "5", "--json").rows[0]["turns"] == 60
    assert bmo(steady, "stats", "--user", "nobody", "--json").rows[0]["turns"] == 0
    shown = bmo(steady, "stats", "--days", "30")
    assert shown.code == 0
    assert max(len(line) for line in shown.out.splitlines()) <= 60


def test_drift_and_fallbacks_alert(tmp_path: Path) -> None:
    said = [ordinary(20, number) for number in range(60)]
    said += [
        held("someone said something once") if number % 2 else dropped("hm", NOW, fallback=True)
        for number in range(60)
    ]
    at = NOW - timedelta(days=1)
    remember(
        tmp_path,
        [Said(s.text, s.facts, s.verdict, at=s.at or at, fallback=s.fallback) for s in said],
    )
    ran = bmo(tmp_path, "health", "--json")
    assert ran.code == 1
    found = checks(ran)
    assert found["verdict drift"]["status"] == "fail"
    assert "hold 0% -> 50%" in found["verdict drift"]["found"]
    assert found["write fallbacks"]["status"] == "fail"
    # A wider window holds both months: nothing to compare with, no alarm.
    wide = checks(bmo(tmp_path, "health", "--window", "60", "--json"))
    assert wide["verdict drift"]["status"] == "ok"


def test_an_old_outbox_entry_alerts(tmp_path: Path) -> None:
    from bmo.ledger import Ledger
    from bmo.turn import Decision, Turn

    ledger = Ledger.open(load_settings(bmo_home=tmp_path).ledger_url)
    one = brother()
    ledger.record(
        Turn(one.text),
        Decision("allow", ("relationship",), "stated", 0.9, facts=one.facts, text=one.text),
    )
    ledger.close()
    assert execute(tmp_path, "UPDATE outbox SET created_at = '2026-01-01 00:00:00.000000'") == 1
    found = checks(bmo(tmp_path, "health", "--json"))
    assert found["outbox"]["status"] == "fail"
    assert "1 waiting" in found["outbox"]["found"]


def test_an_index_that_lost_memories_alerts_and_the_fix_works(tmp_path: Path) -> None:
    remember(tmp_path, [brother(), home_in("Leeds")])
    assert bmo(tmp_path, "reindex", "--missing").code == 0, "compared to the end"
    settings = load_settings(bmo_home=tmp_path, qdrant_url=None)
    index = MemoryIndex.open(settings)
    index.remove_entries([entry.index_id for entry in index.entries()])
    index.close()
    found = checks(bmo(tmp_path, "health", "--json"))
    assert found["index"]["status"] == "fail"
    assert "2 missing" in found["index"]["found"]
    assert found["index"]["fix"] == "bmo reindex --missing"
    assert bmo(tmp_path, "reindex", "--missing").code == 0
    assert checks(bmo(tmp_path, "health", "--json"))["index"]["status"] == "ok"


def test_an_index_that_is_made_anew_after_an_upgrade_is_a_warning(tmp_path: Path) -> None:
    remember(tmp_path, [brother(), home_in("Leeds")])
    shutil.rmtree(tmp_path / "qdrant-edge")
    execute(tmp_path, "DELETE FROM meta WHERE key LIKE 'comparison:%'")
    ran = bmo(tmp_path, "health", "--json")
    index = checks(ran)["index"]
    assert (ran.code, index["status"]) == (0, "warn")
    assert "2 of 2 memories are not in it yet" in index["found"]
    assert "the next chat" in index["fix"]


def test_what_failed_weeks_ago_is_no_alarm(tmp_path: Path) -> None:
    said = [dropped("hm", NOW - timedelta(days=5), fallback=True) for _ in range(60)]
    remember(tmp_path, said)
    ran = bmo(tmp_path, "health", "--json")
    found = checks(ran)["write fallbacks"]
    assert (ran.code, found["status"], found["found"]) == (0, "ok", "0 of 0 turns in 2 days (0.0%)")


def test_a_rule_that_gets_corrected_alerts(tmp_path: Path) -> None:
    with opened(tmp_path) as stores:
        ids = record(stores, [likes(f"thing {number}") for number in range(6)])
        for fact_id in ids[:3]:
            stores.recorder.call(
                stores.ledger.edit, "local", fact_id, text="Likes something else altogether"
            ).result(60)
    ran = bmo(tmp_path, "health", "--json")
    found = checks(ran)
    assert found["rules"]["status"] == "fail"
    assert "likes 50% of 6" in found["rules"]["found"]


def test_duplicates_and_conflicts_are_counted(tmp_path: Path) -> None:
    remember(tmp_path, [likes("tea"), likes("chess"), home_in("Leeds"), likes("Derby")])
    execute(tmp_path, "UPDATE facts SET text_key = 'likes tea' WHERE value IN ('tea', 'chess')")
    # As two workers of a version before left it.
    home = "slot = 'lives_in', cardinality = 'one'"
    execute(tmp_path, f"UPDATE facts SET {home} WHERE value = 'Derby'")
    ran = bmo(tmp_path, "health", "--json")
    assert ran.code == 0
    found = checks(ran)
    assert found["duplicates"]["status"] == "warn"
    assert found["duplicates"]["found"].startswith("1 ")
    assert found["conflicts"]["status"] == "warn"
    assert found["conflicts"]["found"].startswith("2 ")
    assert "Derby" in bmo(tmp_path, "memories", "conflicts", "--user", "local").out


def test_beside_a_running_bmo_the_index_is_not_compared(tmp_path: Path) -> None:
    with opened(tmp_path):
        ran = bmo(tmp_path, "health", "--json")
    assert ran.code == 0
    assert checks(ran)["index"]["status"] == "warn"


@pytest.mark.parametrize("command", ["stats", "health"])
def test_wrong_input_is_refused(tmp_path: Path, command: str) -> None:
    assert "user id ''" in bmo(tmp_path, command, "--user", "").sentence
    (tmp_path / "ledger.sqlite3").write_bytes(b"only words" * 1000)
    ran = bmo(tmp_path, command)
    assert ran.code == 1
    assert "damaged" in ran.sentence
