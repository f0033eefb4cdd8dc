"""A yes or no, and what it settles: the question turned into a statement."""

from __future__ import annotations

from bmo.gate.answer_frames import answer_frame, counted_line, verb_group
from bmo.gate.answer_lines import MAX_ANSWER, OWN_CLAUSES, Answer, flipped, written_line
from bmo.gate.asked_question import is_preposition, read_question
from bmo.gate.dialogue_questions import DialogueLexicon
from bmo.gate.discourse import Discourse
from bmo.gate.people import PeopleLexicon
from bmo.language import Clause, Words
from bmo.language.lexicon import match_phrase

_UNNAMED = frozenset({"anything", "anyone", "anybody", "anywhere"})

_ANY = frozenset({"any", "anything", "anyone", "anybody", "some", "a", "an"})


def yes_that_says_which(
    question: tuple[str, ...], spoken: Words, behind: int, clauses: list[Clause]
) -> Answer | None:
    """A yes that says which: "do you have any pets?" "yeah a cat" is "i have a cat"."""
    clause = next((c for c in clauses if c.start <= behind < c.end), None)
    if clause is None or _ANY.isdisjoint(question) or behind > clause.start + _LONGEST_YES:
        return None
    norm = spoken.norm
    if norm[behind] in OWN_CLAUSES or clause.end - behind > MAX_ANSWER:
        return None
    if not _OF_THE_TALK.isdisjoint(question) or "please" in norm:
        return None
    used = clauses.index(clause) + 1
    line = counted_line(question, spoken, behind, clause.end)
    if line is None:
        frame = answer_frame(question, norm[behind], clause.end - behind)
        named = norm[behind] in ("a", "an", "the", "my")
        listed = question[-1] == "anything" and norm[behind] not in _NO_THINGS
        if frame is None or not (named or listed):
            return None
        line = written_line(spoken, frame[0], list(range(behind, clause.end)), frame[1])
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


def settled_by(
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
    return Answer(
        tuple(written_line(spoken, line.split(), []) for line in statement), used, settled=True
    )


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
    norm = spoken.norm
    if _of_somebody_else(question, norm, behind):
        return True
    if norm[0] in _ELLIPTIC and norm[2:3] == ["not"]:
        goes_on = behind == _NOT_BEHIND and behind < len(norm) and not spoken.after[behind - 1]
        return goes_on and norm[behind] not in _BEHIND_A_YES and norm[behind] not in _BEHIND_A_NO
    if norm[0] in _ELLIPTIC and norm[1:3] == ["have", "no"] and len(norm) > _NOT_BEHIND:
        return True
    if behind != 2 or behind >= len(norm) or spoken.after[behind - 1]:
        return False
    if norm[0] not in ("i", "we", "he", "she", "it") or norm[1] not in _AS_ASKED:
        return False
    if norm[behind] in _TELLS_ANEW:
        return True
    asked = _auxiliary_first(list(question))
    same = asked is not None and asked[0] in _AS_ASKED[norm[1]]
    return not same and norm[behind] not in _BEHIND_A_YES


def _of_somebody_else(question: tuple[str, ...], norm: list[str], behind: int) -> bool:
    """Whether the answer's verb is another's than the question's.

    "I am not married" says nothing of what "is your wife vegan?" asks.
    """
    asked = _auxiliary_first(list(question))
    if asked is None or asked[1] not in ("your", "he", "she", "it", "you"):
        return False
    if "have" in norm[:_HAVING] and asked[1] == "your" and not _NONE_HAD.isdisjoint(norm[:_HAVING]):
        return True  # "(no) i do not have a wife"
    who = next((i for i, word in enumerate(norm[:behind]) if word in _ELLIPTIC), behind)
    if norm[who + 1 : who + 2] == [] or norm[who + 1] not in _AS_ASKED:
        return False
    return norm[who] in (("i", "we") if asked[1] != "you" else ("he", "she"))


_HAVING = 6
_NONE_HAD = frozenset({"not", "no", "never"})
_ELLIPTIC = frozenset({"i", "we", "he", "she", "it"})
_NOT_BEHIND = 3
"""Words of "i do not"."""
_BEHIND_A_NO = frozenset(
    "no any anymore at sorry actually but anyway to unfortunately sadly".split()
)
"""Words behind a no in full, which go on from it or add to it."""

_AS_ASKED = {
    "am": ("are",), "are": ("are",), "is": ("is",), "have": ("have",), "has": ("has",),
    "do": ("do",), "does": ("does",), "did": ("did",), "can": ("can",),
}  # fmt: skip
"""Auxiliaries of an answer, and those of the questions that they say yes to."""

_TELLS_ANEW = frozenset({"a", "an"})

_BEHIND_A_YES = frozenset(
    (
        "actually and as because but cos for ha have i indeed my now of on please she so still "
        "thank thanks that though too we well with yeah yep yes"
    ).split()
)
"""Words behind a yes in full, which go on from it or add to it."""

_AUX = frozenset({"do", "does", "did", "are", "is", "have", "has", "can", "were", "was", "will"})


def _statement(question: tuple[str, ...], polarity: str, said: list[str]) -> list[str] | None:
    """Reads "do you drive" + no -> ["i do not drive"]; None when it is no yes-no question."""
    asked = _auxiliary_first(list(question))
    parts = _subject_and_rest(asked) if asked is not None else None
    if asked is None or parts is None:
        return None
    aux, (subject, rest) = asked[0], parts
    if polarity == "yes":
        if not _UNNAMED.isdisjoint(rest):
            return None  # "is learning anything" says nothing
        rest = [word for word in rest if word != "any"]
    while len(rest) > 1 and rest[0] in _BESIDE_VERB:
        rest = rest[1:]
    habit = (
        ["always"]
        if "always" in said
        else (["never"] if "never" in said and len(said) == 1 else [])
    )
    results = []
    of_team = polarity == "yes" or rest[0] in _OF_WORK
    several = (["i"], ["we"]) if of_team else (["i"],)
    for who in several if subject == ["you"] else (subject,):
        if aux in ("do", "does", "did"):
            negation = ["do", "not"] if polarity == "no" and not habit else []
            results.append(" ".join([*who, *habit, *negation, *rest]))
        else:
            form = {"are": "am" if who == ["i"] else "are"}.get(aux, aux)
            negation = ["not"] if polarity == "no" else []
            results.append(" ".join([*who, form, *negation, *habit, *rest]))
    return results


def _auxiliary_first(words: list[str]) -> list[str] | None:
    """A question from its auxiliary on ("and | do you drive"); None for one that asks more."""
    while words and words[0] not in _AUX:
        if words[0] in _ASKS_MORE or len(words) <= 3:
            return None
        words = words[1:]
    return words if len(words) >= 3 else None


def _subject_and_rest(asked: list[str]) -> tuple[list[str], list[str]] | None:
    """The statement's subject ("you" as asked) and what is said of it, in the user's words."""
    subject, rest = asked[1], asked[2:]
    take = [subject]
    if subject in ("your", "the"):
        take, rest = ["my" if subject == "your" else subject, asked[2]], asked[3:]
    elif subject in _NOBODYS:
        return None
    if not rest:
        return None
    return take, [flipped(word) for word in rest]


_OF_WORK = frozenset(
    (
        "allow build code commit deploy develop document employ have hire host keep lint log make "
        "maintain merge migrate monitor offer publish release require review run schedule sell "
        "ship sign sprint store support test track use version write"
    ).split()
)
"""Verbs of what a team does: "no, i never played" is said of oneself."""

_BESIDE_VERB = frozenset({"also", "really", "actually", "ever"})
_ASKS_MORE = frozenset("what which who where how when why would should shall could".split())
_NOBODYS = frozenset("there that this anyone anything any everyone".split())


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
