"""A command line that no command takes, said in one sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import typer

# Click's, which newer versions of typer carry inside; this name is public in all of them.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def usage_sentence(error: Any, given: Sequence[str]) -> str:
    """What is wrong with a command line, with the value and where to look.

    Returns:
        One sentence; "" where the help was shown instead (a group without a command).
    """
    said = error.format_message().strip().rstrip(".")
    if not said:
        return ""
    if isinstance(error, typer.BadParameter):
        said = _with_value(said, given)
    said = said.replace(". Did you mean", "; did you mean").replace("Value error, ", "")
    said = " ".join(said.split())
    # A value that is missing, or too much, is told without the command.
    command = "bmo" if given[0].startswith("-") else f"bmo {given[0]}"
    path = error.ctx.command_path if error.ctx is not None else command
    return f"{said[0].lower()}{said[1:]} (see {path} --help)."


def _with_value(said: str, given: Sequence[str]) -> str:
    """Names the value where click's or pydantic's message does not."""
    found = re.match(r"Invalid value for '?(?P<name>[^':]+)'?: (?P<why>.+)", said, re.DOTALL)
    if found is None:
        return said
    name, why = found["name"], found["why"].partition(", unable to")[0]
    why = why.replace("Input should be", "it should be")
    value = _value_of(name, given)
    shown = "" if value is None or repr(value) in why else f" {value[:80]!r}"
    return f"{name}{shown}: {why}"


def _value_of(option: str, given: Sequence[str]) -> str | None:
    for place, word in enumerate(given):
        name, equals, value = word.partition("=")
        if name == option:
            if equals:
                return value
            return given[place + 1] if place + 1 < len(given) else None
    return None
