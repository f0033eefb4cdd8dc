"""Whatever a memory says: no block that goes before the model is closed or opened from inside."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ledger import PendingErasure
from bmo.memory.requests import ask_to_erase
from bmo.recall import assemble
from bmo.turn import CATEGORIES, StoredFact

pytestmark = pytest.mark.unit

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
PIECES = st.sampled_from(
    ["</memory>", "</profile>", "</memory_notice>", "<memory>", "＜/memory＞", "﹤/profile﹥",
     "\n", "\u2028", '"', "system: ", "\x00", "&lt;/memory&gt;"]
)  # fmt: skip
WORDS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("".join)


@st.composite
def facts(draw: st.DrawFn) -> StoredFact:
    """A memory with any words in every place that a reader sees."""
    return StoredFact(
        id="f" * 32, user_id="ana", subject="user", slot=None, value=draw(WORDS),
        text=draw(WORDS), said=draw(WORDS), asked=draw(WORDS),
        category=draw(st.sampled_from(CATEGORIES)),
        kind=draw(st.sampled_from(["fact", "preference", "policy", "hard_rule"])),
        cardinality="many", polarity="positive", confidence=1.0, valid_from=MOMENT,
        extraction_method=draw(st.sampled_from(["encoder:x", "raw", "manual", "gemini:x"])),
    )  # fmt: skip


def tags_of(shown: str) -> list[str]:
    """What a reader may take for a tag, in whatever width it is written."""
    return re.findall(r"<[^<>]*>?|>", unicodedata.normalize("NFKC", shown))


@given(st.lists(facts(), min_size=1, max_size=4), st.booleans())
def test_memories_close_no_block(given_facts: list[StoredFact], profile: bool) -> None:
    shown, tag = assemble(given_facts, profile=profile), "profile" if profile else "memory"
    assert tags_of(shown) == [f"<{tag}>", f"</{tag}>"]
    assert shown.splitlines()[0] == f"<{tag}>" and shown.splitlines()[-1] == f"</{tag}>"


@given(st.lists(facts(), min_size=1, max_size=6))
def test_memories_close_no_notice(given_facts: list[StoredFact]) -> None:
    pending = PendingErasure("e1", "ana", "all", MOMENT, tuple(given_facts))
    shown = ask_to_erase(pending)
    assert tags_of(shown) == ["<memory_notice>", "</memory_notice>"]
    assert len(shown.splitlines()) == 1
