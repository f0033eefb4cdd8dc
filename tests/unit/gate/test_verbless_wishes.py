"""Standing wishes without a verb and orders for good are stored, no request of the moment is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import bmo.gate
from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

PACKS = Path(bmo.gate.__file__).parent / "packs"
GATE = WriteGate(load_settings(gatekeeper_mode="pattern"))


def cases(which: str) -> Iterator[object]:
    for language, table in product(("en", "de", "fr", "es"), ("wishes", "standing_orders")):
        raw = tomllib.loads((PACKS / language / f"{table}.toml").read_text("utf-8"))
        for row in raw[which]:
            said, *text = row if isinstance(row, list) else [row]
            yield pytest.param(language, said, text, id=f"{language}-{table}-{said}")


@pytest.mark.parametrize(("language", "said", "text"), list(cases("examples")))
def test_a_wish_for_good_is_kept(language: str, said: str, text: list[str]) -> None:
    decision = GATE.decide_by_rules(Turn(text=said, language=language))
    assert decision.verdict == "allow", decision.reason
    told = [fact.text for fact in decision.facts]
    assert told == text if text else len(told) == 1


@pytest.mark.parametrize(("language", "said", "text"), list(cases("non_examples")))
def test_a_request_of_the_moment_is_not(language: str, said: str, text: list[str]) -> None:
    decision = GATE.decide_by_rules(Turn(text=said, language=language))
    assert not decision.facts, (decision.facts, text)
