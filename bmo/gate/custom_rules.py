r"""Skip and keep rules of a user's own, from the YAML file GATEKEEPER_CUSTOM_RULES_PATH names.

The format is the published gatekeeper's, widened by names and templates::

    skip_patterns:
      - pattern: "^(brb|afk|gtg)\\\\b"
        reason: "Common chat abbreviations"
    keep_patterns:
      - name: blocker
        pattern: "\\\\bblocked by (?P<what>.+)"
        category: decisions
        template: "Is blocked by {what}"

Patterns are RE2 (no look-around, no back references) and ignore case, so no rule can stall a
call. A wrong rule is reported with file, line and what is wrong with it; the others still work.
Between double quotes YAML makes a backspace of "\\b", as in the published example: it is read as
the word border it was meant to be, and reported with the fix.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import re2

from bmo.turn import CATEGORIES, Category

MAX_FILE_BYTES = 256 * 1024
"""A larger file is refused."""
MAX_RULES = 500
"""Rules per list; what comes after is reported and left out."""
MAX_PATTERN = 1_000
"""Characters of a pattern."""
MAX_TEXT = 300
"""Characters of a name, reason, category or template."""
_MAX_MEMORY = 4 << 20

_LISTS = ("skip_patterns", "keep_patterns")
_KEYS = {
    "skip_patterns": frozenset({"name", "pattern", "reason", "category"}),
    "keep_patterns": frozenset({"name", "pattern", "reason", "category", "template"}),
}
_FIELD = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """One thing wrong in a rules file.

    Attributes:
        file: The file.
        rule: "skip_patterns[2]" or "keep_patterns[0] 'blocker'", or "" for the whole file.
        line: Line, from 1.
        column: Column, from 1.
        message: What is wrong and how to fix it.
        works: The rule is used all the same, as it was meant.
    """

    file: str
    rule: str
    line: int
    column: int
    message: str
    works: bool = False

    def __str__(self) -> str:
        """One line for people."""
        where = f"{self.rule}: " if self.rule else ""
        return f"{self.file}:{self.line}:{self.column}: {where}{self.message}"


@dataclass(frozen=True, slots=True)
class CustomRule:
    """A rule that compiled.

    Attributes:
        id: "custom.skip.0" or "custom.keep.blocker".
        reason: For people.
        label: The category as written ("blocker"), or "custom".
        category: The label when it is one of BMO's categories, else None.
        template: Canonical text with ``{named groups}``, or None.
        regex: The compiled RE2 pattern.
    """

    id: str
    reason: str
    label: str
    category: Category | None
    template: str | None
    regex: Any


@dataclass(frozen=True, slots=True)
class CustomRules:
    """The rules of one file, and what was wrong in it."""

    skip: tuple[CustomRule, ...] = ()
    keep: tuple[CustomRule, ...] = ()
    problems: tuple[RuleProblem, ...] = ()

    def match_skip(self, text: str) -> CustomRule | None:
        """The first skip rule that holds for the user's words."""
        clean = _encodable(text)
        return next((rule for rule in self.skip if rule.regex.search(clean)), None)

    def match_keep(self, text: str, assistant: str = "") -> tuple[CustomRule, str | None] | None:
        """The first keep rule that holds for the user's words, or for the assistant's.

        A rule with a template reads the user's words only. With it comes the template's text, or
        None where it has no template or a group in that is empty.
        """
        clean, other = _encodable(text), _encodable(assistant)
        for rule in self.keep:
            found = rule.regex.search(clean)
            if found:
                return rule, _canonical(rule, found)
            if other and rule.template is None and rule.regex.search(other):
                return rule, None
        return None


def load_custom_rules(path: Path) -> CustomRules:
    """Reads and compiles a rules file.

    Args:
        path: A YAML file with ``skip_patterns`` and ``keep_patterns``.

    Returns:
        The rules that compiled, and a problem for each thing that is wrong. It never raises for
        what stands in the file, or for a file that cannot be read.
    """
    import yaml  # imported when a file is named: most processes have none

    name = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "unknown error"
        message = f"cannot be read ({reason}): name a file in GATEKEEPER_CUSTOM_RULES_PATH"
        return CustomRules(problems=(RuleProblem(name, "", 1, 1, message),))
    if len(raw) > MAX_FILE_BYTES:
        message = f"is larger than {MAX_FILE_BYTES // 1024} KiB: split or shorten it"
        return CustomRules(problems=(RuleProblem(name, "", 1, 1, message),))
    try:
        root = yaml.compose(raw.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"byte {raw[error.start]:#04x} is not UTF-8: save the file as UTF-8"
        return CustomRules(problems=(RuleProblem(name, "", line, 1, message),))
    except (yaml.YAMLError, RecursionError) as error:
        return CustomRules(problems=(_yaml_problem(name, error),))
    if root is None:
        return CustomRules()
    return _Reader(name).read(root)


def _yaml_problem(file: str, error: Exception) -> RuleProblem:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or "nested too deeply"
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return RuleProblem(file, "", line, column, f"is not valid YAML: {what}")


class _Unusable(Exception):
    """A rule cannot be used: the node that is wrong, and what to do."""

    def __init__(self, node: Any, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.node, self.message, self.offset = node, message, offset


class _Reader:
    """Walks the YAML nodes, which know their lines, and collects rules and problems."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[RuleProblem] = []

    def read(self, root: Any) -> CustomRules:
        """All rules under the root node."""
        rules: dict[str, tuple[CustomRule, ...]] = dict.fromkeys(_LISTS, ())
        for key, node in self._pairs(root, "", "the file"):
            if key.value not in _LISTS:
                self._report("", key, f"unknown key {key.value!r}: use {' or '.join(_LISTS)}")
            elif node.id != "sequence":
                self._report(key.value, node, "must be a list of rules (lines starting with '- ')")
            else:
                rules[key.value] = tuple(self._rules(key.value, node))
        problems = tuple(sorted(self._problems, key=lambda p: (p.line, p.column)))
        return CustomRules(rules["skip_patterns"], rules["keep_patterns"], problems)

    def _report(
        self, rule: str, node: Any, message: str, column_offset: int = 0, *, works: bool = False
    ) -> None:
        line, column = node.start_mark.line + 1, node.start_mark.column + 1 + column_offset
        self._problems.append(RuleProblem(self._file, rule, line, column, message, works))

    def _pairs(self, node: Any, rule: str, what: str) -> list[tuple[Any, Any]]:
        if node.id != "mapping":
            self._report(rule, node, f"{what} must be a mapping of keys and values")
            return []
        pairs = []
        for key, value in node.value:
            if key.id == "scalar":
                pairs.append((key, value))
            else:
                self._report(rule, key, "a key must be a plain word")
        return pairs

    def _rules(self, section: str, node: Any) -> Iterator[CustomRule]:
        seen: set[str] = set()
        for index, item in enumerate(node.value):
            if index == MAX_RULES:
                self._report(
                    section, item, f"has more than {MAX_RULES} rules: the rest is left out"
                )
                return
            rule = self._rule(section, index, item)
            if rule is None:
                continue
            if rule.id in seen:
                self._report(f"{section}[{index}]", item, f"the name of {rule.id!r} is used twice")
                continue
            seen.add(rule.id)
            yield rule

    def _rule(self, section: str, index: int, item: Any) -> CustomRule | None:
        where = f"{section}[{index}]"
        nodes: dict[str, Any] = {}
        before = len(self._problems)
        for key, value in self._pairs(item, where, "a rule"):
            if key.value not in _KEYS[section]:
                allowed = ", ".join(sorted(_KEYS[section]))
                self._report(where, key, f"unknown key {key.value!r}: allowed are {allowed}")
            elif value.id != "scalar":
                self._report(where, value, f"{key.value} must be text")
            else:
                nodes[key.value] = value
        if "name" in nodes:
            where = f"{where} {nodes['name'].value[:60]!r}"
        if len(self._problems) > before:
            return None
        try:
            if "pattern" not in nodes:
                raise _Unusable(item, "has no pattern")
            for key, node in nodes.items():
                _check_size(key, node)
            regex = self._compiled(where, nodes["pattern"])
            if "template" in nodes:
                _check_template(nodes["template"], regex)
        except _Unusable as wrong:
            self._report(where, wrong.node, wrong.message, wrong.offset)
            return None
        written = {key: node.value for key, node in nodes.items()}
        label = written.get("category", "custom")
        kind = section.removesuffix("_patterns")
        return CustomRule(
            id=f"custom.{kind}.{written.get('name', index)}",
            reason=written.get("reason") or f"custom {kind} rule: {label}",
            label=label,
            category=next((c for c in CATEGORIES if c == label), None),
            template=written.get("template"),
            regex=regex,
        )

    def _compiled(self, where: str, node: Any) -> Any:
        """The compiled pattern; a word border that YAML made a backspace of is reported."""
        made = next((c for c in node.value if unicodedata.category(c) == "Cc"), None)
        pattern = node.value.replace("\b", r"\b")
        if made is not None:
            read = "it is read as a word border" if made == "\b" else "nobody says one"
            fix = "put the pattern in single quotes, or write two backslashes"
            what = f"YAML made a control character ({made!r}) of a backslash: {read}; {fix}"
            if any(unicodedata.category(c) == "Cc" for c in pattern):
                raise _Unusable(node, what)
            self._report(where, node, what, works=True)
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = _MAX_MEMORY
        try:
            regex = re2.compile(pattern, options)
        except (re2.error, UnicodeEncodeError) as error:
            said = error.args[0] if error.args else "unknown error"
            if isinstance(said, bytes):
                said = said.decode("utf-8", "replace")
            foreign = re.search(r"\(\?<?[=!]|\\[1-9]", pattern)
            hint = " (RE2 has no look-around and no back references)" if foreign else ""
            what = f"pattern does not compile: {said}{hint}"
            raise _Unusable(node, what, _offset_of(str(said), pattern)) from error
        if regex.search("") is not None:
            raise _Unusable(node, "pattern matches empty text, so it would hold for every turn")
        return regex


def _check_size(key: str, node: Any) -> None:
    limit = MAX_PATTERN if key == "pattern" else MAX_TEXT
    if not node.value.strip():
        raise _Unusable(node, f"{key} is empty")
    if len(node.value) > limit:
        raise _Unusable(
            node, f"{key} has {len(node.value)} characters: at most {limit} are allowed"
        )


def _check_template(node: Any, regex: Any) -> None:
    for field in _FIELD.findall(node.value):
        if field not in regex.groupindex:
            raise _Unusable(
                node, f"template names {{{field}}}, but the pattern has no group (?P<{field}>...)"
            )
    if "{" in _FIELD.sub("", node.value) or "}" in _FIELD.sub("", node.value):
        raise _Unusable(node, "template has an unpaired brace")


def _offset_of(message: str, pattern: str) -> int:
    """Where in the pattern RE2's message points: it quotes the wrong part after a colon."""
    quoted = message.rpartition(": ")[2]
    place = pattern.find(quoted) if quoted else -1
    return max(place, 0)


def _canonical(rule: CustomRule, found: Any) -> str | None:
    """The template with its groups filled in; None without a template or with an empty group."""
    if rule.template is None:
        return None
    groups = found.groupdict()
    for field in _FIELD.findall(rule.template):
        if not (groups.get(field) or "").strip():
            return None
    text = _FIELD.sub(lambda field: " ".join(groups[field[1]].split()), rule.template)
    return text.strip(" .,;!?") or None


def _encodable(text: str) -> str:
    """The text with what UTF-8 cannot hold (lone surrogates) replaced, offsets unchanged."""
    return text.encode("utf-8", "replace").decode("utf-8")
