"""The clock of conversations never goes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bmo.memory.steady_clock import SteadyClock

pytestmark = pytest.mark.unit

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Machine:
    """A machine whose clock is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = NOON
        self.ticks_s = 1000.0
        monkeypatch.setattr("bmo.memory.steady_clock.utc_now", lambda: self.now)
        monkeypatch.setattr("bmo.memory.steady_clock.time.monotonic", lambda: self.ticks_s)

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.ticks_s += seconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_it_is_the_systems_clock(machine: Machine) -> None:
    clock = SteadyClock(NOON - timedelta(days=1))
    assert (clock(), clock.behind) == (NOON, timedelta())
    machine.passes(90)
    assert clock() == NOON + timedelta(seconds=90)


def test_it_goes_on_from_the_ledger_while_the_machine_thinks_it_is_1970(machine: Machine) -> None:
    machine.now = datetime(1970, 1, 1, tzinfo=UTC)
    clock = SteadyClock(NOON)
    assert clock.behind == NOON - machine.now
    machine.passes(60)
    assert clock() == NOON + timedelta(seconds=60)
    machine.now = NOON + timedelta(hours=3)  # the network is there
    assert clock() == NOON + timedelta(hours=3)


def test_a_clock_that_is_set_back_is_counted_on(machine: Machine) -> None:
    clock = SteadyClock(None)
    machine.passes(60)
    before = clock()
    machine.now -= timedelta(hours=1)
    machine.passes(30)
    assert clock() == before + timedelta(seconds=30)
    machine.passes(30)
    assert clock() == before + timedelta(seconds=60)
