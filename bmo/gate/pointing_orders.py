"""Orders that point at their reason: "mum rings every sunday at 4 so never schedule anything then".

"Then" and "there" are written out with the time or the place that the clause before names, since
the order is stored by itself. "Do not" of what comes back every week is "never".
"""

from __future__ import annotations

from dataclasses import dataclass

from bmo.gate.word_tables import word_table
from bmo.language import Words
from bmo.language.times import NUMBER_WORDS, WEEKDAYS


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``pointing_orders.toml``; what each is for stands there beside its words."""

    orders: frozenset[str]
    speakers: frozenset[str]
    joins: frozenset[str]
    time_starts: frozenset[str]
    place_starts: frozenset[str]
    dayparts: frozenset[str]
    between: frozenset[str]
    units: frozenset[str]
    ends_place: frozenset[str]


_words = word_table(_Words, "pointing_orders.toml")


CUES = frozenset({"then", "there"})
"""Without one of these nothing is pointed at."""
_DAYS = frozenset(WEEKDAYS) | frozenset(f"{day}s" for day in WEEKDAYS)
_LONGEST = 7
_PLACE_WORDS = 3


def with_pointers_resolved(spoken: Words) -> Words:
    """The words with "then" and "there" of an order written out; ``spoken`` where none is.

    Args:
        spoken: Repaired English words of a turn.
    """
    lists = _words()
    norm = spoken.norm
    for at in range(3, len(norm)):
        if norm[at] not in CUES or not _closes(spoken, at):
            continue
        order = _order_before(spoken, at)
        if not order:
            continue
        meant = _time(norm, order) if norm[at] == "then" else _place(spoken, order)
        if meant and norm[order] in lists.speakers and not _comes_back([norm[i] for i in meant]):
            continue  # "we met at six so i left then": told of once
        if meant:
            return _written(spoken, order, at, meant)
    return spoken


def _closes(spoken: Words, at: int) -> bool:
    if at + 1 >= len(spoken) or spoken.after[at]:
        return "?" not in spoken.after[at]
    return spoken.norm[at + 1] in ("please", "ok", "okay", "because", "cos", "thanks")


def _order_before(spoken: Words, at: int) -> int:
    """The first word of the order that ends at ``at``, behind its reason; 0 where there is none."""
    lists = _words()
    norm, after = spoken.norm, spoken.after
    for i in range(at - 2, 2, -1):
        if norm[i] in lists.orders and (norm[i] != "do" or norm[i + 1] == "not"):
            begin = i
            while begin > 3 and norm[begin - 1] == "please" and not after[begin - 1]:
                begin -= 1
            if norm[begin - 1] in lists.joins or after[begin - 1]:
                return i
        if norm[i] in ("i", "we", "he", "she", "they", "you"):
            return i if norm[i] in lists.speakers and norm[i - 1] == "so" else 0
    return 0


def _time(norm: list[str], order: int) -> list[int]:
    """The indices of the last time that is named before ``order``."""
    lists = _words()
    for start in range(order - 2, -1, -1):
        if norm[start] not in lists.time_starts or (start and norm[start - 1] in lists.time_starts):
            continue
        while start >= 2 and (norm[start - 1] in _DAYS or norm[start - 1] in lists.dayparts):
            start -= 1  # "every sunday at 4" is one time
        while start >= 1 and norm[start - 1] in lists.time_starts:
            start -= 1
        end = start
        while end < order and end - start < _LONGEST and _of_time(norm[end]):
            end += 1
        while end > start and norm[end - 1] in lists.between:
            end -= 1
        if any(
            word in _DAYS or word in lists.dayparts or _counts(word) for word in norm[start:end]
        ):
            return list(range(start, end))
    return []


def _of_time(word: str) -> bool:
    lists = _words()
    known = (
        word in lists.time_starts
        or word in _DAYS
        or word in lists.dayparts
        or word in lists.between
        or word in lists.units
    )
    return known or _counts(word)


def _counts(word: str) -> bool:
    return word[:1].isdigit() or word in NUMBER_WORDS


def _place(spoken: Words, order: int) -> list[int]:
    """The indices of the last place that is named before ``order`` ("in ilkley")."""
    lists = _words()
    norm, after = spoken.norm, spoken.after
    for start in range(order - 2, 0, -1):
        if norm[start] not in lists.place_starts or _of_time(norm[start + 1]):
            continue
        end = start + 1
        while end < order and end - start <= _PLACE_WORDS and norm[end] not in lists.ends_place:
            end += 1
            if after[end - 1]:
                break
        return list(range(start, end)) if end - start > 1 else []
    return []


def _comes_back(said: list[str]) -> bool:
    """Whether a time is one of every week: "every sunday", "on fridays"."""
    again = "every" in said or "each" in said
    return again or any(word in _DAYS and word.endswith("s") for word in said)


def _written(spoken: Words, order: int, at: int, meant: list[int]) -> Words:
    """The words with ``meant`` in the place of the pointer, at its offsets."""
    lists = _words()
    norm, after = list(spoken.norm), list(spoken.after)
    start, end = list(spoken.start), list(spoken.end)
    said = [norm[i] for i in meant]
    size = len(said)
    norm[at : at + 1] = said
    marks = after[at]
    after[at : at + 1] = [*[""] * (size - 1), marks]
    start[at : at + 1] = [start[at]] * size
    end[at : at + 1] = [end[at]] * size
    if norm[order] == "do" and norm[order + 1] == "not" and _comes_back(said):
        norm[order : order + 2] = ["never"]
        del after[order], start[order], end[order]
    if not after[order - 1] and norm[order - 1] not in lists.joins:
        after[order - 1] = ","
    return Words(spoken.text, norm, start, end, after, spoken.before)
