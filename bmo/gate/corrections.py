"""Corrections: a turn that opens with "no" replaces what it contradicts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from bmo.gate.discourse import Discourse
from bmo.gate.people import people_lexicon
from bmo.gate.value_kinds import alike, may_replace, says_nothing_else
from bmo.language import LanguageCode, find_times
from bmo.language.times import NUMBER_WORDS
from bmo.turn import DialogueContext, Fact

_OPENERS = frozenset(
    {"no", "nope", "nah", "actually", "sorry", "wait", "correction", "wrong", "incorrect", "oops"}
)
_PHRASES = (
    ("i", "meant"),
    ("i", "mean"),
    ("i", "said"),
    ("not", "what", "i"),
    ("that", "is", "wrong"),
    ("put", "that", "badly"),
)


def is_correction(norm: list[str]) -> bool:
    """Whether a turn corrects what was said or understood before.

    Args:
        norm: The turn's words in normal form, before openers are taken off.
    """
    head = norm[:3]
    if any(word in _OPENERS and not _determines(norm, i) for i, word in enumerate(head)):
        return True
    line = norm[:12]
    return any(
        tuple(line[i : i + len(phrase)]) == phrase for phrase in _PHRASES for i in range(len(line))
    )


_HAVING = frozenset(
    (
        "am are be did do does drank drink drinks eat eats ate got had has have is keep keeps need "
        "needs own owns see speak speaks take takes took use uses want wants was were with"
    ).split()
)
"""Words behind which "no" belongs to a noun: "i have no pets" takes nothing back."""


def _determines(norm: list[str], i: int) -> bool:
    """Whether the "no" at ``i`` says of how many ("i eat no meat"), not that something is wrong."""
    return norm[i] == "no" and i > 0 and norm[i - 1] in _HAVING and i + 1 < len(norm)


def corrected(
    facts: tuple[Fact, ...],
    norm: list[str],
    context: DialogueContext,
    language: LanguageCode = "en",
) -> tuple[Fact, ...]:
    """Turns assertions that contradict a recent fact of the same slot into corrections.

    Args:
        facts: What the turn asserts.
        norm: The turn's words in normal form.
        context: The latest facts of the session, newest first.
        language: In which it was said: a Spanish "no" in front of a verb only denies.
    """
    if not facts or not context.recent_facts or not is_correction(norm):
        return facts
    denied = all(fact.polarity == "negative" for fact in facts)
    if language == "es" and denied and norm[0] == "no" and norm[1:2] != ["no"]:
        return facts  # "no me gusta el vino" denies, and takes nothing back
    return tuple(_against_recent(fact, context) for fact in facts)


def _against_recent(fact: Fact, context: DialogueContext) -> Fact:
    if fact.op != "assert" or fact.slot is None:
        return fact
    relation = fact.subject.partition(":")[0]
    for old in context.recent_facts:
        if old.slot != fact.slot or old.op == "retract":
            continue
        same = old.subject == fact.subject
        if fact.slot == "name":
            same = old.subject.partition(":")[0] == relation
        elif fact.slot == "favourite":
            same = same and old.value.partition(": ")[0] == fact.value.partition(": ")[0]
        if same and old.value.lower() != fact.value.lower():
            return replace(fact, op="correct", replaces=old.value)
    return fact


_LEADS = frozenset(
    (
        "what saying about "
        "actually am at call called for from go goes he him her i in is it mean meant named no "
        "nope nah on oops or said say she so sorry that they to wait was with yeah well you my not "
        "correction rather make thing name 's hang hold sec um uh"
    ).split()
)
"""Words that lead to a value that is said again, and are no part of it."""

_NAMED = frozenset({"called", "named"})
_LIKE_NAMES = frozenset(
    {"employer", "school", "business", "member_of", "lives_in", "has", "workplace", "possession"}
)
_MOST_WORDS = 14
_LONGEST = 26
_VALUE_WORDS = 5


def restated(
    norm: list[str], context: DialogueContext, *, told: bool, at: datetime
) -> tuple[Fact, ...]:
    """Corrections that name the wrong value, or say the right one as the last facts had it.

    "No, it's Katowice, not Krakow", "I meant Zabrze, not Gliwice", "no wait it's called De Gouden
    Aar", "sorry, Northwood".

    Args:
        norm: The turn's words in normal form, before repair.
        context: The session's facts, newest first, and what else is known.
        told: Whether the rules read facts in the turn; then only a named wrong value counts.
        at: When it was said, for dates.

    Returns:
        What is to be put right, each fact with the new value in the place of the wrong one.
    """
    if len(norm) > _LONGEST or not (context.recent_facts or context.known):
        return ()
    pair = _said_and_meant(norm)
    if pair is None and len(norm) > _MOST_WORDS:
        return ()
    pair = pair or _right_and_wrong(norm) or _not_this(norm, context)
    if pair is not None:
        right, wrong = pair
        found = [f for f in context.recent_facts if f.op != "retract" and _has(f, wrong)]
        if not found:
            found = [f for f in context.known if _has(f, wrong)][:1]
        # Of whom it was said last: "my son lives in york" and "my sister lives in york" are two.
        found = [f for f in found if f.subject == found[0].subject]
        beside = _beside(norm, right, wrong)
        found = [
            fact
            for fact in found
            if may_replace(fact, wrong, right)
            and says_nothing_else(beside, fact)
            and not _has(fact, right)  # "nut allergy noah not maya" said again is so already
        ]
        return tuple(with_value(fact, wrong, right, at) for fact in found)
    if told or not is_correction(norm) or not context.recent_facts:
        return ()
    return _said_again(norm, context, at)


def _beside(norm: list[str], right: str, wrong: str) -> list[str]:
    """The words of a correction without both values and what leads to them."""
    values = {*right.split(), *wrong.split()}
    return [word for word in norm if word not in _LEADS and word not in values]


def _said_and_meant(norm: list[str]) -> tuple[str, str] | None:
    """The right and the wrong value of "i said armley before, i did mean bramley"."""
    meant = next((i for i, word in enumerate(norm) if word in ("mean", "meant")), 0)
    said = next((i for i, word in enumerate(norm[:meant]) if word == "said"), 0)
    if not said or not meant or norm[said - 1] != "i":
        return None
    wrong, right = _until_stop(norm[said + 1 : meant]), _until_stop(norm[meant + 1 :])
    return (" ".join(right), " ".join(wrong)) if right and wrong and right != wrong else None


def _until_stop(words: list[str]) -> list[str]:
    """The value that opens ``words``: a few of them, up to where a new thought begins."""
    stop = next((i for i, word in enumerate(words) if word in _NEW_THOUGHT), len(words))
    return words[:stop] if 0 < stop <= _NAME_WORDS else []


_NAME_WORDS = 3
_NEW_THOUGHT = frozenset(
    "before but and did do i it that not sorry is was the earlier when of actually".split()
)


def _right_and_wrong(norm: list[str]) -> tuple[str, str] | None:
    """The right and the wrong value of "X not Y", "not Y but X", "not Y it is X"."""
    places = [i for i, word in enumerate(norm) if word == "not"]
    if len(places) != 1:
        return None
    at = places[0]
    behind = norm[at + 1 :]
    while behind and behind[-1] in ("sorry", "actually", "though", "either", "bmo", "mate"):
        behind = behind[:-1]
    marker = next((i for i, w in enumerate(behind) if w in ("but", "it", "that")), 0)
    if marker and norm[max(0, at - 1)] in ("is", "was", "'s", "am", "no", "wait", "said"):
        named = behind[:marker]
        if "with" in named[1:]:
            named = named[: named.index("with", 1)]  # "not dairy with ava, it is eggs"
        wrong = _value(named)
        right = _value(behind[marker:])
    else:
        wrong, right = _value(behind), _value(norm[:at])
    if not right or not wrong or right == wrong:
        return None
    if len(right) > len(wrong) + 1 and right[-1] in people_lexicon("en").names:
        return None  # "nut allergy noah not maya" tells who has it
    return (" ".join(right), " ".join(wrong)) if is_value(right) and is_value(wrong) else None


_LATEST = 3
"""Latest facts whose texts may have the word that was wrong."""


def _not_this(norm: list[str], context: DialogueContext) -> tuple[str, str] | None:
    """The right and the wrong value of "sorry not york, leeds": "york" is what was stored."""
    at = next((i for i, word in enumerate(norm) if word == "not"), -1)
    if at < 0 or at + 2 >= len(norm) or not all(word in _LEADS for word in norm[:at]):
        return None
    values = {value_words(f.value)[-1] for f in context.recent_facts if f.value.strip()}
    values |= {  # a memory without a slot has its values in its text
        word
        for fact in context.recent_facts[:_LATEST]
        if fact.slot is None
        for word in re.findall(r"[^\W_]+", fact.text.lower())
        if len(word) > 3
    }
    for border in range(at + 2, min(at + 2 + _NAME_WORDS, len(norm))):
        right = _value(norm[border:])
        if norm[border - 1] in values and right and is_value(right):
            return " ".join(right), " ".join(norm[at + 1 : border])
    return None


def is_value(words: list[str]) -> bool:
    """Whether words may be a value: few, and not words of a sentence."""
    return len(words) <= _VALUE_WORDS and _SENTENCE.isdisjoint(words)


_SENTENCE = frozenset(
    (
        "have has do does did will can could would should want like know think been being because "
        "am are i if we when too very really much sure any some your our their going allowed"
    ).split()
)


def _value(words: list[str]) -> list[str]:
    """The words behind the last one that leads to a value."""
    start = 0
    for i, word in enumerate(words):
        if word in _LEADS:
            start = i + 1
    found = words[start:]
    return found[1:] if len(found) > 1 and found[0] in ("the", "a", "an") else found


def _has(fact: Fact, wrong: str) -> bool:
    return _written(wrong).search(fact.text) is not None


_WORDS_OF_NUMBERS: dict[int | None, tuple[str, ...]] = {
    number: tuple(word for word, n in NUMBER_WORDS.items() if n == number)
    for number in set(NUMBER_WORDS.values())
}


def _written(value: str) -> re.Pattern[str]:
    number = int(value) if value.isdecimal() else NUMBER_WORDS.get(value)
    either = "".join(f"|{form}" for form in (str(number), *_WORDS_OF_NUMBERS.get(number, ())))
    either = either if number is not None else ""
    return re.compile(rf"(?<!\w)(?:{re.escape(value)}{either})(?!\w)", re.IGNORECASE)


def with_value(fact: Fact, wrong: str, right: str, at: datetime) -> Fact:
    """A fact with the right value where the wrong one stood.

    Args:
        fact: The fact, as it was told.
        wrong: The wrong value, lower-case.
        right: The right one.
        at: When it was said, for dates.
    """
    pattern = _written(wrong)
    cased = pattern.search(fact.text)
    name = fact.subject.partition(":")[2]
    shown = right.title() if cased is not None and cased[0][:1].isupper() else right
    if cased is not None and cased[0].isdigit() and right in NUMBER_WORDS:
        shown = str(NUMBER_WORDS[right])
    value = pattern.sub(lambda _: shown, fact.value)
    text = _DOUBLED.sub(rf"\1 ({right})", pattern.sub(lambda _: shown, fact.text))
    subject = fact.subject
    if name and value_words(name) == value_words(wrong):
        subject = f"{fact.subject.partition(':')[0]}:{right.lower()}"
    when = fact.when
    if when is not None:
        when = next((t.iso for t in find_times(value.lower().split(), at) if t.iso), None)
    return replace(
        fact,
        op="correct",
        text=text,
        value=value,
        subject=subject,
        replaces=fact.value or wrong,
        when=when,
        entities=tuple(pattern.sub(lambda _: right, entity) for entity in fact.entities),
        rule_id="correction",
        extraction_method="pattern:correction",
        confidence=0.95,
    )


_DOUBLED = re.compile(r"\b(\d+) \(\1\)")
"""A number beside itself in words, both of which were put right: "7 (seven)"."""


def _number_in(text: str) -> str:
    """The one number a text holds, as it stands there, or ""."""
    found = [w for w in re.findall(r"\w+", text.lower()) if w.isdigit() or w in NUMBER_WORDS]
    return found[0] if len({str(NUMBER_WORDS.get(w, w)) for w in found}) == 1 else ""


def value_words(value: str) -> list[str]:
    """A value's words, to compare."""
    return value.lower().split()


def _said_again(norm: list[str], context: DialogueContext, at: datetime) -> tuple[Fact, ...]:
    """Reads "no wait it's called de gouden aar", "sorry, northwood" after a fact with a name."""
    right = _value(norm)
    if not right or not is_value(right) or len(right) == len(norm):
        return ()
    text = " ".join(right)
    called = not _NAMED.isdisjoint(norm)
    for fact in context.recent_facts[:3]:
        if fact.op == "retract" or not fact.value:
            continue
        wrong = fact.value.removeprefix("the ").removeprefix("a ")
        if wrong.lower() == text:
            return ()
        number = right[-1] in NUMBER_WORDS and _number_in(fact.text)
        if number:
            return (with_value(fact, number, right[-1], at),)
        if alike([wrong.lower()], [text]) and fact.slot not in ("likes", "age"):
            return (with_value(fact, wrong, text, at),)
        if called and fact.slot in _LIKE_NAMES:
            return (with_value(fact, wrong, text, at),)
    return ()


def spelled_again(norm: list[str], context: DialogueContext, discourse: Discourse) -> Fact | None:
    """Reads "no no teo with a t": the name of a recent fact, said again to set it right."""
    if not context.recent_facts or len(norm) > 10:
        return None
    words = [
        w for w in norm[:6] if w not in _OPENERS and w not in ("it", "is", "his", "her", "name")
    ]
    if not words or not is_correction(norm):
        return None
    for fact in context.recent_facts:
        if fact.slot == "name" and fact.value and fact.value.split()[-1].lower() == words[0]:
            return replace(
                fact, op="assert", rule_id="correction", extraction_method="pattern:correction"
            )
    return None
