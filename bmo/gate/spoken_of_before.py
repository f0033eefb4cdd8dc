"""Whom the talk before spoke of: "the wife's home today", "she's called maureen".

A turn that was only held, or the assistant's "your cat", still says whom the next pronoun means.
So does somebody of whom nobody knows more: behind "tom came by" the plumber of "he's a plumber" is
Tom, and no brother of some turns ago. Where two fit, nobody is meant: what is unclear is held.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from bmo.gate.people import Gender, PeopleLexicon, Relation
from bmo.gate.talk_words import TalkWords, talk_words
from bmo.language import LanguageCode, words

_LEAD = 2
"""Index of a turn's word from which somebody is its subject no more ("so my sister ...")."""
_REACH = 3


class Mention(NamedTuple):
    """Somebody a turn speaks of.

    Attributes:
        relation: What they are to the user, or to somebody else; None where only a name is known.
        name: Their name, lower-case, or "".
        whose: "user", "other" (his, her, tom's) or "" for somebody of no relation.
        which: The qualifier that tells them from others ("other").
        gender: Which pronouns may point at them.
        leads: They are the subject of the turn's first clause.
        owner: The head of a chain is spoken of, this is only whose they are ("my sister's son").
        new: They are brought up at the end, where what follows is likelier about them.
        of: Whose they are, where the turn names that ("my son has a girlfriend").
    """

    relation: Relation | None
    name: str
    whose: Literal["user", "other", ""]
    which: str
    gender: Gender
    leads: bool
    owner: bool
    new: bool
    of: Mention | None = None


class Spoken(NamedTuple):
    """A turn, as far as it speaks of people.

    Attributes:
        mentions: Everybody, in the order they were named.
        pronouns: Genders of the pronouns that no mention of the same turn explains.
    """

    mentions: tuple[Mention, ...]
    pronouns: frozenset[Gender]


class Meant(NamedTuple):
    """Whom a pronoun means as one turn goes.

    Attributes:
        mention: The one who fits, or None.
        unclear: Several fit, or somebody of whom nothing is known.
    """

    mention: Mention | None
    unclear: bool = False


_NOBODY = Meant(None)
_UNCLEAR = Meant(None, True)


def people_of(
    text: str,
    language: LanguageCode,
    people: PeopleLexicon,
    names: Collection[str],
    *,
    by_assistant: bool = False,
) -> Spoken:
    """Everybody a text speaks of.

    Args:
        text: A turn of the user's, or the assistant's words.
        language: In which it was said.
        people: What relations are called.
        names: Lower-case names of known people.
        by_assistant: Whether the assistant said it ("your sister").
    """
    norm = words(text, language).norm
    return people_in(norm, language, people, names, by_assistant=by_assistant)


def people_in(
    norm: list[str],
    language: LanguageCode,
    people: PeopleLexicon,
    names: Collection[str],
    *,
    by_assistant: bool = False,
) -> Spoken:
    """The same of words in normal form."""
    said = talk_words(language)
    owners = said.yours if by_assistant else said.own
    found: list[Mention] = []
    pronouns: list[tuple[int, Gender]] = []
    clitics: set[Gender] = set()
    taken = -1
    for i, word in enumerate(norm):
        if i <= taken:
            continue
        gender = said.pronouns.get(word) or said.possessives.get(word)
        if gender is not None and not by_assistant:
            pronouns.append((i, gender))
        elif found and word in said.clitics:
            object_of = _clitic(norm, i, taken, said)
            if object_of is not None:
                clitics.add(object_of)
                continue
        if word in owners or word in said.possessives or word in said.new:
            joined = found != [] and i - 2 == taken and norm[i - 1] in said.joins
            joined = joined and found[-1].whose == "user"
            read = _related(norm, i, people, said, owners, beside=joined)
            if read is not None:
                mention, taken = read
                if mention.whose == "" and len(found) == 1 and _has_one(norm, i, said):
                    mention = mention._replace(whose="other", of=found[0])
                found.append(mention)
                continue
        if word == "'s" and found and i - 1 == taken:
            read = _related(norm, i, people, said, frozenset({"'s"}))
            if read is not None:  # "my brother's girlfriend": she, and only then him
                mention, taken = read
                found[-1] = found[-1]._replace(owner=True)
                owned = mention._replace(whose="other", leads=found[-1].leads, of=found[-1])
                found.append(owned)
                continue
        if by_assistant:
            continue
        if word in said.somebody and _is_new(norm, i, said):
            found.append(_somebody(norm, i, said.somebody[word], said))
        elif word in said.trades and _is_met(norm, i, said):
            found.append(_somebody(norm, i, "unknown", said))
        elif word in names or (word in people.names and word not in said.not_names):
            if found and found[-1].relation and not found[-1].name and norm[i - 1] in said.called:
                taken = i  # "my youngest is called ivy" speaks of one
                found[-1] = _named(found[-1], word, people)
                continue
            taken = i
            who, leads = people.gender_of(word), _leads(norm, i, said)
            if not found and len(pronouns) == 1 and norm[i - 1] in said.called:
                who, leads = pronouns.pop()[1], True  # "no, his name is tom": he is tom
            found.append(Mention(None, word, "", "", who, leads, False, False))
    mentions, left = _explained(norm, found, pronouns, said)
    return Spoken(mentions, left | clitics)


def _related(
    norm: list[str],
    i: int,
    people: PeopleLexicon,
    said: TalkWords,
    owners: Collection[str],
    *,
    beside: bool = False,
) -> tuple[Mention, int] | None:
    """The relation behind a possessive or "a" at ``i``, and the index of its last word.

    ``beside``: one of the user's was named just before ("a brother and a sister").
    """
    word, size = norm[i], len(norm)
    first = i + 1
    while first < size and first - i < _REACH and people.relation_at(norm, first, size) is None:
        if norm[first] not in said.between and norm[first] not in people.qualifiers:
            return None
        first += 1
    read = people.relation_at(norm, first, size)
    if read is None:
        return None
    relation, behind = read
    if word in said.definite and norm[behind : behind + 1] == ["of"]:
        return None
    which = people.qualifier_in(norm, i, behind, relation)
    whose: Literal["user", "other", ""] = "user" if word in owners else "other"
    if word in said.new and word not in owners:
        if _told_of_subject(norm, i, said):
            return None  # "is a friend", "as a teacher": no person is brought up
        whose = "user" if _has(norm, i, said) or beside else ""
    name = ""
    if behind < size and not relation.plural and norm[behind] in people.names:
        name, behind = norm[behind], behind + 1
    gender = relation.gender
    if gender == "unknown" and name:
        gender = people.gender_of(name)
    new = word in said.new and word not in owners and behind >= size
    leads = _leads(norm, i, said)
    return Mention(relation, name, whose, which, gender, leads, False, new), behind - 1


def _named(mention: Mention, name: str, people: PeopleLexicon) -> Mention:
    """Somebody whose name the turn tells."""
    gender = mention.gender
    if gender == "unknown" and mention.relation is not None and not mention.relation.pet:
        gender = people.gender_of(name)
    return mention._replace(name=name, gender=gender)


def _has(norm: list[str], i: int, said: TalkWords) -> bool:
    """Whether the user says to have whoever stands behind "a" at ``i``."""
    front = norm[max(0, i - _REACH) : i]
    return not said.first.isdisjoint(front) and not said.having.isdisjoint(front)


def _has_one(norm: list[str], i: int, said: TalkWords) -> bool:
    """Whether somebody else has whoever stands behind "a" at ``i``."""
    return not said.having.isdisjoint(norm[max(0, i - 2) : i])


def _told_of_subject(norm: list[str], i: int, said: TalkWords) -> bool:
    return i > 0 and norm[i - 1] in said.copulas


def _is_new(norm: list[str], i: int, said: TalkWords) -> bool:
    """Whether "a", "some", "the" or "this" stands before a noun for somebody."""
    for at in range(i - 1, max(i - _REACH - 1, -1), -1):
        if norm[at] in said.new:
            return not _told_of_subject(norm, at, said)
        if norm[at] in said.definite:
            return True
        if norm[at] in said.own or norm[at] in said.possessives or norm[at] in said.yours:
            return False
    return False


def _is_met(norm: list[str], i: int, said: TalkWords) -> bool:
    """Whether a trade is somebody's who is met or had: "my boss has a new secretary"."""
    for at in range(i - 1, max(i - _REACH - 1, -1), -1):
        if norm[at] in said.new or norm[at] in said.definite:
            return at > 0 and norm[at - 1] in said.meeting
    return False


def _leads(norm: list[str], i: int, said: TalkWords) -> bool:
    """Whether whoever stands at ``i`` opens the turn: "i told my mum" is about the user."""
    front = norm[:i]
    return i <= _LEAD and said.first.isdisjoint(front) and said.pronouns.keys().isdisjoint(front)


def _somebody(norm: list[str], i: int, gender: Gender, said: TalkWords) -> Mention:
    leads = _leads(norm, i, said)
    return Mention(None, "", "", "", gender, leads, False, i >= len(norm) - 1)


def _explained(
    norm: list[str], found: list[Mention], pronouns: list[tuple[int, Gender]], said: TalkWords
) -> tuple[tuple[Mention, ...], frozenset[Gender]]:
    """The mentions, and the genders of pronouns that carry on from a turn before.

    "She is my sister" says who she is, "she's not my mum" speaks of nobody else, and in "my
    brother sold his car" he is the one just named.
    """
    if pronouns and found and pronouns[0][0] <= _LEAD:
        first = pronouns[0][0]
        behind = norm[first + 1 : first + 4]
        if norm[first] in said.possessives and not said.naming.isdisjoint(behind[:1]):
            return tuple(found), frozenset()  # "his name's paul"
        if behind and behind[0] in said.copulas and not said.own.isdisjoint(behind):
            if not said.negations.isdisjoint(behind):
                return tuple(found[1:]), frozenset({pronouns[0][1]})
            return tuple(found), frozenset()
        return tuple(found), frozenset({pronouns[0][1]})
    left = {g for _, g in pronouns if not any(_fits(m.gender, (g,)) for m in found)}
    # "My sister visits her": nobody visits herself.
    left |= {g for i, g in pronouns if _is_object(norm, i, said) and len(found) == 1}
    return tuple(found), frozenset(left)


def _is_object(norm: list[str], i: int, said: TalkWords) -> bool:
    """Whether a pronoun is an object: "visits her on sundays", and not "her dog"."""
    if norm[i] not in said.objects or i == 0:
        return False
    return norm[i] not in said.possessives or norm[i + 1 : i + 2] == [] or norm[i + 1] in said.ends


def _clitic(norm: list[str], i: int, taken: int, said: TalkWords) -> Gender | None:
    """Whom an object before its verb means that could be an article ("elle va la voir")."""
    gender = said.clitics.get(norm[i])
    if gender is None or i + 1 >= len(norm) or taken < 0:
        return None
    before_verb = norm[i + 1].endswith(said.infinitives) if said.infinitives else False
    return gender if i - 1 == taken or before_verb else None


def _fits(gender: Gender, genders: Sequence[Gender]) -> bool:
    return gender in genders or gender == "unknown"


def _is_topic(mention: Mention) -> bool:
    return mention.leads and mention.gender != "unknown"


def meant_before(
    turns: Iterable[Spoken], genders: Sequence[Gender], same: Callable[[Mention], str]
) -> Meant:
    """Whom a pronoun means as the turns before it go.

    Somebody named in passing ("i told my mum about it") is meant only where the turn before that
    one did not tell of another.

    Args:
        turns: The people of each turn, the latest first.
        genders: Which the pronoun may point at.
        same: As of ``meant_in``.
    """
    passing: Mention | None = None
    for spoken in turns:
        meant = meant_in(spoken, genders, same)
        if passing is not None:
            rival = meant.mention
            clear = rival is None or not _is_topic(rival) or same(rival) == same(passing)
            return Meant(passing) if clear else _UNCLEAR
        if meant.unclear:
            return meant
        if meant.mention is not None and (meant.mention.leads or meant.mention.new):
            return meant
        passing = meant.mention
    return Meant(passing)


def meant_in(spoken: Spoken, genders: Sequence[Gender], same: Callable[[Mention], str]) -> Meant:
    """Whom a pronoun means as a turn before it goes.

    Args:
        spoken: The people of that turn.
        genders: Which the pronoun may point at.
        same: A mention -> the subject it stands for; one person may be named twice.
    """
    fitting = [m for m in spoken.mentions if m.gender in genders]
    carried = not spoken.pronouns.isdisjoint(genders)
    heads = [m for m in fitting if not m.owner] or fitting
    heads = list({same(m): m for m in heads}.values())
    if not heads:
        return _NOBODY
    if carried:
        return _UNCLEAR
    if len(heads) > 1:
        first = heads[0]
        others = heads[1:]
        if not _is_topic(first) or any(m.new for m in others):
            return _UNCLEAR
        if any(m.gender != "unknown" for m in others):
            return _UNCLEAR
        return Meant(first)
    return Meant(heads[0])


def introduces(norm: list[str]) -> bool:
    """Whether words bring up somebody of no relation: "a new lad called ollie".

    "He" behind them is that one, and nobody of whom the talk knew before.
    """
    said = talk_words("en")
    if said.somebody.keys().isdisjoint(norm):
        return False
    for i, word in enumerate(norm):
        if word in said.somebody and _brings_up(norm, i):
            return True
    return False


def _brings_up(norm: list[str], i: int) -> bool:
    """Whether "a" or "some" stands before somebody, no possessive, and no "i am"."""
    for at in range(i - 1, max(i - 4, -1), -1):
        if norm[at] in ("a", "an", "some", "another"):
            told = norm[at - 1 : at] if at else []
            return told not in (["am"], ["is"], ["was"], ["be"], ["as"], ["have"], ["got"], ["'s"])
        if norm[at] in ("my", "our", "the", "his", "her", "their", "your"):
            return False
    return False
