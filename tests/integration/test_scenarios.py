"""All annotated conversations through a real session, scored together against ``bars.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bmo.evaluation.scenario_figures import scenario_figures
from bmo.replay.scenario import find_scenarios
from bmo.settings import load_settings

pytestmark = pytest.mark.scenario

SCENARIOS = Path(__file__).parents[1] / "scenarios"


async def test_the_development_conversations_reach_their_bars() -> None:
    bars = tomllib.loads((SCENARIOS / "bars.toml").read_text(encoding="utf-8"))
    figures = await scenario_figures(find_scenarios([SCENARIOS]), load_settings())
    shares = {str(name): share.value for name, share in figures.shares().items()}
    missed = {
        name: (round(shares[name], 3), bar)
        for name, bar in bars["at_least"].items()
        if shares[name] < bar
    }
    missed |= {
        name: (round(shares[name], 3), bar)
        for name, bar in bars["at_most"].items()
        if shares[name] > bar
    }
    assert missed == {}
