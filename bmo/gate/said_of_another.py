"""Ellipsis of the verb phrase: "my brother hates olives", "and my sister too".

What is said of one person is said of another by a word only: "so does my wife", "neither can my
dad", "same with my son", "me too". The clause is written out with the verb and what follows it
("my sister hates olives") and read by the ordinary rules; the verb stands in the same turn or in
the user's turn before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from bmo.gate.clause_head import CALLED_BY_RELATION
from bmo.gate.people import PeopleLexicon, label_of, people_lexicon
from bmo.gate.person_names import is_name_at, proper
from bmo.language import Words, repair, segment, third_person, words
from bmo.language.verb_group import parse_verb_group
from bmo.turn import DialogueContext, Fact

_LEADS = frozenset("and but oh yeah well plus actually".split())
_ALSO = frozenset({"too", "also", "likewise"})
_SAME = frozenset({"so", "neither", "nor"})
_AUXILIARIES = frozenset("am are can could did do does had has have is was were will would".split())
_PRONOUNS = frozenset({"i", "we", "he", "she", "they"})
_SUBJECTS = _PRONOUNS | {"me"}
_AS_SUBJECT = {"me": "i", "the": "my"}
_OF_ONE = {"am": "is", "are": "is", "have": "has", "do": "does"}
_OF_MANY = {"am": "are", "is": "are", "has": "have", "does": "do"}
_OWNERS = frozenset({"my", "our", "the"})
_OF_THE_SPEAKER = frozenset({"i", "me", "my", "mine", "myself", "our", "ours", "us", "we", "you"})
_LAST = _ALSO | {"well"}
_OPENING = _SAME | {"same"}
CUES = _LAST | _OPENING
"""Without one of these no verb phrase is left out."""
_SHORTEST = 2
_SHORTEST_CLAUSE = 3
_LONGEST_PREDICATE = 12
_LONGEST_TURN = 8
"""Words of a turn that says nothing but "and my sister too"."""


class Stranger(NamedTuple):
    """Somebody of whom nobody knows more than the name: "and so is marcus"."""

    name: str
    start: int
    end: int


class SaidAgain(NamedTuple):
    """A turn of which a word says that something is so of another as well.

    Attributes:
        words: The turn's words, the verb phrase written out.
        of_turn_before: The verb stood in the turn before.
        stranger: Of whom it is said, where the name is all that is known; the words are those of
            the other clauses.
    """

    words: Words
    of_turn_before: bool = False
    stranger: Stranger | None = None


def with_verb_said(
    spoken: Words,
    people: PeopleLexicon,
    stops: frozenset[str],
    context: DialogueContext,
    names: Mapping[str, str],
) -> SaidAgain:
    """The turn with the verb phrase in its place, or as it was where nothing is left out.

    Args:
        spoken: The turn's repaired words, in English.
        people: What relations are called.
        stops: Words that are no names.
        context: The user's turn before and what was stored of it.
        names: Lower-case names of known people.

    Returns:
        ``spoken`` itself within it where nothing is left out.
    """
    norm = spoken.norm
    size = len(norm)
    if size < _SHORTEST:
        return SaidAgain(spoken)
    found = _second_subject(spoken, people, stops, names)
    if found is None:
        return SaidAgain(spoken)
    lead, subject, stop = found
    if lead >= _SHORTEST_CLAUSE and _is_unknown(norm, subject, people, names):
        first, last = spoken.start[subject[0]], spoken.end[subject[-1]]
        stranger = Stranger(proper(spoken.text[first:last]), first, last)
        kept = spoken.select([*range(lead), *range(stop, size)])
        kept.after[lead - 1] = "."
        return SaidAgain(kept, False, stranger)
    if lead >= _SHORTEST_CLAUSE:
        said = spoken.select(list(range(lead)))
    else:
        before = _stored_turn_before(context) if size <= _LONGEST_TURN else None
        if before is None:
            return SaidAgain(spoken)
        said = before
    predicate = _predicate(said, people, stops, names)
    if not predicate:
        return SaidAgain(spoken)
    who = [_AS_SUBJECT.get(norm[i], norm[i]) for i in subject]
    line = [*who, *_agreeing(said.norm, predicate, who, people)]
    if said.text is not spoken.text:  # the words before have no place in this turn's text
        order = [*subject, *([subject[-1]] * len(predicate))]
        return SaidAgain(_line(spoken, line, order, [""] * len(order)), True)
    front = [i for i in range(lead) if not (i == lead - 1 and norm[i] in _LEADS)]
    rest = list(range(stop, size))
    order = [*front, *subject, *predicate, *rest]
    after = [spoken.after[i] for i in order]
    after[len(front) - 1] = "."
    for place in range(len(front), len(front) + len(subject)):
        after[place] = ""  # "so is kenji.": the full stop is the whole clause's
    if rest:
        after[-len(rest) - 1] = "."
    written = [*(norm[i] for i in front), *line, *(norm[i] for i in rest)]
    return SaidAgain(_line(spoken, written, order, after))


def _is_unknown(
    norm: list[str], subject: list[int], people: PeopleLexicon, names: Mapping[str, str]
) -> bool:
    first = norm[subject[0]]
    known = first in _SUBJECTS or first in names or first in _OWNERS
    return not known and people.relation_at(norm, subject[0], subject[0] + 1) is None


def told_of(facts: tuple[Fact, ...], stranger: Stranger) -> tuple[Fact, ...]:
    """The facts with those of the clause just before told of the stranger as well.

    Args:
        facts: What the rules read in the turn.
        stranger: Of whom the same is true.
    """
    before = [f for f in facts if f.op == "assert" and f.span and f.span[1] <= stranger.start]
    before = [f for f in before if f.slot not in _ONES_OWN_ONLY]
    if not before:
        return facts
    last = max(fact.span[1] if fact.span else 0 for fact in before)
    told = []
    for fact in before:
        if not fact.span or fact.span[1] != last:
            continue
        predicate = _predicate_of(fact)
        if not predicate:
            continue
        joint = "'s" if _OF_A_NOUN.match(predicate) else ""
        text = f"{stranger.name}{joint} {predicate[:1].lower()}{predicate[1:]}"
        told.append(
            Fact(
                text=text,
                category="relationships",
                confidence=fact.confidence,
                rule_id=SAME_OF_STRANGER,
                extraction_method=f"pattern:{SAME_OF_STRANGER}",
                span=(stranger.start, stranger.end),
                entities=(stranger.name.lower(),),
            )
        )
    return (*facts, *told)


def _predicate_of(fact: Fact) -> str:
    """What a fact says of its person, or "" where the text does not begin with them."""
    label = label_of(fact.subject)
    if label:
        return fact.text.removeprefix(label).strip() if fact.text.startswith(label) else ""
    first, _, rest = fact.text.partition(" ")
    if fact.category != "relationships":
        return fact.text
    return rest if first.lower() in people_lexicon("en").names else ""


_OF_A_NOUN = re.compile(r"(?!Is |Are )[A-Z][a-z]+( [a-z]+){0,2} (is|are)\b")
"""Texts about something of one's own: "Days off are Fridays"."""
SAME_OF_STRANGER = "same_of_stranger"
_ONES_OWN_ONLY = frozenset({"name", "age", "birthday", "standing_instruction", "answer_style"})


def _agreeing(
    norm: list[str], predicate: list[int], subject: list[str], people: PeopleLexicon
) -> list[str]:
    """The verb phrase, agreeing with its new subject."""
    verb, *rest = [norm[i] for i in predicate]
    found = people.relation_at(subject, 1, len(subject))
    many = subject[0] in ("i", "we", "they") or (found is not None and found[0].plural)
    if verb == "'s":
        verb = "is"
    if many:
        verb = "am" if subject[0] == "i" and verb in ("is", "are") else _OF_MANY.get(verb, verb)
    else:
        verb = _OF_ONE.get(verb, verb)
    group = parse_verb_group([verb, *rest], 0, 1 + len(rest))
    if group is not None and group.verb_at == 0 and verb not in _AUXILIARIES:
        if many and third_person(group.lemma) == verb:
            verb = group.lemma
        elif not many and group.lemma == verb and group.tense == "present":
            verb = third_person(verb)
    return [verb, *rest]


def is_only_another(norm: tuple[str, ...], people: PeopleLexicon) -> bool:
    """Whether words name somebody of whom the same is true, and nothing else.

    "and my sister too" is no memory where nobody knows what she does too.
    """
    words_ = list(norm)
    while words_ and words_[0] in _LEADS:
        words_.pop(0)
    if words_[-2:] == ["as", "well"]:
        words_ = words_[:-2]
    elif words_ and words_[-1] in _ALSO:
        words_.pop()
    elif words_[:1] == ["same"]:
        lead = next((lead for lead in _SAME_WITH if tuple(words_[: len(lead)]) == lead), None)
        if lead is None:
            return False
        words_ = ["so", *words_[len(lead) :]]
    elif not words_ or words_[0] not in _SAME:
        return False
    if words_ and words_[0] in _SAME:
        words_ = words_[1:]
    words_ = [word for word in words_ if word not in _AUXILIARIES]
    if words_ and words_[0] in _OWNERS:
        found = people.relation_at(words_, 1, len(words_))
        if found is None:
            return False
        name = words_[found[1] :]
        return not name or (len(name) == 1 and name[0] in people.names)
    return len(words_) == 1


def _second_subject(
    spoken: Words, people: PeopleLexicon, stops: frozenset[str], names: Mapping[str, str]
) -> tuple[int, list[int], int] | None:
    """Where the elliptic clause begins, the words of its subject, and the index behind it."""
    norm = spoken.norm
    size = len(norm)
    for at in _beginnings(norm):
        begin = at
        while begin < size and norm[begin] in _LEADS:
            begin += 1
        if begin >= size:
            return None
        if norm[begin] in _SAME and begin + 2 < size and norm[begin + 1] in _SAID_AGAIN:
            end = _subject_end(spoken, begin + 2, people, stops, names, named=True)
            if end and _closes(spoken, end):
                return at, list(range(begin + 2, end)), end
        for lead in _SAME_WITH:
            if tuple(norm[begin : begin + len(lead)]) == lead:
                first = begin + len(lead)
                end = _subject_end(spoken, first, people, stops, names, named=True)
                if end and _closes(spoken, end):
                    return at, list(range(first, end)), end
        if at and norm[at - 1] not in _LEADS and not spoken.after[at - 1] and begin == at:
            continue
        end = _subject_end(spoken, begin, people, stops, names, named=at > 0)
        if not end:
            continue
        behind = end + 1 if end < size and norm[end] in _SAID_AGAIN else end
        for also in _ALSO_PHRASES:
            stop = behind + len(also)
            if tuple(norm[behind:stop]) == also and _closes(spoken, stop):
                return at, list(range(begin, end)), stop
    return None


_SAME_WITH = (
    ("same", "with"),
    ("same", "for"),
    ("same", "as"),
    ("same", "goes", "for"),
    ("goes", "for"),
)
_ALSO_PHRASES = (("too",), ("also",), ("likewise",), ("as", "well"))
_SAID_AGAIN = _AUXILIARIES | {"'s"}
_BEHIND_OPENING = _SAID_AGAIN | {"with", "for", "as", "goes"}
_BEHIND = frozenset("so and but because cos which".split())
_LONGEST_SUBJECT = 5
_MOST_LOOKS = 12
"""No more places of a turn are tried: a bound on time for hostile input."""


def _beginnings(norm: list[str]) -> list[int]:
    """Where an elliptic clause may begin: at "so does", or some words before "too"."""
    found: list[int] = []
    for i, word in enumerate(norm):
        if word not in CUES:
            continue
        if word in _OPENING:
            if i + 2 < len(norm) and norm[i + 1] in _BEHIND_OPENING:
                found.append(i - 1 if i and norm[i - 1] in _LEADS else i)
        elif word != "well" or norm[i - 1 : i] == ["as"]:
            found += range(max(0, i - _LONGEST_SUBJECT), i)
        if len(found) >= _MOST_LOOKS:
            break
    return sorted(set(found))


def _closes(spoken: Words, end: int) -> bool:
    """Whether a clause that is no question ends before ``end``."""
    if end >= len(spoken):
        return "?" not in spoken.after[end - 1]
    mark = spoken.after[end - 1]
    return "?" not in mark and (mark != "" or spoken.norm[end] in _BEHIND)


def _subject_end(
    spoken: Words,
    i: int,
    people: PeopleLexicon,
    stops: frozenset[str],
    names: Mapping[str, str],
    *,
    named: bool = False,
) -> int:
    """Index behind a subject that begins at ``i`` ("my wife ana", "sam", "she"), or 0.

    ``named``: the construction says that somebody follows, so a name may be one nobody knows.
    """
    norm = spoken.norm
    if i >= len(norm):
        return 0
    if norm[i] in _SUBJECTS or norm[i] in names:
        return i + 1
    if norm[i] not in _OWNERS:
        bare = people.relation_at(norm, i, i + 1) if norm[i] in CALLED_BY_RELATION else None
        if bare is not None:
            return i + 1
        size = is_name_at(spoken, i, len(norm), people, stops, True) if named else 0
        return i + size if size else 0
    found = people.relation_at(norm, i + 1, len(norm))
    if found is None:
        return 0
    relation, end = found
    if not relation.plural:
        end += is_name_at(spoken, end, len(norm), people, stops, not named)
    return end


def _predicate(
    said: Words, people: PeopleLexicon, stops: frozenset[str], names: Mapping[str, str]
) -> list[int]:
    """The verb and what follows it in the last clause of ``said``; empty: nothing to repeat."""
    clauses = segment(said, "en", frozenset(names))
    if not clauses or clauses[-1].carried or "?" in clauses[-1].closed_by:
        return []
    start, end = clauses[-1].start, clauses[-1].end
    while start < end and said.norm[start] in _LEADS:
        start += 1
    first = _subject_end(said, start, people, stops, names)
    while end > first and said.norm[end - 1] in _LEADS:
        end -= 1
    if not first or not 2 <= end - first <= _LONGEST_PREDICATE:
        return []
    if parse_verb_group(said.norm, first, end) is None:
        return []
    if not _OF_THE_SPEAKER.isdisjoint(said.norm[first:end]):
        return []  # "i love my job": whose job is loved by the other one nobody can say
    return list(range(first, end))


def _stored_turn_before(context: DialogueContext) -> Words | None:
    """The user's turn before, if something of it was stored."""
    if not context.recent_turns or not context.recent_facts:
        return None
    text = context.recent_turns[0][0]
    value = context.recent_facts[0].value.lower()
    if not value or value not in text.lower():
        return None
    return repair(words(text, "en"), "en")


def _line(spoken: Words, norm: list[str], order: list[int], after: list[str]) -> Words:
    return Words(
        spoken.text,
        norm,
        [spoken.start[i] for i in order],
        [spoken.end[i] for i in order],
        after,
        spoken.before,
    )
