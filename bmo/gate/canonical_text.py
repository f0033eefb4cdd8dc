"""Canonical text: third person, present, without a subject word for the user."""

from __future__ import annotations

import re
from functools import lru_cache

from bmo.gate.captures import Capture, CaptureContext
from bmo.gate.discourse import Person
from bmo.gate.person_names import proper
from bmo.language import Words, third_person

THIRD_PERSON: dict[str, str] = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves", "am": "are",
    "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
    "we're": "they are", "i'm": "they are",
}  # fmt: skip
"""First person -> third person, for words inside a value."""

_BEFORE_PLACES = frozenset({"in", "near", "from", "outside", "to", "around"})

_BEFORE_PIT = frozenset({"the", "a", "coal", "gold", "salt", "copper", "tin", "iron", "that"})

_RESPELLED = frozenset({*THIRD_PERSON, *_BEFORE_PLACES, "'s", "was"})
"""Words that are written otherwise, or after which a word may be."""

_PAST_TEMPLATE = re.compile(r"\{(\w+)([+*]?)\}")
_PLURAL_VERBS = {
    "is": "are",
    "has": "have",
    "was": "were",
    "does": "do",
    "lives": "live",
    "works": "work",
    "likes": "like",
    "loves": "love",
    "goes": "go",
    "can": "can",
}


def surface(context: CaptureContext, start: int, end: int, proper_words: frozenset[str]) -> str:
    """The words ``tokens[start:end]`` as they were said, first person turned to third."""
    parts: list[str] = []
    tokens, source, words = context.tokens, context.source, context.words
    begins, ends = words.start, words.end
    names, relations = context.people.names, context.people.first
    span = tokens[start:end]
    if span and source[start] >= 0 and source[start + len(span) - 1] >= 0:
        said = words.text[begins[source[start]] : ends[source[start + len(span) - 1]]]
        plain = said == " ".join(span) and _RESPELLED.isdisjoint(span) and names.isdisjoint(span)
        if plain and proper_words.isdisjoint(span):
            return said  # most values: plain words in a row, in lower case
        if plain and "please" not in span:
            return " ".join([w[:1].upper() + w[1:] if w in proper_words else w for w in span])
    for i in range(start, end):
        token = tokens[i]
        at = source[i]
        word = THIRD_PERSON.get(token, "")
        if token == "mine" and i > start and tokens[i - 1] in _BEFORE_PIT:
            word = ""  # "until the mine closed"
        if token == "was" and i > start and tokens[i - 1] in ("i", "we"):
            word = "were"
        if token == "us" and i > start and tokens[i - 1] == "the":
            word = "US"
        if not word:
            if at >= 0:
                raw = words.text[begins[at] : ends[at]]
                word = raw if raw.lower() == token else token
            else:
                word = token
            if word.isupper() and len(word) > 4 and is_shouted(words.text):
                word = word.lower()
            place = i > start and tokens[i - 1] in _BEFORE_PLACES and word.islower()
            city = place and (token,) in context.lexicons.get("cities", frozenset())
            if word == token and (token in proper_words or city):
                word = word[:1].upper() + word[1:]
            elif i > start and token in names and tokens[i - 1] in relations and word.islower():
                word = word[:1].upper() + word[1:]  # "my brother sam"
        if token == "'s" and parts:
            parts[-1] += "'s"
            continue
        if token == "please" and parts:  # "in the morning please, it wrecks my mood"
            if at >= 0 and words.after[at][:1] == "," and not parts[-1].endswith(","):
                parts[-1] += ","
            continue
        if at >= 0 and in_brackets(words, at):
            word = f"({word})"
        mark = words.after[at] if at >= 0 and i + 1 < end else ""
        parts.append(word + ("," if mark[:1] == "," else ""))
    return " ".join(parts)


def in_brackets(words: Words, at: int) -> bool:
    """Whether a word stands in brackets by itself: "leo (5)"."""
    return at > 0 and words.after[at - 1].endswith("(") and words.after[at].startswith(")")


def is_shouted(text: str) -> bool:
    """Whether a text is written in capitals throughout."""
    return text.isupper()


def title_case(text: str) -> str:
    """A name or place as it is written ("baton rouge" -> "Baton Rouge")."""
    if not text.islower() and not text.isupper():
        return text
    small = ("of", "the", "in", "on", "and", "de", "la", "near", "upon", "am", "von", "du")
    if text.split(" ", 1)[0] in (
        "a",
        "an",
        "the",
        "near",
        "my",
        "their",
        "them",
        "outside",
        "just",
        "north",
        "some",
    ):
        return text
    return " ".join(w if i and w in small else proper(w) for i, w in enumerate(text.split()))


def fill(template: str, values: dict[str, str]) -> str:
    """Puts values into a template; ``{v+}`` is the value with its qualifiers."""
    front, holes = _holes(template)
    parts = [front]
    for long, name, behind in holes:
        value = values.get(long)
        parts += (values.get(name, "") if value is None else value, behind)
    text = "".join(parts)
    while "  " in text:
        text = text.replace("  ", " ")
    text = text.strip(" ,")
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=4096)
def _holes(template: str) -> tuple[str, tuple[tuple[str, str, str], ...]]:
    """A template's text before its first hole, and (name in full, name, text behind) of each."""
    front, *rest = _PAST_TEMPLATE.split(template)
    holes = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    return front, tuple((name + mark, name, behind) for name, mark, behind in holes)


def with_subject(text: str, who: Person | str, plural: bool, noun_text: bool) -> str:
    """Puts the subject before a text about someone other than the user.

    Args:
        text: "Lives in Leeds".
        who: A person, "team" or "thing".
        plural: The subject is plural ("parents").
        noun_text: The text is a noun phrase ("Birthday is on 9 June").
    """
    if who == "user" or (isinstance(who, str) and who != "team"):
        return text
    label = "The team" if isinstance(who, str) else who.label
    first, _, rest = text.partition(" ")
    lowered = first if first.isupper() and len(first) > 1 else first[:1].lower() + first[1:]
    if noun_text:
        several = plural or (isinstance(who, Person) and who.gender == "plural")
        owner = label + ("'" if label.endswith("s") and several else "'s")
        return f"{owner} {lowered} {rest}".strip()
    if plural and lowered == "only":  # "my parents only eat fish"
        verb, _, behind = rest.partition(" ")
        rest = f"{_of_several(verb)} {behind}"
    elif plural:
        lowered = _of_several(lowered)
    return f"{label} {lowered} {rest}".strip()


def _of_several(verb: str) -> str:
    """A verb as several do it: "coaches" is "coach", "studies" is "study"."""
    if verb in _PLURAL_VERBS or verb == "used":
        return _PLURAL_VERBS.get(verb, verb)
    if verb.endswith("ies") and len(verb) > _SHORTEST_IES:
        return f"{verb[:-3]}y"
    if verb.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


_SHORTEST_IES = 4
"""Longer ones are of verbs in "y"; "lies" and "dies" are of "lie" and "die"."""


_YOU = re.compile(r"\byou( \w+)?\b", re.IGNORECASE)
_UNCHANGED = frozenset(
    "can could will would should may might must had did were was to in at".split()
)


def _of_assistant(text: str) -> str:
    """Words of an order, "you" being the assistant: "before it orders anything"."""
    return _YOU.sub(_it_does, text).replace("your ", "its ")


def _it_does(hit: re.Match[str]) -> str:
    verb = (hit[1] or "").strip().lower()
    if not verb or verb in _UNCHANGED:
        return f"it {verb}".strip()
    return f"it {_BE_AND_HAVE.get(verb) or third_person(verb)}"


_BE_AND_HAVE = {"are": "is", "have": "has", "do": "does"}


def capture_text(
    context: CaptureContext, capture: Capture, kind: str, long: bool, proper_words: frozenset[str]
) -> str:
    """The text of a capture by its type."""
    if capture.shown:
        return capture.shown
    end = capture.long_end if long else capture.end
    text = surface(context, capture.start, end, proper_words)
    if kind in ("NAME", "NAMES", "SURENAME", "SURENAMES", "KNOWNNAME"):
        return " ".join(proper(part) for part in text.split())
    if kind in ("PLACE", "SUREPLACE", "NEWHOME"):
        return title_case(text)
    if kind == "INSTR" and "you" in context.tokens[capture.start : end]:
        return _of_assistant(text)
    if kind in ("VINF",) and text.startswith("to "):
        return text
    return text
