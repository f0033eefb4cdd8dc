"""The statement a question asks for, with a place for the answer.

"Are you allergic to anything" asks for "i am allergic to ...", "what did your wife study" for "my
wife studied ...".
"""

from __future__ import annotations

from bmo.gate.answer_lines import flipped, written_line
from bmo.gate.asked_question import INDEFINITE, Asked, is_preposition, read_question
from bmo.language import Words, third_person
from bmo.language.inflection import past_tense

_SUBJECTS = frozenset({"you", "he", "she", "they", "it"})


def general_frame(question: tuple[str, ...]) -> list[str] | None:
    """Reads "what do you like to look at" as "i like to look at", and the answer follows."""
    q = list(question)
    if q[0] not in ("what", "which", "where", "who", "how"):
        return None
    for i in range(1, min(len(q) - 2, 7)):
        if q[i] in ("do", "does") and (q[i + 1] in _SUBJECTS or q[i + 1] == "your"):
            subject = {"you": ["i"]}.get(q[i + 1], [q[i + 1]])
            rest = q[i + 2 :]
            if q[i + 1] == "your":
                subject, rest = ["my", q[i + 2]], q[i + 3 :]
            if not rest or q[0] == "how":
                return None
            if rest == ["do"]:
                return [*subject, "work", "as"]
            rest = [flipped(w) for w in rest]
            if q[0] == "where" and rest[-1] not in ("in", "at", "to", "from", "with"):
                if rest[0] not in ("work", "live"):
                    return None
                rest.append("at" if rest[0] == "work" else "in")
            return [*subject, *rest]
    return None


def answer_frame(
    question: tuple[str, ...], opens: str, size: int
) -> tuple[list[str], list[str]] | None:
    """The words before and behind the answer that make it a first-person statement.

    "Are you allergic to anything" gives "i am allergic to" and nothing behind, "what did your
    wife study" gives "my wife studied".

    Args:
        question: Words of the question.
        opens: The answer's first word.
        size: The answer's words.
    """
    asked = read_question(question)
    if asked is None or asked.plural or asked.statement:
        return None
    subject = ["my", *asked.subject.split()] if asked.subject else ["i"]
    placed = is_preposition(opens)
    if not asked.verb:
        named = asked.word in ("who", "when") or (asked.word == "where" and placed)
        be = {"is": "is", "was": "was"}.get(asked.aux)
        return ([*subject, be], []) if named and be and asked.subject else None
    front = [*subject, *asked.adverbs, *verb_group(asked)]
    tail = [flipped(word) for word in asked.tail]
    if asked.anything:
        return front, tail
    if not asked.word:
        words = [asked.verb, *tail]
        at = next((i for i, word in enumerate(words) if i and word in INDEFINITE), 0)
        if not at and asked.aux == "are" and not tail and size == 1:
            return front[:-1], []  # "are you vegetarian", "vegan"
        return ([*front, *words[1:at]], []) if at else None
    if asked.word in ("why", "whose") or asked.noun[:1] in (("many",), ("much",), ("old",)):
        return None
    if asked.noun == ("time",):
        return [*front, *tail, *([] if placed else ["at"])], []
    if asked.word in ("how", "when"):
        return [*front, *tail], []
    if tail and not is_preposition(tail[-1]) and tail[0] != "to":
        return None
    if asked.word == "where" and not placed:
        hangs = is_preposition((tail or [asked.verb])[-1]) and (tail or [""])[-1] != "up"
        tail = tail if hangs else [*tail, "in"]
    return [*front, *tail], []


def verb_group(asked: Asked) -> list[str]:
    """The question's verb group as the statement has it: "did (she) study" is "studied"."""
    negated = ["not"] if asked.negated else []
    if asked.aux == "did" and not negated:
        return [past_tense(asked.verb)]
    if asked.aux in ("do", "does"):
        if negated:
            return ["do" if not asked.subject else "does", "not", asked.verb]
        return [third_person(asked.verb) if asked.subject else asked.verb]
    own = {"are": "am", "is": "am", "were": "was", "has": "have"}
    aux = asked.aux if asked.subject else own.get(asked.aux, asked.aux)
    return [aux, *negated, asked.verb]


def counted_line(question: tuple[str, ...], spoken: Words, begin: int, end: int) -> Words | None:
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
            return written_line(spoken, ["i", "have"], list(range(begin, end)), noun)
        if answer[0] in ("a", "an", "my", *numbers):
            return written_line(spoken, ["i", "have"], list(range(begin, end)))
    return None
