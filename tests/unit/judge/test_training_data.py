"""What ships with the judge is made from these files: they are checked without torch."""

from __future__ import annotations

import json
import random
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bmo.turn import CATEGORIES
from training import chat, talk, twins
from training.augmentation import vary
from training.chat import companions
from training.clauses import clause_turns
from training.turns import LEFT_OUT, digest, normal_form, read_turns
from training.twins import written_out

pytestmark = pytest.mark.unit

TURNS = read_turns()


def test_facts_stand_only_with_allow() -> None:
    assert not [t.text for t in TURNS if t.facts and t.verdict != 0]


def test_nothing_left_out_is_read() -> None:
    barred = set(LEFT_OUT.read_text().split())
    assert not [t.text for t in TURNS if digest(t.text) in barred]


def test_every_kind_of_label_has_lines_with_and_without_context() -> None:
    for verdict in range(3):
        rows = [t for t in TURNS if t.verdict == verdict]
        bare = sum(not t.context for t in rows) / len(rows)
        assert 0.1 < bare < 0.9


def test_other_writings_keep_the_label_and_some_words() -> None:
    rng = random.Random(1)
    for turn in TURNS[:2000]:
        varied = vary(turn, rng, ["Good to know."])
        assert (varied.verdict, varied.recall) == (turn.verdict, turn.recall)
        assert varied.text.strip()


def test_a_digest_does_not_see_case_or_marks() -> None:
    assert digest("I'm Sam!") == digest("im sam")
    assert normal_form("I’m  Sam.") == "im sam"


def test_a_pattern_chooses_the_same_word_in_line_and_memory() -> None:
    said, memory = written_out("i like {x} => Likes {x}", {"x": ["jazz", "ska"]}, random.Random(2))
    assert said.removeprefix("i like ") == memory.removeprefix("Likes ")


@pytest.mark.parametrize(
    ("patterns", "rows", "seed", "target"),
    [
        (twins.PATTERNS, twins.rows, twins.SEED, twins.TARGET),
        (chat.SENTENCES, chat.rows, chat.SEED, chat.TARGET),
        *(
            (
                Path(talk.__file__).parent / source,
                partial(talk.rows, name=name),
                talk.SEED,
                talk.target_of(name),
            )
            for name, source in talk.LINES.items()
        ),
    ],
    ids=["twins", "chat", *talk.LINES.values()],
)
def test_what_is_written_from_patterns_is_what_stands_in_the_file(
    patterns: Path, rows: object, seed: int, target: Path
) -> None:
    assert callable(rows)
    written = rows(tomllib.loads(patterns.read_text("utf-8")), random.Random(seed))
    assert written == [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert not [row["user"] for row in written if set("{}|") & set(row["user"])]


def test_chat_is_kept_for_news_and_for_nothing_else() -> None:
    assert all(("news" in mould) == (kind == "allow") for kind, moulds in chat.MOULDS.items()
               for mould in moulds)  # fmt: skip
    rows = [t for t in TURNS if t.file == "m"]
    assert all((turn.categories is not None) == (turn.verdict == 0) for turn in rows)
    long = [turn for turn in rows if len(turn.text.split()) > 15]
    kept = sum(turn.verdict == 0 for turn in long) / len(long)
    assert 0.3 < kept < 0.85, "length alone must not tell the label"


def test_company_leaves_a_turn_its_words_and_its_label() -> None:
    rng, chatter = random.Random(3), companions(60)
    framed = 0
    for turn in [t for t in TURNS if t.file == "f" and len(t.text.split()) >= 4][:600]:
        varied = vary(turn, rng, ["Good to know."], chatter)
        assert varied.verdict == turn.verdict
        framed += len(varied.text.split()) > len(turn.text.split()) + 2
    assert 20 < framed < 200


def test_a_choice_may_hold_a_word_to_choose() -> None:
    said, _ = written_out("i {like {x}|hate {x}} a lot", {"x": ["jazz"]}, random.Random(1))
    assert said in ("i like jazz a lot", "i hate jazz a lot")


def test_clauses_carry_what_their_turn_remembers() -> None:
    turn = next(t for t in TURNS if t.file == "h")
    said = "the weather is awful today and i collect old stamps"
    made = replace(
        turn,
        text=said,
        facts=("Collects old stamps",),
        kinds=("personal_facts",),
        categories=(False, False, False, True, False, False),
        verdict=0,
    )
    found = {part.text: part for part in clause_turns([made])}
    kept = found["i collect old stamps"]
    assert (kept.verdict, kept.categories) == (0, made.categories)
    assert all(part.verdict == 2 for text, part in found.items() if "stamps" not in text)


def test_a_clause_has_the_category_of_its_own_memory() -> None:
    turn = next(t for t in TURNS if t.file == "h")
    made = replace(
        turn,
        text="my brother anselm repairs clocks and we decided on the walnut cabinets",
        facts=("Brother Anselm repairs clocks", "Decided on walnut cabinets"),
        kinds=("relationships", "decisions"),
        categories=tuple(name in ("relationships", "decisions") for name in CATEGORIES),
        verdict=0,
    )
    found = {part.text: part.categories for part in clause_turns([made])}
    for said, wanted in (("clocks", "relationships"), ("walnut", "decisions")):
        flags = next(flags for text, flags in found.items() if said in text)
        assert flags == tuple(name == wanted for name in CATEGORIES)


def test_each_memory_has_its_category() -> None:
    for turn in TURNS:
        assert len(turn.kinds) == len(turn.facts)
        assert turn.categories == (
            tuple(name in turn.kinds for name in CATEGORIES) if turn.facts else None
        )


def test_clauses_of_the_data_are_mostly_kept_ones() -> None:
    parts = clause_turns(TURNS)
    kept = sum(part.verdict == 0 for part in parts)
    assert len(parts) > 1000 and kept / len(parts) > 0.7
    assert all(part.categories is not None for part in parts if part.verdict == 0)


def test_a_line_without_category_is_refused() -> None:
    with pytest.raises(SystemExit, match="no category"):
        talk.rows({"allow": ["i like tea"], "take": 1}, random.Random(1))
