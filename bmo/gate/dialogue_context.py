"""Dialogue context: a short answer is read as a full clause with the assistant's question.

"What is your name?" "glenn" becomes "my name is glenn", "do you drive?" "nope" becomes "i do not
drive"; then the same rules read it. The questions are data (``packs/<language>/dialogue.toml``);
yes and no are settled by turning the question into a statement.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bmo.gate.answer_frames import answer_frame, counted_line, general_frame, none_line
from bmo.gate.answer_lines import MAX_ANSWER, OWN_CLAUSES, Answer, filled, flipped, written_line
from bmo.gate.answer_rest import adverbial_answer, affirmed_with, corrected
from bmo.gate.asked_question import LIKING, is_preposition, read_question
from bmo.gate.choice_answers import chosen
from bmo.gate.dialogue_questions import DialogueLexicon, denied, dialogue_lexicon, questions
from bmo.gate.discourse import Discourse
from bmo.gate.own_clause import is_own_clause
from bmo.gate.tag_questions import meant_by
from bmo.gate.yes_no_answers import (
    introduce_asked,
    says_something_else,
    settled_by,
    yes_or_no,
    yes_that_says_which,
)
from bmo.language import Clause, LanguageCode, Words
from bmo.language.lexicon import match_phrase


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
    norm = spoken.norm
    polarity, behind = yes_or_no(norm, 0, len(norm), lexicon)
    if polarity and not (language == "en" and says_something_else(asked[0], spoken, behind)):
        if language != "en":
            return None
        polarity = meant_by(polarity, spoken, behind, denied(assistant_before, language))
        if not polarity:
            return None
        introduce_asked(asked[0], discourse)
        return _yes_or_no(asked, polarity, spoken, behind, clauses, lexicon)
    if not clauses or _asks_either(asked[0]):
        return None
    cut = _own_clause_inside(norm, clauses[0]) if language == "en" else 0
    if not cut:
        return _phrase_answer(asked, spoken, clauses, lexicon, language)
    front = [clauses[0]._replace(end=cut), *clauses[1:]]
    phrase = _phrase_answer(asked, spoken, front, lexicon, language)
    if phrase is None or phrase.settled:
        return None
    own = spoken.select(list(range(cut, clauses[0].end)))
    return Answer((phrase.readings[0], own), 1, all=True)


def _yes_or_no(
    asked: tuple[tuple[str, ...], ...],
    polarity: str,
    spoken: Words,
    behind: int,
    clauses: list[Clause],
    lexicon: DialogueLexicon,
) -> Answer | None:
    """What a yes or no says, and what stands behind it."""
    question, norm = asked[0], spoken.norm
    if polarity == "no" and question[:2] == ("how", "many") and clauses:
        none = _known_question(asked, lexicon, spoken, 0, clauses)
        return none[0] if none is not None else None
    choice = chosen(question, spoken, behind, clauses) or chosen(question, spoken, 0, clauses)
    if choice is not None:
        return choice
    named = not _ASKS_NAME.isdisjoint(question) and norm[behind : behind + 1] != []
    if named and norm[behind] in _NAMES_ANEW:
        return None  # "is your son called tim?" "no, his name is tom"
    if polarity == "yes":
        more = (
            yes_that_says_which(question, spoken, behind, clauses)
            or affirmed_with(question, spoken, behind, clauses)
            or _yes_with_value(asked, spoken, behind, clauses, lexicon)
        )
    else:
        more = corrected(question, spoken, behind, clauses)
    return more or settled_by(question, polarity, behind, spoken, clauses)


def _yes_with_value(
    asked: tuple[tuple[str, ...], ...],
    spoken: Words,
    behind: int,
    clauses: list[Clause],
    lexicon: DialogueLexicon,
) -> Answer | None:
    """A yes and what the question asks for: "do you take any medication?" "yes warfarin"."""
    place = next((i for i, clause in enumerate(clauses) if clause.start <= behind < clause.end), -1)
    if place < 0 or clauses[place].end - behind > _LONGEST_VALUE:
        return None
    first = spoken.norm[behind]
    if first in OWN_CLAUSES or first in _NO_VALUE or asked[0][0] not in _OPENS_YES_NO:
        return None
    known = _known_question(asked[:1], lexicon, spoken, behind, clauses[place:])
    if known is None or known[0] is None:
        return None
    return replace(known[0], used=place + known[0].used)


_LONGEST_VALUE = 6
_NO_VALUE = frozenset(
    "but and because so if when not a lot lots loads several many some one".split()
)
_OPENS_YES_NO = frozenset("do does are is have has can did".split())


def _asks_either(question: tuple[str, ...]) -> bool:
    """Whether it asks one thing or another: "do you have a car, or do you take the bus?"."""
    return any(first == "or" and then in _OPENS_YES_NO for first, then in pairwise(question))


def _own_clause_inside(norm: list[str], clause: Clause) -> int:
    """Index of "i am ..." behind a phrase that answers ("leeds | i am a nurse"), or 0."""
    if norm[clause.start] in OWN_CLAUSES or norm[clause.start] in _LEADS_CLAUSE:
        return 0
    last = min(clause.end - 2, clause.start + _LONGEST_PHRASE)
    for at in range(clause.start + 1, last):
        if norm[at] in ("i", "we") and norm[at + 1] in _STATES:
            return at
    return 0


_LEADS_CLAUSE = frozenset("when where since because if that what who how as like than".split())
_STATES = frozenset("am are have work live".split())
_LONGEST_PHRASE = 4


def _phrase_answer(
    asked: tuple[tuple[str, ...], ...],
    spoken: Words,
    clauses: list[Clause],
    lexicon: DialogueLexicon,
    language: LanguageCode,
) -> Answer | None:
    """An answer without a yes or no: the phrase that fills the question's gap."""
    norm = spoken.norm
    if language == "en":
        short = chosen(asked[0], spoken, 0, clauses) or adverbial_answer(asked[0], spoken, clauses)
        if short is not None:
            return short
    felt = _felt(asked[0], spoken, clauses[0]) if language == "en" else None
    if felt is not None:
        return felt
    start, end = clauses[0].start, clauses[0].end
    if asked[0][:2] == ("how", "many") and norm[start : start + 2] == ["i", "have"]:
        start += 3 if norm[start + 2 : start + 3] == ["got"] else 2
        if start >= end:
            return None
    if asked[0][0] == "where" and _is_so(norm, start, end):
        return None  # "where do your parents live?", "they are dead"
    if norm[start] in OWN_CLAUSES or (language == "en" and is_own_clause(norm[start:end])):
        return None
    begin = _behind_fillers(norm, start, end, lexicon)
    if begin == start and norm[begin - 1 : begin] == ["since"]:
        begin -= 1  # "how long have you been a nurse?": no reason
    if end - begin > MAX_ANSWER or (language == "en" and _denies(norm[begin:end])):
        return None
    known = _known_question(asked, lexicon, spoken, begin, clauses)
    if known is not None:
        return known[0]
    body = list(range(begin, end))
    general = general_frame(asked[0])
    if general is not None:
        return Answer((written_line(spoken, general, body),), 1)
    counted = counted_line(asked[0], spoken, begin, end)
    if counted is not None:
        return Answer((counted,), 1)
    if language == "en":
        if begin > start and is_preposition(norm[begin - 1]):
            begin -= 1  # "at university": the frame needs to know that it has one
        frame = answer_frame(asked[0], norm[begin], end - begin)
        if frame is not None:
            return Answer((written_line(spoken, frame[0], list(range(begin, end)), frame[1]),), 1)
    return None


def _is_so(norm: list[str], start: int, end: int) -> bool:
    """Whether a clause says how somebody is, and not where: "they are dead"."""
    if norm[start] not in ("he", "she", "they", "it") or norm[start + 1 : start + 2] == []:
        return False
    return norm[start + 1] in ("is", "are") and not (
        start + 2 < end and is_preposition(norm[start + 2])
    )


def _denies(norm: list[str]) -> bool:
    """Whether an answer says that there is none: "(i) don't have one", "had one but she died"."""
    return norm[:2] in (["do", "not"], ["did", "not"], ["can", "not"]) or norm[0] == "had"


_ASKS_NAME = frozenset({"name", "called", "named"})
_NAMES_ANEW = frozenset({"his", "her", "its", "my", "he", "she", "i", "they", "their"})


def _behind_fillers(norm: list[str], begin: int, end: int, lexicon: DialogueLexicon) -> int:
    """Index of the answer's first word that counts ("well i think | postgres")."""
    while begin < end - 1:
        size = match_phrase(lexicon.strip, norm, begin)
        if not size or begin + size >= end:
            break
        begin += size
    return begin


def _known_question(
    asked: tuple[tuple[str, ...], ...],
    lexicon: DialogueLexicon,
    spoken: Words,
    begin: int,
    clauses: list[Clause],
) -> tuple[Answer | None] | None:
    """The answer to a question of ``dialogue.toml`` (None within: no answer); None: not known."""
    body = list(range(begin, clauses[0].end))
    for question in asked:
        text = " ".join(question)
        for rule in lexicon.questions:
            match = rule.pattern.search(text)
            if match is None:
                continue
            groups = {k: flipped(v or "") for k, v in match.groupdict().items()}
            if rule.choice and "x" in groups:
                groups["x"] = groups["x"].split(" ")[0]
            whole = rule.answers.get(" ".join(spoken.norm[clauses[0].start : clauses[0].end]))
            if whole is not None:
                stated = written_line(spoken, whole.split(), [])
                return (Answer((stated,), 1, settled=True, asked=whole),)
            if rule.counted:
                return (_counted(spoken, begin, clauses[0].end, groups["x"]),)
            if not rule.each:
                return (Answer((filled(spoken, rule.clause, groups, body),), 1),)
            parts = [[i] for i in range(begin, len(spoken.norm)) if _is_language(spoken.norm[i])]
            readings = tuple(filled(spoken, rule.clause, groups, part) for part in parts)
            return (Answer(readings, len(clauses), True) if readings else None,)
    return None


def _counted(spoken: Words, begin: int, end: int, noun: str) -> Answer | None:
    """How many of something the user has: "two", "three boys", "none"."""
    counted = counted_line(("do", "you", "have", *noun.split()), spoken, begin, end)
    line = counted or none_line(spoken, begin, end, noun)
    return Answer((line,), 1) if line is not None else None


def _felt(question: tuple[str, ...], spoken: Words, clause: Clause) -> Answer | None:
    """Reads "(i) love it" with "do you like spicy food": what "it" is stands in the question."""
    said = list(range(clause.start, clause.end))
    if said and spoken.norm[said[0]] in ("i", "we"):
        said = said[1:]
    said = [i for i in said if spoken.norm[i] not in ("really", "absolutely", "just")]
    norms = [spoken.norm[i] for i in said]
    if not 2 <= len(norms) <= 4 or norms[-1] not in ("it", "them", "that", "those"):
        return None
    asked = read_question(question)
    if norms[-2] not in LIKING or asked is None or asked.word or asked.subject or not asked.tail:
        return None
    thing = [flipped(word) for word in asked.tail]
    return Answer((written_line(spoken, ["i"], said[:-1], thing),), 1)


def _is_language(word: str) -> bool:
    from bmo.gate.packs import load_pack

    return (word,) in load_pack("en").lexicons.get("languages", frozenset())
