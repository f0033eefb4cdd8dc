"""What the files of the read gate's rule packs hold, before anything is compiled."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bmo.turn import Category, Depth

Outcome = Literal["recall", "skip", "weigh"]


class PackError(ValueError):
    """A pack cannot be read; the message names file, rule and fault."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PatternRow(_File):
    """A row that fires where a pattern matches and none of ``unless`` does."""

    patterns: list[str]
    unless: list[str] = []
    examples: list[str] = []
    counter_examples: list[str] = []


class DepthRow(PatternRow):
    """A ``[[depth]]`` of ``triggers.toml``."""

    depth: Depth
    examples: list[str]


class RuleRow(PatternRow):
    """A ``[[rule]]`` of ``triggers.toml``."""

    id: str
    trigger: str
    outcome: Outcome
    include_all: bool = False
    categories: list[Category] = []
    examples: list[str]


class TriggerFile(_File):
    """``triggers.toml``."""

    depth: list[DepthRow] = []
    rule: list[RuleRow]


class LexiconFile(_File):
    """``lexicon.toml``."""

    function_words: dict[str, str]
    elision: bool = False
    expand: dict[str, str] = {}
    classes: dict[str, str]
    plural: dict[str, str] = {}


class NeedRow(PatternRow):
    """A ``[[need]]`` of ``needs.toml``."""

    id: str


class SlotRow(_File):
    """What a need depends on, in every language: an entry of ``packs/slots.toml``."""

    slots: list[str] = []
    soft: list[str] = []
    categories: list[Category] = []
    subjects: list[str] = []
    domains: list[str] = []
    gloss: str = ""
    past: bool = False
    wide: bool = False


class NeedFile(_File):
    """``needs.toml``."""

    need: list[NeedRow]
    relations: dict[str, list[str]] = Field(default_factory=dict)
    gloss: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PackFiles:
    """The files of one language, and the slots that every language shares.

    Attributes:
        where: Their folder, for messages.
        lexicon: Classes of words.
        triggers: When memory is needed, and when not.
        needs: What shows which need.
        slots: Need -> what it depends on.
        version: Changes with any file of the language.
    """

    where: str
    lexicon: LexiconFile
    triggers: TriggerFile
    needs: NeedFile
    slots: Mapping[str, SlotRow]
    version: str

    def rows(self) -> Iterator[PatternRow]:
        """Everything that has patterns."""
        yield from (*self.triggers.rule, *self.triggers.depth, *self.needs.need)


def read_files(language: str) -> PackFiles:
    """Reads the files of ``language``.

    Raises:
        PackError: A file is malformed, or a need is not in ``packs/slots.toml``.
    """
    texts = {n: _text(language, f"{n}.toml") for n in ("lexicon", "triggers", "needs")}
    where = f"bmo/recall/packs/{language}"
    try:
        files = PackFiles(
            where=where,
            lexicon=LexiconFile.model_validate(tomllib.loads(texts["lexicon"])),
            triggers=TriggerFile.model_validate(tomllib.loads(texts["triggers"])),
            needs=NeedFile.model_validate(tomllib.loads(texts["needs"])),
            slots=_shared_slots(),
            version=hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:8],
        )
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise PackError(f"{where} cannot be read: {error}") from error
    unknown = [row.id for row in files.needs.need if row.id not in files.slots]
    if unknown:
        raise PackError(f"{where}/needs.toml: needs {unknown!r} are not in packs/slots.toml")
    return files


def read_function_words(language: str) -> list[str]:
    """The function words of ``language``, without the rest of its pack."""
    raw = tomllib.loads(_text(language, "lexicon.toml"))
    return LexiconFile.model_validate(raw).function_words["words"].split()


def _text(language: str, name: str) -> str:
    path = resources.files("bmo.recall").joinpath("packs", language, name)
    return path.read_text(encoding="utf-8")


@cache
def _shared_slots() -> dict[str, SlotRow]:
    path = resources.files("bmo.recall").joinpath("packs", "slots.toml")
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: SlotRow.model_validate(row) for name, row in rows.items()}
