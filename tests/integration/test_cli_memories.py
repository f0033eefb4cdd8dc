"""``bmo memories`` that shows what is known, as a process of its own on real stores."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bmo.turn import Fact
from tests.cli import bmo
from tests.homes import copy_home
from tests.seeding import (
    LONG_LIKING,
    Said,
    filled_home,
    home_in,
    likes,
    opened,
    remember,
)

pytestmark = pytest.mark.integration

DOCUMENTED = [
    "id",
    "user_id",
    "subject",
    "slot",
    "value",
    "text",
    "asked",
    "category",
    "domain",
    "kind",
    "valid_from",
    "valid_until",
    "superseded_by",
    "source_type",
    "agent_id",
    "visibility",
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A home that no test of this module changes, and the ids of its facts."""
    home = tmp_path_factory.mktemp("filled")
    return home, filled_home(home)


@pytest.fixture
def home(filled: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy that a test may change."""
    copy_home(filled[0], tmp_path / "home")
    return tmp_path / "home"


def test_list_as_json_has_the_documented_keys(filled: tuple[Path, list[str]]) -> None:
    home, ids = filled
    ran = bmo(home, "memories", "list", "--json")
    assert ran.code == 0, ran.err
    assert [list(row) for row in ran.rows] == [DOCUMENTED] * 3
    assert [row["text"] for row in ran.rows] == [
        "Lives in Leeds",
        f"Likes {LONG_LIKING}",
        "Has a brother named Sam",
    ]
    assert ran.rows[0] == {
        "id": ids[3],
        "user_id": "local",
        "subject": "user",
        "slot": "lives_in",
        "value": "Leeds",
        "text": "Lives in Leeds",
        "asked": "",
        "category": "personal_facts",
        "domain": None,
        "kind": "fact",
        "valid_from": "2026-03-01T09:03:00+00:00",
        "valid_until": None,
        "superseded_by": None,
        "source_type": "gate",
        "agent_id": "",
        "visibility": "shared",
    }


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_the_table_fits_the_terminal_and_drops_no_words(
    filled: tuple[Path, list[str]], columns: int
) -> None:
    ran = bmo(filled[0], "memories", "list", columns=columns)
    assert ran.code == 0
    assert max(len(line) for line in ran.out.splitlines()) <= columns
    words = " ".join(ran.out.split())
    assert all(word in words for word in LONG_LIKING.split())
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


def test_words_are_shown_as_words_with_what_they_answer(tmp_path: Path) -> None:
    words = Fact("me and ines", "relationships", said="me and ines", asked="Who is cooking?")
    (said,) = remember(tmp_path, [Said("me and ines", (words,), asked="Who is cooking?")])
    table = bmo(tmp_path, "memories", "list", columns=100).out
    assert 'asked "Who is cooking?": "me and ines"' in table
    why = bmo(tmp_path, "memories", "why", said, columns=100).out
    assert 'asked "Who is cooking?"' in why and 'you said: "me and ines"' in why
    (row,) = bmo(tmp_path, "memories", "why", said, "--json").rows
    assert (row["text"], row["asked"]) == ("me and ines", "Who is cooking?")
    assert [(one["text"], one["asked"]) for one in row["said"]] == [
        ("me and ines", "Who is cooking?")
    ]


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
        (["list", "--user", ""], "user id '' is not allowed"),
        (["wipe"], "--yes"),
        (["list", "--category", "secrets"], "'secrets' is not one of"),
        (["list", "--as-of", "yesterday"], "'yesterday' must be ISO 8601"),
        (["edit", "zzzz"], "--text, --value, --category or --visibility"),
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


@pytest.mark.parametrize("identity", ["*", "%", "local ", "ｌocal", "x" * 129])
def test_a_strange_identity_is_one_person_and_no_other(home: Path, identity: str) -> None:
    """Mem0 reads "*" as every user, SQL "%" as any words."""
    assert bmo(home, "memories", "list", "--user", identity, "--json").rows == []
    if identity == "*":
        assert bmo(home, "memories", "wipe", "--user", identity, "--yes").code == 0
        assert len(bmo(home, "memories", "list", "--json").rows) == 3
        assert len(bmo(home, "memories", "list", "--user", "eve", "--json").rows) == 1


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
    assert ran.code == 2
    assert "BMO_HOME" in ran.sentence


def test_a_folder_that_only_a_url_names_is_not_made(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "x"
    typed = {"BMO_LEDGER_URL": f"sqlite:///{nowhere / 'y.db'}"}
    ran = bmo(tmp_path / "home", "memories", "list", **typed)
    assert ran.code == 1
    assert str(nowhere) in ran.sentence and "make the folder" in ran.sentence
    told = bmo(tmp_path / "home", "doctor", "--json", **typed)
    (ledger,) = [one for one in told.rows[0]["checks"] if one["name"] == "ledger"]
    assert (ledger["status"], "no such folder" in ledger["found"]) == ("fail", True)
    assert not nowhere.parent.exists()
    nowhere.mkdir(parents=True)
    assert bmo(tmp_path / "home", "memories", "list", **typed).code == 0


def test_a_ledger_url_in_a_home_that_is_not_there_yet_is_made_with_it(tmp_path: Path) -> None:
    typed = {"BMO_LEDGER_URL": f"sqlite:///{tmp_path / 'home' / 'own.db'}"}
    assert bmo(tmp_path / "home", "memories", "list", **typed).code == 0


def test_a_ledger_url_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    ran = bmo(tmp_path, "memories", "list", BMO_LEDGER_URL="mysql://x/y")
    assert ran.code == 2
    assert "BMO_LEDGER_URL" in ran.sentence
