"""Speech acts: statement, question, directive, standing instruction, remember, forget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from bmo.gate.from_now_on import tells_of_others
from bmo.gate.pack_tables import read_table
from bmo.language import Clause, LanguageCode, Words
from bmo.language.lexicon import Phrases, match_phrase, phrase_table

SpeechAct = Literal["statement", "question", "directive", "instruction", "remember", "forget"]
"""What a clause does. An ``instruction`` is a standing one ("always", "from now on")."""


@dataclass(frozen=True, slots=True)
class SpeechActLexicon:
    """Phrases that open the speech acts of a language, from ``speech_acts.toml``.

    Attributes:
        questions: Openers of questions ("what", "do you", "is there").
        not_questions: Openers that look like one and are none ("when i").
        directives: Imperative verbs and request frames ("play", "can you", "i need you to").
        instructions: Openers of standing instructions ("from now on", "never call").
        not_directives: Openers that look like a request and state a goal ("i am trying to quit").
        remember: Openers of a request to remember ("remember that").
        forget: Openers of a request to forget ("forget that", "delete everything").
        polite: Words before an imperative ("please", "just", "now").
        inverted: Auxiliaries that, before a pronoun, ask.
        pronouns: Subjects an inverted auxiliary asks about.
        endings: Last word -> phrases that, at the end of a statement, make it a question.
        agreements: Clauses with such an ending that ask nothing ("quite right").
        openers: Every first word of the above; a clause that begins otherwise is a statement.
        inside: Phrases that make a statement a question wherever they stand ("habite où").
        manner_verbs: Verbs whose instruction may end with the opener ("speak slowly").
        compounds: Words that make a noun of the imperative before them ("pick up", "start date").
        opened: First word -> the tables with a phrase of this word alone, and second word -> the
            tables with a phrase of these two or more.
    """

    questions: Phrases
    not_questions: Phrases
    directives: Phrases
    instructions: Phrases
    not_directives: Phrases
    remember: Phrases
    forget: Phrases
    polite: frozenset[str]
    inverted: frozenset[str]
    pronouns: frozenset[str]
    inside: Phrases
    manner_verbs: frozenset[str]
    compounds: frozenset[str]
    endings: dict[str, tuple[tuple[str, ...], ...]]
    agreements: frozenset[tuple[str, ...]]
    openers: frozenset[str]
    opened: dict[str, tuple[int, dict[str, int]]]


_QUESTIONS, _NOT_QUESTIONS, _DIRECTIVES, _INSTRUCTIONS, _REMEMBER, _FORGET = (1, 2, 4, 8, 16, 32)
"""Tables of ``SpeechActLexicon``, added up in ``opened``."""
_TABLES = {
    "questions": _QUESTIONS,
    "not_questions": _NOT_QUESTIONS,
    "directives": _DIRECTIVES,
    "instructions": _INSTRUCTIONS,
    "remember": _REMEMBER,
    "forget": _FORGET,
}


def _opened(tables: dict[str, Phrases]) -> dict[str, tuple[int, dict[str, int]]]:
    """Which tables may have a phrase that begins with two words: most have none."""
    found: dict[str, tuple[int, dict[str, int]]] = {}
    for word in set().union(*(tables[name] for name in _TABLES)):
        alone, more = 0, dict[str, int]()
        for name, bit in _TABLES.items():
            phrases, seconds = tables[name].get(word, (frozenset(), {}))
            alone |= bit if (word,) in phrases else 0
            for second in seconds:
                more[second] = more.get(second, 0) | bit
        found[word] = alone, {second: alone | bits for second, bits in more.items()}
    return found


@cache
def speech_act_lexicon(language: LanguageCode) -> SpeechActLexicon:
    """The speech act phrases of ``language``; empty where the pack has none."""
    raw = read_table(language, "speech_acts.toml")
    tables = {
        name: phrase_table(raw.get(name, []))
        for name in (
            "questions",
            "not_questions",
            "directives",
            "instructions",
            "not_directives",
            "remember",
            "forget",
        )
    }
    inverted = frozenset(raw.get("inverted", []))
    return SpeechActLexicon(
        **tables,
        polite=frozenset(raw.get("polite", [])),
        inverted=inverted,
        pronouns=frozenset(raw.get("pronouns", [])),
        inside=phrase_table(raw.get("inside", [])),
        manner_verbs=frozenset(raw.get("manner_verbs", [])),
        compounds=frozenset(raw.get("compounds", [])),
        endings=_by_last_word(raw.get("question_endings", [])),
        agreements=frozenset(tuple(phrase.split()) for phrase in raw.get("agreements", [])),
        openers=inverted.union(*(table.keys() for table in tables.values())),
        opened=_opened(tables),
    )


_NO_TABLE: tuple[int, dict[str, int]] = (0, {})
_DENIALS = frozenset({"no", "nope", "nah"})


def _by_last_word(phrases: list[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    table: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        table[words[-1]] = (*table.get(words[-1], ()), words)
    return table


def speech_act(words: Words, clause: Clause, language: LanguageCode) -> tuple[SpeechAct, int]:
    """What a clause does, and the index of the first word behind the phrase that says so.

    A statement begins behind a "from now on" that is no order.

    Args:
        words: The turn's repaired words.
        clause: One of its clauses.
        language: Whose phrases apply.
    """
    lexicon = speech_act_lexicon(language)
    norm = words.norm
    start, end, _, _, _, closed_by = clause
    if closed_by and "?" in closed_by:
        return "question", start
    if lexicon.inside and any(match_phrase(lexicon.inside, norm, k) for k in range(start, end)):
        return "question", start
    i = start
    while i < end - 1 and norm[i] in lexicon.polite:
        i += 1
    if norm[i] in _DENIALS and i + 2 < end:
        after = i + 1
        while after < end - 1 and norm[after] in lexicon.polite:
            after += 1
        if match_phrase(lexicon.forget, norm, after):
            i = after  # "no just delete everything about devon"
    word = norm[i]
    if word not in lexicon.openers:
        for ending in lexicon.endings.get(norm[end - 1], ()):
            if _asks_at_end(norm, start, end, ending, lexicon.agreements):
                return "question", start
        return "statement", start
    alone, more = lexicon.opened.get(word, _NO_TABLE)
    may = more.get(norm[i + 1], alone) if i + 1 < len(norm) else alone
    size = match_phrase(lexicon.instructions, norm, i) if may & _INSTRUCTIONS else 0
    if size and (i + size < end or (size > 1 and norm[i] in lexicon.manner_verbs)):
        if tells_of_others(norm[i + size : end], tuple(norm[i : i + size]), language):
            return "statement", i + size
        return "instruction", i + size
    size = match_phrase(lexicon.forget, norm, i) if may & _FORGET else 0
    if size and i + size <= end:
        return "forget", i + size
    size = match_phrase(lexicon.remember, norm, i) if may & _REMEMBER else 0
    if size and i + size < end:
        return "remember", i + size
    if not (may & _NOT_QUESTIONS and match_phrase(lexicon.not_questions, norm, i)):
        if may & _QUESTIONS and match_phrase(lexicon.questions, norm, i):
            return "question", i
        if norm[i] in lexicon.inverted and i + 1 < end and norm[i + 1] in lexicon.pronouns:
            return "question", i
    size = match_phrase(lexicon.directives, norm, i) if may & _DIRECTIVES else 0
    if (
        size
        and i + size <= end
        and not match_phrase(lexicon.not_directives, norm, i)
        and not (lexicon.compounds and _names_thing(norm, i, end, lexicon))
    ):
        return "directive", i + size
    for ending in lexicon.endings.get(norm[end - 1], ()):
        if _asks_at_end(norm, start, end, ending, lexicon.agreements):
            return "question", start
    return "statement", start


def _names_thing(norm: list[str], at: int, end: int, lexicon: SpeechActLexicon) -> bool:
    """Whether a verb and the word behind it are a noun that is said to be something.

    "pick up is at three", "start date was monday", "drop off at nursery is eight".
    """
    if at + 4 > end or norm[at + 1] not in lexicon.compounds:
        return False
    last = at + 2
    if norm[last] in _OF_THING:
        last = next((k for k in range(last + 2, min(last + 5, end)) if norm[k] in _COPULAS), last)
    return (
        norm[last] in _COPULAS
        and last + 1 < end
        and norm[last + 1] not in lexicon.pronouns
        and norm[last + 1] not in _COPULAS
    )


_COPULAS = frozenset("is are was were".split())
_OF_THING = frozenset("at for from on".split())


def _asks_at_end(
    norm: list[str],
    start: int,
    end: int,
    ending: tuple[str, ...],
    agreements: frozenset[tuple[str, ...]],
) -> bool:
    if end - start <= len(ending) or tuple(norm[end - len(ending) : end]) != ending:
        return False
    return tuple(norm[start:end]) not in agreements
