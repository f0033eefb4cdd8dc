"""Trigger patterns: the small language that the packs' rules are written in.

A pattern is a row of elements, each standing for words of the turn:

===============  =========================================================================
``word``         that word; ``a|b`` either
``{kin}``        a word of that class; ``{kin|pet}`` of either; ``{kin|=me}`` or the word "me"
``!{kin}``       one word that is not of the class
``*``            any one word
``..``           up to two words
``...``          up to six words
``^`` and ``$``  the turn's first and last word
``x?``           the element, or nothing
``<a b ; c>``    either of two rows of elements
===============  =========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable

from bmo.recall.lexer import Lexer

_GAPS = {"..": ".{0,2}?", "...": ".{0,6}?", "*": "."}


class PatternError(ValueError):
    """A pattern names a class that the lexicon does not have, or cannot be read."""


class Pattern:
    """One pattern.

    The regular expression is compiled when the pattern is first worth trying, or by ``compile``: a
    pack has hundreds, of which a command that ends at once uses none.

    Attributes:
        source: As written in the pack.
        expression: Regular expression over code strings (``bmo.recall.lexer``).
        needs: Classes of which all must occur before the expression is worth trying.
        anchor: Classes of which one must occur, as few as the pattern allows; empty: any turn.
    """

    __slots__ = ("_search", "anchor", "expression", "needs", "source")

    def __init__(
        self, source: str, expression: str, needs: frozenset[str], anchor: tuple[str, ...]
    ) -> None:
        """Keeps the parts; use ``compile_pattern``."""
        self.anchor = anchor
        self.source = source
        self.expression = expression
        self.needs = needs
        self._search: Callable[[str], object] | None = None

    def found_in(self, codes: str) -> bool:
        """Whether the pattern is in a code string."""
        search = self._search or self.compile()
        return search(codes) is not None

    def compile(self) -> Callable[[str], object]:
        """Compiles the regular expression (.15 ms), unless it was."""
        if self._search is None:
            self._search = re.compile(self.expression, re.DOTALL).search
        return self._search


def literals_of(pattern: str) -> set[str]:
    """The words that ``pattern`` names itself."""
    found: set[str] = set()
    for element in _elements(pattern):
        core = element.rstrip("?").lstrip("!")
        if core in _GAPS or core in ("^", "$", "<", ">", ";"):
            continue
        if core.startswith("{"):
            found |= {part[1:] for part in core[1:-1].split("|") if part.startswith("=")}
        else:
            found |= set(core.split("|"))
    return found


def _elements(pattern: str) -> list[str]:
    spaced = pattern.replace("<", " < ").replace(">?", " >? ").replace(";", " ; ")
    spaced = re.sub(r">(?!\?)", " > ", spaced)
    return spaced.split()


def compile_pattern(pattern: str, lexer: Lexer) -> Pattern:
    """Compiles ``pattern`` for the words of ``lexer``.

    Raises:
        PatternError: A class is unknown or empty, or the row is malformed.
    """
    regex: list[str] = []
    needs: set[str] = set()
    anchors: list[tuple[str, ...]] = []
    depth = 0
    for element in _elements(pattern):
        if element == "<":
            regex.append("(?:")
            depth += 1
        elif element in (">", ">?"):
            regex.append(")?" if element.endswith("?") else ")")
            depth -= 1
        elif element == ";":
            regex.append("|")
        elif element == "^" or element == "$":
            regex.append(r"\A" if element == "^" else r"\Z")
        else:
            regex.append(_element(element, lexer, pattern))
            if depth == 0 and element not in _GAPS and element[0] != "!" and element[-1] != "?":
                names = _names(element)
                anchors.append(tuple(names))
                if len(names) == 1:
                    needs.add(names[0])
    if depth:
        raise PatternError(f"pattern {pattern!r} has an open '<': close it with '>'")
    # A word of its own is rarer than a class, and one name is rarer than several.
    anchor = min(anchors, key=lambda a: (sum(1 if n[0] == "=" else 8 for n in a), a), default=())
    return Pattern(pattern, "".join(regex), frozenset(needs), anchor)


def _names(element: str) -> list[str]:
    core = element.rstrip("?").lstrip("!")
    if core.startswith("{"):
        return core[1:-1].split("|")
    return ["=" + word for word in core.split("|")]


def _element(element: str, lexer: Lexer, pattern: str) -> str:
    if element in _GAPS:
        return _GAPS[element]
    negated = element.startswith("!")
    codes = ""
    for name in _names(element):
        found = lexer.codes_of(name)
        if not found:
            raise PatternError(f"pattern {pattern!r} names {name!r}, which the lexicon lacks")
        codes += found
    escaped = re.escape("".join(sorted(set(codes))))
    return f"[{'^' if negated else ''}{escaped}]" + ("?" if element.endswith("?") else "")
