"""Dialogue context: a short answer is read as a full clause with the assistant's question.

"What is your name?" "glenn" becomes "my name is glenn", "do you drive?" "nope" becomes "i do not
drive"; then the same rules read it. The questions are data (``packs/<language>/dialogue.toml``);
yes and no are settled by turning the question into a statement.
"""

from __future__ import annotations

from dataclasses import dataclass

from bmo.gate.asked_question import INDEFINITE, LIKING, Asked, is_preposition, read_question
from bmo.gate.dialogue_questions import DialogueLexicon, dialogue_lexicon, questions
from bmo.gate.discourse import Discourse
from bmo.gate.people import PeopleLexicon
from bmo.language import Clause, LanguageCode, Words, third_person
from bmo.language.inflection import past_tense
from bmo.language.lexicon import match_phrase

_MAX_ANSWER = 14


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
    norm = spoken.norm
    polarity, behind = _polarity(norm, 0, len(norm), lexicon)
    if polarity:
        if language != "en":
            return None
        if polarity == "yes":
            _introduce(asked[0], discourse)
            which = _which(asked[0], spoken, behind, clauses)
            if which is not None:
                return which
        return _settled(asked[0], polarity, behind, spoken, clauses)
    felt = _felt(asked[0], spoken, clauses[0]) if language == "en" else None
    if felt is not None:
        return felt
    start, end = clauses[0].start, clauses[0].end
    if norm[start] in _OWN_CLAUSES:
        return None
    begin = _behind_fillers(norm, start, end, lexicon)
    if end - begin > _MAX_ANSWER:
        return None
    known = _known_question(asked, lexicon, spoken, begin, clauses)
    if known is not None:
        return known[0]
    body = list(range(begin, end))
    general = _general(asked[0])
    if general is not None:
        return Answer((_line(spoken, general, body),), 1)
    counted = _counted(asked[0], spoken, begin, end)
    if counted is not None:
        return Answer((counted,), 1)
    if language == "en":
        if begin > start and is_preposition(norm[begin - 1]):
            begin -= 1  # "at university": the frame needs to know that it has one
        frame = _frame(asked[0], norm[begin], end - begin)
        if frame is not None:
            return Answer((_line(spoken, frame[0], list(range(begin, end)), frame[1]),), 1)
    return None


def _behind_fillers(norm: list[str], begin: int, end: int, lexicon: DialogueLexicon) -> int:
    """Index of the answer's first word that counts ("well i think | postgres")."""
    while begin < end - 1:
        size = match_phrase(lexicon.strip, norm, begin)
        if not size or begin + size >= end:
            break
        begin += size
    return begin


_OWN_CLAUSES = frozenset("i we my our he she you can what play set".split())
"""Words that open a clause of its own, which needs no question."""


_UNNAMED = frozenset({"anything", "anyone", "anybody", "anywhere"})
_ANY = frozenset({"any", "anything", "anyone", "anybody", "some", "a", "an"})


def _which(
    question: tuple[str, ...], spoken: Words, behind: int, clauses: list[Clause]
) -> Answer | None:
    """A yes that says which: "do you have any pets?" "yeah a cat" is "i have a cat"."""
    clause = next((c for c in clauses if c.start <= behind < c.end), None)
    if clause is None or _ANY.isdisjoint(question) or behind > clause.start + _LONGEST_YES:
        return None
    norm = spoken.norm
    if norm[behind] in _OWN_CLAUSES or clause.end - behind > _MAX_ANSWER:
        return None
    if not _OF_THE_TALK.isdisjoint(question) or "please" in norm:
        return None
    used = clauses.index(clause) + 1
    line = _counted(question, spoken, behind, clause.end)
    if line is None:
        frame = _frame(question, norm[behind], clause.end - behind)
        named = norm[behind] in ("a", "an", "the", "my")
        listed = question[-1] == "anything" and norm[behind] not in _NO_THINGS
        if frame is None or not (named or listed):
            return None
        line = _line(spoken, frame[0], list(range(behind, clause.end)), frame[1])
    return Answer((line,), used)


_LONGEST_YES = 3
_OF_THE_TALK = frozenset("plans plan question questions idea ideas time minute moment want".split())
"""Nouns (and a verb) of questions about the talk itself, not about what somebody has."""

_NO_THINGS = frozenset(
    (
        "actually always and but definitely everything if it just kind kinda loads lots maybe many "
        "not of please really several so sort sure that there though very when yes"
    ).split()
)


def _settled(
    question: tuple[str, ...], polarity: str, behind: int, spoken: Words, clauses: list[Clause]
) -> Answer | None:
    """A yes or no, and what it settles."""
    statement = _statement(question, polarity, spoken.norm[0:behind])
    if statement is None:
        return _corrected(question, polarity, spoken, behind)
    first = clauses[0]
    used = 1 if first.end - max(behind, first.start) <= 2 else 0
    if behind > first.end:
        used = sum(1 for clause in clauses if clause.end <= behind)
    return Answer(tuple(_line(spoken, line.split(), []) for line in statement), used, settled=True)


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
            groups = {k: _flip(v or "") for k, v in match.groupdict().items()}
            if rule.choice and "x" in groups:
                groups["x"] = groups["x"].split(" ")[0]
            if not rule.each:
                return (Answer((_fill(spoken, rule.clause, groups, body),), 1),)
            parts = [[i] for i in range(begin, len(spoken.norm)) if _is_language(spoken.norm[i])]
            readings = tuple(_fill(spoken, rule.clause, groups, part) for part in parts)
            return (Answer(readings, len(clauses), True) if readings else None,)
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
    if polarity == "yes":
        if not _UNNAMED.isdisjoint(rest):
            return None  # "is learning anything" says nothing
        rest = [word for word in rest if word != "any"]
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
        if q[i] in ("do", "does") and (q[i + 1] in _SUBJECTS or q[i + 1] == "your"):
            subject = {"you": ["i"]}.get(q[i + 1], [q[i + 1]])
            rest = q[i + 2 :]
            if q[i + 1] == "your":
                subject, rest = ["my", q[i + 2]], q[i + 3 :]
            if not rest or q[0] == "how":
                return None
            if rest == ["do"]:
                return [*subject, "work", "as"]
            rest = [_flip(w) for w in rest]
            if q[0] == "where" and rest[-1] not in ("in", "at", "to", "from", "with"):
                if rest[0] not in ("work", "live"):
                    return None
                rest.append("at" if rest[0] == "work" else "in")
            return [*subject, *rest]
    return None


def _frame(question: tuple[str, ...], opens: str, size: int) -> tuple[list[str], list[str]] | None:
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
    front = [*subject, *asked.adverbs, *_verb_group(asked)]
    tail = [_flip(word) for word in asked.tail]
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
    thing = [_flip(word) for word in asked.tail]
    return Answer((_line(spoken, ["i"], said[:-1], thing),), 1)


def _verb_group(asked: Asked) -> list[str]:
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
    front = ["i", *_verb_group(asked), *(_flip(word) for word in words[1 : at + 1])]
    return Answer((_line(spoken, front, left),), 1)


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
