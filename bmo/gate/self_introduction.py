"""Somebody introduces themselves in fragments: "joost, from ghent, forty one, a locksmith".

Written out as clauses before the turn is cut into them, so that the rules read each: "my name is
joost | i am from ghent | i am forty one | i am a locksmith". A list counts when the assistant
asked for the name, or when it opens with a given name and says two things more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bmo.gate.appositives import Occupations
from bmo.gate.dialogue_questions import questions
from bmo.gate.third_person import third_person_lexicon
from bmo.language import Words
from bmo.language.lexicon import surface_lexicon

_HARD = frozenset(".!?;:…")
_ASKS_NAME = re.compile(
    r"\b(your (?:\w+ )?name|who am i \w+ing|who (?:is|are) (?:this|that|there|you)|call you|"
    r"who do i have|address you)\b"
)
_NUMBER = re.compile(
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|"
    r"four|five|six|seven|eight|nine))?|ten|eleven|twelve|\w+teen)(?: years old)?"
)
_BEFORE_YOU_ASK = ("before", "you", "ask")
_NAMED = (("my", "name", "is"), ("i", "am"), ("it", "is"), ("this", "is"))
_OWN_CLAUSE = frozenset("i we he she it they you my our that this there".split())
"""Words that open a clause, which needs nothing written in front."""
_REPORTING = frozenset(
    (
        "drove grew had has is lived moved played ran served spent studied taught took was went "
        "won worked"
    ).split()
)
"""Verbs with which somebody else is told of; of oneself one says "retired", "born in leeds"."""
_LONGEST_NAME = 3
_LONGEST_PART = 5
_LONGEST_OPENING = 12
"""Words of a name with "well, my name is" before it, and more."""
_EXTRAS = 2
"""What a list must say beside the name where nobody asked for one."""


class _Part(NamedTuple):
    """A fragment: its words, what is written before them, and whether it says something known."""

    at: tuple[int, ...]
    front: str = ""
    known: bool = False


def introduced(spoken: Words, assistant_before: str, occupations: Occupations) -> Words:
    """The words with a self-introduction in fragments written out.

    Args:
        spoken: Repaired English words of a turn.
        assistant_before: The assistant's words just before.
        occupations: Nouns of professions.

    Returns:
        ``spoken`` itself when there is no such list.
    """
    if "," not in "".join(spoken.after):
        return spoken
    asked = asks_name(assistant_before)
    if not asked and third_person_lexicon().people.names.isdisjoint(spoken.norm):
        return spoken  # where nobody asked, only a given name opens such a list
    home = _asks_home(assistant_before) if asked else ""
    start = 0
    borders = [i for i, mark in enumerate(spoken.after, 1) if mark and not _HARD.isdisjoint(mark)]
    if not borders or borders[-1] < len(spoken):
        borders.append(len(spoken))
    for stop in borders:
        if not asked and not _may_name(spoken, start, stop):
            start = stop
            continue
        parts = _parts(spoken, start, stop, asked, home, occupations)
        if not asked and any(_reports(spoken, part) for part in parts[1:]):
            start = stop
            continue
        extras = sum(part.known for part in parts[1:])
        if len(parts) > 1 and extras >= (0 if asked else _EXTRAS):
            return _written(spoken, start, stop, parts)
        start = stop
    return spoken


def _reports(spoken: Words, part: _Part) -> bool:
    """Whether a fragment has a verb of its own: "nils aaberg, 19, worked as a welder" is news."""
    return spoken.norm[part.at[0]] in _REPORTING


def _may_name(spoken: Words, start: int, stop: int) -> bool:
    """Whether a few words up to a sentence's first comma hold a given name."""
    behind = min(stop - 1, start + _LONGEST_OPENING)
    names = third_person_lexicon().people.names
    if names.isdisjoint(spoken.norm[start:behind]):
        return False  # most sentences
    for at in range(start, behind):
        if spoken.after[at][:1] == ",":
            return not names.isdisjoint(spoken.norm[start : at + 1])
    return False


def asks_name(assistant_before: str) -> bool:
    """Whether the assistant's last questions ask who the user is."""
    if "?" not in assistant_before:
        return False
    return any(_ASKS_NAME.search(" ".join(asked)) for asked in questions(assistant_before, "en"))


def _asks_home(assistant_before: str) -> str:
    """What a bare place answers beside the name ("what's your name, and where are you from?")."""
    low = assistant_before.lower()
    if "where" not in low:
        return ""
    return "i am from" if "from" in low.rpartition("where")[2] else "i live in"


def _parts(
    spoken: Words, start: int, stop: int, asked: bool, home: str, occupations: Occupations
) -> list[_Part]:
    """The fragments of a sentence; [] when it opens with no name."""
    found: list[_Part] = []
    begin = start
    for at in range(start, stop):
        comma = spoken.after[at][:1] == ","
        joint = bool(found) and at + 1 < stop and spoken.norm[at + 1] == "and"
        if not (comma or joint or at == stop - 1):
            continue
        words = list(range(begin, at + 1))
        begin = at + 1
        while len(words) > 1 and spoken.norm[words[0]] in ("and", "so", "well", "oh"):
            words = words[1:]
        if not found:
            named = _name(spoken, words, asked)
            if named is None:
                return []
            found.append(named)
            continue
        if spoken.norm[words[0]] in _OWN_CLAUSE:
            found.append(_Part(tuple(words)))
            continue
        job = _job_length(spoken, words, occupations)
        if job:
            article = _article(spoken.norm[words[0]])
            found.append(_Part(tuple(words[:job]), f"i am {article}".strip(), True))
            words = words[job:]
        if words:
            found.append(_described(spoken, words, found, home))
    return found


def _job_length(spoken: Words, words: Sequence[int], occupations: Occupations) -> int:
    """How many words of a fragment say what somebody is by profession, up to "from", "in"."""
    norm = [spoken.norm[i] for i in words]
    stop = next((i for i, word in enumerate(norm) if i and word in ("from", "in")), len(norm))
    if stop > _LONGEST_PART or not stop:
        return 0
    job = (norm[stop - 1],) in occupations or tuple(norm[max(0, stop - 2) : stop]) in occupations
    return stop if job else 0


def _article(word: str) -> str:
    if word in ("a", "an", "the"):
        return ""
    return "an" if word[0] in "aeiou" else "a"


def _name(spoken: Words, words: Sequence[int], asked: bool) -> _Part | None:
    """The first fragment: a name, with or without "i am" before it."""
    norm = [spoken.norm[i] for i in words]
    for front in _NAMED:
        if tuple(norm[: len(front)]) == front:
            norm = norm[len(front) :]
            words = words[len(front) :]
            break
    lexicon = third_person_lexicon()
    if not 0 < len(norm) <= _LONGEST_NAME or not all(word.isalpha() for word in norm):
        return None
    if norm[0] not in lexicon.people.names:
        known = surface_lexicon("en").classes.keys() | lexicon.adverbs | lexicon.prepositions
        plain = not known.isdisjoint(norm) or norm[0] in lexicon.deictic | lexicon.asides
        if not asked or plain:
            return None
    return _Part(tuple(words), "my name is", True)


def _described(spoken: Words, words: Sequence[int], before: Sequence[_Part], home: str) -> _Part:
    """A fragment behind the name: age, where from, where at home, or anything else."""
    norm = [spoken.norm[i] for i in words]
    at = tuple(words)
    if tuple(norm[-3:]) == _BEFORE_YOU_ASK and len(norm) in (4, 5) and len(before) == 1:
        return _Part(at[:-3], "i am from", True)
    if len(norm) > _LONGEST_PART:
        return _Part(at)
    if norm[0] == "from" and len(norm) > 1 and not norm[1].endswith("ing"):
        return _Part(at, "i am", True)
    if norm[0] == "in" and len(norm) > 1 and not norm[1].endswith("ing"):
        return _Part(at, "i live", True)
    text = " ".join(norm)
    if _NUMBER.fullmatch(text):
        return _Part(at, "i am", True)
    if home and len(before) == 1 and len(norm) < _LONGEST_NAME:
        return _Part(at, home, True)
    large = all(spoken.raw(i)[:1].isupper() for i in words)
    if large and sum(part.known for part in before) > _EXTRAS:
        return _Part(at, "i live in", True)
    return _Part(at)


def _written(spoken: Words, start: int, stop: int, parts: Sequence[_Part]) -> Words:
    """The words, each known fragment of ``start`` to ``stop`` a clause of its own."""
    rows: list[tuple[int, str, str]] = [(i, spoken.norm[i], spoken.after[i]) for i in range(start)]
    for part in parts:
        rows += [(part.at[0], word, "") for word in part.front.split()]
        rows += [(i, spoken.norm[i], spoken.after[i]) for i in part.at]
        if part.known:
            rows[-1] = (*rows[-1][:2], ".")
    rows += [(i, spoken.norm[i], spoken.after[i]) for i in range(stop, len(spoken))]
    return Words(
        spoken.text,
        [norm for _, norm, _ in rows],
        [spoken.start[i] for i, _, _ in rows],
        [spoken.end[i] for i, _, _ in rows],
        [after for _, _, after in rows],
        spoken.before,
    )
