"""Short answers in German, French and Spanish: "Bist du allergisch gegen Nüsse?" "ja".

The questions are data (``packs/<language>/answers.toml``): what a yes states, what a no states, and
the clause that a word or two stand for. The same rules that read the user's own statements read
those; what they do not read is no memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from bmo.gate.answer_lines import Answer, written_line
from bmo.gate.other_grammar import grammar
from bmo.gate.pack_tables import read_table
from bmo.gate.people import Relation, people_lexicon
from bmo.gate.word_tables import word_list
from bmo.language import LANGUAGES, Clause, LanguageCode, Words, words
from bmo.language.lexicon import Phrases, match_phrase, phrase_table

_POLITE_YOU = "usted"
_SENTENCE = re.compile(r"[^.!?¿\n]*\?")
_ADDRESSED = re.compile(r"(?<=\w )(?:Sie|Ihr|Ihre|Ihren)\b")
"""The polite form, which German writes large; "sie" else is "she" or "they"."""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A question of the table.

    Attributes:
        pattern: What finds it in its words.
        yes: What a yes states; "" for nothing.
        no: What a no states.
        clause: What a word or two state, with the answer at ``{A}``.
        counted: The same of a number.
        which: The same of what begins with an article or a number ("ja, eine katze").
        strip: Words taken off the front of the answer.
        most: Most words of the answer.
        each: What is joined by "and" is told one by one ("nüsse und milch").
    """

    pattern: re.Pattern[str]
    yes: str
    no: str
    clause: str
    counted: str
    which: str
    strip: frozenset[str]
    most: int
    each: bool


@dataclass(frozen=True, slots=True)
class OtherAnswers:
    """``answers.toml`` of a language.

    Attributes:
        questions: The questions that are known.
        yes: Words that say yes.
        no: Words that say no.
        strip: Words taken off the front of every answer.
        tails: Words at its end that add nothing.
        leaves_out: Words of a question that change nothing of what it asks.
        numbers: Words that count.
        articles: Words before something that one has.
        no_values: First words of what answers nothing.
        denies: Words that deny, so that what holds is not what was asked.
        subjects: Words with which a clause of its own begins.
        yours: The assistant's possessives -> the user's.
        polite: A polite form -> the familiar one, in which the patterns are written.
    """

    questions: tuple[AskedFor, ...]
    yes: Phrases
    no: Phrases
    strip: Phrases
    tails: Phrases
    leaves_out: frozenset[str]
    numbers: frozenset[str]
    articles: frozenset[str]
    no_values: frozenset[str]
    denies: frozenset[str]
    subjects: frozenset[str]
    yours: Mapping[str, str]
    polite: Mapping[str, str]


@lru_cache(maxsize=4)
def other_answers(language: LanguageCode) -> OtherAnswers:
    """The questions and answers of ``language``; empty where the pack has none."""
    raw = read_table(language, "answers.toml")
    return OtherAnswers(
        questions=tuple(_asked_for(item) for item in raw.get("question", [])),
        yes=phrase_table(raw.get("yes", [])),
        no=phrase_table(raw.get("no", [])),
        strip=phrase_table(raw.get("strip", [])),
        tails=phrase_table(raw.get("tails", [])),
        leaves_out=word_list(raw, "leaves_out"),
        numbers=word_list(raw, "numbers"),
        articles=word_list(raw, "articles"),
        no_values=word_list(raw, "no_values"),
        denies=word_list(raw, "denies"),
        subjects=word_list(raw, "subjects"),
        yours=raw.get("yours", {}),
        polite=raw.get("polite", {}),
    )


def _asked_for(item: Mapping[str, Any]) -> AskedFor:
    return AskedFor(
        pattern=re.compile(item["pattern"]),
        yes=item.get("yes", ""),
        no=item.get("no", ""),
        clause=item.get("clause", ""),
        counted=item.get("counted", ""),
        which=item.get("which", ""),
        strip=word_list(item, "strip"),
        most=item.get("most", 3),
        each=item.get("each", False),
    )


@lru_cache(maxsize=256)
def asked_for(
    assistant_before: str, language: LanguageCode
) -> tuple[AskedFor, Mapping[str, str]] | None:
    """The assistant's last question, where the table knows it, and what its groups stand for."""
    lists = other_answers(language)
    found = _SENTENCE.findall(assistant_before[-400:])
    if not found or not lists.questions:
        return None
    said = words(found[-1], language).norm
    if _POLITE_YOU in said:
        said = [lists.polite.get(word, word) for word in said if word != _POLITE_YOU]
    said = [word for word in said if word not in lists.leaves_out]
    choice = not _OR.isdisjoint(said)
    text = " ".join(said)
    polite = _ADDRESSED.search(found[-1]) is not None
    for question in lists.questions:
        match = question.pattern.search(text)
        if match is None:
            continue
        if language == "de" and _POLITE.search(match[0]) and not polite:
            continue
        # One name for what either alternative of a pattern names: "who2" is "who".
        groups = {key.rstrip("2"): value for key, value in match.groupdict().items() if value}
        if "my" in groups:
            groups["my"] = lists.yours.get(groups["my"], "")
        return (replace(question, yes="", no="") if choice else question), groups
    return None


def language_asked_in(assistant_before: str) -> LanguageCode | None:
    """Whose table knows the assistant's question, of which no word tells the language."""
    for language in LANGUAGES:
        if language != "en" and asked_for(assistant_before, language) is not None:
            return language
    return None


_OR = frozenset({"oder", "ou", "o", "u"})
"""Words of a choice, which no yes settles."""
_POLITE = re.compile(r"\b(?:sie|ihre?)\b")


def asked_about(assistant_before: str, language: LanguageCode) -> Relation | None:
    """Whom the last question asks about, where the table knows it: "hast du einen hund?".

    Args:
        assistant_before: The assistant's words before the turn.
        language: Whose words apply.
    """
    found = asked_for(assistant_before, language)
    if found is None:
        return None
    for name in ("who", "x"):
        said = found[1].get(name, "").split()
        kin = people_lexicon(language).relation_at(said, 0, len(said)) if said else None
        if kin is not None and not kin[0].plural:
            return kin[0]
    return None


def answered_by_table(assistant_before: str, language: LanguageCode) -> bool:
    """Whether the last question is one of the table, or about a relation of the user's.

    What the user is asked of a daughter ("wo wohnt deine tochter?") is nothing the user does.

    Args:
        assistant_before: The assistant's words before the turn.
        language: Whose words apply.
    """
    found = _SENTENCE.findall(assistant_before[-400:])
    if not found:
        return False
    if asked_for(assistant_before, language) is not None:
        return True
    norm = words(found[-1], language).norm
    yours, people = other_answers(language).yours, people_lexicon(language)
    return any(
        word in yours and people.relation_at(norm, at + 1, len(norm)) is not None
        for at, word in enumerate(norm)
    )


def other_answer(
    spoken: Words, clauses: list[Clause], assistant_before: str, language: LanguageCode
) -> Answer | None:
    """Rewrites an answer to a question of the table as the clause it stands for.

    Args:
        spoken: The turn's repaired words.
        clauses: Its clauses.
        assistant_before: The assistant's words before the turn.
        language: de, fr or es.

    Returns:
        None when the question is not known or the turn answers it in its own clause.
    """
    found = asked_for(assistant_before, language)
    if found is None:
        return None
    question, groups = found
    lists, norm = other_answers(language), spoken.norm
    polarity, behind = _polarity(norm, lists)
    rules = grammar(language)
    if behind < len(norm) and norm[0] in rules.replies and rules.form(norm, behind) is not None:
        return None  # "no vivo en madrid" denies, and answers nothing
    end = max(clauses[0].end if clauses else len(norm), behind)
    used = sum(1 for clause in clauses if clause.end <= end)
    rest = _content(norm, behind, end, lists, question)
    told = _told(question, [norm[i] for i in rest], lists, polarity) if rest else ""
    bare = _only_tails(norm, behind, end, lists)
    if not rest and not bare:
        return None  # "no vivo solo": neither a no alone nor a value
    each = question.each or told == question.which
    parts = _parts(spoken, rest, question.strip) if each else [rest]
    lines = [_line(spoken, told, groups, part) for part in parts] if told else []
    if rest and not told and not (polarity and lists.denies.isdisjoint(norm[behind:end])):
        return None
    own = bool(rest) and not told and not lists.subjects.isdisjoint({norm[behind], norm[rest[0]]})
    if polarity == "yes" and not told and not own and len(rest) > _MOST_BESIDE:
        return None  # "ja zwei brüder tom und jan und ne schwester" tells more than the yes
    if own:  # "ja er heißt rex": a clause of its own, read as one
        used = sum(1 for clause in clauses if clause.end <= behind)
    stated = {"yes": question.yes, "no": question.no}.get(polarity, "")
    goes_on = not rest or own or polarity == "yes" or told or _goes_on(spoken, rest)
    if stated and goes_on and not (lines and each and polarity == "yes"):
        lines.append(_line(spoken, stated, groups, []))
    return Answer(tuple(lines), used, all=bool(told) and each, settled=True) if lines else None


_MOST_BESIDE = 3
"""Words beside a yes that may be left out ("ja schon lange")."""


def _parts(spoken: Words, rest: list[int], strip: frozenset[str]) -> list[list[int]]:
    """What an answer lists, one by one, without the words before each ("aux noix et au lait")."""
    parts: list[list[int]] = [[]]
    for at in rest:
        if spoken.norm[at] in _AND:
            parts.append([])
        elif parts[-1] or spoken.norm[at] not in strip:
            parts[-1].append(at)
    return [part for part in parts if part]


_AND = frozenset({"und", "et", "y", "e", "sowie"})


def _polarity(norm: list[str], lists: OtherAnswers) -> tuple[str, int]:
    """("yes" or "no", index behind it) for an answer that opens with one, else ("", 0)."""
    at, found = 0, ""
    while at < len(norm):
        no, yes = match_phrase(lists.no, norm, at), match_phrase(lists.yes, norm, at)
        if not no and not yes:
            break
        found = found or ("no" if no >= yes else "yes")
        at += max(no, yes)
    return found, at


def _only_tails(norm: list[str], begin: int, end: int, lists: OtherAnswers) -> bool:
    """Whether nothing of content stands behind a yes or no."""
    while begin < end:
        size = match_phrase(lists.tails, norm, begin)
        if not size:
            return False
        begin += size
    return True


def _content(
    norm: list[str], begin: int, end: int, lists: OtherAnswers, question: AskedFor
) -> list[int]:
    """Indices of what an answer says beside its yes or no."""
    while begin < end:
        size = match_phrase(lists.strip, norm, begin) or match_phrase(lists.tails, norm, begin)
        if question.yes and norm[begin] in lists.subjects and norm[begin] not in _SELF:
            size = 0  # "hast du kinder?", "ja | sie ist sechs"
        size = size or (1 if norm[begin] in question.strip else 0)
        if not size:
            break
        begin += size
    while end > begin:
        size = next(
            (s for s in (3, 2, 1) if s <= end - begin and _tail(norm, end - s, lists) == s), 0
        )
        if not size:
            break
        end -= size
    return list(range(begin, end))


_SELF = frozenset({"ich", "je", "yo"})


def _tail(norm: list[str], at: int, lists: OtherAnswers) -> int:
    return match_phrase(lists.tails, norm, at)


def _told(question: AskedFor, said: list[str], lists: OtherAnswers, polarity: str) -> str:
    """The clause that what was said stands for, or ""."""
    if said[0] in lists.no_values or not lists.denies.isdisjoint(said):
        return ""
    if question.counted and len(said) == 1 and _is_number(said[0], lists):
        return question.counted if polarity != "no" else ""
    if question.which and 1 < len(said) <= _LISTED and _counts(said[0], lists):
        return question.which
    if len(said) > question.most * (2 if question.each else 1):
        return ""
    return question.clause


_LISTED = 6
"""Most words of what somebody has ("eine tochter und einen sohn")."""


def _counts(word: str, lists: OtherAnswers) -> bool:
    """Whether a word is an article or a number: something one has follows."""
    return word in lists.articles or _is_number(word, lists)


def _is_number(word: str, lists: OtherAnswers) -> bool:
    return word.isdigit() or word in lists.numbers


def _goes_on(spoken: Words, rest: list[int]) -> bool:
    """Whether what stands behind a no is a clause of its own behind a stop."""
    return bool(rest) and bool(spoken.after[rest[0] - 1]) and rest[0] > 0


def _line(spoken: Words, template: str, groups: Mapping[str, str], answer: list[int]) -> Words:
    front, _, back = template.partition("{A}")
    return written_line(
        spoken, front.format(**groups).split(), answer, back.format(**groups).split()
    )
