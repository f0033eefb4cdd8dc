"""``bmo export-turns``: a logged session becomes a scenario that loads and plays again."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmo.replay.scenario import Scenario, load_scenario
from bmo.turn import Fact
from tests.cli import bmo
from tests.seeding import Said, brother, home_in, opened, record, remember

pytestmark = pytest.mark.integration

SPOKEN = (
    "my name is Ada and i live in Leeds\n"
    "my brother Sam is allergic to walnuts\n"
    "my pin is 4821\n"
    "my number is 07700 900123\n"
    "where do i live\n"
    "/quit\n"
)


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which somebody talked to BMO."""
    home = tmp_path_factory.mktemp("talked")
    ran = bmo(home, "chat", stdin=SPOKEN)
    assert ran.code == 0, ran.err
    return home


def exported(home: Path, file: Path, *arguments: str) -> tuple[Scenario, str]:
    ran = bmo(home, "export-turns", str(file), *arguments)
    assert ran.code == 0, ran.err
    return load_scenario(file), file.read_text(encoding="utf-8")


def test_a_talk_becomes_a_scenario_that_holds(talked: Path, tmp_path: Path) -> None:
    scenario, text = exported(talked, tmp_path / "talk.turns.yaml")
    turns = scenario.sessions[0].turns
    assert [turn.verdict for turn in turns] == ["allow", "hold", "discard", "discard", "hold"]
    assert [turn.recall for turn in turns] == [False, False, False, False, True]
    assert ("Leeds",) in turns[4].injects
    assert ("Ada",) in scenario.ends.keeps
    for said in ("4821", "900123"):
        assert said not in text
    assert (tmp_path / "talk.turns.yaml").stat().st_mode & 0o077 == 0

    played = bmo(tmp_path / "elsewhere", "replay", str(tmp_path / "talk.turns.yaml"))
    assert played.code == 0, played.out
    assert "1 of 1 scenarios hold" in played.out


def test_keep_sensitive_leaves_health_but_never_a_secret(talked: Path, tmp_path: Path) -> None:
    _, text = exported(talked, tmp_path / "kept.turns.yaml", "--keep-sensitive")
    assert "walnuts" in text
    assert "4821" not in text
    assert "900123" not in text


def test_the_newest_session_is_the_default(tmp_path: Path) -> None:
    home = tmp_path / "home"
    old = Said("i have a dog", session_id="first-visit")
    remember(home, [old, brother(), home_in("Leeds")])
    newest, _ = exported(home, tmp_path / "a.turns.yaml")
    assert [turn.user for turn in newest.sessions[0].turns] == [
        "my brother is sam",
        "i live in leeds",
    ]
    every, _ = exported(home, tmp_path / "b.turns.yaml", "--all")
    assert len(every.sessions) == 2
    named, _ = exported(home, tmp_path / "c.turns.yaml", "--session", "first")
    assert [turn.user for turn in named.sessions[0].turns] == ["i have a dog"]


def test_erased_words_are_left_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    ids = remember(home, [brother(), home_in("Leeds")])
    assert bmo(home, "memories", "forget", ids[0]).code == 0
    file = tmp_path / "rest.turns.yaml"
    ran = bmo(home, "export-turns", str(file))
    assert "1 without words left out" in ran.err
    assert "sam" not in file.read_text(encoding="utf-8").lower()


def test_hostile_words_stay_one_string(tmp_path: Path) -> None:
    home = tmp_path / "home"
    words = 'x"\n- user: "y\\" # {a: [b]} \x07 \u2028 \x85 : - ?'
    fact = Fact(text="Likes 'a: b' \"c\"", category="preferences", value="'a: b' \"c\"")
    with opened(home) as stores:
        record(stores, [Said(words, (fact,))])
    scenario, _ = exported(home, tmp_path / "hostile.turns.yaml")
    assert scenario.sessions[0].turns[0].user == words
    assert scenario.sessions[0].turns[0].facts[0].contains == ("'a: b' \"c\"",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["notes.yaml"], "'notes.yaml' cannot be replayed under that name"),
        (["--session", "nope"], "no sessions of 'local' have an id that starts with 'nope'"),
        (["--all", "--last", "2"], "one at a time"),
        (["--user", "nobody"], "nothing was ever said by 'nobody'"),
    ],
)
def test_bad_input_is_one_sentence(talked: Path, arguments: list[str], said: str) -> None:
    ran = bmo(talked, "export-turns", *arguments)
    assert ran.code in (1, 2)
    assert said in ran.sentence


def test_a_file_is_never_overwritten(talked: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.turns.yaml"
    file.write_text("mine")
    ran = bmo(talked, "export-turns", str(file))
    assert "exists already" in ran.sentence
    assert file.read_text() == "mine"
