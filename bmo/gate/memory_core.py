"""What a memory is about: the noun groups of a canonical text, to compare by words.

"Plays squash with Tom on Mondays" is about squash; who, when and where are not what it is about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.known_change_data import KnownChanges
from bmo.gate.people import label_of

_QUOTED = re.compile(r': "(.+?)"')
_TOPIC = re.compile(r"(\S+(?: \S+){0,3}?) (?:is|are|was) ")
_NAMED = re.compile(r"\b(?:called|named) ([\w'-]+)")
_WORD = re.compile(r"[^\W_]+(?:['’:][^\W_]+)*|[;,.]")

_MONTHS = frozenset(
    (
        "january february march april may june july august september october november december"
    ).split()
)
_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_PARTS_OF_DAYS = frozenset("morning afternoon evening night".split())
_FOR = re.compile(r" (is|are) (?:for )?([^,;]+?)(?= (?:at|down|up|over|with|in|from)\b|[,;]|$)")
"""What a day is for, up to where and with whom."""
_ONE_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_WHEN = re.compile(
    rf" (?:on |every )(?:{_ONE_DAY}(?:(?:,| and| or)? {_ONE_DAY})*)"
    r"(?: nights?| evenings?| mornings?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MemoryCore:
    """A memory's words by what they do.

    Attributes:
        text: The canonical text.
        opens: Its first word, lower-case.
        parts: The noun groups it is about, as stems.
        words: All stems.
        first: The first noun group as it is written, and where it stands in the text.
        topic: The words before "is", as written, or "".
    """

    text: str
    opens: str
    parts: tuple[tuple[str, ...], ...]
    words: frozenset[str]
    first: tuple[int, int] | None
    topic: str

    def with_thing(self, new: str) -> str | None:
        """The text about another thing: "Has an old fiesta" -> "Has a yaris"."""
        if self.topic:
            return f"{self.topic} is {new}"
        if self.first is None:
            return None
        start = self.first[0]
        if self.text[:start].split()[-1:] and self.text[:start].split()[-1].lower() == "goes":
            return f"Does {new}"
        return f"{self.text[:start]}{new}".strip()

    def with_time(self, new: str) -> str | None:
        """The text at another time: "Wedding is on the fourth of June" -> "... in September"."""
        first = new.split()[0].lower()
        lead = "in " if first in _MONTHS else "on " if first.removesuffix("s") in _DAYS else ""
        if self.of_a_day:
            return self._on_another_day(f"{lead}{new}") if lead == "on " else None
        if self.topic:
            return f"{self.topic} is {lead}{new}"
        when = _WHEN.search(self.text)
        if when is None or not lead or '"' in self.text:
            return None
        return f"{self.text[: when.start()]} {lead}{new}{self.text[when.end() :]}"

    @property
    def of_a_day(self) -> bool:
        """Whether it tells what a day is for ("Thursday nights are choir")."""
        words = [word.removesuffix("s") for word in self.topic.lower().split()]
        return bool(words) and words[0] in _DAYS and _PARTS_OF_DAYS.issuperset(words[1:])

    def _on_another_day(self, time: str) -> str | None:
        """What a day is for, on another: "Thursday is bowls" -> "Bowls is on Tuesdays"."""
        told = _FOR.match(self.text, len(self.topic))
        if told is None or '"' in self.text:
            return None
        thing = told[2]
        several = told[1] == "are" and thing.endswith("s")
        led = f"{thing[:1].upper()}{thing[1:]} {'are' if several else 'is'}"
        return f"{led} {time}{self.text[told.end() :]}"


def stems_of(text: str, table: KnownChanges) -> set[str]:
    """The stems of a text's words of content."""
    return {table.stem(word) for word in table.words_of(text)}


@lru_cache(maxsize=4096)
def core_of(text: str, table: KnownChanges, subject: str = "user") -> MemoryCore:
    """Reads a canonical text.

    Args:
        text: "Plays squash with Tom"; of 'Said in German: "..."' the words that were said.
        table: The language's words.
        subject: Who it is about; "Wife Priya" and "The team" name nothing else.
    """
    quoted = _QUOTED.search(text)
    label = label_of(subject) if subject != "user" else ""
    offset = quoted.start(1) if quoted else 0
    if label and not quoted and text.startswith(f"{label} "):
        offset = len(label) + 1
    said = quoted[1] if quoted else text[offset:]
    tokens = [(m[0].lower(), m.start() + offset, m.end() + offset) for m in _WORD.finditer(said)]
    groups: list[list[tuple[str, int, int]]] = [[]]
    for place, token in enumerate(tokens):
        if place and (token[0] in table.breaks or not token[0][0].isalnum()):
            groups.append([])
        else:
            groups[-1].append(token)
    full = [g for g in ([t for t in group if table.is_content(t[0])] for group in groups) if g]
    parts = [tuple(table.stem(t[0]) for t in group) for group in full]
    topic = _TOPIC.match(text)
    size = 2 if topic or (parts and len(parts[0]) < 2) else 1
    core = parts if quoted else parts[:size]
    named = _NAMED.search(said)
    if named:
        core = [*core, (table.stem(named[1].lower()),)]
    return MemoryCore(
        text=text,
        opens=tokens[0][0] if tokens else "",
        parts=tuple(core),
        words=frozenset(word for part in parts for word in part),
        first=_first_noun(groups, table),
        topic=topic[1] if topic and table.is_content(topic[1].split()[0].lower()) else "",
    )


def _first_noun(
    groups: list[list[tuple[str, int, int]]], table: KnownChanges
) -> tuple[int, int] | None:
    """Where the first noun group stands that is not the verb, with its article."""
    for number, group in enumerate(groups):
        tokens = group[1:] if number == 0 else group
        while (
            number == 0
            and tokens
            and (tokens[0][0] in table.light or (tokens[0][0].endswith("ing") and len(tokens) > 1))
        ):
            tokens = tokens[1:]
        if any(table.is_content(word) for word, _, _ in tokens):
            return tokens[0][1], tokens[-1][2]
    return None
