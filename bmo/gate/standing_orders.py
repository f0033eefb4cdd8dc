"""Orders that hold for good: "when i ask for dinners nothing with mushrooms", "... from now on".

Such an order runs over the borders of clauses, begins like a question ("when you read me a list")
or reads like a condition, and names in its own words that it is not for now. Its shapes are data
(``packs/<language>/standing_orders.toml``), with examples and counter-examples beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from bmo.gate.open_other_languages import quoted
from bmo.gate.open_text import finished
from bmo.gate.pack_tables import read_table
from bmo.gate.pattern_needs import NeededWords, pattern_needs
from bmo.gate.third_person import Token, inner, joined, predicate, tokens_of
from bmo.language import Clause, LanguageCode, Words, third_person
from bmo.turn import Fact

_LONGEST = 30
_NEVER = "(?!)"
"""For a pack without such orders."""
_MACRO = re.compile(r"\{([a-z]\w*)\}")
_ABOUT = "how the assistant should behave"
_ASKED_OF = frozenset({"can", "could", "would", "will"})
_ORDERED_BY = ("unwanted", "told", "wanted", "meaning", "prefers", "none")
_OPENS_CLAUSE = (["every", "time"], ["each", "time"])
_SELDOM_WRITTEN = frozenset({"ever", "do"})


@dataclass(frozen=True, slots=True)
class _Orders:
    cues: frozenset[str]
    lasts: re.Pattern[str] | None
    lasting: NeededWords
    polite: frozenset[str]
    moments: re.Pattern[str]
    pointing: re.Pattern[str] | None
    patterns: tuple[re.Pattern[str], ...]


class StandingOrder(NamedTuple):
    """An order for good, and the clauses it takes.

    Attributes:
        first: Number of its first clause.
        stop: Number behind its last.
        fact: The wish.
        alone: Whether rules that read its only clause may say it instead.
    """

    first: int
    stop: int
    fact: Fact
    alone: bool


@cache
def _orders(language: LanguageCode) -> _Orders:
    raw = read_table(language, "standing_orders.toml")

    def written(pattern: str) -> str:
        while _MACRO.search(pattern):
            pattern = _MACRO.sub(lambda hit: raw[hit[1]], pattern)
        return pattern

    pointing, lasts = raw.get("pointing"), raw.get("lasts")
    return _Orders(
        frozenset(raw.get("cues", ())),
        re.compile(lasts) if lasts else None,
        NeededWords([pattern_needs(lasts or "", left=False, right=False, dialect=False)]),
        frozenset(raw.get("polite", ())),
        re.compile(rf"(?:^| ){raw.get('moments', _NEVER)}(?: |$)"),
        re.compile(pointing) if pointing else None,
        tuple(re.compile(written(pattern)) for pattern in raw.get("patterns", ())),
    )


def order_cues(language: LanguageCode) -> frozenset[str]:
    """Words one of which every such order of a language has."""
    return _orders(language).cues


def standing_orders(
    spoken: Words, clauses: Sequence[Clause], language: LanguageCode
) -> list[StandingOrder]:
    """The orders for good of a turn, in order, none over another.

    Args:
        spoken: The turn's repaired words.
        clauses: Its clauses.
        language: Whose shapes apply.
    """
    orders = _orders(language)
    if orders.lasts is not None and (
        (orders.lasting.certain and orders.lasting.plain.hold_all(spoken.norm))
        or orders.lasts.search(" ".join(spoken.norm)) is None
    ):
        return []  # most turns with a cue: "when" opens many clauses
    found: list[StandingOrder] = []
    first = 0
    while first < len(clauses):
        order = _at(spoken, clauses, first, language)
        if order is not None:
            found.append(order)
        first = order.stop if order is not None else first + 1
    return found


def _at(
    spoken: Words, clauses: Sequence[Clause], first: int, language: LanguageCode
) -> StandingOrder | None:
    """The order that begins with a clause: the longest of its sentence that is one."""
    start, sentence = clauses[first].start, clauses[first].sentence
    longest = first
    while longest < len(clauses) and clauses[longest].sentence == sentence:
        longest += 1
    if _orders(language).cues.isdisjoint(spoken.norm[start : clauses[longest - 1].end]):
        return None
    found: StandingOrder | None = None
    for stop in range(first + 1, longest + 1):
        end = clauses[stop - 1].end
        if end - start > _LONGEST:
            break
        asked = "?" in clauses[stop - 1].closed_by
        text, value = _read(spoken, start, end, language, asked)
        if not text:
            if found is not None:
                break
            continue
        runs_on = stop < longest and not spoken.after[end - 1]
        if runs_on and spoken.norm[end - 2 : end] in _OPENS_CLAUSE:
            continue  # "tell me a joke every time | i look sad"
        if found is not None and value != found.fact.value:
            break  # what runs on is told beside it; a mark alone ("not ever") belongs to it
        fact = Fact(
            text=text,
            category="preferences",
            slot="standing_instruction",
            value=value,
            kind="hard_rule",
            polarity="negative" if text.startswith("Does not") else "positive",
            confidence=0.9,
            rule_id="standing_order",
            extraction_method="pattern:standing_order",
            span=(spoken.start[start], spoken.end[end - 1]),
        )
        found = StandingOrder(first, stop, fact, stop == first + 1)
    return found


def _read(
    spoken: Words, start: int, end: int, language: LanguageCode, asked: bool
) -> tuple[str, str]:
    """Text and value of an order, or two empty words."""
    orders = _orders(language)
    places = [k for k in range(start, end) if spoken.norm[k] not in orders.polite]
    line, begins = "", dict[int, int]()
    for place in places:
        begins[len(line)] = place
        line += spoken.norm[place] + " "
        if "," in spoken.after[place] and place != places[-1]:
            line += ", "
    line = line.rstrip()
    if not line or orders.moments.search(line) is not None:
        return "", ""
    if asked and (language != "en" or _ASKED_OF.isdisjoint(spoken.norm[start : start + 2])):
        return "", ""
    for pattern in orders.patterns:
        hit = pattern.fullmatch(line)
        if hit is None:
            continue
        if language != "en":
            return quoted(spoken, start, end, language, _ABOUT), line
        part = next(name for name in _ORDERED_BY if hit.groupdict().get(name))
        pointing = orders.pointing is not None and orders.pointing.fullmatch(hit[part])
        if pointing and not hit.groupdict().get("cond"):
            return "", ""
        return _written(hit, spoken, begins, part), hit[part]
    return "", ""


def _written(hit: re.Match[str], spoken: Words, begins: dict[int, int], part: str) -> str:
    """The canonical text of an order in English."""
    polite = _orders("en").polite

    def tokens(name: str) -> list[Token]:
        first, last = hit.span(name)
        within = [place for at, place in begins.items() if first <= at < last]
        said = tokens_of(spoken, within[0], within[-1] + 1, {})
        return [token for token in said if token.norm not in polite]

    groups = hit.groupdict()
    condition = _condition(tokens("cond")) if groups.get("cond") else ""
    mark = groups.get("mark") or ""
    always = bool(groups.get("always")) or mark == "always"
    what = "" if part in ("prefers",) else _told(_without_for_me(tokens(part), part))
    whom = "it" if condition.startswith("When the assistant") else "the assistant"
    if part == "unwanted":
        said = f"does not want {whom} to {what}"
    elif part == "told":
        often = f" {mark}" if mark in ("every time", "each time", "for good") else ""
        said = f"wants {whom} to {'always ' if always else ''}{what}{often}"
    elif part == "meaning":
        said = f"means {what}"
    elif part == "prefers":
        said = joined(predicate(tokens(part)[1:]))
    elif part == "none":
        said = f"wants {'nothing' if 'nothing' in hit[0] else 'no'} {what}"
    else:
        said = f"wants {what}"
    return finished(f"{condition}, {said}" if condition else said)


def _without_for_me(tokens: list[Token], part: str) -> list[Token]:
    if part in ("wanted", "none") and [t.norm for t in tokens[-2:]] == ["for", "me"]:
        return tokens[:-2]
    return tokens


def _condition(tokens: list[Token]) -> str:
    """Reads "When they ask for dinners", "When the assistant reads them a list"."""
    said = [t for k, t in enumerate(tokens) if not (k in (1, 2) and t.norm in _SELDOM_WRITTEN)]
    if said[0].norm == "i":
        if said[1].norm in ("ask", "asking") and len(said) > 3 and said[2].norm == "you":
            whom = [Token("assistant", "the assistant")] if said[3].norm == "to" else []
            said = [*said[:2], *whom, *said[3:]]
        turned = [replace(t, shown="are") if t.norm == "am" else t for t in said]
        return f"When {_told(turned)}"
    verb = said[1].norm
    shown = "is" if verb == "are" else third_person(verb)
    return f"When the assistant {shown} {_told(said[2:])}".rstrip()


def _told(tokens: Sequence[Token]) -> str:
    """Words in the third person, "you" being the assistant."""
    turns = {"you": "it", "your": "its", "yourself": "itself"}
    return joined(inner([replace(t, shown=turns.get(t.norm, t.shown)) for t in tokens]))
