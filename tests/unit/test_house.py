"""The house: imports point down only, and importing BMO stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

PACKAGE = Path(__file__).parents[2] / "bmo"

LEVELS = {
    "quotation": 2,
    "giving_way": 1,
    "ids": 1,
    "turn": 1,
    "settings": 1,
    "telemetry": 1,
    "language": 2,
    "encoder": 2,
    "judge": 2,
    "gate": 3,
    "ledger": 3,
    "index": 3,
    "recall": 4,
    "extract": 4,
    "recorder": 4,
    "memory": 5,
    "agent": 6,
    "chat": 6,
    "replay": 6,
    "evaluation": 6,
    "cli": 7,
    "worker": 7,
    "__main__": 8,
}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
            if node.module == "bmo":
                names = [f"bmo.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("bmo."):
                rooms.add(name.split(".")[1])
    return rooms


def test_every_room_has_a_level() -> None:
    rooms = {room_of(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert rooms <= set(LEVELS)


def test_imports_point_down() -> None:
    upward = [
        f"{path.relative_to(PACKAGE)} imports bmo.{other}"
        for path in PACKAGE.rglob("*.py")
        if (room := room_of(path)) in LEVELS
        for other in imported_rooms(path)
        if other in LEVELS and other != room and LEVELS[other] > LEVELS[room]
    ]
    assert upward == []


@pytest.mark.parametrize("module", ["bmo", "bmo.gate", "bmo.recall", "bmo.memory", "bmo.cli"])
def test_heavy_libraries_are_imported_when_first_needed(module: str) -> None:
    heavy = ["mem0", "qdrant_client", "qdrant_edge", "livekit", "onnxruntime", "google.genai"]
    program = f"import sys, {module}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
