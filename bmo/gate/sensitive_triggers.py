"""Sensitive values known by the words that introduce them: "the alarm code is 5 8 0 2"."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from bmo.gate.digit_runs import DigitRun, Token
from bmo.gate.sensitive_lexicon import FEWEST_BEFORE, Found, Lexicon, Trigger

_GAP = 7
"""Most tokens between a trigger and the copula or value it introduces."""
_VALUE_CHUNKS = 24
"""Most words of a free-form value (a recovery phrase has 24)."""
_ENDS_SENTENCE = frozenset(".!?;")
_QUANTITY_SUFFIX = re.compile(r"\d+(?:st|nd|rd|th|s|am|pm|km|kg|h|x|k|m|cm|%|€|\$)", re.I)
_CHUNK = re.compile(r"\S+")
_MIXED = re.compile(r"(?=[\w-]*[a-z])(?=(?:[^\W\d]|-)*\d[\w-]*\d)[\w-]{4,}", re.I)
_TWO_DIGITS = re.compile(r"\d[\w-]*\d")
"""What every value that mixes letters and digits has."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_SPOKEN_PHONE = range(9, 13)
_LONG_RUN = range(13, 20)


class _Chunk(NamedTuple):
    """A word without blanks, as it is looked at for a free-form value.

    Attributes:
        start: Its offset in the text.
        word: As it stands.
        bare: Lower case, without the marks around it.
        stop: Offset behind it, without the marks at its end.
        closes: A mark at its end closes the value.
    """

    start: int
    word: str
    bare: str
    stop: int
    closes: bool


@dataclass(frozen=True, slots=True)
class _View:
    """The text with everything that was read from it.

    Attributes:
        said: The texts of the tokens.
        runs: By their first token.
        by_last: By their last token.
        continued: (first token, kind) of runs that were read as more digits of a secret: what
            follows one of those is told already.
        mixed: Token -> what ``_mixed_at`` found.
        chunks: The text's words, once they are needed.
        starts: Their offsets.
        ends: For each word, the first from there on at which a free-form value may end.
    """

    text: str
    tokens: list[Token]
    said: list[str]
    runs: dict[int, DigitRun]
    lexicon: Lexicon
    by_last: dict[int, DigitRun]
    continued: set[tuple[int, str]] = field(default_factory=set)
    mixed: dict[int, tuple[int, int]] = field(default_factory=dict)
    chunks: list[_Chunk] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


def find_triggered(
    text: str, tokens: list[Token], runs: list[DigitRun], lexicon: Lexicon
) -> list[Found]:
    """All spans that triggers introduce, and spoken runs too long for anything else."""
    by_last = {run.last: run for run in runs}
    said = [token[0] for token in tokens]
    view = _View(text, tokens, said, {run.first: run for run in runs}, lexicon, by_last)
    found: list[Found] = []
    kinds: set[str] = set()
    late: list[tuple[Trigger, int]] = []
    behind = 0
    number = _TWO_DIGITS.search(text) is not None or any(
        len(run.digits) >= lexicon.fewest_digits for run in runs
    )
    for index, word in enumerate(said):
        if index < behind or word not in lexicon.triggers:
            continue
        trigger = _trigger_at(view, index)
        if trigger is None:
            continue
        kinds.add(trigger.kind)
        end = index + len(trigger.words)
        if trigger.needs:
            late.append((trigger, end))
        elif trigger.free_words:
            found += _free_value(view, trigger, index, end)
        elif number:
            found += _digit_value(view, trigger, index, end)
        behind = end
    for run in runs:
        found += _untriggered(run)
    kinds |= {item.kind for item in found}
    for trigger, end in late if number else ():
        if trigger.needs in kinds:
            found += _digit_value(view, trigger, end, end)
    return found


def _trigger_at(view: _View, index: int) -> Trigger | None:
    """The longest trigger that starts at a token and is not part of something else."""
    candidates = view.lexicon.triggers.get(view.said[index])
    if not candidates:
        return None
    second = view.said[index + 1] if index + 1 < len(view.tokens) else ""
    for trigger in candidates:
        if len(trigger.words) > 1 and trigger.words[1] != second:
            continue
        end = index + len(trigger.words)
        if tuple(view.said[index:end]) != trigger.words:
            continue
        before = view.said[index - 1] if index else ""
        after = view.said[end] if end < len(view.tokens) else ""
        if before in trigger.not_after or after in trigger.not_before:
            return None
        return trigger
    return None


def _digit_value(view: _View, trigger: Trigger, begin: int, end: int) -> list[Found]:
    """The digits after a trigger (or before it: "4071 is my pin"), with what continues them."""
    copulas, breaks = view.lexicon.words["copulas"], view.lexicon.words["breaks"]
    linked, gap = False, 0
    index, tokens = end, view.tokens
    while index < len(tokens) and gap <= _GAP:
        word = view.said[index]
        if word in _ENDS_SENTENCE or word in breaks:
            break
        run = view.runs.get(index)
        linked_here = linked or trigger.loose
        if run is not None or (trigger.mixed and (linked_here or gap == 0)):
            value = _value_at(view, trigger, index, linked_here, gap)
            if value is not None:
                return _continued(view, trigger, value)
        index = run.last + 1 if run else index + 1
        plain = word.isalnum()
        if plain or word == "'s":
            gap += 1
        linked = word in copulas or word == ":" or (linked and not plain)
    before = _value_before(view, trigger, begin)
    return [before] if before else []


def _value_at(
    view: _View, trigger: Trigger, index: int, linked: bool, gap: int
) -> tuple[Found, int] | None:
    """The value that starts at a token, and the index of the token after it."""
    run = view.runs.get(index)
    mixed = trigger.mixed and (linked or gap == 0)
    if run is None and not mixed:
        return None
    if mixed:
        size, digits = _mixed_at(view, index)
        if size and digits >= min(trigger.digits, 4):
            start = view.tokens[index].start
            end = start + size
            return Found(start, end, trigger.kind, trigger.secret), _index_after(view, end)
    if run is None or (run.quantity and not trigger.loose and trigger.kind != "phone"):
        return None
    needed = trigger.near if gap == 0 and not linked else trigger.digits
    if trigger.near < trigger.digits and gap <= 1:
        needed = min(needed, trigger.near)
    if len(run.digits) < needed or not (linked or gap == 0):
        return None
    if not linked and len(run.digits) == 4 and _YEAR.fullmatch(run.digits):
        return None
    after = view.said[run.last + 1] if run.last + 1 < len(view.tokens) else ""
    if after in view.lexicon.words["units"]:
        return None
    return Found(run.start, run.end, trigger.kind, trigger.secret), run.last + 1


def _mixed_at(view: _View, index: int) -> tuple[int, int]:
    """Length and number of digits of what starts at a token, if it mixes letters and digits.

    What was seen is kept: many triggers may look at one token.
    """
    known = view.mixed.get(index)
    if known is None:
        start, text = view.tokens[index].start, view.text
        glued = start > 0 and view.said[index].isalnum() and text[start - 1].isalnum()
        chunk = "" if glued else _chunk_at(text, start)
        known = (0, 0)
        if _MIXED.fullmatch(chunk) and not _QUANTITY_SUFFIX.fullmatch(chunk):
            known = (len(chunk), sum(char.isdigit() for char in chunk))
        view.mixed[index] = known
    return known


def _continued(view: _View, trigger: Trigger, value: tuple[Found, int]) -> list[Found]:
    """The value with "star" or "hash" after it, and more digits of the same secret."""
    first, index = value
    tails = view.lexicon.numbers.tails
    end = first.end
    while index < len(view.tokens) and view.said[index] in tails:
        end = view.tokens[index].end
        index += 1
    found = [Found(first.start, end, first.kind, first.secret)]
    if not trigger.secret:
        return found
    gap = 0
    while index < len(view.tokens) and gap < 4:
        token = view.tokens[index]
        if token.text in _ENDS_SENTENCE:
            break
        run = view.runs.get(index)
        if run and len(run.digits) >= 3 and not run.quantity:
            follow = view.said[run.last + 1] if run.last + 1 < len(view.tokens) else ""
            if follow in view.lexicon.words["units"]:
                break
            if (run.first, first.kind) in view.continued:
                break
            view.continued.add((run.first, first.kind))
            found.append(Found(run.start, run.end, first.kind, True))
            index, gap = run.last + 1, 0
            continue
        index += 1
        gap += token.text.isalnum()
    return found


def _value_before(view: _View, trigger: Trigger, begin: int) -> Found | None:
    """A value that comes first: "4071 is my pin", "use 5802 as the code"."""
    index, steps = begin - 1, 0
    seen_determiner = seen_link = False
    links = view.lexicon.words["copulas"] | {"as", "als", "comme", "como"}
    while index >= 0 and steps <= 4:
        run = view.by_last.get(index)
        if run is not None:
            if (
                seen_determiner
                and seen_link
                and len(run.digits) >= FEWEST_BEFORE
                and not run.quantity
            ):
                return Found(run.start, run.end, trigger.kind, trigger.secret)
            return None
        word = view.said[index]
        seen_determiner = seen_determiner or word in view.lexicon.words["determiners"]
        seen_link = seen_link or word in links
        index -= 1
        steps += 1
    return None


def _untriggered(run: DigitRun) -> list[Found]:
    """Spoken digits that can only be a card or a telephone, though nothing introduces them."""
    length = len(run.digits)
    if run.counting or not run.spoken or not (run.singles or run.digits.startswith("0")):
        return []
    if length in _LONG_RUN and not run.quantity:
        return [Found(run.start, run.end, "card", True)]
    return [Found(run.start, run.end, "phone", False)] if length in _SPOKEN_PHONE else []


def _free_value(view: _View, trigger: Trigger, begin: int, end: int) -> list[Found]:
    """The words that are a password: after a copula, after "change it to", or right behind."""
    start = _value_start(view, begin, end)
    if start is None:
        return _adjacent_or_before(view, trigger, begin, end)
    found = _words_from(view, trigger, start)
    return [found] if found else []


def _value_start(view: _View, begin: int, end: int) -> int | None:
    """Index of the first token of a free-form value, or None when nothing introduces one."""
    words = view.lexicon.words
    changing = not words["change_verbs"].isdisjoint(view.said[max(0, begin - 6) : begin])
    allowed = end < len(view.tokens) and view.said[end] in words["gap_openers"]
    for index in range(end, min(len(view.tokens), end + _GAP + 3)):
        word = view.said[index]
        if word in words["copulas"] or word in (":", "="):
            return index + 1
        if changing and word in ("to", "in", "auf", "en", "a", "à"):
            return index + 1
        if word in _ENDS_SENTENCE or not (allowed or changing):
            return None
    return None


def _words_from(view: _View, trigger: Trigger, index: int) -> Found | None:
    """A free-form value from a token to the end of its clause, or None when it is none."""
    words = view.lexicon.words
    while index < len(view.tokens) and (
        view.said[index] in words["value_openers"]
        or view.said[index] in words["copulas"]
        or view.said[index] in ("'", '"', "“", "„", "«", ":", "-", ",")
    ):
        index += 1
    if index >= len(view.tokens) or view.text.startswith("[", view.tokens[index].start):
        return None
    start = view.tokens[index].start
    chunks = _chunks_from(view, start, _VALUE_CHUNKS)
    first = chunks[0].word.strip(".,;!?\"'“”").lower()
    if first in words["not_values"] and not looks_secret(chunks[0].word):
        for chunk in chunks[:8]:
            if looks_secret(chunk.word):
                stop = chunk.start + len(chunk.word.rstrip(".,;!?"))
                return Found(chunk.start, stop, trigger.kind, trigger.secret)
        return None
    stop = chunks[0].stop
    if len(chunks) > 1 and not chunks[0].closes:
        behind = bisect_left(view.starts, chunks[1].start)
        last = min(view.ends[behind], behind + len(chunks) - 2)
        if view.chunks[last].bare not in words["value_stops"]:
            stop = view.chunks[last].stop
        elif last > behind:
            stop = view.chunks[last - 1].stop
    return Found(start, stop, trigger.kind, trigger.secret) if stop > start else None


def _adjacent_or_before(view: _View, trigger: Trigger, begin: int, end: int) -> list[Found]:
    """A value without copula ("wifi password sunflower1982") or first ("x is my password")."""
    if end < len(view.tokens):
        for chunk in _chunks_from(view, view.tokens[end].start, 3):
            if looks_secret(chunk.word):
                stop = chunk.start + len(chunk.word.rstrip(".,;!?"))
                return [Found(chunk.start, stop, trigger.kind, trigger.secret)]
    words = view.lexicon.words
    index = begin - 1
    while index > 0 and begin - index <= 4:
        if view.said[index] in words["copulas"]:
            value = view.tokens[index - 1]
            between = view.tokens[index + 1 : begin]
            if (
                value.text.isalnum()
                and value.text not in words["not_values"]
                and any(token.text in words["determiners"] for token in between)
            ):
                start = view.text.rfind(" ", 0, value.start) + 1
                return [Found(start, value.end, trigger.kind, trigger.secret)]
            return []
        index -= 1
    return []


def looks_secret(chunk: str) -> bool:
    """Whether a word without blanks looks made up: "hunter2", "tR7-opal-Quay", "S3cret!"."""
    word = chunk[:64].strip(".,;!?\"'“”()")
    if len(word) < 5 or word.startswith("["):
        return False
    digits = sum(char.isdigit() for char in word)
    letters = sum(char.isalpha() for char in word)
    if digits and letters:
        return not _QUANTITY_SUFFIX.fullmatch(word)
    marks = len(word) - digits - letters
    inner_capital = any(char.isupper() for char in word[1:]) and any(c.islower() for c in word)
    return bool(marks and letters and (inner_capital or re.search(r"[_!@#$%^&*]", word)))


def _chunks_from(view: _View, start: int, limit: int) -> list[_Chunk]:
    """The next words from an offset, at most ``limit``; each is read once a text."""
    if not view.chunks:
        view.chunks.extend(_chunk(m.start(), m.group()) for m in _CHUNK.finditer(view.text))
        view.starts.extend(chunk.start for chunk in view.chunks)
        stops, end = view.lexicon.words["value_stops"], len(view.chunks)
        for place in range(end - 1, -1, -1):
            if view.chunks[place].closes or view.chunks[place].bare in stops:
                end = place
            view.ends.append(end)
        view.ends.reverse()
    at = bisect_right(view.starts, start) - 1
    if at >= 0 and view.starts[at] == start:
        return view.chunks[at : at + limit]
    inside = _CHUNK.match(view.text, start)
    if inside is None:
        return view.chunks[at + 1 : at + 1 + limit]
    return [_chunk(start, inside.group()), *view.chunks[at + 1 : at + limit]]


def _chunk(start: int, word: str) -> _Chunk:
    """What is looked at of a word without blanks."""
    bare = word.strip(".,;!?\"'“”").lower().replace("’", "'")
    stop = start + len(word.rstrip(".,;!?\"'”“"))
    return _Chunk(start, word, bare, stop, word[-1] in ",;!?.")


def _chunk_at(text: str, start: int) -> str:
    """The word at an offset without the marks at its end."""
    match = _CHUNK.match(text, start, min(len(text), start + 64))
    return match.group().rstrip(".,;:!?)\"'") if match else ""


def _index_after(view: _View, offset: int) -> int:
    """Index of the first token at or behind a character offset."""
    low, high = 0, len(view.tokens)
    while low < high:
        middle = (low + high) // 2
        if view.tokens[middle].start < offset:
            low = middle + 1
        else:
            high = middle
    return low
