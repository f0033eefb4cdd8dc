"""Dialogue context: a short answer is read as a full clause with the assistant's question.

"What is your name?" "glenn" becomes "my name is glenn", "do you drive?" "nope" becomes "i do not
drive"; then the same rules read it. The questions are data (``packs/<language>/dialogue.toml``);
yes and no are settled by turning the question into a statement.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from bmo.gate.discourse import Discourse
from bmo.gate.people import PeopleLexicon
from bmo.language import Clause, LanguageCode, Words, words
from bmo.language.lexicon import Phrases, match_phrase, phrase_table

_SENTENCE = re.compile(r"[^.!?\n]*\?")
_MAX_ANSWER = 14


@dataclass(frozen=True, slots=True)
class QuestionRule:
    """A question and the clause its answer stands for."""

    pattern: re.Pattern[str]
    clause: str
    each: str
    choice: bool


@dataclass(frozen=True, slots=True)
class DialogueLexicon:
    """``dialogue.toml`` of a language."""

    questions: tuple[QuestionRule, ...]
    yes: Phrases
    no: Phrases
    strip: Phrases


@lru_cache(maxsize=8)
def dialogue_lexicon(language: LanguageCode) -> DialogueLexicon:
    """The questions and answers of ``language``; empty where the pack has none."""
    source = resources.files("bmo.gate") / "packs" / language / "dialogue.toml"
    raw = tomllib.loads(source.read_text("utf-8")) if source.is_file() else {}
    return DialogueLexicon(
        tuple(
            QuestionRule(
                re.compile(item["pattern"]),
                item["clause"],
                item.get("each", ""),
                item.get("first_word_of_choice", False),
            )
            for item in raw.get("question", [])
        ),
        phrase_table(raw.get("yes", [])),
        phrase_table(raw.get("no", [])),
        phrase_table(raw.get("strip", [])),
    )


@lru_cache(maxsize=256)
def questions(assistant_before: str, language: LanguageCode) -> tuple[tuple[str, ...], ...]:
    """The assistant's questions in normal form, last first."""
    found = []
    for sentence in _SENTENCE.findall(assistant_before[-600:]):
        norm = words(sentence, language).norm
        while norm and norm[0] in ("and", "so", "but", "oh", "well", "okay", "now", "then", "also"):
            norm = norm[1:]
        while len(norm) > 2 and norm[-1] in ("then", "now", "already", "too"):
            norm = norm[:-1]
        for tail in (
            ("by", "the", "way"),
            ("if", "i", "may", "ask"),
            ("in", "the", "end"),
            ("as", "well"),
            ("at", "all"),
            ("there",),
        ):
            if tuple(norm[-len(tail) :]) == tail and len(norm) > len(tail) + 2:
                norm = norm[: -len(tail)]
        if norm:
            found.append(tuple(norm))
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Answer:
    """A turn, or its beginning, read as an answer.

    Attributes:
        readings: Full clauses to read in turn; the first that gives a fact counts, unless ``all``.
        used: How many of the turn's clauses they stand for.
        all: All readings count ("i speak polish", "i speak english").
        settled: A yes or no settled the question: only rules of narrow constructions count.
    """

    readings: tuple[Words, ...]
    used: int
    all: bool = False
    settled: bool = False


def answer_clauses(
    spoken: Words,
    clauses: list[Clause],
    assistant_before: str,
    discourse: Discourse,
    language: LanguageCode,
) -> Answer | None:
    """Rewrites an answer to the assistant's question as full clauses.

    Args:
        spoken: The turn's repaired words.
        clauses: Its clauses.
        assistant_before: The assistant's words before the turn.
        discourse: Who was spoken of; a "yes" introduces what the question asked about.
        language: Whose questions apply.

    Returns:
        None when the turn is no answer that could be rewritten.
    """
    lexicon = dialogue_lexicon(language)
    asked = questions(assistant_before, language)
    if not asked:
        return None
    start, end = 0, clauses[0].end
    polarity, behind = _polarity(spoken.norm, start, len(spoken.norm), lexicon)
    if polarity:
        if language != "en":
            return None
        if polarity == "yes":
            _introduce(asked[0], discourse)
        statement = _statement(asked[0], polarity, spoken.norm[0:behind])
        if statement is None:
            return None
        rest = clauses[0].end - max(behind, clauses[0].start)
        used = 1 if rest <= 2 else 0
        if behind > clauses[0].end:
            used = sum(1 for c in clauses if c.end <= behind)
        return Answer(tuple(_line(spoken, s.split(), []) for s in statement), used, settled=True)
    if spoken.norm[clauses[0].start] in (
        "i",
        "we",
        "my",
        "our",
        "he",
        "she",
        "you",
        "can",
        "what",
        "play",
        "set",
    ):
        return None
    begin = clauses[0].start
    while begin < end - 1:
        size = match_phrase(lexicon.strip, spoken.norm, begin)
        if not size or begin + size >= end:
            break
        begin += size
    if end - begin > _MAX_ANSWER:
        return None
    body = list(range(begin, end))
    for question in asked:
        text = " ".join(question)
        for rule in lexicon.questions:
            match = rule.pattern.search(text)
            if match is None:
                continue
            groups = {k: _flip(v or "") for k, v in match.groupdict().items()}
            if rule.choice and "x" in groups:
                groups["x"] = groups["x"].split(" ")[0]
            if rule.each:
                everything = list(range(begin, len(spoken.norm)))
                parts = [[i] for i in everything if _is_language(spoken.norm[i])]
                readings = tuple(_fill(spoken, rule.clause, groups, part) for part in parts)
                return Answer(readings, len(clauses), True) if readings else None
            return Answer((_fill(spoken, rule.clause, groups, body),), 1)
    general = _general(asked[0])
    if general is not None:
        return Answer((_line(spoken, general, body),), 1)
    counted = _counted(asked[0], spoken, begin, end)
    if counted is not None:
        return Answer((counted,), 1)
    return None


def _polarity(norm: list[str], start: int, end: int, lexicon: DialogueLexicon) -> tuple[str, int]:
    """("yes" or "no", index behind it) for an answer that opens with one, else ("", 0)."""
    i = start
    found = ""
    while i < end:
        yes = match_phrase(lexicon.yes, norm, i)
        no = match_phrase(lexicon.no, norm, i)
        if no and no >= yes:
            found = found or "no"
            i += no
        elif yes:
            found = found or "yes"
            i += yes
        else:
            break
    if found == "no" and i < end and norm[i] == "learned":
        i += 1
    return found, i


_AUX = frozenset({"do", "does", "did", "are", "is", "have", "has", "can", "were", "was", "will"})
_SUBJECTS = frozenset({"you", "he", "she", "they", "it"})
_FLIP = {
    "you": "i",
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "my": "your",
    "i": "you",
    "are": "am",
}


def _flip(text: str) -> str:
    return " ".join(
        {"you": "i", "your": "my", "yours": "mine", "yourself": "myself"}.get(w, w)
        for w in text.split()
    )


def _statement(question: tuple[str, ...], polarity: str, said: list[str]) -> list[str] | None:
    """Reads "do you drive" + no -> ["i do not drive"]; None when it is no yes-no question."""
    q = list(question)
    while q and q[0] not in _AUX:
        if q[0] in ("would",):
            return None
        q = (
            q[1:]
            if len(q) > 3
            and q[0]
            not in (
                "what",
                "which",
                "who",
                "where",
                "how",
                "when",
                "why",
                "would",
                "should",
                "shall",
                "could",
            )
            else []
        )
    if len(q) < 3 or q[0] not in _AUX:
        return None
    aux, subject, rest = q[0], q[1], q[2:]
    take = [subject]
    if subject in ("your", "the"):
        take, rest = ["my" if subject == "your" else subject, q[2]], q[3:]
    elif subject not in _SUBJECTS and subject in (
        "there",
        "that",
        "this",
        "anyone",
        "anything",
        "any",
        "everyone",
    ):
        return None
    if not rest:
        return None
    rest = [_FLIP.get(w, w) if w in ("you", "your", "yours", "yourself") else w for w in rest]
    habit = (
        ["always"]
        if "always" in said
        else (["never"] if "never" in said and len(said) == 1 else [])
    )
    results = []
    for who in (["i"], ["we"]) if take == ["you"] else (take,):
        if aux in ("do", "does", "did"):
            verb = rest if aux != "does" else [*rest]
            negation = ["do", "not"] if polarity == "no" and not habit else []
            results.append(" ".join([*who, *habit, *negation, *verb]))
        else:
            form = {"are": "am" if who == ["i"] else "are"}.get(aux, aux)
            negation = ["not"] if polarity == "no" else []
            results.append(" ".join([*who, form, *negation, *habit, *rest]))
    return results


def _introduce(question: tuple[str, ...], discourse: Discourse) -> None:
    """A pet or person the question asked about can be "he" in the answer."""
    norm = list(question)
    people: PeopleLexicon = discourse.lexicon
    for i, word in enumerate(norm[:-1]):
        if word in ("a", "an", "your", "the"):
            found = people.relation_at(norm, i + 1, len(norm))
            if found is not None:
                discourse.introduce(found[0])


def _general(question: tuple[str, ...]) -> list[str] | None:
    """Reads "what do you like to look at" as "i like to look at", and the answer follows."""
    q = list(question)
    if q[0] not in ("what", "which", "where", "who", "how"):
        return None
    for i in range(1, min(len(q) - 2, 7)):
        if q[i] in ("do", "does", "did") and (q[i + 1] in _SUBJECTS or q[i + 1] == "your"):
            subject = {"you": ["i"]}.get(q[i + 1], [q[i + 1]])
            rest = q[i + 2 :]
            if q[i + 1] == "your":
                subject, rest = ["my", q[i + 2]], q[i + 3 :]
            if not rest or q[0] == "how":
                return None
            rest = [_flip(w) for w in rest]
            if q[0] == "where" and rest[-1] not in ("in", "at", "to", "from", "with"):
                rest.append("at" if rest[0] == "work" else "in" if rest[0] == "live" else "with")
            return [*subject, *rest]
    return None


def _counted(question: tuple[str, ...], spoken: Words, begin: int, end: int) -> Words | None:
    """Reads "do you have kids", "two" as "i have two kids"; "pets", "a cat" as "i have a cat"."""
    q = list(question)
    if (
        q[:3] in (["do", "you", "have"], ["have", "you", "got"], ["do", "you", "own"])
        and len(q) > 3
    ):
        noun = [w for w in q[3:] if w not in ("any", "a", "an", "some", "got")]
        answer = spoken.norm[begin:end]
        numbers = {
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "1",
            "2",
            "3",
            "4",
            "5",
            "6",
        }
        if answer[0] in numbers and len(answer) == 1:
            return _line(spoken, ["i", "have"], list(range(begin, end)), noun)
        if answer[0] in ("a", "an", "my", *numbers):
            return _line(spoken, ["i", "have"], list(range(begin, end)))
    return None


def _is_language(word: str) -> bool:
    from bmo.gate.packs import load_pack

    return (word,) in load_pack("en").lexicons.get("languages", frozenset())


def _fill(spoken: Words, template: str, groups: dict[str, str], answer: list[int]) -> Words:
    front, _, back = template.partition("{A}")
    return _line(spoken, front.format(**groups).split(), answer, back.format(**groups).split())


def _line(
    spoken: Words, front: list[str], answer: list[int], back: list[str] | None = None
) -> Words:
    """Words of a clause written in around the answer's own words."""
    at = spoken.start[answer[0]] if answer else spoken.start[0]
    last = spoken.end[answer[-1]] if answer else spoken.end[-1]
    back = back or []
    return Words(
        spoken.text,
        [*front, *(spoken.norm[i] for i in answer), *back],
        [*([at] * len(front)), *(spoken.start[i] for i in answer), *([last] * len(back))],
        [*([at] * len(front)), *(spoken.end[i] for i in answer), *([last] * len(back))],
        [*([""] * len(front)), *(spoken.after[i] for i in answer), *([""] * len(back))],
    )
