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


def replies_to(home: Path, *lines: str) -> list[str]:
    """What is printed under each line of a conversation."""
    parts = shown(chat(home, "".join(f"{line}\n" for line in lines).encode())).split("you> ")[1:]
    return [part.removeprefix(line) for part, line in zip(parts, lines, strict=True)]


def test_forgetting_somebody_lists_what_would_go_and_takes_the_answer(tmp_path: Path) -> None:
    home = tmp_path / "home"
    told = ("my son Keith is a plumber in Halifax", "our Keith's allergic to nuts")
    no, kept, known, *_ = replies_to(home, *told, "/forget Keith", "no", "/memories")[2:]
    assert "Forgotten" not in no
    assert 'That would forget 2: - "my son Keith is a plumber in Halifax"' in no
    assert "Shall I erase them for good? (yes or no" in no
    assert "All right, I keep it after all." in kept
    assert "plumber" in known and "nuts" in known
    asked, yes, empty = replies_to(home, "forget everything about keith", "yes", "/memories")
    assert 'That would forget 2: "my son Keith' in asked and "Forgotten" not in asked
    assert "Done. It is erased for good." in yes
    assert "Nothing is stored yet." in empty
    assert files_with(home, "plumber") == []


def test_a_wish_never_to_mention_somebody_goes_with_him_and_is_named(tmp_path: Path) -> None:
    ken = "my sister Pauline is going out with Ken from the bowls club"
    asked, wish, pauline, listed, yes, shown_then = replies_to(
        tmp_path / "home",
        *(ken, "never mention Ken", "who is my sister Pauline going out with", "/forget Ken"),
        *("yes", "/memories"),
    )
    assert "I'll remember that." in asked and "I won't bring it up." in wish
    assert "You asked me not to bring that up." in pauline
    assert 'Ken from the bowls club" - "never mention Ken" (your wish: it goes too)' in listed
    assert "erased for good" in yes
    assert "Nothing is stored yet." in shown_then


@pytest.mark.parametrize(
    ("told", "order", "done"),
    [
        (
            "i've had a bad back since i fell",
            "forget that about me back, it's better now",
            'Done. That is forgotten: "i\'ve had a bad back since i fell".',
        ),
        (
            "I go to Slimming World on a Tuesday",
            "forget that I go to Slimming World, I've packed it in",
            'Done. That is forgotten: "I go to Slimming World on a Tuesday".',
        ),
        (
            "ich bin allergisch gegen Nüsse",
            "vergiss das mit den Nüssen, das war ein Irrtum",
            "Erledigt. Das ist vergessen: Is allergic to Nüsse.",
        ),
        (
            "j'habite à Lille depuis mars",
            "oublie ce que j'ai dit sur Lille, je plaisantais",
            "C'est fait. C'est oublié : \"j'habite à Lille depuis mars\".",
        ),
        (
            "mi hermano se llama Jorge",
            "olvida lo de mi hermano, era broma",
            "Hecho. Está olvidado: Has a brother named Jorge.",
        ),
    ],
)
def test_an_order_to_forget_may_have_a_reason_behind_it(
    told: str, order: str, done: str, tmp_path: Path
) -> None:
    mine = "my name is Maureen"
    *_, forgot, left = replies_to(tmp_path / "home", mine, told, order, "/memories")
    assert done in forgot
    assert left.split("Is named Maureen")[1].count(" - ") == 0, "what was not named stays, alone"


def test_what_is_only_near_in_meaning_is_asked_back(tmp_path: Path) -> None:
    asked, kept, known = replies_to(
        tmp_path / "home",
        *("i play the violin", "forget that i played the piano", "no", "/memories"),
    )[1:]
    assert 'That would forget 1: "i play the violin". Shall I' in asked
    assert "I keep it after all." in kept
    assert "violin" in known


def test_an_order_that_names_what_nobody_told_stores_nothing_and_says_what_it_looked_for(
    tmp_path: Path,
) -> None:
    mine = ("my name is Maureen", "i'm allergic to nuts")
    joke, vegan, left = replies_to(
        tmp_path / "home",
        *mine,
        *("forget what I said about marathons, I were joking", "forget pizza, i'm vegan now"),
        "/memories",
    )[2:]
    assert "I have nothing like that to forget. I looked for: marathons." in joke
    assert "I'll remember that." in vegan, "no order: nothing of the user's own is named"
    assert "Is named Maureen" in left and "nuts" in left and "vegan" in left
    assert "marathons" not in left


STAYS_ON = "On the record: I remember what matters of what you say."


@pytest.mark.parametrize(
    ("told", "off", "asks", "still_off", "forget", "forgot", "back", "on"),
    [
        (
            *(
                "my name is Luc",
                "stop remembering for a bit",
                "are we still off the record",
                "Off the record still:",
            ),
            *("forget that my name is Luc", "That is forgotten: Is named Luc."),
            *("right you can start again", "On the record again."),
        ),
        (
            *(
                "ich heiße Luc",
                "merk dir jetzt nichts",
                "sind wir noch unter uns?",
                "Noch bleibt es unter uns:",
            ),
            *("vergiss, dass ich Luc heiße", "Das ist vergessen: Is named Luc."),
            *("du kannst jetzt wieder anfangen", "Ab jetzt merke ich mir wieder etwas."),
        ),
        (
            *(
                "je m'appelle Luc",
                "ne retiens rien",
                "est-ce que tu enregistres encore ?",
                "Ça reste toujours entre",
            ),
            *("oublie que je m'appelle Luc", "C'est oublié : Is named Luc."),
            *("tu peux recommencer", "Je retiens à nouveau."),
        ),
        (
            *("me llamo Luc", "no guardes esto", "¿sigues grabando?", "Sigue entre nosotros:"),
            *("olvida que me llamo Luc", "Está olvidado: Is named Luc."),
            *("puedes empezar de nuevo", "Vuelvo a recordar."),
        ),
    ],
)
def test_off_the_record_and_back_in_a_users_words(
    told: str,
    off: str,
    asks: str,
    still_off: str,
    forget: str,
    forgot: str,
    back: str,
    on: str,
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    name, went, said, state, forgotten, again, kept, memories = replies_to(
        home, told, off, "zacharias", asks, forget, back, "my brother is Sam", "/memories"
    )
    assert "Is named Luc" in name
    assert "off the record: not kept" in went and "off the record: not kept" in said
    assert still_off in state
    assert forgot in forgotten
    assert on in again
    assert "+ Has a brother named Sam" in kept
    assert "Luc" not in memories
    for word in ("zacharias", "Luc"):
        assert files_with(home, word) == []


def test_everything_is_wiped_off_the_record_too_and_what_else_is_said_switches_nothing(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    lines = ("my brother is Sam", "you can start again", "are we off the record?")
    _, _, on, _, hint, washing, asked, yes, empty = replies_to(
        home,
        *lines,
        *("off the record", "i voted labour", "you can start the washing again"),
        *("wipe everything", "yes", "/memories"),
    )
    assert STAYS_ON in on
    assert 'Say "back on the record"' in hint
    assert "off the record: not kept" in washing
    assert "That would forget 1: Has a brother named Sam." in asked and "withdrawn:" in asked
    assert "It is erased for good." in yes
    assert "Nothing is stored yet." in empty
    assert files_with(home, "labour") == []


def test_a_reply_is_in_the_language_of_the_conversation_and_knows_a_secret(tmp_path: Path) -> None:
    lines = (
        *("i live in Leeds with my husband", "ta", "you what", "gracias"),
        *("me pin's four four one nine, no i shouldn't have said that", "it's 4420 on me card"),
        *("me password's Clement99 by the way", "i put 1200 on me card", "me name's Maureen"),
        *("they've stopped the metformin, it's Jardiance now", "what's my name", "/why jardiance"),
    )
    told, *rest = replies_to(tmp_path / "home", *lines)
    ta, what, thanks, pin, card, password, amount, name, drug, named, why = rest
    assert "I'll remember that." in told
    assert "You're welcome." in ta and "You're welcome." in thanks
    assert 'I hear you. I said: "You\'re welcome."' in what
    for secret in (pin, card, password):
        assert "That sounds like a secret. I keep it nowhere." in secret
    assert "secret" not in amount
    assert "+ Is named Maureen" in name
    assert "Is named" not in drug
    assert 'You told me today: "me name\'s Maureen".' in named
    assert why.count("metformin") == 1


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
    assert '"my sister hanna has a dog called pickle": you said so on' in text


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
    assert "bmo> Done. That is forgotten: Likes jazz." in text
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
