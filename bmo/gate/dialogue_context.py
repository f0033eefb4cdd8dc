"""Dialogue context: a short answer is read as a full clause with the assistant's question.

"What is your name?" "glenn" becomes "my name is glenn", "do you drive?" "nope" becomes "i do not
drive"; then the same rules read it. The questions are data (``packs/<language>/dialogue.toml``);
yes and no are settled by turning the question into a statement.
"""

from __future__ import annotations

from bmo.gate.answer_frames import answer_frame, counted_line, general_frame
from bmo.gate.answer_lines import MAX_ANSWER, OWN_CLAUSES, Answer, filled, flipped, written_line
from bmo.gate.asked_question import LIKING, is_preposition, read_question
from bmo.gate.dialogue_questions import DialogueLexicon, dialogue_lexicon, questions
from bmo.gate.discourse import Discourse
from bmo.gate.own_clause import is_own_clause
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
        if polarity == "yes":
            introduce_asked(asked[0], discourse)
            which = yes_that_says_which(asked[0], spoken, behind, clauses)
            if which is not None:
                return which
        return settled_by(asked[0], polarity, behind, spoken, clauses)
    if not clauses:
        return None
    felt = _felt(asked[0], spoken, clauses[0]) if language == "en" else None
    if felt is not None:
        return felt
    start, end = clauses[0].start, clauses[0].end
    if norm[start] in OWN_CLAUSES or (language == "en" and is_own_clause(norm[start:end])):
        return None
    begin = _behind_fillers(norm, start, end, lexicon)
    if end - begin > MAX_ANSWER:
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
            if not rule.each:
                return (Answer((filled(spoken, rule.clause, groups, body),), 1),)
            parts = [[i] for i in range(begin, len(spoken.norm)) if _is_language(spoken.norm[i])]
            readings = tuple(filled(spoken, rule.clause, groups, part) for part in parts)
            return (Answer(readings, len(clauses), True) if readings else None,)
    return None


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
