"""Another number, another tool: the words of a memory that a change replaces.

"Six hives now" of "Keeps four bee hives", "we're all on teams now" of "Uses slack at work": the
memory stays what it was but for one value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bmo.gate.known_change_data import ChangeRule, KnownChanges
from bmo.language.times import NUMBER_WORDS
from bmo.turn import Fact

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_BEFORE_HEAD = 3
"""Words up to which what is counted may stand behind its number ("four old bee hives")."""


def with_number(text: str, counted: str, new: str, table: KnownChanges) -> str | None:
    """A memory with another number of what is counted.

    Args:
        text: "Keeps four bee hives".
        counted: "hives".
        new: "six".
        table: The language's words.

    Returns:
        "Keeps six bee hives"; None when the memory counts no such thing, or as many.
    """
    asked = table.words_of(counted) or counted.split()
    head = table.stem(asked[-1])
    found = [(m[0], m.start(), m.end()) for m in _WORD.finditer(text)]
    for place, (word, start, end) in enumerate(found):
        if not _is_number(word):
            continue
        last = place
        while last + 1 < len(found) and _is_number(found[last + 1][0]):
            last += 1
            end = found[last][2]
        behind = [table.stem(w.lower()) for w, _, _ in found[last + 1 : last + 1 + _BEFORE_HEAD]]
        if head not in behind:
            continue
        if _number(text[start:end]) == _number(new):
            return None
        thing = found[last + 1 + behind.index(head)]
        if _number(new) == "1":  # "two approvals", of which one is enough: "one approval"
            text = f"{text[: thing[1]]}{asked[-1]}{text[thing[2] :]}"
        return f"{text[:start]}{new}{text[end:]}"
    return None


def _is_number(word: str) -> bool:
    return word.isdigit() or word.lower() in NUMBER_WORDS


def _number(words: str) -> str:
    """Number words as digits one after the other, to compare."""
    return " ".join(str(NUMBER_WORDS.get(word, word)) for word in words.lower().split())


def tool_replaced(
    rule: ChangeRule,
    named: str,
    new: str,
    everything: bool,
    known: Sequence[Fact],
    table: KnownChanges,
) -> tuple[Fact, str] | None:
    """The memory of the tool that another takes the place of, and the old tool's name in it.

    Args:
        rule: The construction, which tells the sort of memory.
        named: What is done with the tool ("builds"), or "".
        new: The new tool.
        everything: All was moved to it: it may be of a kind nobody listed.
        known: Live memories of the user and the team.
        table: The language's words.

    Returns:
        None when no memory is meant, or more than one.
    """
    rows = [old for old in known if old.subject in ("user", "team") and rule.may_end(old)]
    kind = table.same_kind.get(new.lower())
    if kind is not None:
        alike = [(old, _of_kind(old.text, kind, new, table)) for old in rows]
        found = [(old, name) for old, name in alike if name]
        return found[0] if len({old.text for old, _ in found}) == 1 else None
    if not everything or new.split()[0].lower() in table.articles:
        return None
    wanted = {table.stem(word) for word in table.words_of(named)}
    using = [(old, _tool_in(old, table)) for old in rows]
    meant = [(old, name) for old, name in using if name and _is_about(old, wanted, table)]
    return meant[0] if len(meant) == 1 else None


def _of_kind(text: str, kind: str, new: str, table: KnownChanges) -> str:
    """The name of another tool of a kind that a memory has, or ""."""
    words = " ".join(_WORD.findall(text.lower()))
    names = [name for name, of in table.same_kind.items() if of == kind and name != new.lower()]
    for name in sorted(names, key=len, reverse=True):
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words):
            return name
    return ""


def _tool_in(old: Fact, table: KnownChanges) -> str:
    """The tool that a memory of one names: its value, or a tool of any kind in its words."""
    if old.slot == "technology":
        return old.value
    words = " ".join(_WORD.findall(old.text.lower()))
    named = [n for n in table.same_kind if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", words)]
    return max(named, key=len, default="")


def _is_about(old: Fact, wanted: set[str], table: KnownChanges) -> bool:
    return wanted <= {table.stem(word) for word in table.words_of(old.text)}


def moved_on(fact: Fact, norm: Sequence[str]) -> Fact:
    """The end of a tool, or what has taken its place ("jenkins is gone", "it's all buildkite").

    Args:
        fact: An end of a memory.
        norm: The words behind those that end it.
    """
    found = _IT_IS_NOW.match(" ".join(norm))
    if found is None or fact.op != "retract" or fact.slot != "technology" or not fact.value:
        return fact
    name = found["new"]
    text = with_tool(fact.text, fact.value, name)
    if text == fact.text or not _NO_TOOL.isdisjoint(name.split()):
        return fact
    return replace(fact, op="assert", scope=None, text=text, value=name, replaces=fact.text)


_IT_IS_NOW = re.compile(
    r"^(?:so |and |now )*(?:it is|we are on|we use|we are using|we have got|we are all on)"
    r"(?: all| now| just)* (?P<new>[\w.-]+(?: [\w.-]+)??)(?: now| these days| for everything)*$"
)
_NO_TOOL = frozenset(
    "a an the it that this great fine good bad better worse over off all nothing none so not very "
    "really quite just too sad annoying slow down".split()
)


def with_tool(text: str, old: str, new: str) -> str:
    """A memory's text with another tool ("Uses slack" -> "Uses teams")."""
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text, flags=re.IGNORECASE)
