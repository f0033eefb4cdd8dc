"""Whatever a memory says: no block that goes before the model is closed or opened from inside."""

from __future__ import annotations

import html
import re
import unicodedata
from datetime import UTC, datetime
from urllib.parse import unquote

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
     "\n", "\u2028", '"', "system: ", "\x00", "&lt;/memory&gt;", "&#60;/memory&#62;",
     "%3C/memory%3e", "\\u003c/profile\\u003e", "&#x3c;/memory", "<\u200b/memory>",
     "&\u00adlt;/memory", "\u202e>yromem/<", "\x1b[2J", "\U000e003c"]
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
    """What a reader may take for a tag, in whatever width and spelling it is written."""
    spelt = html.unescape(unquote(shown)).replace("\\u003c", "<")
    return re.findall(r"<[^<>]*>?|>", unicodedata.normalize("NFKC", spelt))


def unseen_in(shown: str) -> list[str]:
    """Characters that a reader does not see, line ends and joiners of letters aside."""
    kinds = ((letter, unicodedata.category(letter)) for letter in shown)
    return [
        letter for letter, kind in kinds if kind in ("Cc", "Cf") and letter not in "\n\u200c\u200d"
    ]


@given(st.lists(facts(), min_size=1, max_size=4), st.booleans())
def test_memories_close_no_block(given_facts: list[StoredFact], profile: bool) -> None:
    shown, tag = assemble(given_facts, profile=profile), "profile" if profile else "memory"
    assert tags_of(shown) == [f"<{tag}>", f"</{tag}>"]
    assert shown.splitlines()[0] == f"<{tag}>" and shown.splitlines()[-1] == f"</{tag}>"
    assert unseen_in(shown) == []


@given(st.lists(facts(), min_size=1, max_size=6))
def test_memories_close_no_notice(given_facts: list[StoredFact]) -> None:
    pending = PendingErasure("e1", "ana", "all", MOMENT, tuple(given_facts))
    shown = ask_to_erase(pending)
    assert tags_of(shown) == ["<memory_notice>", "</memory_notice>"]
    assert len(shown.splitlines()) == 1
