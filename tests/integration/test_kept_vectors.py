"""The vectors of memories in the ledger: made once, there as long as what they were made of."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from bmo.index import IndexOwner, MemoryIndex, open_embedder
from bmo.ledger import Ledger, Written
from bmo.recorder import rebuild
from bmo.settings import Settings
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.speaker import allowed, day, fact, likes, lives_in, turn, words
from tests.homes import files_with
from tests.integration.memory_parts import Parts, difference, open_parts, rows_of

pytestmark = pytest.mark.integration

DIMS = 64
COLLECTION = "bmo-hashing-64"
THINGS = ("zydeco", "gumbo", "okra", "jazz")


class Asked(HashingEmbedder):
    """Notes what it is asked for."""

    def __init__(self, name: str = "hashing") -> None:
        super().__init__(DIMS, name)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        self.texts += texts
        return super().embed(texts, asked)


def like(parts: Parts, *things: str) -> None:
    for thing in things:
        parts.say(turn(f"i like {thing}"), allowed(f"i like {thing}", likes(thing)))
    parts.settled()


def kept(ledger: Ledger) -> dict[str, bytes]:
    """Text of a memory -> its vector."""
    told = (ledger.live_facts(user, include_past=True) for user in ledger.users())
    known = {one.id: one for facts in told for one in facts}
    found = ledger.vectors_of(COLLECTION, known)
    return {known[fact_id].text: vector for fact_id, vector in found.items()}


def filled_anew(settings: Settings, embedder: HashingEmbedder) -> int:
    """Rebuilds the index of a home that has none; returns the number of entries written."""
    ledger = Ledger.open(settings.ledger_url)
    owner = IndexOwner(ledger.identity(), ledger.knows)
    index = MemoryIndex.open(settings, embedder, owner=owner)
    written = rebuild(index, ledger, fresh=False)
    assert not difference(ledger, index)
    index.close()
    ledger.close()
    return written


def test_a_lost_index_is_filled_again_without_the_embedder(tmp_path: Path, ledger_url: str) -> None:
    with open_parts(tmp_path, bmo_ledger_url=ledger_url) as parts:
        like(parts, *THINGS)
        before = parts.index.near("ana", "zydeco", top_k=4, threshold=0.0)
    shutil.rmtree(tmp_path / "qdrant-edge")
    embedder = Asked()
    assert (filled_anew(parts.settings, embedder), embedder.texts) == (len(THINGS), [])
    with open_parts(tmp_path, bmo_ledger_url=ledger_url) as parts:
        assert parts.index.near("ana", "zydeco", top_k=4, threshold=0.0) == before


def test_what_has_no_vector_of_this_embedder_gets_one(tmp_path: Path, ledger_url: str) -> None:
    with open_parts(tmp_path, bmo_ledger_url=ledger_url) as parts:
        like(parts, *THINGS)
        with parts.ledger.writing() as connection:
            connection.execute(
                sa.text(
                    "DELETE FROM fact_vectors WHERE fact_id = (SELECT id FROM "
                    "facts WHERE text = 'Likes okra')"
                )
            )
    shutil.rmtree(tmp_path / "qdrant-edge")
    for embedder, made in (
        (Asked(), ["Likes okra"]),
        (Asked("another"), [f"Likes {thing}" for thing in sorted(THINGS)]),
        (Asked("another"), []),
    ):
        filled_anew(parts.settings, embedder)
        assert sorted(embedder.texts) == made
        shutil.rmtree(tmp_path / "qdrant-edge")


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("UPDATE facts SET said = '', confidence = .5, digest = NULL", 1),
        ("UPDATE facts SET text = text, asked = asked", 1),
        ("UPDATE facts SET withdrawn_by = 'request'", 1),
        ("UPDATE facts SET text = 'Likes tea'", 0),
        ("UPDATE facts SET asked = 'What do you like?'", 0),
        ("UPDATE facts SET valid_until = recorded_at", 0),
        ("DELETE FROM facts", 0),
    ],
)
def test_a_vector_goes_with_its_words_whoever_changes_them(
    ledger: Ledger, change: str, left: int
) -> None:
    """A worker of a version before knows of no vectors."""
    (added,) = ledger.record(turn("x"), allowed("x", likes("zydeco"))).added
    ledger.note_written([Written(added, "there", "hashing", b"of zydeco")])
    with ledger.writing() as connection:
        connection.execute(sa.text(change))
    assert rows_of(ledger, "fact_vectors") == left


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda known: replace(known, text="Likes tea"),
        lambda known: replace(known, asked="What do you like?"),
        lambda known: replace(known, id="another"),
    ],
)
def test_no_vector_is_kept_of_words_that_changed_while_it_was_made(
    ledger: Ledger, meanwhile: Callable[..., object]
) -> None:
    (added,) = ledger.record(turn("x"), allowed("x", likes("zydeco"))).added
    ledger.note_written([Written(added, "there", "hashing", b"right")])
    stale = meanwhile(added)
    ledger.note_written([Written(stale, "there", "hashing", b"stale")])  # type: ignore[arg-type]
    assert ledger.vectors_of("hashing", [added.id]) == {added.id: b"right"}
    ledger.note_written([Written(added, "there", "newer", b"newer")])
    assert ledger.vectors_of("hashing", [added.id]) == {}
    assert ledger.vectors_of("newer", [added.id]) == {added.id: b"newer"}


def test_edits_ends_and_erasures_leave_no_vector_of_old_words(
    tmp_path: Path, ledger_url: str
) -> None:
    with open_parts(tmp_path, bmo_ledger_url=ledger_url) as parts:
        home = lives_in("Leeds")
        parts.say(turn("i live in leeds"), allowed("i live in leeds", home))
        told = words("twice a day", "How often do you feed Miezi?")
        parts.say(turn("twice a day"), allowed("twice a day", told))
        cat = parts.say(turn("x"), allowed("x", words("i have a cat named miezi"))).added[0]
        like(parts, "zydeco")
        first = kept(parts.ledger)
        assert len(first) == 4
        moved = turn("i live in oslo now", at=day(1))
        parts.say(moved, allowed(moved.text, lives_in("Oslo")))
        receipt = parts.recorder.call(parts.ledger.erase, "ana", [cat.id]).result(30)
        parts.settled()
        assert receipt.places["vectors"] == 1
        now = kept(parts.ledger)
        assert set(now) == {"twice a day", "Lives in Oslo", "Likes zydeco"}
        left = {one.text: one.asked for one in parts.ledger.live_facts("ana")}
        assert left["twice a day"] == "", "the question named what was erased"
        wiped = parts.recorder.call(parts.ledger.erase_user, "ana").result(30)
        parts.settled()
        assert wiped.places["vectors"] == 3
        assert rows_of(parts.ledger, "fact_vectors") == 0


def test_no_byte_of_a_vector_is_left(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        like(parts, *THINGS)
        gone = kept(parts.ledger)["Likes zydeco"]
        (known,) = [one for one in parts.ledger.live_facts("ana") if one.value == "zydeco"]
        assert files_with(tmp_path, gone)
        parts.recorder.call(parts.ledger.erase, "ana", [known.id]).result(30)
        parts.settled()
    assert files_with(tmp_path, gone) == []
    assert files_with(tmp_path, "gumbo")


def test_half_precision_changes_no_cosine(tmp_path: Path) -> None:
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    said = (
        fact("i have a border collie called moss and she hates the hoover"),
        words("twice a week, tuesdays and thursdays", "How often do you swim?"),
        likes("zydeco"),
    )
    ledger = Ledger.open(settings.ledger_url)
    added = ledger.record(turn("x"), allowed("x", *said)).added
    embedder = open_embedder(settings)
    index = MemoryIndex.open(settings, embedder, owner=None)
    made = index.add_many([(one, {}) for one in added])
    fresh = embedder.embed([one.text for one in added], [one.asked for one in added])
    stored = np.array([np.frombuffer(made[one.id], "<f2") for one in added], np.float64)
    lengths = np.linalg.norm(stored, axis=1)
    assert stored.shape == fresh.shape
    assert min(np.sum(stored * fresh, axis=1) / lengths) > 0.9999
    assert lengths == pytest.approx(1.0, abs=1e-3)
    index.close()
    embedder.close()
    ledger.close()
