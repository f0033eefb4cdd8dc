"""A retrained judge may not be worse than the one it replaces; and the check can fail."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.evaluation.judge_figures import (
    Outcomes,
    ReferenceMissing,
    compared,
    outcomes_of,
    read_outcomes,
    write_outcomes,
)
from bmo.evaluation.judge_report import CORPUS_BARS
from bmo.evaluation.write_figures import world_figures
from bmo.gate import WriteGate
from bmo.judge import MODEL, Judge
from bmo.settings import load_settings

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[3]
SCENARIOS = ROOT / "tests" / "scenarios"
REFERENCE = ROOT / "training" / "reference.json"


@pytest.fixture(scope="module")
def shipped() -> Outcomes:
    judge = Judge.open()
    try:
        return outcomes_of(judge, SCENARIOS)
    finally:
        judge.close()


def spoiled(folder: Path, *, weights: bool) -> Path:
    """A copy of the judge with thresholds of another one, or with a part of its words lost."""
    shutil.copytree(MODEL, folder)
    manifest = json.loads((folder / "model.json").read_text())
    if weights:
        model = bytearray((folder / "model.onnx").read_bytes())
        # The word vectors are half of the file and in one piece: a window in its middle that is
        # wholly inside them, wherever they stand, is found by trying both halves.
        begin = _middle_of_words(bytes(model))
        model[begin : begin + 4_000_000] = bytes(4_000_000)
        (folder / "model.onnx").write_bytes(model)
        manifest["sha256"] = hashlib.sha256(model).hexdigest()
    else:
        manifest["thresholds"] |= {"allow": 0.99, "read": 0.02}
    (folder / "model.json").write_text(json.dumps(manifest))
    return folder


def _middle_of_words(model: bytes) -> int:
    """Offset in the longest stretch of the file without a tensor's name."""
    marks = [0]
    place = model.find(b"encoder.layer")
    while place >= 0:
        marks.append(place)
        place = model.find(b"encoder.layer", place + 1)
    marks.append(len(model))
    gap, begin = max((b - a, a) for a, b in pairwise(marks))
    return begin + gap // 2 - 2_000_000


def test_the_shipped_judge_is_not_worse_than_its_reference(shipped: Outcomes) -> None:
    for difference in compared(shipped, read_outcomes(REFERENCE)):
        assert not difference.worse, str(difference)


@pytest.mark.parametrize("weights", [True, False], ids=["weights", "thresholds"])
def test_a_spoiled_judge_fails_the_check(tmp_path: Path, weights: bool) -> None:
    worse = subprocess.run(
        [sys.executable, "-m", "bmo", "eval", "judge", "--against", str(REFERENCE), "--json",
         "--judge", str(spoiled(tmp_path / "judge", weights=weights)),
         "--conversations", str(SCENARIOS)],
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert worse.returncode == 1, worse.stderr.decode()
    found = json.loads(worse.stdout)
    assert found["worse"] and any(row["high"] < 0 for row in found["differences"])


def test_outcomes_come_back_as_written(tmp_path: Path, shipped: Outcomes) -> None:
    write_outcomes(shipped, tmp_path / "reference.json")
    assert read_outcomes(tmp_path / "reference.json") == shipped
    assert len(shipped.right) > 400


def test_a_missing_reference_names_the_fix(tmp_path: Path) -> None:
    with pytest.raises(ReferenceMissing, match="--accept"):
        read_outcomes(tmp_path / "none.json")
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(ReferenceMissing, match="--accept"):
        read_outcomes(tmp_path / "none.json")


def test_other_conversations_are_no_reference(shipped: Outcomes) -> None:
    other = Outcomes("other", {f"x{key}": bits for key, bits in shipped.right.items()})
    with pytest.raises(ReferenceMissing, match="knows 0 of"):
        compared(shipped, other)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
def test_a_judge_is_never_worse_than_itself(right: list[tuple[bool, bool]]) -> None:
    mine = Outcomes("a", {str(n): bits for n, bits in enumerate(right)})
    for difference in compared(mine, mine):
        assert (difference.mean, difference.worse) == (0.0, False)
    flipped = Outcomes("b", dict.fromkeys(mine.right, (False, False)))
    for place, difference in enumerate(compared(flipped, mine)):
        assert difference.high <= 0
        assert not difference.worse or any(bits[place] for bits in right)


def test_world_statements_are_counted_by_source(tmp_path: Path) -> None:
    rows = (
        {"id": "1", "text": "the danube is a river", "label": "discard", "source": "book"},
        {"id": "2", "text": "my name is glenn", "label": "discard", "source": "slip"},
    )
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "world.jsonl").write_text(lines, encoding="utf-8")
    found = world_figures(WriteGate.from_settings(load_settings(), load_judge=False), tmp_path)
    counted = {name: (value.hits, value.total) for name, value in found.shares.items()}
    assert counted == {
        "world statements stored": (1, 2),
        "world statements stored: book": (0, 1),
        "world statements stored: slip": (1, 1),
    }
    assert not CORPUS_BARS["world statements stored"].met_by(0.5)
