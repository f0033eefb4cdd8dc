"""What an answer tells behind its yes or no, or instead of them.

"Do you work?" "yes at a bank" is "i work at a bank", "every sunday" to "do you go to church?" says
yes and how often, "no, york now" to "are you still living in leeds?" says where instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bmo.gate.answer_lines import OWN_CLAUSES, Answer, written_line
from bmo.gate.asked_question import is_preposition
from bmo.gate.value_kinds import calendar_kind
from bmo.gate.word_tables import word_table
from bmo.gate.yes_no_answers import statement_of
from bmo.language import Clause, Words, past_lemma
from bmo.language.times import NUMBER_WORDS


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``answer_rest.toml``; what each is for stands there beside its words."""

    hedges: frozenset[str]
    often: frozenset[str]
    how_well: frozenset[str]
    periods: frozenset[str]
    long_periods: frozenset[str]
    when: frozenset[str]
    of_time: frozenset[str]
    says_nothing: frozenset[str]
    said_after: frozenset[str]
    whereabouts: frozenset[str]
    called: frozenset[str]
    no_values: frozenset[str]
    now: frozenset[str]


_words = word_table(_Words, "answer_rest.toml")

_SUBJECTS = frozenset({"i", "we", "he", "she", "they"})
_MOST = 8
_FEW = 4


def affirmed_with(
    question: tuple[str, ...], spoken: Words, behind: int, clauses: list[Clause]
) -> Answer | None:
    """A yes with where, when, how often or with whom: "do you work?" "yes at a bank".

    Args:
        question: The assistant's question.
        spoken: The turn's repaired words.
        behind: Index behind the words that say yes.
        clauses: The turn's clauses.
    """
    rest, used = _rest(spoken, behind, clauses)
    words = [spoken.norm[i] for i in rest]
    if not words or "or" in question or not (_is_placed(words) or is_adverbial(words)):
        return None
    return _stated(question, spoken, rest, used)


def adverbial_answer(
    question: tuple[str, ...], spoken: Words, clauses: list[Clause]
) -> Answer | None:
    """An answer that says how often, since when or how well, and so yes (or "not since ...").

    Args:
        question: The assistant's question.
        spoken: The turn's repaired words.
        clauses: The turn's clauses.
    """
    if spoken.norm in (["i", "used", "to"], ["i", "used", "to", "be"]):
        return _formerly(question, spoken, len(clauses))
    rest, used = _rest(spoken, 0, clauses)
    words = [spoken.norm[i] for i in rest]
    denies = words[:1] == ["not"] and len(words) > 1
    if "or" in question or not is_adverbial(words[1:] if denies else words):
        return None
    return _stated(question, spoken, rest[1:] if denies else rest, used, denies=denies)


def _formerly(question: tuple[str, ...], spoken: Words, used: int) -> Answer | None:
    """Reads "did you play football?", "i used to" as "i used to play football"."""
    if question[1:2] != ("you",) or "or" in question:
        return None
    rest = [word for word in question[2:] if word not in ("ever", "still", "any")]
    if question[0] == "are":
        rest = ["be", *rest]
    elif question[0] not in ("do", "did") or not rest:
        return None
    line = written_line(spoken, ["i", "used", "to", *rest], [])
    return Answer((line,), used, settled=True, asked=" ".join(line.norm))


def _stated(
    question: tuple[str, ...],
    spoken: Words,
    rest: list[int],
    used: int,
    *,
    denies: bool = False,
) -> Answer | None:
    lines = statement_of(question, "no" if denies else "yes", [])
    if lines is None:
        return None
    words = [spoken.norm[i] for i in rest]
    for_long = _is_number(words[0]) and words[1:] and words[-1] in _words().long_periods
    for_long = for_long and "a" not in words
    written = [
        written_line(spoken, [*line.split(), *(["for"] if for_long else [])], rest)
        for line in lines
    ]
    return Answer(tuple(written), used, settled=True, asked=" ".join(written[0].norm))


def is_adverbial(words: Sequence[str]) -> bool:
    """Whether words say when, how often, how well, and nothing else."""
    lists = _words()
    at = 0
    while at < len(words) and words[at] in lists.hedges:
        at += 1
    said = list(words[at:])
    if not said or len(said) > _MOST:
        return False
    first = said[0]
    whole = " ".join(said)
    if first in lists.often or whole in lists.how_well:
        return True
    if len(said) > 1 and said[-2] in ("a", "per", "every") and said[-1] in lists.periods:
        return True
    if first == "since":  # "since my husband died" tells more
        return 1 < len(said) <= _FEW and _SUBJECTS.isdisjoint(said) and not past_lemma(said[-1])
    if first == "for":
        return len(said) > 1 and (said[1].endswith("ing") or said[-1] in lists.periods)
    if len(said) > 1 and first in lists.when:
        return not lists.of_time.isdisjoint(said) or calendar_kind(said[-1:]) != ""
    return False


def _is_placed(words: Sequence[str]) -> bool:
    """Whether words are a place, a company or a time behind a preposition."""
    lists = _words()
    at = 1 if words[0] in lists.hedges and len(words) > 1 else 0
    if " ".join(words[at:]) in lists.says_nothing or len(words) > _MOST:
        return False
    counted = _is_number(words[0]) and words[-1] in lists.long_periods
    return counted or (is_preposition(words[at]) and len(words) > at + 1)


def _is_number(word: str) -> bool:
    return word.isdigit() or word in NUMBER_WORDS


def _rest(spoken: Words, behind: int, clauses: list[Clause]) -> tuple[list[int], int]:
    """Indices of what an answer says from ``behind`` on in its clause, and clauses it takes."""
    place = next((i for i, clause in enumerate(clauses) if clause.end > behind), -1)
    if place < 0:
        return [], 0
    rest = list(range(behind, clauses[place].end))
    lists = _words()
    while rest and spoken.norm[rest[-1]] in lists.said_after:
        rest.pop()
    if rest and spoken.norm[rest[0]] in OWN_CLAUSES:
        return [], 0
    return rest, place + 1


def corrected(
    question: tuple[str, ...], spoken: Words, behind: int, clauses: list[Clause]
) -> Answer | None:
    """What is so instead, behind a no: "are you still living in leeds?" "no york now".

    Args:
        question: The assistant's question, from its auxiliary on.
        spoken: The turn's repaired words.
        behind: Index behind the words that say no.
        clauses: The turn's clauses.
    """
    if not _SUBJECTS.isdisjoint(spoken.norm[:behind]):
        return None  # "no, i am on leave" is a clause of its own
    rest, used = _rest(spoken, behind, clauses)
    lists = _words()
    only = bool(rest) and spoken.norm[rest[0]] in lists.hedges
    rest = rest[1:] if only else rest
    while len(rest) > 1 and spoken.norm[rest[-1]] in lists.now:
        rest.pop()
    told, denied = statement_of(question, "yes", []), statement_of(question, "no", [])
    if not rest or told is None or denied is None or "or" in question:
        return None
    denial = written_line(spoken, denied[0].split(), [])
    words = [spoken.norm[i] for i in rest]
    line = told[0].split()
    if past_lemma(words[0]) and not is_preposition(words[0]) and len(words) > 1:
        subject = written_line(spoken, _subject(question, line), rest)
        return Answer((subject, denial), used, all=True, settled=True)
    at = _replaced_from(line, words)
    if not at:
        return None
    front = [word for word in line[:at] if word != "still"]
    counted = line[at + 1 :] if calendar_kind(words) == "number" else []
    instead = written_line(spoken, front, rest, counted)
    if only:
        return Answer((instead, denial), used, all=True, settled=True)
    return Answer((instead, denial), used, settled=True, asked=" ".join(instead.norm))


def _subject(question: tuple[str, ...], line: list[str]) -> list[str]:
    """The words of a statement that name whom it is about: "my brother" of "is your brother"."""
    if line[0] != "my":
        return line[:1]
    start = question.index("your") if "your" in question else 0
    size = next((i for i in range(1, len(line)) if line[i] not in question[start:]), 2)
    return line[: max(2, size)]


def _replaced_from(line: list[str], words: list[str]) -> int:
    """Index from which what is told stands instead of what was asked; 0 where nothing fits."""
    lists = _words()
    if len(words) > _FEW + 2 or words[0] in lists.no_values:
        return 0
    named = next((i + 1 for i, word in enumerate(line[:-1]) if word in lists.called), 0)
    if not named and "name" in line and "is" in line[:-1]:
        named = line.index("is") + 1
    if named:
        return named if len(words) <= 2 and words[0].isalpha() else 0
    places = [i for i, word in enumerate(line) if i > 1 and is_preposition(word)]
    if is_preposition(words[0]):
        somewhere = [i for i, word in enumerate(line) if i > 1 and word in lists.whereabouts]
        found = [*somewhere, *(i for i in places if _fits(line[i], words[0]))]
        return min(found, default=0)
    kind, last = calendar_kind(words), calendar_kind(line[-1:])
    if kind or last:
        at = next((i for i, word in enumerate(line) if i and calendar_kind([word]) == kind), 0)
        return at if kind else 0
    if words[0] in ("a", "an"):
        return next((i for i, word in enumerate(line) if i > 1 and word in ("a", "an")), 0)
    if places and places[-1] < len(line) - 1 and len(words) <= _FEW:
        return places[-1] + 1
    if len(words) == 1 and line[1] in ("am", "is", "are") and len(line) == 3:
        return 2  # "are you vegetarian", "no vegan": the rules know whether it is one of the kind
    if len(words) == 1 and line[0] == "my" and line[-2:-1] in (["is"], ["are"]):
        return len(line) - 1
    return 0


_HOUSED = frozenset({"in", "at", "on", "near", "by", "with", "outside"})


def _fits(asked: str, said: str) -> bool:
    """Whether a phrase with one preposition may stand for one with the other."""
    return asked == said or {asked, said} <= _HOUSED
