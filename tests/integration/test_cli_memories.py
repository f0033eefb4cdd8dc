"""``bmo memories`` on a real ledger and index, as a process of its own."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bmo.turn import Fact
from tests.cli import bmo
from tests.seeding import Said, brother, held, home_in, likes, opened, record, remember

pytestmark = pytest.mark.integration

DOCUMENTED = [
    "id",
    "user_id",
    "subject",
    "slot",
    "value",
    "text",
    "category",
    "kind",
    "valid_from",
    "valid_until",
    "superseded_by",
    "source_type",
]
LONG = "very long strings of islands in the north sea and the people who once lived on them"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A home that no test of this module changes, and the ids of its facts."""
    home = tmp_path_factory.mktemp("filled")
    said = [
        brother(),
        home_in("Oslo"),
        likes(LONG),
        home_in("Leeds"),
        held("maybe ill get a dog"),
        likes("tea", "eve"),
    ]
    return home, remember(home, said)


@pytest.fixture
def home(filled: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(filled[0], tmp_path / "home")
    return tmp_path / "home"


def test_list_as_json_has_the_documented_keys(filled: tuple[Path, list[str]]) -> None:
    home, ids = filled
    ran = bmo(home, "memories", "list", "--json")
    assert ran.code == 0, ran.err
    assert [list(row) for row in ran.rows] == [DOCUMENTED] * 3
    assert [row["text"] for row in ran.rows] == [
        "Lives in Leeds",
        f"Likes {LONG}",
        "Has a brother named Sam",
    ]
    assert ran.rows[0] == {
        "id": ids[3],
        "user_id": "local",
        "subject": "user",
        "slot": "lives_in",
        "value": "Leeds",
        "text": "Lives in Leeds",
        "category": "personal_facts",
        "kind": "fact",
        "valid_from": "2026-03-01T09:03:00+00:00",
        "valid_until": None,
        "superseded_by": None,
        "source_type": "gate",
    }


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_the_table_fits_the_terminal_and_drops_no_words(
    filled: tuple[Path, list[str]], columns: int
) -> None:
    ran = bmo(filled[0], "memories", "list", columns=columns)
    assert ran.code == 0
    assert max(len(line) for line in ran.out.splitlines()) <= columns
    words = " ".join(ran.out.split())
    assert all(word in words for word in LONG.split())
    assert ("relationships" in ran.out) == (columns == 100)


def test_filters_of_list(filled: tuple[Path, list[str]]) -> None:
    home, ids = filled

    def texts(*options: str) -> list[str]:
        ran = bmo(home, "memories", "list", "--json", *options)
        assert ran.code == 0, ran.err
        return [row["text"] for row in ran.rows]

    assert texts("--category", "relationships") == ["Has a brother named Sam"]
    assert texts("--user", "eve") == ["Likes tea"]
    assert texts("--user", "nobody") == []
    assert "Lives in Oslo" in texts("--past")
    # The ledger answers what was known and true then, by the turns' own time.
    assert texts("--extraction-version", "rules-other") == []
    assert len(texts("--extraction-version", "rules-test")) == 3
    ended = [r for r in bmo(home, "memories", "list", "--past", "--json").rows if r["valid_until"]]
    assert [(row["id"], row["superseded_by"]) for row in ended] == [(ids[1], ids[3])]


def test_as_of_shows_what_was_known_then(tmp_path: Path) -> None:
    remember(
        tmp_path,
        [
            home_in("Oslo", at=datetime(2026, 1, 1, tzinfo=UTC)),
            home_in("Leeds", at=datetime(2026, 2, 1, tzinfo=UTC)),
        ],
    )
    for day, expected in (("2025-12-31", []), ("2026-01-15", ["Oslo"]), ("2026-02-02", ["Leeds"])):
        ran = bmo(tmp_path, "memories", "list", "--as-of", day, "--json")
        assert [row["value"] for row in ran.rows] == expected, day


def test_show_why_and_history(filled: tuple[Path, list[str]]) -> None:
    home, ids = filled
    shown = bmo(home, "memories", "show", ids[3][:8])
    assert shown.code == 0
    assert "lives_in" in shown.out and "pattern:lives_in" in shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 60

    why = bmo(home, "memories", "why", ids[3][:8])
    assert '"i live in leeds"' in why.out
    assert "2026-03-01 09:03" in why.out
    assert "Lives in Oslo" in why.out
    told = bmo(home, "memories", "why", ids[1], "--json").rows[0]
    assert told["replaced_by"]["id"] == ids[3]
    assert told["rule_id"] == "lives_in"
    assert [turn["text"] for turn in told["said"]] == ["i live in oslo"]

    history = bmo(home, "memories", "history", ids[3], "--json").rows
    assert [row["id"] for row in history] == [ids[1], ids[3]]
    assert history == bmo(home, "memories", "history", ids[1], "--json").rows


def test_nothing_remembered_is_said(tmp_path: Path) -> None:
    assert bmo(tmp_path / "new", "memories", "list").out == "Nothing is remembered.\n"
    assert bmo(tmp_path / "new", "memories", "list", "--json").out == ""
    assert bmo(tmp_path / "new", "memories", "conflicts").out == "No conflicts.\n"


def test_a_memory_cannot_steer_the_terminal(tmp_path: Path) -> None:
    remember(tmp_path, [likes("[red]alarm[/red] \x1b[2J\x1b]0;owned\x07 \u202egnirts")])
    for command in (["list"], ["list", "--past"]):
        ran = bmo(tmp_path, "memories", *command)
        assert "[red]alarm[/red]" in ran.out
        assert "\x1b" not in ran.out and "\x07" not in ran.out and "\u202e" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "zzzz"], "'zzzz'"),
        (["show", ""], "''"),
        (["show", "%"], "'%'"),
        (["why", "' OR 1=1 --"], "OR 1=1"),
        (["history", "_"], "'_'"),
        (["edit", "zzzz", "--text", "Lives in Rome"], "'zzzz'"),
        (["forget", "zzzz"], "'zzzz'"),
        (["list", "--user", "*"], "user id '*' is not allowed"),
        (["list", "--user", "a b"], "user id 'a b' is not allowed"),
        (["list", "--user", "ｌocal"], "is not allowed"),
        (["list", "--user", "x" * 129], "1 to 128"),
        (["list", "--user", ""], "user id '' is not allowed"),
        (["wipe", "--user", "*", "--yes"], "user id '*' is not allowed"),
        (["wipe"], "--yes"),
        (["list", "--category", "secrets"], "'secrets' is unknown"),
        (["list", "--as-of", "yesterday"], "'yesterday' must be ISO 8601"),
        (["edit", "zzzz"], "--text, --value or --category"),
        (["import"], "--from-mem0"),
        (["import", "/nowhere/at-all.jsonl"], "/nowhere/at-all.jsonl"),
        (["import", "--path", "/tmp"], "--from-mem0"),
        (["pending", "--cancel", "zzzz"], "'zzzz'"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(
    filled: tuple[Path, list[str]], arguments: list[str], says: str
) -> None:
    ran = bmo(filled[0], "memories", *arguments)
    assert ran.code == 2
    assert says in ran.sentence


def test_an_id_that_fits_several_memories_asks_for_more(tmp_path: Path) -> None:
    ids = remember(tmp_path, [likes(f"thing {letter}") for letter in "abcdefghijklmnopqr"])
    firsts = [one[0] for one in ids]
    shared = next(first for first in firsts if firsts.count(first) > 1)
    ran = bmo(tmp_path, "memories", "show", shared)
    assert ran.code == 2
    assert f"{firsts.count(shared)} memories" in ran.sentence


def test_ids_of_other_users_are_unknown(filled: tuple[Path, list[str]]) -> None:
    home, ids = filled
    for command in ("show", "why", "history", "forget"):
        ran = bmo(home, "memories", command, ids[0], "--user", "eve")
        assert ran.code == 2
        assert "'eve'" in ran.sentence


def test_edit_puts_a_new_row_in_the_old_ones_place(home: Path) -> None:
    old = next(r for r in bmo(home, "memories", "list", "--json").rows if r["slot"] == "lives_in")
    ran = bmo(
        home, "memories", "edit", old["id"][:10], "--text", "Lives in York", "--value", "York",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.rows[0]["text"] == "Lives in York"
    texts = [row["text"] for row in bmo(home, "memories", "list", "--json").rows]
    assert "Lives in York" in texts and "Lives in Leeds" not in texts
    history = bmo(home, "memories", "history", ran.rows[0]["id"], "--json").rows
    assert [row["value"] for row in history][-2:] == ["Leeds", "York"]
    again = bmo(home, "memories", "edit", old["id"], "--value", "Bath")
    assert again.code == 2
    assert "cannot be edited" in again.sentence
    with opened(home) as stores:
        assert stores.index is not None
        found = {entry.text for entry in stores.index.entries("local")}
    assert "Lives in York" in found and "Lives in Leeds" not in found


def test_forget_erases_everywhere_and_gives_a_receipt(home: Path) -> None:
    rows = bmo(home, "memories", "list", "--json").rows
    sam = next(row for row in rows if "Sam" in row["text"])
    ran = bmo(home, "memories", "forget", sam["id"][:8], "--json")
    assert ran.code == 0, ran.err
    receipt = ran.rows[0]
    assert receipt["complete"] is True
    assert receipt["places"]["facts"] == 1 and receipt["places"]["index"] == 1
    assert "Sam" not in ran.out
    assert bmo(home, "memories", "show", sam["id"]).code == 2
    left = [
        path
        for path in home.rglob("*")
        if path.is_file() and b"brother named sam" in path.read_bytes().lower()
    ]
    assert left == []


def test_forget_with_one_wrong_id_erases_nothing(home: Path) -> None:
    before = bmo(home, "memories", "list", "--json").rows
    ran = bmo(home, "memories", "forget", before[0]["id"], "zzzz")
    assert ran.code == 2
    assert bmo(home, "memories", "list", "--json").rows == before


def test_wipe_leaves_the_other_user_alone(home: Path) -> None:
    ran = bmo(home, "memories", "wipe", "--yes")
    assert ran.code == 0, ran.err
    assert "facts 4" in " ".join(ran.out.split())
    assert bmo(home, "memories", "list", "--past", "--json").rows == []
    assert [row["text"] for row in bmo(home, "memories", "list", "--user", "eve", "--json").rows]


def test_an_export_is_read_back_without_loss(home: Path, tmp_path: Path) -> None:
    # A turn that was held and then allowed has two decisions, both of its moment.
    (waits,) = bmo(home, "held", "--json").rows
    assert bmo(home, "held", "--allow", waits["id"]).code == 0
    file = tmp_path / "memory.jsonl"
    ran = bmo(home, "memories", "export", str(file))
    assert ran.code == 0, ran.err
    assert file.stat().st_mode & 0o777 == 0o600
    assert bmo(home, "memories", "export").out == file.read_text(encoding="utf-8")

    other = tmp_path / "other"
    came = bmo(other, "memories", "import", str(file))
    assert came.code == 0, came.err
    assert bmo(other, "memories", "export").out == file.read_text(encoding="utf-8")
    listed = ("memories", "list", "--past", "--json")
    assert bmo(other, *listed).rows == bmo(home, *listed).rows
    why = ("memories", "why", bmo(home, *listed).rows[0]["id"], "--json")
    assert bmo(other, *why).rows == bmo(home, *why).rows
    again = bmo(other, "memories", "import", "-", stdin=file.read_text(encoding="utf-8"))
    assert "0 rows added" in again.out


def test_a_users_memory_is_not_copied_to_another_in_the_same_home(
    home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    assert bmo(home, "memories", "export", str(file)).code == 0
    ran = bmo(home, "memories", "import", str(file), "--user", "carl")
    assert ran.code == 2
    assert "another user's here" in ran.sentence and "another BMO_HOME" in ran.sentence
    assert bmo(home, "memories", "list", "--past", "--user", "carl", "--json").rows == []
    assert bmo(home, "memories", "export").out == file.read_text(encoding="utf-8")
    other = tmp_path / "other"
    assert bmo(other, "memories", "import", str(file), "--user", "carl").code == 0
    mine = bmo(home, "memories", "list", "--json").rows
    assert bmo(other, "memories", "list", "--user", "carl", "--json").rows == [
        {**row, "user_id": "carl"} for row in mine
    ]


@pytest.mark.parametrize("bad", ["not json", "[]", '{"type": "other"}', "\x00\x01"])
def test_a_file_that_is_no_export_changes_nothing(home: Path, tmp_path: Path, bad: str) -> None:
    file = tmp_path / "bad.jsonl"
    good = bmo(home, "memories", "export").out
    before = bmo(home, "memories", "list", "--json").rows
    for text in (bad, good + bad + "\n"):
        file.write_text(text, encoding="utf-8")
        ran = bmo(home, "memories", "import", str(file))
        assert ran.code == 2
        assert "nothing was imported" in ran.sentence
    assert bmo(home, "memories", "list", "--json").rows == before


def test_conflicts_are_shown_side_by_side(tmp_path: Path) -> None:
    home = tmp_path / "home"
    # Both said at the same moment: nobody can tell which is newer.
    remember(
        home,
        [
            Said(one.text, one.facts, at=home_in("x").at, session_id=visit)
            for visit, one in (("a", home_in("Oslo")), ("b", home_in("Leeds")))
        ],
    )
    with opened(home) as stores:
        stores.recorder.call(
            stores.ledger.add_imported,
            "local",
            Fact(
                text="Lives in Bergen",
                category="personal_facts",
                slot="lives_in",
                value="Bergen",
                cardinality="one",
            ),
            at=None,
        ).result(60)
    ran = bmo(home, "memories", "conflicts", "--json")
    assert len(ran.rows) == 1
    assert ran.rows[0]["slot"] == "lives_in"
    assert {row["value"] for row in ran.rows[0]["memories"]} == {"Leeds", "Bergen"}
    assert "Lives in Bergen" in bmo(home, "memories", "conflicts").out


def test_beside_a_running_bmo_reading_works_and_changing_is_refused(home: Path) -> None:
    with opened(home) as stores:
        record(stores, [likes("chess")])
        rows = bmo(home, "memories", "list", "--json").rows
        assert "Likes chess" in [row["text"] for row in rows]
        for command in ("show", "why", "history"):
            assert bmo(home, "memories", command, rows[0]["id"]).code == 0
        ran = bmo(home, "memories", "forget", rows[0]["id"])
        assert ran.code == 1
        assert "in use by process" in ran.sentence
        assert bmo(home, "memories", "list", "--json").rows == rows


def test_a_damaged_ledger_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite3").write_bytes(b"this is no database, only words" * 100)
    for arguments in (["list"], ["show", "ab"], ["wipe", "--yes"]):
        ran = bmo(tmp_path, "memories", *arguments)
        assert ran.code == 1
        assert "damaged" in ran.sentence


def test_a_ledger_with_a_damaged_page_is_one_sentence(home: Path) -> None:
    file = home / "ledger.sqlite3"
    content = bytearray(file.read_bytes())
    content[4096 * 3 :] = b"\xff" * (len(content) - 4096 * 3)
    file.write_bytes(content)
    ran = bmo(home, "memories", "list", "--past")
    assert ran.code == 1
    assert str(home) in ran.sentence


def test_a_home_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("a file where a directory should be")
    ran = bmo(blocker / "home", "memories", "list")
    assert ran.code == 1
    assert "BMO_HOME" in ran.sentence


def test_a_ledger_url_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    ran = bmo(tmp_path, "memories", "list", BMO_LEDGER_URL="mysql://x/y")
    assert ran.code == 2
    assert "BMO_LEDGER_URL" in ran.sentence


def forget_everything(user_id: str = "local") -> Said:
    asked = Fact(text="everything", category="personal_facts", op="retract", scope="all")
    return Said("forget everything", (asked,), user_id=user_id, signals=("forget",))


def test_a_wide_request_waits_until_it_is_confirmed(home: Path) -> None:
    remember(home, [forget_everything()])
    assert bmo(home, "memories", "list", "--json").rows == []
    waiting = bmo(home, "memories", "pending", "--json").rows
    assert len(waiting) == 1
    assert waiting[0]["scope"] == "all"
    assert "Has a brother named Sam" in [row["text"] for row in waiting[0]["memories"]]
    assert "Has a brother named Sam" in bmo(home, "memories", "pending").out
    assert bmo(home, "memories", "pending", "--user", "eve", "--json").rows == []
    other = bmo(home, "memories", "pending", "--confirm", waiting[0]["id"], "--user", "eve")
    assert other.code == 2
    assert "bmo memories pending" in other.sentence
    done = bmo(home, "memories", "pending", "--confirm", waiting[0]["id"][:8], "--json")
    assert done.code == 0, done.err
    assert done.rows[0]["complete"] is True
    assert bmo(home, "memories", "list", "--past", "--json").rows == []
    assert bmo(home, "memories", "pending").out == "Nothing waits to be forgotten.\n"


def test_a_cancelled_request_puts_everything_back(home: Path) -> None:
    before = bmo(home, "memories", "list", "--json").rows
    remember(home, [forget_everything()])
    request = bmo(home, "memories", "pending", "--json").rows[0]
    both = bmo(home, "memories", "pending", "--confirm", "a", "--cancel", "b")
    assert both.code == 2
    assert "one at a time" in both.sentence
    back = bmo(home, "memories", "pending", "--cancel", request["id"])
    assert back.code == 0, back.err
    assert bmo(home, "memories", "list", "--json").rows == before


def test_a_mem0_collection_is_taken_over(tmp_path: Path) -> None:
    from qdrant_client import QdrantClient, models

    store = tmp_path / "mem0"
    client = QdrantClient(path=str(store))
    client.create_collection(
        "mem0", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE)
    )
    told = [
        ("Lives in Leeds", "ana"),
        ("Has a sister named Mia", "ana"),
        ("Someone else's", "not allowed/here"),
    ]
    client.upsert(
        "mem0",
        [
            models.PointStruct(
                id=number,
                vector=[1.0, float(number)],
                payload={"data": text, "user_id": user, "created_at": "2025-06-01T10:00:00+00:00"},
            )
            for number, (text, user) in enumerate(told, 1)
        ],
    )
    client.close()
    home = tmp_path / "home"
    ran = bmo(home, "memories", "import", "--from-mem0", "mem0", "--path", str(store))
    assert ran.code == 1
    assert "3 memories read, 2 added" in ran.out
    assert "not allowed/here" in ran.err and "Traceback" not in ran.err
    rows = bmo(home, "memories", "list", "--user", "ana", "--json").rows
    assert {row["text"] for row in rows} == {"Lives in Leeds", "Has a sister named Mia"}
    assert {row["source_type"] for row in rows} == {"import"}
    assert {row["valid_from"] for row in rows} == {"2025-06-01T10:00:00+00:00"}
    again = bmo(
        home, "memories", "import", "--from-mem0", "mem0", "--path", str(store), "--user", "ana"
    )
    assert again.code == 0, again.err
    assert "2 known already" in again.out
    wrong = bmo(home, "memories", "import", "--from-mem0", "nowhere", "--path", str(store))
    assert wrong.code == 1
    assert "'nowhere'" in wrong.sentence
    unnamed = bmo(home, "memories", "import", "--from-mem0", "mem0")
    assert unnamed.code == 1
    assert "QDRANT_URL" in unnamed.sentence
