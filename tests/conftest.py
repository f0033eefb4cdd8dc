"""Shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from bmo.encoder import Encoder
from tests.deadlines import set_deadline

# First examples read tables from disk, so no deadline. In CI the examples are the same every time:
# a failure there is the change's, and what random examples find at home becomes a test of its own.
settings.register_profile("home", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "home")

set_deadline()  # tests of deadlines set their own

# They are scored together (tests/integration/test_scenarios.py), not passed or failed one by one.
collect_ignore = ["scenarios", "held_out"]


@pytest.fixture(scope="session", autouse=True)
def encoder() -> Iterator[Encoder]:
    """The shipped encoder, open all the time: who opens it shares its session."""
    with pytest.MonkeyPatch.context() as patch:
        # A collection at every opening, for calls that must not stall, walks here through pytest's
        # objects and all tests': a third of what a service costs, and nothing is timed.
        patch.setattr("bmo.memory.service._freeze_what_stays", lambda: None)
        yield Encoder.open()
