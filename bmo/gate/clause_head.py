"""Reads a clause's subject and verb group, and writes the head that rules match.

A head is a line of words: ``S live in leeds`` (S the subject, then the verb in its base form) or
``P name be glenn`` (P the possessor). What was taken off (who, polarity, tense) stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bmo.gate.discourse import Discourse, Person
from bmo.gate.people import Relation
from bmo.gate.person_names import COPULAS, is_name_at, proper
from bmo.language import VerbGroup, Words, parse_verb_group

_FIRST_PERSON = frozenset({"i", "we"})
_OWN = frozenset({"my", "our"})
_THIRD = frozenset({"he", "she", "they", "it"})
_THIRD_OWN = frozenset({"his", "her", "their", "its"})


@dataclass(slots=True)
class Head:
    """A clause in the form rules match.

    Attributes:
        line: Words joined by spaces, one behind each ("S live in leeds ").
        tokens: The words of the line.
        source: For each, its index in the turn's words, or -1 for S, P and written-in words.
        who: "user", "team", "thing", or a Person.
        group: The verb group taken off, or None for a line without one.
        plural: The subject is plural ("we", "my parents").
        subject_word: The pronoun or noun that was the subject.
        introduced: People named in the subject.
        said: First word of the clause as it was said, and the index behind its last.
    """

    line: str
    tokens: list[str]
    source: list[int]
    who: Person | str
    group: VerbGroup | None
    plural: bool = False
    subject_word: str = ""
    introduced: list[tuple[Relation, str, int, int, str]] = field(default_factory=list)
    said: tuple[int, int] = (0, 0)


def read_head(
    words: Words, start: int, end: int, discourse: Discourse, stops: frozenset[str]
) -> Head | None:
    """The head of the clause ``words[start:end]``.

    Returns:
        None when the clause has no subject and verb that rules could use; such a clause is matched
        by its words alone.
    """
    norm = words.norm
    first = norm[start]
    if first in _FIRST_PERSON:
        return _subject_head(words, start + 1, end, "user", first == "we", first)
    if first in _OWN:
        return _own_head(words, start + 1, end, discourse, stops, first)
    if first in _THIRD:
        person = discourse.antecedent(first)
        if person is None:
            return None
        discourse.point_at(person)
        return _subject_head(
            words, start + 1, end, person, first == "they" and person.gender == "plural", first
        )
    if first in _THIRD_OWN:
        person = discourse.antecedent(first)
        if person is None:
            return None
        return _possessed(words, start + 1, end, person, discourse, stops, first)
    if first == "me" and start + 2 < end and norm[start + 1] == "and":
        return _me_and(words, start, end, discourse, stops)
    person = None
    size = 0
    named = discourse.by_name(first)
    if named is not None:
        person, size = named, 1
    elif first.endswith("s") and discourse.by_name(first[:-1]) is not None and start + 1 < end:
        # The recogniser's "emekas moved" for "emeka's moved".
        person = discourse.by_name(first[:-1])
        discourse.point_at(person)  # type: ignore[arg-type]
        return _glued_s(words, start, end, person)
    elif norm[start : start + 2] == ["the", "team"] or first == "team":
        return _subject_head(
            words, start + (2 if first == "the" else 1), end, "team", False, "team"
        )
    elif first in CALLED_BY_RELATION or (
        first.endswith("s") and first[:-1] in CALLED_BY_RELATION and start + 1 < end
    ):
        return _by_relation(words, start, end, discourse, stops)
    if person is not None:
        discourse.point_at(person)
        if start + size < end and norm[start + size] == "'s":
            return _apostrophe_s(words, start + size, end, person, discourse, stops, first)
        return _subject_head(words, start + size, end, person, False, first)
    return None


CALLED_BY_RELATION = frozenset(
    (
        "dad daddy gran grandad granddad grandma grandpa granny mam mom mommy mum mummy nan nana"
    ).split()
)
"""Relations that stand for a name: "mum lives in leeds" is one's own mother."""


def _by_relation(
    words: Words, start: int, end: int, discourse: Discourse, stops: frozenset[str]
) -> Head | None:
    """Reads "mum passed away", "dads in hospital" as "my mum ...", "my dad is ..."."""
    norm = words.norm
    glued = norm[start] not in CALLED_BY_RELATION
    word = norm[start][:-1] if glued else norm[start]
    relation = discourse.lexicon.forms.get((word,))
    if relation is None or relation.plural:
        return None
    if glued:
        return _glued_s(words, start, end, discourse.introduce(relation))
    return _person_head(words, relation, start + 1, end, "user", discourse, stops)


def _subject_head(
    words: Words, i: int, end: int, who: Person | str, plural: bool, subject_word: str
) -> Head | None:
    norm = words.norm
    if i < end and norm[i] in ("both", "all", "each") and plural:
        i += 1
    group = parse_verb_group(norm, i, end)
    if group is None or not group.lemma:
        return None
    stop = end
    if stop - group.end >= 2 and norm[stop - 2] == "any" and norm[stop - 1] == "more":
        stop -= 2
        group.change = "any_more"
        if group.polarity == "positive":
            group.polarity = "negative"
    tokens = ["S", group.lemma, *norm[group.end : stop]]
    source = [-1, group.verb_at, *range(group.end, stop)]
    if group.modal in ("can",):
        tokens.insert(1, "can")
        source.insert(1, -1)
    line = " ".join(tokens) + " "
    return Head(line, tokens, source, who, group, plural, subject_word)


def _own_head(
    words: Words, i: int, end: int, discourse: Discourse, stops: frozenset[str], own: str
) -> Head | None:
    """After "my": a person ("my brother sam lives ..."), or something owned ("my name is ...")."""
    norm = words.norm
    begin = i
    while i < end and norm[i] in _KIN_ADJECTIVES:
        i += 1
    while i < end and (norm[i] == "late" or norm[i] in discourse.lexicon.qualifiers):
        if discourse.lexicon.relation_at(norm, i, end) is not None:
            break  # "older brother", "youngest"
        i += 1
    found = discourse.lexicon.relation_at(norm, i, end)
    if found is None and i > begin:
        found = discourse.lexicon.relation_at(norm, begin, end)
    if found is None:
        glued = _glued_relation(words, i, end, discourse)
        if glued is not None:
            relation, behind = glued
            patched = _with_apostrophe(words, behind - 1)
            which = discourse.lexicon.qualifier_in(norm, begin, behind, relation)
            person = discourse.introduce(relation, qualifier=which)
            return _apostrophe_s(patched, behind - 1, end, person, discourse, stops, relation.name)
        if i < end and norm[i] == "team":
            if i + 1 < end and norm[i + 1] == "'s":
                return _owned(words, i + 2, end, "team", own)
            return _subject_head(words, i + 1, end, "team", False, "team")
        return _owned(words, begin, end, "user", own)
    relation, behind = found
    which = discourse.lexicon.qualifier_in(norm, begin, behind, relation)
    return _person_head(words, relation, behind, end, "user", discourse, stops, which)


_KIN_ADJECTIVES = frozenset(
    (
        "amazing beautiful darling dear entire five four lovely new only own poor six sweet "
        "three two whole wonderful"
    ).split()
)


def _person_head(
    words: Words,
    relation: Relation,
    i: int,
    end: int,
    owner: str,
    discourse: Discourse,
    stops: frozenset[str],
    qualifier: str = "",
) -> Head | None:
    norm = words.norm
    introduced: list[tuple[Relation, str, int, int, str]] = []
    name = ""
    size = 0 if relation.plural else is_name_at(words, i, end, discourse.lexicon, stops, True)
    glued = False
    if size == 0 and not relation.plural and i < end:
        word = norm[i]
        if word.endswith("s") and word[:-1] in discourse.lexicon.names:
            # "my brother sams birthday"
            size, glued = 1, True
    if size:
        raw = words.text[words.start[i] : words.end[i + size - 1]]
        if glued:
            raw = raw[:-1]
        name = proper(raw)
        introduced.append((relation, name, i - 1, i + size, owner))
        i += size
    person = discourse.introduce(relation, name, owner, qualifier)
    head: Head | None
    if glued and i < end:
        head = _owned(words, i, end, person, relation.name)
    elif i < end and norm[i] == "'s":
        head = _apostrophe_s(words, i, end, person, discourse, stops, relation.name)
    elif i < end and norm[i] in _THIRD_OWN and i + 1 < end:
        # "my sister hana her birthday is ...": resumed possessive.
        head = _possessed(words, i + 1, end, person, discourse, stops, norm[i])
    elif i < end and norm[i] in ("he", "she", "they") and i + 1 < end:
        head = _subject_head(words, i + 1, end, person, False, norm[i])
    elif relation.plural and i < end and not name and _owned_noun(norm, i):
        # The recogniser's "my brothers birthday" for "my brother's birthday".
        single = discourse.lexicon.forms.get(tuple(relation.name.split()))
        if single is not None:
            person = discourse.introduce(single, "", owner, qualifier)
        head = _owned(words, i, end, person, relation.name)
    elif i < end and norm[i] == "and" and not name:
        return None
    else:
        head = _subject_head(words, i, end, person, relation.plural, relation.name)
    if head is not None:
        head.introduced = introduced + head.introduced
    return head


_OWNED_NOUNS = frozenset(
    (
        "address age allergy anniversary birthday breed car favourite first full house husband "
        "job last middle name names nickname number partner phone surname wife"
    ).split()
)


def _owned_noun(norm: list[str], i: int) -> bool:
    return norm[i] in _OWNED_NOUNS


def _apostrophe_s(
    words: Words,
    i: int,
    end: int,
    person: Person,
    discourse: Discourse,
    stops: frozenset[str],
    subject_word: str,
) -> Head | None:
    """Reads "'s" is a possessive before a noun that is owned, else "is" or "has"."""
    norm = words.norm
    if i + 1 < end:
        if _owned_noun(norm, i + 1):
            return _owned(words, i + 1, end, person, subject_word)
        found = discourse.lexicon.relation_at(norm, i + 1, end)
        if found is not None and person.subject.count(".") < _MOST_RELATIONS:
            return _person_head(words, found[0], found[1], end, person.subject, discourse, stops)
        for j in range(i + 2, min(end, i + 6)):
            if norm[j] in ("is", "are", "was", "were"):
                return _owned(words, i + 1, end, person, subject_word)
    return _subject_head(words, i, end, person, False, subject_word)


_MOST_RELATIONS = 4
"""Longer chains ("my mum's mum's mum's ...") are nobody: a bound on time for hostile input."""


def _glued_s(words: Words, start: int, end: int, person: Person | None) -> Head | None:
    """Reads "emekas moved", "emekas birthday is": the apostrophe was not written."""
    if person is None:
        return None
    if _owned_noun(words.norm, start + 1):
        return _owned(words, start + 1, end, person, person.relation)
    patched = _with_apostrophe(words, start)
    return _subject_head(patched, start, end, person, False, person.relation)


def _with_apostrophe(words: Words, at: int) -> Words:
    """The words with "'s" for the name or relation at ``at``, which is taken off before it."""
    norm = [*words.norm[:at], "'s", *words.norm[at + 1 :]]
    return Words(words.text, norm, words.start, words.end, words.after, words.before)


def _glued_relation(
    words: Words, i: int, end: int, discourse: Discourse
) -> tuple[Relation, int] | None:
    """The relation in "wifes name", "step mums birthday", "husbands a nurse", and its end."""
    forms = discourse.lexicon.forms
    for size in range(min(_LONGEST_RELATION, end - i - 1), 0, -1):
        last = words.norm[i + size - 1]
        if not last.endswith("s"):
            continue
        relation = forms.get((*words.norm[i : i + size - 1], last[:-1]))
        if relation is not None and not relation.plural:
            return relation, i + size
    return None


_LONGEST_RELATION = 3


def _possessed(
    words: Words,
    i: int,
    end: int,
    person: Person,
    discourse: Discourse,
    stops: frozenset[str],
    word: str,
) -> Head | None:
    """After "his", "her": a person of theirs, or something they own."""
    discourse.point_at(person)
    found = discourse.lexicon.relation_at(words.norm, i, end)
    if found is not None and not person.subject.partition(":")[0].count(".") > 1:
        return _person_head(words, found[0], found[1], end, person.subject, discourse, stops)
    return _owned(words, i, end, person, word)


def _owned(words: Words, i: int, end: int, who: Person | str, word: str) -> Head | None:
    """Reads "P name be glenn": the owned noun, the verb in base form, the rest."""
    norm = words.norm
    for j in range(i + 1, min(end, i + 8)):
        if norm[j] == "'s" and any(norm[k] in COPULAS for k in range(j + 1, min(end, j + 6))):
            continue
        if norm[j] in COPULAS or norm[j] in (
            "means",
            "went",
            "got",
            "turned",
            "turns",
            "falls",
            "starts",
            "started",
            "died",
            "broke",
            "broken",
            "lives",
            "makes",
            "takes",
            "runs",
            "comes",
            "came",
            "keeps",
        ):
            group = parse_verb_group(norm, j, end)
            if group is None or not group.lemma:
                return None
            tokens = ["P", *norm[i:j], group.lemma, *norm[group.end : end]]
            source = [-1, *range(i, j), group.verb_at, *range(group.end, end)]
            return Head(" ".join(tokens) + " ", tokens, source, who, group, False, word)
    # "her birthdays on the ninth", "my birthdays in june": "'s" that was not written.
    for j in range(i, min(end - 1, i + 3)):
        if norm[j].endswith("s") and norm[j][:-1] in _OWNED_NOUNS and norm[j] not in ("names",):
            tokens = ["P", *norm[i:j], norm[j][:-1], "be", *norm[j + 1 : end]]
            source = [-1, *range(i, j), j, -1, *range(j + 1, end)]
            return Head(" ".join(tokens) + " ", tokens, source, who, VerbGroup("be"), False, word)
    tokens = ["P", *norm[i:end]]
    source = [-1, *range(i, end)]
    return Head(" ".join(tokens) + " ", tokens, source, who, None, False, word)


def _me_and(
    words: Words, start: int, end: int, discourse: Discourse, stops: frozenset[str]
) -> Head | None:
    """Reads "me and my cousin declan run it": we."""
    norm = words.norm
    i = start + 2
    if norm[i] not in _OWN:
        return None
    found = discourse.lexicon.relation_at(norm, i + 1, end)
    if found is None:
        return None
    relation, i = found
    size = is_name_at(words, i, end, discourse.lexicon, stops, True)
    introduced = []
    if size:
        name = proper(words.text[words.start[i] : words.end[i + size - 1]])
        discourse.introduce(relation, name)
        introduced.append((relation, name, i - 1, i + size, "user"))
        i += size
    head = _subject_head(words, i, end, "user", True, "we")
    if head is not None:
        head.introduced = introduced
    return head
