"""Log records: static messages, what varies in fields."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

PACKAGE = Path(__file__).parents[2] / "bmo"
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}


def test_messages_are_static_and_what_varies_is_in_fields() -> None:
    """A message that varies cannot be grouped, and may hold words that no redaction finds."""
    seen, wrong = 0, []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            logger = node.func.value
            if not (isinstance(logger, ast.Name) and logger.id.strip("_") in ("logger", "log")):
                continue
            if node.func.attr not in LEVELS:
                continue
            seen += 1
            message = node.args[0] if node.args else None
            if len(node.args) != 1 or not isinstance(message, ast.Constant):
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert seen > 30
    assert wrong == []
