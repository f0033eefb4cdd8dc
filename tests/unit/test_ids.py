"""Ids of turns, facts and visits are random, whoever asks for them."""

from __future__ import annotations

import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ids import USER_ID_PATTERN, as_user_id, identity_of, new_id, user_id_for

pytestmark = pytest.mark.unit

FORKS = """
import os
from hypothesis import given
from hypothesis import strategies as st

from bmo.ids import USER_ID_PATTERN, as_user_id, identity_of, new_id, user_id_for

new_id()
child = os.fork()
if child:  # one after the other: with PYTHONUNBUFFERED two prints at once mix their parts
    os.waitpid(child, 0)
print(os.getpid(), [new_id() for _ in range(3)], flush=True)
"""


def test_every_id_is_another_random_uuid() -> None:
    with ThreadPoolExecutor(4) as pool:
        ids = [
            one
            for part in pool.map(lambda _: [new_id() for _ in range(500)], range(8))
            for one in part
        ]
    assert len(set(ids)) == len(ids) == 4000
    assert all(uuid.UUID(one).version == 4 and uuid.UUID(one).hex == one for one in ids)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_forked_process_gives_out_others() -> None:
    said = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    ids = [word for line in said.splitlines() for word in line.split("[")[1].strip("]").split(", ")]
    assert len(ids) == len(set(ids)) == 6


@given(st.lists(st.text(max_size=160) | st.from_regex(r"(id::)?[a-z:.0-9@]{1,20}"), max_size=8))
def test_every_identity_has_a_user_id_that_is_no_others(identities: list[str]) -> None:
    """Made ids count as identities too: whoever takes one as his name is given another."""
    everybody = {*identities, *map(user_id_for, identities)}
    ids = {user_id_for(one) for one in everybody}
    assert len(ids) == len(everybody)
    for identity in everybody:
        made = user_id_for(identity)
        assert USER_ID_PATTERN.fullmatch(made)
        assert as_user_id(made) == made
        assert identity_of(made) == identity or identity_of(made).endswith("…")


@pytest.mark.parametrize(
    ("identity", "user_id"),
    [
        ("ana", "ana"),
        ("tenant:17:user@example.org", "tenant:17:user@example.org"),
        ("sip_+4915112345678", "id::sip_:2b:4915112345678"),
        ("zoë", "id::zo:eb:"),
        ("auth0|65f0", "id::auth0:7c:65f0"),
        ("user/17", "id::user:2f:17"),
        ("ana maria", "id::ana:20:maria"),
        ("🙂", "id:::1f642:"),
        ("x" * 200, f"id::{'x' * 90}::aa20c23e3201834050679e1d88941b9a"),
    ],
)
def test_user_ids_are_readable(identity: str, user_id: str) -> None:
    assert user_id_for(identity) == user_id
    assert identity_of(user_id) in (identity, f"{'x' * 90}…")
