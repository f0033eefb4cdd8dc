"""The statement a question asks for, with a place for the answer.

"Are you allergic to anything" asks for "i am allergic to ...", "what did your wife study" for "my
wife studied ...".
"""

from __future__ import annotations

from bmo.gate.answer_lines import flipped, written_line
from bmo.gate.asked_question import INDEFINITE, Asked, is_preposition, read_question
from bmo.language import Words, third_person
from bmo.language.inflection import past_tense
from bmo.language.times import NUMBER_WORDS

_SUBJECTS = frozenset({"you", "he", "she", "they", "it"})


def general_frame(question: tuple[str, ...]) -> list[str] | None:
    """Reads "what do you like to look at" as "i like to look at", and the answer follows."""
    q = list(question)
    if q[0] not in ("what", "which", "where", "who", "how") or q[1:2] in ([], ["time"]):
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
            if any(map(is_preposition, rest[1:])) and not is_preposition(rest[-1]):
                if q[0] != "where" and "to" not in rest:
                    return None  # "what do you drink in the morning": it stands behind the verb
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
        placed = placed or opens in ("around", "about", "every", "usually")
        return [*front, *tail, *([] if placed else ["at"])], []
    if asked.word == "when" and size == 1 and _is_number(opens):
        if opens.isdigit() and len(opens) == len("1999"):
            return None
        return [*front, *tail, "at"], []
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
    """Reads "do you have kids", "two" as "i have two kids"; "pets", "a cat" as "i have a cat".

    Args:
        question: Words of the question.
        spoken: The turn's repaired words.
        begin: Index of the answer's first word.
        end: Index behind its last.
    """
    if question[:3] not in _HAVING or len(question) < _COUNTED:
        return None
    article = question[3] in ("a", "an")
    noun = [w for w in question[3:] if w not in ("any", "a", "an", "some", "got")]
    while begin < end - 1 and spoken.norm[begin] in ("just", "only", "the"):
        begin += 1
    answer = spoken.norm[begin:end]
    if not answer or not noun:
        return None
    if answer == ["child"] and spoken.norm[begin - 1 : begin] == ["only"]:
        answer = ["only", "child"]
    if answer in (["only", "child"], ["one", "of", "each"]):
        return _of_siblings(spoken, answer, noun)
    if answer[0] in ("a", "an", "my"):
        return written_line(spoken, ["i", "have"], list(range(begin, end)))
    if not _is_number(answer[0]):
        return None
    if "or" in noun and len(answer) == 1:
        return None  # "any brothers or sisters?", "two"
    counted = _counted_noun(noun, one=answer[0] in ("one", "1"), singular=article)
    numbers = [word for word in answer[1:] if word != "and"]
    if all(_is_number(word) for word in numbers):
        if numbers and NUMBER_WORDS.get(answer[0], 0) != len(numbers):
            return None  # "six and nine" are their ages, "two, six and nine" two
        return written_line(spoken, ["i", "have"], [begin], counted)
    if answer[1] in ("a", "an", "both", "one") or answer[1] in BEHIND_NUMBER:
        front = written_line(spoken, ["i", "have"], [begin], counted)
        return _with_more(front, spoken, range(begin + 1, end))
    if answer[1] in ("too", "of", "or", "to"):
        return None
    return written_line(spoken, ["i", "have"], list(range(begin, end)))


_HAVING = (("do", "you", "have"), ("have", "you", "got"), ("do", "you", "own"))
_COUNTED = 4
BEHIND_NUMBER = frozenset(
    "all from in altogether now grown at with who by together living alive so".split()
)
"""Words behind a number that count nothing: "four | all grown up"."""


def none_line(spoken: Words, begin: int, end: int, noun: str) -> Words | None:
    """Reads "how many kids do you have", "none" as "i do not have kids".

    Args:
        spoken: The turn's repaired words.
        begin: Index of the answer's first word.
        end: Index behind its last.
        noun: What was asked for.
    """
    if " ".join(spoken.norm[begin:end]) not in ("none", "zero", "not any", "no", "none at all"):
        return None
    return written_line(spoken, ["i", "do", "not", "have", *noun.split()], [])


def _is_number(word: str) -> bool:
    return word.isdigit() or word in NUMBER_WORDS


def _counted_noun(noun: list[str], *, one: bool, singular: bool) -> list[str]:
    """The noun of a question behind a number: "one cat" of "cats", "two dogs" of "a dog"."""
    last = noun[-1]
    if one and not singular:
        last = _ONES.get(last, last.removesuffix("s"))
    elif singular and not one:
        last = f"{last}s" if not last.endswith(("s", "child")) else last
    return [*noun[:-1], last]


_ONES = {"children": "child", "grandchildren": "grandchild", "puppies": "puppy", "ponies": "pony"}


def _with_more(front: Words, spoken: Words, more: range) -> Words:
    """A line with more of the answer's own words behind it."""
    behind = spoken.select(list(more))
    return Words(
        spoken.text,
        [*front.norm, *behind.norm],
        [*front.start, *behind.start],
        [*front.end, *behind.end],
        [*front.after, *behind.after],
    )


def _of_siblings(spoken: Words, answer: list[str], noun: list[str]) -> Words | None:
    """What "only child" and "one of each" say to "any brothers or sisters?"."""
    siblings = not {"brothers", "sisters", "siblings"}.isdisjoint(noun)
    if not siblings:
        return None
    if answer[0] == "only":
        return written_line(spoken, "i am an only child".split(), [])
    return written_line(spoken, "i have a brother and a sister".split(), [])
