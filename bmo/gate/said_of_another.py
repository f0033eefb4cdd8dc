"""Ellipsis of the verb phrase: "my brother hates olives", "and my sister too".

What is said of one person is said of another by a word only: "so does my wife", "neither can my
dad", "same with my son", "me too". The clause is written out with the verb and what follows it
("my sister hates olives") and read by the ordinary rules; the verb stands in the same turn or in
the user's turn before.
"""

from __future__ import annotations

from collections.abc import Mapping

from bmo.gate.people import PeopleLexicon
from bmo.gate.person_names import is_name_at
from bmo.language import Words, repair, segment, third_person, words
from bmo.language.verb_group import parse_verb_group
from bmo.turn import DialogueContext

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


def with_verb_said(
    spoken: Words,
    people: PeopleLexicon,
    stops: frozenset[str],
    context: DialogueContext,
    names: Mapping[str, str],
) -> tuple[Words, bool]:
    """The turn with the verb phrase in its place, or as it was where nothing is left out.

    Args:
        spoken: The turn's repaired words, in English.
        people: What relations are called.
        stops: Words that are no names.
        context: The user's turn before and what was stored of it.
        names: Lower-case names of known people.

    Returns:
        The words, and whether the verb stood in the turn before.
    """
    norm = spoken.norm
    size = len(norm)
    if size < _SHORTEST or (norm[-1] not in _LAST and _OPENING.isdisjoint(norm[-_LONGEST_TURN:])):
        return spoken, False
    found = _second_subject(spoken, people, stops, names)
    if found is None:
        return spoken, False
    lead, subject = found
    if lead >= _SHORTEST_CLAUSE:
        said = spoken.select(list(range(lead)))
    else:
        before = _stored_turn_before(context) if size <= _LONGEST_TURN else None
        if before is None:
            return spoken, False
        said = before
    predicate = _predicate(said, people, stops, names)
    if not predicate:
        return spoken, False
    who = [_AS_SUBJECT.get(norm[i], norm[i]) for i in subject]
    line = [*who, *_agreeing(said.norm, predicate, who, people)]
    if said.text is not spoken.text:  # the words before have no place in this turn's text
        order = [*subject, *([subject[-1]] * len(predicate))]
        return _line(spoken, line, order, [""] * len(order)), True
    front = [i for i in range(lead) if not (i == lead - 1 and norm[i] in _LEADS)]
    order = [*front, *subject, *predicate]
    after = [spoken.after[i] for i in order]
    after[len(front) - 1] = "."
    return _line(spoken, [*(norm[i] for i in front), *line], order, after), False


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
    elif not words_ or words_[0] not in _SAME:
        return False
    else:
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
) -> tuple[int, list[int]] | None:
    """Where the elliptic clause begins, and the words of its subject."""
    norm = spoken.norm
    size = len(norm)
    for at in range(max(0, size - _LONGEST_TURN), size):
        begin = at
        while begin < size and norm[begin] in _LEADS:
            begin += 1
        if begin >= size:
            return None
        if norm[begin] in _SAME and begin + 2 < size and norm[begin + 1] in _AUXILIARIES:
            end = _subject_end(spoken, begin + 2, people, stops, names)
            if end == size:
                return at, list(range(begin + 2, end))
        for lead in (("same", "with"), ("same", "for"), ("same", "goes", "for")):
            if tuple(norm[begin : begin + len(lead)]) == lead:
                first = begin + len(lead)
                if _subject_end(spoken, first, people, stops, names) == size:
                    return at, list(range(first, size))
        if at and norm[at - 1] not in _LEADS and not spoken.after[at - 1] and begin == at:
            continue
        end = _subject_end(spoken, begin, people, stops, names)
        if not end:
            continue
        behind = end + 1 if end < size and norm[end] in _AUXILIARIES else end
        if norm[behind:] in (["too"], ["also"], ["likewise"], ["as", "well"]):
            return at, list(range(begin, end))
    return None


def _subject_end(
    spoken: Words, i: int, people: PeopleLexicon, stops: frozenset[str], names: Mapping[str, str]
) -> int:
    """Index behind a subject that begins at ``i`` ("my wife ana", "sam", "she"), or 0."""
    norm = spoken.norm
    if i >= len(norm):
        return 0
    if norm[i] in _SUBJECTS or norm[i] in names:
        return i + 1
    if norm[i] not in _OWNERS:
        return 0
    found = people.relation_at(norm, i + 1, len(norm))
    if found is None:
        return 0
    relation, end = found
    if not relation.plural:
        end += is_name_at(spoken, end, len(norm), people, stops, True)
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
