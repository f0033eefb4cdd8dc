"""Ids of turns, facts and visits are random, whoever asks for them."""

from __future__ import annotations

import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from bmo.ids import new_id

pytestmark = pytest.mark.unit

FORKS = """
import os
from bmo.ids import new_id

new_id()
child = os.fork()
print(os.getpid(), [new_id() for _ in range(3)], flush=True)
if child:
    os.waitpid(child, 0)
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
