"""A yes or no, and what it settles: the question turned into a statement."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from bmo.gate.answer_frames import answer_frame, counted_line, verb_group
from bmo.gate.answer_lines import MAX_ANSWER, OWN_CLAUSES, Answer, flipped, written_line
from bmo.gate.asked_question import is_preposition, read_question, takes_object
from bmo.gate.dialogue_questions import DialogueLexicon
from bmo.gate.discourse import Discourse
from bmo.gate.people import PeopleLexicon, people_lexicon
from bmo.gate.word_tables import word_table
from bmo.language import Clause, Words, third_person
from bmo.language.inflection import past_tense
from bmo.language.lexicon import match_phrase


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``yes_no_answers.toml``; what each is for stands there beside its words."""

    unnamed: frozenset[str]
    any_of: frozenset[str]
    of_the_talk: frozenset[str]
    no_things: frozenset[str]
    none_had: frozenset[str]
    elliptic: frozenset[str]
    behind_a_no: frozenset[str]
    tells_anew: frozenset[str]
    behind_a_yes: frozenset[str]
    aux: frozenset[str]
    of_work: frozenset[str]
    beside_verb: frozenset[str]
    asks_more: frozenset[str]
    nobodys: frozenset[str]
    before_noun: frozenset[str]


_words = word_table(_Words, "yes_no_answers.toml")


def yes_that_says_which(
    question: tuple[str, ...], spoken: Words, behind: int, clauses: list[Clause]
) -> Answer | None:
    """A yes that says which: "do you have any pets?" "yeah a cat" is "i have a cat"."""
    lists = _words()
    clause = next((c for c in clauses if c.start <= behind < c.end), None)
    if clause is None or behind > clause.start + _LONGEST_YES:
        return None
    norm = spoken.norm
    if norm[behind] in OWN_CLAUSES or clause.end - behind > MAX_ANSWER:
        return None
    if norm[behind] == "a" and clause.end == behind + 2 and norm[behind + 1] in _HOW_MANY:
        return None
    if not lists.of_the_talk.isdisjoint(question) or "please" in norm:
        return None
    used = clauses.index(clause) + 1
    line = counted_line(question, spoken, behind, clause.end)
    if line is None:
        if lists.any_of.isdisjoint(question):
            return None
        frame = answer_frame(question, norm[behind], clause.end - behind)
        named = norm[behind] in ("a", "an", "the", "my")
        listed = question[-1] == "anything" and norm[behind] not in lists.no_things
        if frame is None or not (named or listed):
            return None
        line = written_line(spoken, frame[0], list(range(behind, clause.end)), frame[1])
    return Answer((line,), used)


_LONGEST_YES = 3
_HOW_MANY = frozenset({"few", "couple", "bit", "lot", "little", "ton", "bunch"})


def settled_by(
    question: tuple[str, ...], polarity: str, behind: int, spoken: Words, clauses: list[Clause]
) -> Answer | None:
    """A yes or no, and what it settles."""
    statement = statement_of(question, polarity, spoken.norm[0:behind])
    if statement is None:
        return _corrected(question, polarity, spoken, behind)
    used, more = 0, False
    if clauses:
        first = clauses[0]
        left = spoken.norm[max(behind, first.start) : first.end]
        used = 1 if len(left) <= 2 else 0
        more = not _OWN.isdisjoint(left[:1]) or not _LIMITS.isdisjoint(left)
        if behind > first.end:
            used = sum(1 for clause in clauses if clause.end <= behind)
    asked = statement_of(question, "yes", [])
    return Answer(
        tuple(written_line(spoken, line.split(), []) for line in statement),
        used,
        settled=True,
        asked=asked[0] if asked is not None else "",
        more=more,
    )


_OWN = frozenset({"i", "we", "he", "she", "they", "my"})


def yes_or_no(norm: list[str], start: int, end: int, lexicon: DialogueLexicon) -> tuple[str, int]:
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


def says_something_else(question: tuple[str, ...], spoken: Words, behind: int) -> bool:
    """Whether "i am" begins a statement of its own: "i am a widower" to "do you live alone?".

    Args:
        question: The assistant's question.
        spoken: The turn's repaired words.
        behind: Index behind the words that were taken for a yes.
    """
    lists = _words()
    norm = spoken.norm
    if _of_somebody_else(question, norm, behind):
        return True
    if norm[0] in lists.elliptic and norm[2:3] == ["not"]:
        goes_on = behind == _NOT_BEHIND and behind < len(norm) and not spoken.after[behind - 1]
        return (
            goes_on
            and norm[behind] not in lists.behind_a_yes
            and norm[behind] not in lists.behind_a_no
        )
    if norm[0] in lists.elliptic and norm[1:3] == ["have", "no"] and len(norm) > _NOT_BEHIND:
        return True
    if behind != 2 or behind >= len(norm) or spoken.after[behind - 1]:
        return False
    if norm[0] not in ("i", "we", "he", "she", "it") or norm[1] not in _AS_ASKED:
        return False
    if norm[behind] in lists.tells_anew:
        return True
    asked = _auxiliary_first(list(question))
    same = asked is not None and asked[0] in _AS_ASKED[norm[1]]
    return not same and norm[behind] not in lists.behind_a_yes


def _of_somebody_else(question: tuple[str, ...], norm: list[str], behind: int) -> bool:
    """Whether the answer's verb is another's than the question's.

    "I am not married" says nothing of what "is your wife vegan?" asks.
    """
    lists = _words()
    asked = _auxiliary_first(list(question))
    if asked is None or asked[1] not in ("your", "he", "she", "it", "you"):
        return False
    if (
        "have" in norm[:_HAVING]
        and asked[1] == "your"
        and not lists.none_had.isdisjoint(norm[:_HAVING])
    ):
        return True  # "(no) i do not have a wife"
    who = next((i for i, word in enumerate(norm[:behind]) if word in lists.elliptic), behind)
    if norm[who + 1 : who + 2] == [] or norm[who + 1] not in _AS_ASKED:
        return False
    return norm[who] in (("i", "we") if asked[1] != "you" else ("he", "she"))


_LIMITS = frozenset("but no not only except never unless just barely hardly".split())
"""Words behind a yes or no that take some of it back ("yes but no pork")."""
_HAVING = 6
_NOT_BEHIND = 3
"""Words of "i do not"."""

_AS_ASKED = {
    "am": ("are",), "are": ("are",), "is": ("is",), "have": ("have",), "has": ("has",),
    "do": ("do",), "does": ("does",), "did": ("did",), "can": ("can",),
}  # fmt: skip
"""Auxiliaries of an answer, and those of the questions that they say yes to."""


def statement_of(question: tuple[str, ...], polarity: str, said: list[str]) -> list[str] | None:
    """Reads "do you drive" + no -> ["i do not drive"]; None when it is no yes-no question.

    Args:
        question: The assistant's question.
        polarity: "yes" or "no".
        said: The answer's words that say so.
    """
    lists = _words()
    asked = _auxiliary_first(list(question))
    parts = _subject_and_rest(asked) if asked is not None else None
    if asked is None or parts is None:
        return None
    aux, (subject, rest) = asked[0], parts
    if subject == ["we"] and not {"i", "he", "she"}.isdisjoint(said):
        return None  # "do you and your wife drink coffee?", "she does"
    if polarity == "yes":
        if not lists.unnamed.isdisjoint(rest):
            return None  # "is learning anything" says nothing
        rest = [word for word in rest if word != "any"]
        if not rest:
            return None
    while len(rest) > 1 and (
        rest[0] in lists.beside_verb or (polarity == "no" and rest[0] == "still")
    ):
        rest = rest[1:]
    habit = (
        ["always"]
        if "always" in said
        else (["never"] if "never" in said and len(said) == 1 else [])
    )
    results = []
    of_team = rest[0] in lists.of_work or (polarity == "yes" and aux not in _DO)
    several = (["i"], ["we"]) if of_team else (["i"],)
    for who in several if subject == ["you"] else (subject,):
        if aux in _DO:
            told = [aux, "not", *rest] if polarity == "no" and not habit else _agreeing(aux, rest)
            results.append(" ".join([*who, *habit, *told]))
        else:
            form = {"are": "am" if who == ["i"] else "are"}.get(aux, aux)
            negation = ["not"] if polarity == "no" else []
            results.append(" ".join([*who, form, *negation, *habit, *rest]))
    return results


_DO = frozenset({"do", "does", "did"})


def _agreeing(aux: str, rest: list[str]) -> list[str]:
    """The verb of a question as its statement has it: "did you grow up" is "(i) grew up"."""
    if aux == "do":
        return rest
    inflected = third_person if aux == "does" else past_tense
    return [inflected(rest[0]), *rest[1:]]


def _auxiliary_first(words: list[str]) -> list[str] | None:
    """A question from its auxiliary on ("and | do you drive"); None for one that asks more."""
    lists = _words()
    while words and words[0] not in lists.aux:
        if words[0] in lists.asks_more or words[0] in _SUBJECTS or len(words) <= 3:
            return None
        words = words[1:]
    return words if len(words) >= 3 else None


_SEVERAL = frozenset({"two", "both", "guys", "all"})
_SUBJECTS = frozenset("that this it he she they you there here these those".split())


def _subject_and_rest(asked: list[str]) -> tuple[list[str], list[str]] | None:
    """The statement's subject ("you" as asked) and what is said of it, in the user's words."""
    lists = _words()
    subject, rest = asked[1], asked[2:]
    take = [subject]
    while subject == "you" and len(rest) > 1 and rest[0] in _SEVERAL:
        rest = rest[1:]
    if subject == "you" and rest[:2] == ["and", "your"]:
        person = people_lexicon("en").relation_at(rest, 2, len(rest))
        if person is None or person[1] >= len(rest):
            return None
        take, rest = ["we"], rest[person[1] :]
    elif "and" in rest[:2] or ("you", "and") in itertools.pairwise(rest):
        return None
    if subject in ("your", "the"):
        person = people_lexicon("en").relation_at(asked, 2, len(asked))
        behind = person[1] if person is not None else 3
        while person is None and behind < len(asked) and asked[behind - 1] in lists.before_noun:
            behind += 1
        take = ["my" if subject == "your" else subject, *asked[2:behind]]
        rest = asked[behind:]
    elif subject in lists.nobodys:
        return None
    if not rest:
        return None
    return take, [_as_user_says(rest, place) for place in range(len(rest))]


def _as_user_says(words: list[str], place: int) -> str:
    """A word of the question in the user's mouth: "with you" is "with me"."""
    if words[place] == "you" and place and takes_object(words[place - 1]):
        return "me"
    return flipped(words[place])


def introduce_asked(question: tuple[str, ...], discourse: Discourse) -> None:
    """A pet or person the question asked about can be "he" in the answer."""
    norm = list(question)
    people: PeopleLexicon = discourse.lexicon
    for i, word in enumerate(norm[:-1]):
        if word in ("a", "an", "your", "the"):
            found = people.relation_at(norm, i + 1, len(norm))
            if found is not None:
                discourse.introduce(found[0])


def _corrected(
    question: tuple[str, ...], polarity: str, spoken: Words, behind: int
) -> Answer | None:
    """The end of a statement is replaced: "you're from France?", "no, belgium actually"."""
    asked = read_question(question)
    left = list(range(behind, len(spoken.norm)))
    while left and spoken.norm[left[-1]] in ("actually", "really", "though"):
        left.pop()
    if polarity != "no" or asked is None or not asked.statement or not 0 < len(left) <= 3:
        return None
    words = [asked.verb, *asked.tail]
    at = max((i for i, word in enumerate(words) if is_preposition(word)), default=0)
    if not at or spoken.norm[left[0]] in ("i", "we", "he", "she", "it", "my", "but", "just"):
        return None
    front = ["i", *verb_group(asked), *(flipped(word) for word in words[1 : at + 1])]
    return Answer((written_line(spoken, front, left),), 1)
