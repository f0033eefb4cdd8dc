"""What a second statement is about: somebody else, something narrower, another kind."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stories import STORIES, play_all, stories

pytestmark = pytest.mark.integration

SCOPE = STORIES.with_name("scope.yaml")
NAMED_BEFORE = {"younger-ann"}
"""Who is known by a qualifier only as long as the visit lasts in which the name was said so."""


@pytest.mark.parametrize("one_visit", [True, False])
def test_what_is_said_of_another_or_of_less_ends_nothing(tmp_path: Path, one_visit: bool) -> None:
    told = [replace(one, one_visit=one_visit) for one in stories(SCOPE)]
    told = [one for one in told if one_visit or one.id not in NAMED_BEFORE]
    played = asyncio.run(play_all(told, tmp_path))
    assert not {one.story.id: one.wrong for one in played if one.wrong}
