"""One server and one worker for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rooms.stage import Stage, stage_in


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server with the README's five lines on it."""
    with stage_in(tmp_path_factory.mktemp("rooms")) as made:
        made.worker()
        yield made


@pytest.fixture
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server without a worker."""
    with stage_in(tmp_path_factory.mktemp("rooms")) as made:
        yield made
