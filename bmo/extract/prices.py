"""What a call to a Gemini model costs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

TYPICAL_INPUT_TOKENS = 1600
TYPICAL_OUTPUT_TOKENS = 400
"""Tokens of a usual call (instructions, a batch of turns), for the order of extractors."""


def price(model: str, input_tokens: int, output_tokens: int) -> float:
    """US dollars of a call; an unknown model is counted like the dearest known one.

    Args:
        model: Model name ("gemini-3.1-flash-lite").
        input_tokens: Tokens it read.
        output_tokens: Tokens it wrote, thinking included.
    """
    table = _prices()
    prefix = max((name for name in table if model.startswith(name)), key=len, default=None)
    if prefix is None:
        read = max(one["input"] for one in table.values())
        wrote = max(one["output"] for one in table.values())
    else:
        read, wrote = table[prefix]["input"], table[prefix]["output"]
    return (input_tokens * read + output_tokens * wrote) / 1_000_000


@lru_cache(maxsize=1)
def _prices() -> Mapping[str, Mapping[str, float]]:
    source = resources.files(__package__) / "data" / "prices.toml"
    table: Mapping[str, Mapping[str, float]] = tomllib.loads(source.read_text("utf-8"))["gemini"]
    return table
