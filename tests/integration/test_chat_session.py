"""``bmo chat`` with piped lines: what a person on a fresh machine sees."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from tests.cli import Ran, bmo, bmo_process, environment
from tests.fakes.model_server import OLLAMA_MODEL, FakeModelServer
from tests.homes import files_with

pytestmark = pytest.mark.integration

GATED = {"GATEKEEPER_MODE": "local"}


def chat(home: Path, lines: bytes, **settings: str) -> Ran:
    """A conversation in this process."""
    return bmo(home, "chat", stdin=lines, **{**GATED, **settings})


def shown(done: Ran) -> str:
    """The output as one line, so that wrapping at 60 columns does not matter."""
    assert done.code == 0, done.err
    return " ".join(done.out.split())


def test_it_remembers_over_two_starts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    told = chat(home, b"hi there\nmy brother is sam\nim allergic to nuts\n/quit\n")
    assert max(len(line) for line in told.out.splitlines()) <= 60
    first = shown(told)
    assert "Gate: local. Replies: the offline responder (no GOOGLE_API_KEY" in first
    assert "allow" in first
    assert "+ Has a brother named Sam" in first
    second = shown(chat(home, b"whats my brothers name\n/memories\n"))
    assert 'You told me today: "my brother is sam".' in second
    assert "recall (" in second
    assert "allergic to nuts" in second


def test_its_first_line_says_that_a_model_is_behind_the_gate(tmp_path: Path) -> None:
    with FakeModelServer() as server:
        asks = {
            "GATEKEEPER_MODE": "",
            "GATEKEEPER_LLM_MODEL": f"ollama/{OLLAMA_MODEL}",
            "OLLAMA_HOST": server.url,
        }
        said = shown(chat(tmp_path / "home", b"/quit\n", **asks))
    assert "Gate: hybrid. Replies: the offline responder" in said


def test_what_a_full_disk_did_not_take_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bmo.recorder.writer_thread.LAST_DRAIN_S", 0.2)
    home = tmp_path / "home"
    shown(chat(home, b"my brother is sam\n"))

    def no_page_more(connection: Any, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")  # as many as there are, at least

    event.listen(Engine, "connect", no_page_more)
    try:
        full = chat(home, (b"my aunt lives in porto " + b"and so on " * 400 + b"\n") * 2)
    finally:
        event.remove(Engine, "connect", no_page_more)
    assert full.code == 1
    assert "took none of the last" in " ".join(full.out.split())
    assert "Has a brother named Sam" in shown(chat(home, b"/memories\n"))


def test_quiet_and_unknown_commands(tmp_path: Path) -> None:
    text = shown(chat(tmp_path / "home", b"/quiet\nmy brother is sam\n/nope\n/help\n/why sam\n"))
    assert "The line under each turn is off." in text
    assert "gate 0" not in text
    assert "There is no command '/nope'" in text
    assert "/forget" in text
    assert "you said 'my brother is sam'" in text


def test_forgetting(tmp_path: Path) -> None:
    home = tmp_path / "home"
    text = shown(chat(home, b"my brother is sam\n/forget my brother\n/memories\n"))
    assert "Forgotten: Has a brother named Sam." in text
    assert "Nothing is stored yet." in text


def test_a_ban_is_never_given_itself_and_is_lifted_by_a_word(tmp_path: Path) -> None:
    lines = (
        b"my dad is called karl\nnever talk about my dad again\nwhat do you know about me\n"
        b"talk about rome again\nplease talk about my dad again\nwhat is my dad called\n"
        b"what do you know about me\n"
    )
    replies = [
        p.partition("bmo> ")[2] for p in shown(chat(tmp_path / "home", lines)).split("you> ")
    ]
    banned, rome, lifted, asked, wide = replies[3:8]
    assert "karl" not in banned.lower() and "never talk" not in banned
    assert rome.startswith("I hear you.")
    assert lifted.startswith("All right, I may bring it up again.")
    assert 'You told me today: "my dad is called karl".' in asked
    assert "Karl" in wide and "never talk" not in wide


STRANGE = {
    "empty": b"",
    "blank": b"   \t ",
    "not utf-8": b"\xff\xfe\xfa not utf-8",
    "nul": b"a\x00b",
    "right to left": "\u202e \u0627\u0644\u0633\u0644\u0627\u0645 \U0001f600".encode(),
    "half a surrogate": b"\xed\xa0\x80 half",
    "long": b"x" * 100_000,
    "long words": b"i like tea and " * 6_000,
    "escape codes": b"\x1b[2J\x1b]0;owned\x07",
    "carriage return": b"hello\r",
}
NAMES = ("anna", "bella", "clara", "dora", "emma", "fiona", "gina", "hannah", "ida", "julia")


def test_strange_lines_are_handled(tmp_path: Path) -> None:
    """One conversation of them all: after each the next turn is still heard and kept."""
    lines = b"".join(
        line + b"\n" + f"my sister is {name}\n".encode()
        for line, name in zip(STRANGE.values(), NAMES, strict=True)
    )
    done = bmo_process(tmp_path / "home", "chat", stdin=lines + b"/memories\n", **GATED)
    text = shown(done)
    assert done.err == ""
    assert "\x1b" not in done.out
    assert "Traceback" not in text
    for name in NAMES:
        assert f"Has a sister named {name.title()}" in text


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupting_flushes_and_leaves_cleanly(tmp_path: Path, sent: signal.Signals) -> None:
    home = tmp_path / "home"
    talking = subprocess.Popen(
        [sys.executable, "-u", "-m", "bmo", "chat"],
        cwd=tmp_path,
        env=environment(home, 60, {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert talking.stdin is not None
    assert talking.stdout is not None
    talking.stdin.write(b"my brother is sam\n")
    talking.stdin.flush()
    seen = b""
    while b"bmo>" not in seen:
        line = talking.stdout.readline()
        assert line, "it ended before it replied"
        seen += line
    talking.send_signal(sent)
    # Its standard input is still open: leaving must not wait for more of it.
    code = talking.wait(timeout=60)
    _, errors = talking.communicate()
    assert code == 0, errors.decode()
    assert errors == b""
    assert "Sam" in shown(chat(home, b"who is my brother\n"))


def test_a_store_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory", encoding="utf-8")
    done = chat(blocked, b"hi\n")
    assert done.code == 2
    assert "BMO_HOME" in done.sentence


def test_what_is_off_the_record_is_not_shown_as_kept(tmp_path: Path) -> None:
    lines = b"off the record\nmy brother is sam\nback on the record\n/memories\n"
    text = shown(chat(tmp_path / "home", lines))
    assert "bmo> Off the record: nothing that is said now is kept, until" in text
    said = text.partition("you> my brother is sam")[2].partition("you>")[0]
    assert "off the record: not kept" in said
    assert "allow" not in said
    assert "Nothing is stored yet." in text


def test_it_quotes_what_it_was_told_and_shows_where_it_knows_it_from(tmp_path: Path) -> None:
    lines = (
        b"my sister hanna has a dog called pickle\nwhats my sisters dog called\n"
        b"how do you know that\n/why pickle\n"
    )
    text = shown(chat(tmp_path / "home", lines))
    replies = [part.partition("bmo> ")[2] for part in text.split("you> ")[1:]]
    told = 'You told me today: "my sister hanna has a dog called pickle".'
    assert '+ "my sister hanna has a dog called pickle"' in replies[0]
    assert replies[1].startswith(told)
    assert replies[2].startswith("You told me. Type /why")
    assert "you said 'my sister hanna has a dog called pickle' on" in text


def test_what_is_said_not_to_be_kept_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    lines = (
        b"don't remember this i am pregnant\ni adore zydeco but don't write that down\n/memories\n"
    )
    text = shown(chat(home, lines))
    assert text.count("Nothing of it is kept.") == 2
    assert "Nothing is stored yet." in text
    for word in ("pregnant", "zydeco"):
        assert files_with(home, word) == []


def test_terminal_codes_in_a_pipe_are_no_words(tmp_path: Path) -> None:
    done = chat(tmp_path / "home", b"my brother is \x1b[31msam\x1b[0m\nwho is my brother\n")
    text = shown(done)
    assert "+ Has a brother named Sam" in text
    assert "[31m" not in text
    assert [line for line in done.out.splitlines() if line.endswith("  ")] == []


def test_requests_get_honest_answers(tmp_path: Path) -> None:
    lines = b"i like jazz\nwrite me a poem about milk\nforget that i like jazz\nwhat can you do\n"
    text = shown(chat(tmp_path / "home", lines))
    assert "bmo> For that I need a language model." in text
    assert "bmo> Done. That is forgotten." in text
    assert "put a GOOGLE_API_KEY into .env" in text


def test_it_says_what_it_kept_and_never_what_is_secret_or_gone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    lines = (
        b"my sister hanna has a dog called pickle\nthe alarm code is 5 8 0 2\n"
        b"my passport number is 533401227\ni might move to spain\nforget that i like golf\n"
        b"my sister hanna has a dog called pickle\nforget everything about my sister\nyes\n"
    )
    replies = [
        part.partition("bmo> ")[2] for part in shown(chat(home, lines)).split("you> ") if part
    ][1:]
    assert replies[0].startswith("I'll remember that.")
    assert replies[1].startswith("That sounds like a secret. I keep it nowhere.")
    assert "number is" not in replies[2]
    assert replies[3].startswith("I hear you.")
    assert replies[4].startswith("I have nothing like that to forget.")
    assert replies[5].startswith("Yes, I know that.")
    assert "Shall I erase them for good?" in replies[6]
    assert "erased for good" in replies[7]
    for word in ("hanna", "pickle", "5 8 0 2", "533401227"):
        assert files_with(home, word) == []
