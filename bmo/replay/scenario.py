"""Scenario files: ``*.turns.yaml``, read strictly.

Everything wrong in a file is one sentence that names the file, the line and the field.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from yaml.composer import ComposerError

from bmo.settings import checked_user_id
from bmo.turn import Category, Verdict

SUFFIX = ".turns.yaml"
"""What a scenario file's name ends with."""

MAX_FILE_BYTES = 1 << 20
"""A scenario has a few kilobytes; more is a mistake that would take minutes to parse."""

TURN_GAP = timedelta(seconds=20)
"""Time between two turns of a visit."""

Match = Annotated[str, Field(min_length=1, strict=True)]
"""A string that is looked for, case-insensitively, in one memory's text."""

AllOf = Annotated[tuple[Match, ...], Field(min_length=1)]
"""Strings that must all occur in ONE memory."""


class ScenarioError(ValueError):
    """A scenario file cannot be used; the message has one sentence a fault."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExpectedFact(_Strict):
    """A durable fact a turn should store."""

    category: Category
    """Where it belongs."""
    contains: AllOf
    """Strings of its canonical text."""
    lacks: tuple[Match, ...] = ()
    """Strings its text must not have."""


class ScenarioTurn(_Strict):
    """One utterance and what should happen to it."""

    user: str
    """What the person says."""
    assistant: str = ""
    """What the assistant says after it."""
    verdict: Verdict
    """What the write gate should say."""
    facts: tuple[ExpectedFact, ...] = ()
    """What should be stored; only with ``allow``."""
    recall: bool = False
    """Whether answering well needs stored memory."""
    injects: tuple[AllOf, ...] = ()
    """Memories that should be given for this turn; only with ``recall: true``."""
    omits: tuple[Match, ...] = ()
    """Strings no memory given for this turn may have."""

    @model_validator(mode="after")
    def _consistent(self) -> ScenarioTurn:
        if self.facts and self.verdict != "allow":
            raise ValueError(f"facts need the verdict allow, not {self.verdict}")
        if self.injects and not self.recall:
            raise ValueError("injects needs recall: true")
        return self


class ScenarioSession(_Strict):
    """One visit."""

    at: datetime
    """When it starts, with a time zone."""
    profile: tuple[AllOf, ...] | None = None
    """Memories the once-per-session profile should hold; None: not looked at."""
    turns: Annotated[tuple[ScenarioTurn, ...], Field(min_length=1)]
    """What is said, in order."""

    @field_validator("at")
    @classmethod
    def _has_zone(cls, value: datetime) -> datetime:
        if value.tzinfo is None:
            raise ValueError("the time needs a zone, for example 2026-03-01T09:00:00Z")
        return value


class Ends(_Strict):
    """What should be remembered after the last visit."""

    keeps: tuple[AllOf, ...] = ()
    """Each in one live memory."""
    drops: tuple[Match, ...] = ()
    """In no live memory."""


class Scenario(_Strict):
    """An annotated conversation of one person over one or more visits."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Unique name; the file's name before ``.turns.yaml``."""
    about: str = ""
    """One line on what it is about."""
    style: Literal["asr", "text"] = "asr"
    """As a speech recogniser prints it, or as people write."""
    language: Literal["en", "de", "fr", "es"] = "en"
    """Language of the person."""
    user: str
    """Whose memory it is."""
    sessions: Annotated[tuple[ScenarioSession, ...], Field(min_length=1)]
    """Visits, in time order."""
    ends: Ends = Ends()
    """What should be remembered at the end."""

    @field_validator("user")
    @classmethod
    def _safe_user(cls, value: str) -> str:
        return checked_user_id(value)

    @field_validator("sessions")
    @classmethod
    def _in_order(cls, value: tuple[ScenarioSession, ...]) -> tuple[ScenarioSession, ...]:
        for earlier, later in pairwise(value):
            if later.at <= earlier.at:
                raise ValueError(f"the session of {later.at} must come after {earlier.at}")
        return value


class _WrittenOut(yaml.SafeLoader):
    """YAML without aliases: a few lines of them stand for more than fits into a machine."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # PyYAML's stubs
            raise ComposerError(None, None, "an alias is not allowed, write it out", mark)
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


def load_scenario(path: Path) -> Scenario:
    """Reads one scenario file.

    Raises:
        ScenarioError: It cannot be read, is no YAML or breaks the format.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise ScenarioError(f"{path}: is larger than {MAX_FILE_BYTES >> 20} MiB: split it.")
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise ScenarioError(f"{path}: cannot be read: {reason}.") from None
    try:
        data = yaml.load(text, _WrittenOut)
    except yaml.YAMLError as error:
        raise ScenarioError(_yaml_sentence(path, error)) from None
    except RecursionError:
        raise ScenarioError(f"{path}: is no YAML that can be read: nested too deeply.") from None
    except ValueError as error:
        # PyYAML's own constructors, for example a date with month 13.
        raise ScenarioError(f"{path}: {error}.") from None
    if not isinstance(data, dict):
        raise ScenarioError(f"{path}: must be a mapping with id, user and sessions.")
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        node = yaml.compose(text, Loader=_WrittenOut)  # it knows the lines
        assert node is not None  # a text without a node is no mapping
        sentences = [_sentence(path, node, item) for item in error.errors()]
        raise ScenarioError("\n".join(sentences)) from None


def find_scenarios(paths: Iterable[Path]) -> list[Path]:
    """The scenario files under the given files and directories, in name order, each once.

    Raises:
        ScenarioError: A path is missing, or a directory has none.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            files = sorted(path.rglob(f"*{SUFFIX}"))
            if not files:
                raise ScenarioError(f"{path}: has no *{SUFFIX} files.")
            found.extend(files)
        elif path.is_file():
            found.append(path)
        else:
            raise ScenarioError(f"{path}: there is no such file or directory.")
    return list(dict.fromkeys(found))


def _yaml_sentence(path: Path, error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{path}, line {error.problem_mark.line + 1}: is no YAML: {error.problem}."
    return f"{path}: is no YAML: {str(error).splitlines()[0]}."


def _sentence(path: Path, root: yaml.Node, item: Any) -> str:
    line = _line_of(root, item["loc"])
    field = ".".join(str(part) for part in item["loc"]) or "the file"
    kind = item["type"]
    if kind == "extra_forbidden":
        said = "is not a field of the format"
    elif kind == "missing":
        said = "is missing"
    elif kind == "literal_error":
        said = f"is {reprlib.repr(item['input'])}; allowed are {item['ctx']['expected']}"
    elif kind == "too_short":
        said = "is empty"
    elif kind == "string_type":
        said = f"is {reprlib.repr(item['input'])}; it must be text (put it in quotes)"
    else:
        shown = reprlib.repr(item["input"])
        shown = f" {shown}" if len(shown) <= 60 else ""
        said = f"{shown.strip()}: {str(item['msg']).removeprefix('Value error, ')}".strip(": ")
    return f"{path}, line {line}: {field} {said}."


def _line_of(root: yaml.Node, location: Iterable[int | str]) -> int:
    """The line a field stands on, or of the deepest part of its way that exists."""
    node = root
    line = root.start_mark.line
    for part in location:
        if isinstance(node, yaml.MappingNode):
            entry = next((kv for kv in node.value if kv[0].value == part), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line, entry[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                break
            node = node.value[part]
            line = node.start_mark.line
        else:
            break
    return line + 1
