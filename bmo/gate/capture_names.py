"""Captured names: people, places, organisations, occupations, technologies, languages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.captures import Capture, CaptureContext, last_words, lex, strip_tail, trim
from bmo.gate.other_grammar import grammar
from bmo.gate.person_names import ABBREVIATED_TITLES, is_cased, is_name_at
from bmo.gate.word_tables import word_table


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``capture_names.toml``; what each is for stands there beside its words."""

    announcing: frozenset[str]
    second_names: frozenset[str]
    words_too: frozenset[str]
    of_a_place: frozenset[str]
    trades: frozenset[str]
    no_title: frozenset[str]
    ing_titles: frozenset[str]
    occupation_endings: frozenset[str]
    beside_languages: frozenset[str]


_words = word_table(_Words, "capture_names.toml")
_CALLED = frozenset({"called", "named"})
_AND = frozenset({"and", "und", "et", "y"})


@lru_cache(maxsize=1)
def _occupation_endings() -> tuple[str, ...]:
    return tuple(_words().occupation_endings)


def name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A person's or pet's name, where the construction says that a name follows."""
    tokens = context.tokens
    if tokens[start] in _words().words_too and tokens[start - 1] in _CALLED:
        if start + 1 == end or tokens[start + 1] in _AND:
            return Capture(start, start + 1, start + 1)
    return _name(context, start, end, strict=False)


def certain_name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A name where anything might follow ("im kofi"): known, or written with a capital."""
    tokens = context.tokens
    found = _name(context, start, end, strict=False)
    if found is None:
        return None
    word = tokens[start]
    titled = word in ABBREVIATED_TITLES and found.end - start > 1
    if word in context.people.names or titled:
        first = end_of_first(context, start, found.end)
        return found if first == found.end else Capture(start, first, first)
    at = context.source[start]
    if context.language == "de":
        return None  # every noun has a capital
    if at >= 0 and is_cased(context.words.text) and context.words.raw(at)[:1].isupper():
        if lex(context, "nationality", word) or lex(context, "capitalised_words", word):
            return None
        return found
    return None


def known_name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A given name of the lexicon with which a clause ends ("its tom again", not "its tom at")."""
    if context.tokens[start] not in context.people.names:
        return None
    found = _name(context, start, end, strict=False)
    if found is None:
        return None
    last = strip_tail(context, found.end, end)
    if not _words().announcing.issuperset(context.tokens[found.end : last]):
        return None
    return found


def names(context: CaptureContext, start: int, end: int) -> Capture | None:
    """One name, or several joined by commas and "and"."""
    i = start
    last = start
    while i < end:
        if context.tokens[i] in _AND and i > start:
            i += 1
            continue
        found = _name(context, i, end, strict=False)
        if found is None:
            break
        i = last = end_of_first(context, i, found.end)
    return Capture(start, last, last) if last > start else None


def second_names() -> frozenset[str]:
    """Given names that stand behind another one ("mary ann")."""
    return _words().second_names


def end_of_first(context: CaptureContext, start: int, stop: int) -> int:
    """Where the first name ends: "ana ben and carla" are three, "mary ann and tom" are two.

    Args:
        context: What the capture is of.
        start: Index of the first word of what may be one name.
        stop: Index behind its last word.
    """
    tokens, norm = context.tokens, context.words.norm
    behind = context.source[stop - 1] + 1  # German tokens have no "und"
    listed = stop - start == _TWO and behind < len(norm) and norm[behind] in _AND
    if not listed or is_cased(context.words.text) or tokens[start + 1] in _words().second_names:
        return stop
    return start + 1 if context.people.names.issuperset(tokens[start:stop]) else stop


_TWO = 2


def end_of_last(context: CaptureContext, start: int, stop: int) -> int:
    """Where the last of several names ends: "rex and max | hate the postman".

    In speech without capitals it is one word, unless a second name follows.

    Args:
        context: What the capture is of.
        start: Index of the last name's first word.
        stop: Index behind what was taken for it.
    """
    if stop - start < _TWO or is_cased(context.words.text):
        return stop
    second = context.tokens[start + 1]
    named = second in context.people.names or second in _words().second_names
    return stop if named else start + 1


def certain_names(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Names of a list where anything might follow: the first is known or has a capital."""
    return names(context, start, end) if certain_name(context, start, end) is not None else None


def _name(context: CaptureContext, start: int, end: int, strict: bool) -> Capture | None:
    at = context.source[start]
    if at < 0:
        return None
    stops = context.stops
    limit = at
    while (
        limit - at < end - start
        and start + (limit - at) < end
        and context.source[start + limit - at] == limit
    ):
        limit += 1
    if context.tokens[start] in _AND:
        return None
    if context.language != "en" and grammar(context.language).form(context.words.norm, at):
        return None  # "eine schwester die wohnt in bonn"
    size = is_name_at(context.words, at, limit, context.people, stops, strict)
    if not size:
        return None
    if limit > at + size and context.words.norm[at + size] == "'s":
        return None  # "this is anna's husband speaking"
    return Capture(start, start + size, start + size)


def place(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A town, country, region or kind of place."""
    tokens = context.tokens
    if lex(context, "deictic", tokens[start]) or lex(context, "place_reject", tokens[start]):
        return None
    stop = trim(context, start, end, "place_stops")
    if stop <= start or stop - start > 9:
        return None
    if context.longest("place_reject", start, stop, 5) == stop - start:
        return None
    if tokens[start] in ("a", "an", "the", "my", "our") and stop - start == 1:
        return None
    if lex(context, "no_places", tokens[stop - 1]):
        return None
    if any(tokens[i] in ("you", "your", "i") for i in range(start, stop)):
        return None
    return Capture(start, stop, stop)


def new_home(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A place that one can move to and live in: no software, floor, diet, shift or seat."""
    lists = _words()
    found = place(context, start, end)
    tokens = context.tokens
    if found is not None and tokens[found.end - 1] == "ago":
        return None  # "we moved in two years ago"
    if found is not None:
        dated = (i for i in range(start + 1, found.end - 1) if tokens[i] == "in")
        told = next((i for i in dated if _is_time(context, i + 1)), 0)
        found = Capture(start, told, told) if told else found
        if tokens[found.end - 1] == "back" and found.end - start > 1:
            found = Capture(start, found.end - 1, found.end - 1)  # "to hull back then"
    if found is None or context.longest("cities", start, found.end, 4):
        return found
    # "the flat on the top floor" is a flat: what counts is the noun before the preposition.
    noun = next(
        (i for i in range(start + 1, found.end) if tokens[i] in lists.of_a_place), found.end
    )
    if lex(context, "no_homes", tokens[noun - 1]) or context.longest("no_homes", start, noun, 4):
        return None
    if context.longest("technologies", start, found.end, 4) == found.end - start:
        return None
    return found


def _is_time(context: CaptureContext, at: int) -> bool:
    word = context.tokens[at]
    return lex(context, "months", word) or (len(word) == 4 and word.isdecimal())


def sure_place(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A place of the gazetteer, or one written with a capital."""
    size = context.longest("cities", start, end, 4)
    if size:
        return Capture(start, start + size, start + size)
    at = context.source[start]
    if at > 0 and is_cased(context.words.text) and context.words.raw(at)[:1].isupper():
        if lex(context, "capitalised_words", context.tokens[start]):
            return None
        return place(context, start, end)
    return None


def organisation(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Where someone works: a company or a kind of workplace."""
    lists = _words()
    tokens = context.tokens
    if lex(context, "deictic", tokens[start]) or lex(context, "org_reject", tokens[start]):
        return None
    stop = trim(context, start, end, "org_stops")
    if stop <= start or stop - start > 9:
        return None
    if context.longest("org_reject", start, stop, 5) == stop - start:
        return None
    if tokens[start] in ("a", "an", "the", "my", "our") and stop - start == 1:
        return None
    if any(tokens[i] in ("you", "your") for i in range(start, stop)):
        return None
    if tokens[start].endswith("ing") and stop - start > 1 and tokens[start] not in lists.trades:
        return None
    return Capture(start, stop, stop)


def place_of_work(context: CaptureContext, start: int, end: int) -> Capture | None:
    """An employer behind "at", "with" or "join": no people, no desk, no club."""
    lists = _words()
    found = organisation(context, start, end)
    if found is None:
        return None
    tokens = context.tokens
    noun = next(
        (i for i in range(start + 1, found.end) if tokens[i] in lists.of_a_place), found.end
    )
    if lex(context, "no_employers", tokens[noun - 1]):
        return None
    return found


def company(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A kind of employer: a noun phrase that ends in one ("a shipping company")."""
    found = organisation(context, start, end)
    if found is None or not lex(context, "company_noun", context.tokens[found.end - 1]):
        return None
    return found


def occupation(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A job title: ends in an occupation noun or has an agent suffix."""
    lists = _words()
    stop = trim(context, start, end, "occupation_stops")
    if stop <= start or stop - start > 6:
        return None
    best = 0
    for i in range(stop, start, -1):
        if _is_occupation(context, start, i):
            best = i
            break
    if not best or (best != stop and context.tokens[best] not in ("student", "here")):
        return None
    if (
        context.tokens[start].endswith("ing")
        and best - start > 1
        and context.tokens[start] not in lists.ing_titles
    ):
        return None
    if context.tokens[start] in lists.no_title:
        return None
    return Capture(start, best, best)


def _is_occupation(context: CaptureContext, start: int, stop: int) -> bool:
    word = context.tokens[stop - 1]
    titles = context.lexicons.get("occupations", frozenset())
    if word in last_words(titles):
        for size in range(min(4, stop - start), 0, -1):
            if tuple(context.tokens[stop - size : stop]) in titles:
                return True
    if lex(context, "not_occupations", word):
        return False
    return len(word) > 5 and word.endswith(_occupation_endings())


def technology(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A named technology: in the lexicon, or written as names of technology are."""
    size = context.longest("technologies", start, end)
    if size:
        return Capture(start, start + size, start + size)
    at = context.source[start]
    if at < 0:
        return None
    raw = context.words.raw(at)
    if is_cased(context.words.text) and (raw[:1].isupper() or any(c.isupper() for c in raw[1:])):
        if lex(context, "capitalised_words", context.tokens[start]) or lex(
            context, "deictic", context.tokens[start]
        ):
            return None
        stop = start + 1
        while stop < end and not context.mark(stop - 1):
            owner = context.tokens[stop] == "'s" and stop + 1 < end  # "Africa's Talking"
            named = context.source[stop + owner]
            if named < 0 or not context.words.raw(named)[:1].isupper():
                break
            stop += 1 + owner
        return Capture(start, stop, stop)
    return None


def language_name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """One or more languages."""
    return _of_lexicon_list(context, "languages", start, end)


def _of_lexicon_list(context: CaptureContext, lexicon: str, start: int, end: int) -> Capture | None:
    lists = _words()
    i = start
    last = start
    seen = False
    while i < end:
        size = context.longest(lexicon, i, end)
        if size:
            seen = True
            i += size
            last = i
        elif context.tokens[i] in lists.beside_languages:
            i += 1
        else:
            break
    return Capture(start, last, last) if seen else None
