"""Frozen types whose fields are set while they are open behave as dataclass made them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from bmo.frozen import maker, quickly_made
from bmo.turn import Decision, Fact

pytestmark = pytest.mark.unit


def test_instances_are_frozen_equal_and_replaceable() -> None:
    fact = Fact("Lives in Leeds", "personal_facts", slot="lives_in", value="Leeds")
    assert fact == Fact(
        text="Lives in Leeds", category="personal_facts", slot="lives_in", value="Leeds"
    )
    assert replace(fact, value="York") == Fact(
        "Lives in Leeds", "personal_facts", "lives_in", "York"
    )
    assert pickle.loads(pickle.dumps(fact)) == copy.copy(fact) == fact
    assert type(fact) is Fact and hash(fact) == hash(copy.copy(fact))
    with pytest.raises(FrozenInstanceError):
        fact.value = "York"  # type: ignore[misc]


def test_missing_and_unknown_fields_are_refused() -> None:
    with pytest.raises(TypeError):
        Decision("allow")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Fact("Lives in Leeds", "personal_facts", colour="red")  # type: ignore[call-arg]


def test_a_maker_makes_what_the_class_makes() -> None:
    make = maker(Fact)
    made = make("Lives in Leeds", "personal_facts", slot="lives_in", value="Leeds")
    assert made == Fact("Lives in Leeds", "personal_facts", slot="lives_in", value="Leeds")
    assert type(made) is Fact and pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(FrozenInstanceError):
        made.value = "York"  # type: ignore[misc]
    with pytest.raises(TypeError):
        make("Lives in Leeds")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no class"):
        maker(lambda: made)


def test_a_default_factory_is_refused() -> None:
    with pytest.raises(TypeError, match="plain defaults"):

        @quickly_made
        @dataclass(frozen=True, slots=True)
        class Listed:
            items: list[int] = field(default_factory=list)
