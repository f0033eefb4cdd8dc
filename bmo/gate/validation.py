"""Typed captures: where a captured value ends, and whether it may be a value at all.

Patterns capture to the end of the clause; the trimming here finds the end. (Bounded captures
silently lose long clauses: half of all firings on speech without punctuation.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bmo.gate.clause_head import is_cased, is_name_at
from bmo.gate.packs import SKIPPED_BEFORE_ENTRY
from bmo.gate.people import PeopleLexicon
from bmo.language import LanguageCode, Words, progressive_lemma
from bmo.language.times import MONTHS, NUMBER_WORDS, ORDINALS, day_number

Lexicons = Mapping[str, frozenset[tuple[str, ...]]]


@dataclass(slots=True)
class Capture:
    """A captured value.

    Attributes:
        start: Index of its first word in the head's tokens.
        end: Index behind the value.
        long_end: Index behind the value with its qualifiers ("only on saturday").
        shown: Its text when it is not simply its words (numbers), or "".
    """

    start: int
    end: int
    long_end: int
    shown: str = ""


@dataclass(slots=True)
class CaptureContext:
    """What a validator may look at.

    Attributes:
        tokens: The head's words.
        source: For each, its index in ``words``, or -1.
        words: The turn's words.
        lexicons: Word lists of the pack.
        people: Names and relations.
        language: Of the clause.
        stops: Words that are no names.
    """

    tokens: list[str]
    source: list[int]
    words: Words
    lexicons: Lexicons
    people: PeopleLexicon
    language: LanguageCode
    stops: frozenset[str]

    def mark(self, i: int) -> str:
        """Punctuation behind token ``i``."""
        at = self.source[i]
        return self.words.after[at] if at >= 0 else ""

    def has(self, name: str, *phrase: str) -> bool:
        """Whether a lexicon holds a phrase."""
        return phrase in self.lexicons.get(name, frozenset())

    def longest(self, name: str, i: int, end: int, limit: int = 4) -> int:
        """Length of the longest phrase of a lexicon that stands at ``i``, or 0."""
        phrases = self.lexicons.get(name)
        if not phrases:
            return 0
        for size in range(min(limit, end - i), 0, -1):
            if tuple(self.tokens[i : i + size]) in phrases:
                return size
        return 0


Validator = Callable[[CaptureContext, int, int], Capture | None]
"""(context, start, end) -> the trimmed capture, or None when it may not be a value."""


def _lex(context: CaptureContext, name: str, word: str) -> bool:
    return (word,) in context.lexicons.get(name, frozenset())


_DETERMINERS = frozenset({"the", "a", "an", "my", "our", "his", "her", "their", "this", "these"})
_BEFORE_DETERMINER = frozenset(
    "in at on to of for from with by near about as into around over under through "
    "and or like than all both half such "
    "off between up out during after before without is be watch play make use read "
    "eat see hear call within behind "
    "across against down quite what".split()
)


def trim(context: CaptureContext, start: int, end: int, stops: str = "np_stops") -> int:
    """Index behind a noun phrase that begins at ``start``."""
    tokens = context.tokens
    words = context.lexicons.get(stops, frozenset())
    subjects = context.lexicons.get("subject_words", frozenset())
    i = start
    while i < end:
        word = tokens[i]
        if i > start and (word,) in words:
            break
        if (
            stops == "np_stops"
            and i > start
            and word in _DETERMINERS
            and tokens[i - 1] not in _BEFORE_DETERMINER
            and not tokens[i - 1].endswith("ing")
            and not context.mark(i - 1)
        ):
            break
        if word in ("and", "or", "und", "et", "y", "but", "nor") and i > start:
            follow = tokens[i + 1] if i + 1 < end else ""
            if not follow or (follow,) in subjects or word == "but":
                break
        i += 1
        mark = context.mark(i - 1)
        if mark and (mark[0] in '.!?;:-–—()"' or (mark[0] == "," and _ends_list(context, i, end))):
            break
    return strip_tail(context, start, i)


def _ends_list(context: CaptureContext, i: int, end: int) -> bool:
    """Whether a comma before ``i`` ends the phrase: no "and" or "or" joins what follows."""
    rest = context.tokens[i:end]
    return not (
        "and" in rest[:8]
        or "or" in rest[:8]
        or "und" in rest[:8]
        or "et" in rest[:8]
        or "y" in rest[:8]
    )


def strip_tail(context: CaptureContext, start: int, end: int) -> int:
    """Takes words without content off the end ("too", "as well", "you know")."""
    tokens = context.tokens
    changed = True
    while changed and end > start:
        changed = False
        for size in (4, 3, 2, 1):
            if end - size >= start and tuple(tokens[end - size : end]) in context.lexicons.get(
                "tails", frozenset()
            ):
                end -= size
                changed = True
                break
    return end


def _qualified_end(context: CaptureContext, start: int, end: int, stop: int) -> int:
    """Index behind the qualifiers that follow a value ("but only in creative mode")."""
    i = end
    tokens = context.tokens
    if i < stop and (tokens[i],) in context.lexicons.get("qualifiers", frozenset()):
        j = i
        while j < stop:
            if j > i + 1 and tokens[j] in ("because", "cos", "so", "and", "which", "then"):
                break
            j += 1
        return strip_tail(context, start, j)
    return end


def noun_phrase(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Any noun phrase that points at nothing outside the sentence."""
    tokens = context.tokens
    if start >= end or _lex(context, "deictic", tokens[start]):
        return None
    if _lex(context, "np_not_first", tokens[start]):
        return None
    stop = trim(context, start, end)
    if stop <= start or tokens[stop - 1] in ("them", "it", "him", "her", "that", "this"):
        return None
    if stop - start == 1 and _lex(context, "not_alone", tokens[start]):
        return None
    if tokens[start] in ("a", "an", "the", "some", "any", "my") and stop - start == 1:
        return None
    for i in range(start, stop):
        if tokens[i] in ("you", "your", "yours", "bmo") and not _lex(
            context, "you_ok", tokens[max(start, i - 1)]
        ):
            return None
    if (
        _lex(context, "np_reject", tokens[stop - 1])
        or context.longest("np_reject", start, stop, 5) == stop - start
    ):
        return None
    return Capture(start, stop, _qualified_end(context, start, stop, end))


def liked(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What is liked or disliked: not an idea just heard, not a thing pointed at."""
    found = noun_phrase(context, start, end)
    if found is None:
        return None
    tokens = context.tokens
    if _lex(context, "like_reject", tokens[found.end - 1]) or context.longest(
        "like_reject", start, found.end, 5
    ):
        return None
    if tokens[start] == "to" or tokens[start].endswith("ing"):
        return activity(context, start, end)
    if tokens[start] == "the" and found.end < end and tokens[found.end] in ("of",):
        return None
    return found


def activity(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Reads "swimming in the sea", "to swim in the sea"."""
    tokens = context.tokens
    i = start
    if tokens[i] == "to":
        i += 1
    if i >= end or _lex(context, "verb_reject", tokens[i]):
        return None
    if tokens[start] != "to" and not tokens[i].endswith("ing"):
        return None
    if tokens[start] != "to" and _lex(context, "verb_reject", progressive_lemma(tokens[i])):
        return None
    stop = trim(context, i, end, "vp_stops")
    if stop <= i:
        return None
    for j in range(i, stop):
        if tokens[j] in ("you", "your", "bmo", "that", "this") and not (
            tokens[j] == "that" and j > i + 1
        ):
            return None
    last = tokens[stop - 1]
    if last in ("it", "this", "that", "them", "those", "these", "the", "a", "to"):
        return None
    return Capture(start, stop, _qualified_end(context, start, stop, end))


def verb_phrase(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A bare infinitive and what follows ("run a marathon by may")."""
    tokens = context.tokens
    if _lex(context, "verb_reject", tokens[start]) or _lex(context, "deictic", tokens[start]):
        return None
    stop = trim(context, start, end, "vp_stops")
    if stop <= start:
        return None
    for j in range(start, stop):
        if tokens[j] in ("you", "your", "bmo"):
            return None
    if tokens[stop - 1] in ("it", "this", "that", "them", "the", "a", "to", "one", "some"):
        return None
    return Capture(start, stop, _qualified_end(context, start, stop, end))


def name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A person's or pet's name, where the construction says that a name follows."""
    return _name(context, start, end, strict=False)


def certain_name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A name where anything might follow ("im kofi"): known, or written with a capital."""
    tokens = context.tokens
    found = _name(context, start, end, strict=False)
    if found is None:
        return None
    word = tokens[start]
    if word in context.people.names:
        return found
    at = context.source[start]
    if context.language == "de":
        return None  # every noun has a capital
    if at >= 0 and is_cased(context.words.text) and context.words.raw(at)[:1].isupper():
        if _lex(context, "nationality", word) or _lex(context, "capitalised_words", word):
            return None
        return found
    return None


def sure_place(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A place of the gazetteer, or one written with a capital."""
    size = context.longest("cities", start, end, 4)
    if size:
        return Capture(start, start + size, start + size)
    at = context.source[start]
    if at > 0 and is_cased(context.words.text) and context.words.raw(at)[:1].isupper():
        if _lex(context, "capitalised_words", context.tokens[start]):
            return None
        return place(context, start, end)
    return None


def doing(context: CaptureContext, start: int, end: int) -> Capture | None:
    """An activity of any verb, or a noun phrase."""
    if context.tokens[start].endswith("ing"):
        stop = trim(context, start, end, "vp_stops")
        return Capture(start, stop, stop) if stop > start else None
    return noun_phrase(context, start, end)


def known_name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A given name of the lexicon."""
    if context.tokens[start] not in context.people.names:
        return None
    return _name(context, start, end, strict=False)


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
    size = is_name_at(context.words, at, limit, context.people, stops, strict)
    if not size:
        return None
    return Capture(start, start + size, start + size)


def place(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A town, country, region or kind of place."""
    tokens = context.tokens
    if _lex(context, "deictic", tokens[start]) or _lex(context, "place_reject", tokens[start]):
        return None
    stop = trim(context, start, end, "place_stops")
    if stop <= start or stop - start > 9:
        return None
    if context.longest("place_reject", start, stop, 5) == stop - start:
        return None
    if tokens[start] in ("a", "an", "the", "my", "our") and stop - start == 1:
        return None
    if any(tokens[i] in ("you", "your", "i") for i in range(start, stop)):
        return None
    return Capture(start, stop, stop)


def occupation(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A job title: ends in an occupation noun or has an agent suffix."""
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
        and context.tokens[start] not in _ING_TITLES
    ):
        return None
    if context.tokens[start] in ("no", "not", "called", "named", "very", "so", "just"):
        return None
    return Capture(start, best, best)


_ING_TITLES = frozenset(
    (
        "accounting acting aspiring banking boxing catering dancing driving engineering fishing "
        "managing marketing mining nursing practicing practising racing shipping struggling "
        "styling swimming teaching training wedding working"
    ).split()
)


def _is_occupation(context: CaptureContext, start: int, stop: int) -> bool:
    word = context.tokens[stop - 1]
    for size in range(min(4, stop - start), 0, -1):
        if tuple(context.tokens[stop - size : stop]) in context.lexicons.get(
            "occupations", frozenset()
        ):
            return True
    if _lex(context, "not_occupations", word):
        return False
    return len(word) > 5 and word.endswith(
        (
            "ologist",
            "ographer",
            "ician",
            "ianist",
            "therapist",
            "surgeon",
            "engineer",
            "keeper",
            "maker",
            "smith",
            "officer",
            "teacher",
            "worker",
            "driver",
            "designer",
            "developer",
            "manager",
            "trainer",
            "cleaner",
            "operator",
            "inspector",
            "instructor",
            "consultant",
            "assistant",
            "analyst",
            "technician",
            "specialist",
            "administrator",
            "coordinator",
            "director",
            "planner",
            "builder",
            "grower",
            "fitter",
            "woman",
            "programmer",
            "researcher",
            "scientist",
            "wright",
            "monger",
        )
    )


def number(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A number in words or digits."""
    tokens = context.tokens
    value, size = read_number(tokens, start, end)
    if value is None:
        return None
    return Capture(start, start + size, start + size, str(value))


def read_number(tokens: list[str], start: int, end: int) -> tuple[int | None, int]:
    """The number that begins at ``start`` ("seventy two", "72"), and how many words it takes."""
    word = tokens[start]
    if word.isdigit() and len(word) < 7:
        return int(word), 1
    if "-" in word:
        parts = word.split("-")
        if all(p in NUMBER_WORDS for p in parts):
            return sum(NUMBER_WORDS[p] for p in parts), 1
    value = NUMBER_WORDS.get(word)
    if value is None or value < 0 or word == "oh":
        return None, 0
    if value >= 20 and start + 1 < end:
        unit = NUMBER_WORDS.get(tokens[start + 1])
        if unit is not None and 0 < unit < 10 and value < 100:
            return value + unit, 2
    if start + 1 < end and tokens[start + 1] == "hundred" and 0 < value < 10:
        return value * 100, 2
    return value, 1


def age(context: CaptureContext, start: int, end: int) -> Capture | None:
    """An age in years, 1 to 120; not a count, a price or a clock time."""
    found = number(context, start, end)
    if found is None or not 1 <= int(found.shown) <= 120:
        return None
    follow = context.tokens[found.end] if found.end < end else ""
    if follow and not _lex(context, "after_age", follow):
        return None
    if follow in ("years", "year"):
        behind = context.tokens[found.end + 1] if found.end + 1 < end else ""
        if behind not in ("old", "of", "young", ""):
            return None
    return found


def date(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A day of the year, a date, a month or a weekday, as it was said."""
    tokens = context.tokens
    i = start
    while i < end and tokens[i] in ("on", "the", "in", "is", "of", "day"):
        i += 1
    if i >= end:
        return None
    stop = i
    seen_month = False
    while stop < end:
        word = tokens[stop]
        if word in MONTHS:
            seen_month = True
        elif not (
            word in ORDINALS
            or word in NUMBER_WORDS
            or word in ("of", "the", "de")
            or day_number(word)
            or (len(word) == 4 and word.isdigit())
            or "/" in word
        ):
            break
        stop += 1
    while stop > i and tokens[stop - 1] in ("of", "the", "de"):
        stop -= 1
    if stop == i or not (seen_month or "/" in tokens[i]):
        if context.longest("holidays", i, end):
            size = context.longest("holidays", i, end)
            return Capture(i, i + size, i + size)
        return None
    return Capture(i, stop, stop)


def language_name(context: CaptureContext, start: int, end: int) -> Capture | None:
    """One or more languages."""
    return _of_lexicon_list(context, "languages", start, end)


def _of_lexicon_list(context: CaptureContext, lexicon: str, start: int, end: int) -> Capture | None:
    i = start
    last = start
    fillers = (
        "and",
        "or",
        "some",
        "a",
        "bit",
        "of",
        "little",
        "fluent",
        "basic",
        "decent",
        "but",
        "native",
        "good",
        "rusty",
        "broken",
        "sign",
    )
    seen = False
    while i < end:
        size = context.longest(lexicon, i, end)
        if size:
            seen = True
            i += size
            last = i
        elif context.tokens[i] in fillers:
            i += 1
        else:
            break
    return Capture(start, last, last) if seen else None


def organisation(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Where someone works: a company or a kind of workplace."""
    tokens = context.tokens
    if _lex(context, "deictic", tokens[start]) or _lex(context, "org_reject", tokens[start]):
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
    if (
        tokens[start].endswith("ing")
        and stop - start > 1
        and tokens[start]
        not in (
            "marketing",
            "engineering",
            "accounting",
            "nursing",
            "advertising",
            "manufacturing",
            "catering",
            "banking",
            "publishing",
        )
    ):
        return None
    return Capture(start, stop, stop)


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
        if _lex(context, "capitalised_words", context.tokens[start]) or _lex(
            context, "deictic", context.tokens[start]
        ):
            return None
        stop = start + 1
        while (
            stop < end
            and context.source[stop] >= 0
            and context.words.raw(context.source[stop])[:1].isupper()
            and not context.mark(stop - 1)
        ):
            stop += 1
        return Capture(start, stop, stop)
    return None


def anything(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Everything to the end of the clause."""
    stop = strip_tail(context, start, end)
    return Capture(start, stop, stop) if stop > start else None


def statement_rest(context: CaptureContext, start: int, end: int) -> Capture | None:
    """The rest of a habitual statement: nothing in it points outside the sentence."""
    tokens = context.tokens
    if _lex(context, "deictic", tokens[start]) or _lex(context, "rest_reject_first", tokens[start]):
        return None
    stop = trim(context, start, end, "vp_stops")
    if stop <= start:
        return None
    for i in range(start, stop):
        if _lex(context, "rest_reject", tokens[i]):
            return None
    if _lex(context, "rest_reject_last", tokens[stop - 1]):
        return None
    return Capture(start, stop, _qualified_end(context, start, stop, end))


def names(context: CaptureContext, start: int, end: int) -> Capture | None:
    """One name, or several joined by commas and "and"."""
    i = start
    last = start
    while i < end:
        if context.tokens[i] in ("and", "und", "et", "y") and i > start:
            i += 1
            continue
        found = _name(context, i, end, strict=False)
        if found is None:
            break
        i = last = found.end
    return Capture(start, last, last) if last > start else None


def goal(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What is wanted for long: "to run a marathon", not "to book a table"."""
    tokens = context.tokens
    if tokens[start] != "to" or start + 1 >= end:
        return None
    verb = tokens[start + 1]
    if not _lex(context, "goal_verbs", verb):
        return None
    stop = trim(context, start + 1, end, "vp_stops")
    if stop <= start + 2 and verb not in ("retire",):
        return None
    for j in range(start, stop):
        if _lex(context, "goal_reject", tokens[j]):
            return None
    if tokens[stop - 1] in ("it", "this", "that", "them", "the", "a", "to", "one", "some", "more"):
        return None
    return Capture(start, stop, stop)


def goal_phrase(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a goal is said to be: an infinitive, an activity or a noun phrase."""
    if context.tokens[start] == "to" or context.tokens[start].endswith("ing"):
        stop = trim(context, start + 1, end, "vp_stops") if start + 1 < end else start
        return Capture(start, stop, stop) if stop > start + 1 else None
    return noun_phrase(context, start, end)


def trying(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Reads "to quit smoking", "to lose weight": a habit or a state to reach."""
    tokens = context.tokens
    if (
        tokens[start] != "to"
        or start + 2 >= end
        or not _lex(context, "trying_verbs", tokens[start + 1])
    ):
        return None
    return goal_end(context, start, end)


def goal_end(context: CaptureContext, start: int, end: int) -> Capture | None:
    """Where an infinitive ends, if nothing in it points outside the sentence."""
    stop = trim(context, start + 1, end, "vp_stops")
    if stop <= start + 2 or any(
        _lex(context, "goal_reject", context.tokens[j]) for j in range(start, stop)
    ):
        return None
    return Capture(start, stop, stop)


def identity(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What someone is ("a homebody"): not a state of the moment."""
    found = noun_phrase(context, start, end)
    if found is None:
        return None
    for i in range(found.start, found.end):
        if _lex(context, "isa_reject", context.tokens[i]):
            return None
    return found


def had(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What someone has for long: not an appointment, a question or a headache."""
    tokens = context.tokens
    i = start
    if tokens[i] in ("no", "never", "to", "been", "had", "it", "not"):
        return None
    found = noun_phrase(context, i, end)
    if found is None:
        return None
    for j in range(found.start, found.end):
        if _lex(context, "have_reject", tokens[j]):
            return None
    return found


def standing_request(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a standing instruction asks for: nothing of the moment, nothing pointed at."""
    tokens = context.tokens
    stop = strip_tail(context, start, end)
    if tokens[start] in ("that", "it"):
        return None
    if stop <= start or any(_lex(context, "of_the_moment", tokens[i]) for i in range(start, stop)):
        return None
    if context.longest("not_requested", start, stop, 3) == stop - start:
        return None
    return Capture(start, stop, stop)


def imperative(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What the assistant shall do: an imperative verb and what follows."""
    tokens = context.tokens
    if not _lex(context, "imperatives", tokens[start]):
        return None
    stop = strip_tail(context, start, end)
    return Capture(start, stop, stop) if stop - start >= 2 else None


def policy_predicate(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What a team does by rule: a work verb and what follows."""
    found = statement_rest(context, start, end)
    return found


def decision(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What was decided: "to use postgres", "on postgres", "against a rewrite"."""
    tokens = context.tokens
    if tokens[start] not in ("to", "on", "against", "for", "not", "that") or start + 1 >= end:
        return None
    if tokens[start + 1] in ("it", "that", "this", "what", "whether", "yet"):
        return None
    stop = strip_tail(context, start, trim(context, start + 1, end, "vp_stops"))
    return Capture(start, stop, stop) if stop > start + 1 else None


def process(context: CaptureContext, start: int, end: int) -> Capture | None:
    """What must hold of a piece of work: "needs two approvals", "go out on mondays"."""
    tokens = context.tokens
    if not _lex(context, "process_verbs", tokens[start]):
        return None
    stop = strip_tail(context, start, end)
    if stop - start < 2 or any(_lex(context, "rest_reject", tokens[j]) for j in range(start, stop)):
        return None
    return Capture(start, stop, stop)


VALIDATORS: dict[str, Validator] = {
    "NP": noun_phrase,
    "PREFNP": liked,
    "VING": activity,
    "VINF": activity,
    "VP": verb_phrase,
    "NAME": name,
    "SURENAME": certain_name,
    "PLACE": place,
    "OCC": occupation,
    "NUM": number,
    "AGE": age,
    "DATE": date,
    "LANG": language_name,
    "ORG": organisation,
    "TECH": technology,
    "KNOWNNAME": known_name,
    "SUREPLACE": sure_place,
    "DOING": doing,
    "NAMES": names,
    "GOAL": goal,
    "GOALNP": goal_phrase,
    "TRYING": trying,
    "ISA": identity,
    "HAVE": had,
    "IMPERATIVE": imperative,
    "INSTR": standing_request,
    "POLICY_VP": policy_predicate,
    "DECISION": decision,
    "PROCESS": process,
    "ANY": anything,
    "REST": statement_rest,
}
"""Capture types of the rule packs; lower-case: a lexicon, whose longest entry counts."""


def validate(context: CaptureContext, kind: str, start: int, end: int) -> Capture | None:
    """Trims and checks one capture.

    Args:
        context: The head and its surroundings.
        kind: A key of ``VALIDATORS``, or the name of a lexicon.
        start: Index of the first captured word.
        end: Index behind the last.
    """
    if start >= end:
        return None
    validator = VALIDATORS.get(kind)
    if validator is not None:
        return validator(context, start, end)
    size = context.longest(kind, start, end, 5)
    if not size and start + 1 < end and context.tokens[start] in SKIPPED_BEFORE_ENTRY:
        size = context.longest(kind, start + 1, end, 5)
        if size:
            return Capture(start + 1, start + 1 + size, start + 1 + size)
    return Capture(start, start + size, start + size) if size else None
