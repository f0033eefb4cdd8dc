"""The people lexicon: which words name a relation, and how a person is written in subjects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from bmo.gate.pack_tables import read_table, read_text
from bmo.language import LanguageCode

NEW = "new"
"""The qualifier of somebody who comes after or beside the ones known."""

BY_SIZE = {"big": "older", "little": "younger"}
"""Qualifiers of brothers and sisters, and how they are written."""

_KINDS_OF_QUALIFIER = frozenset({"alone", "behind", "sized", "worn", "held"})

_OF_SEVERAL = (["are"], ["were"])

Gender = Literal["male", "female", "thing", "plural", "unknown"]
"""Which pronouns may point at someone."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation to the user.

    Attributes:
        name: As in canonical text ("mother-in-law").
        plural: The word spoken was plural ("brothers").
        gender: Which pronouns may point at it.
        single: One person at a time holds it (wife, father).
        pet: It is an animal.
    """

    name: str
    plural: bool
    gender: Gender
    single: bool
    pet: bool

    @property
    def key(self) -> str:
        """As in subjects ("best_friend")."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True, slots=True)
class PeopleLexicon:
    """Words of one language for people and pets, and given names.

    Attributes:
        forms: Words of a relation, as a tuple, -> the relation.
        first: Every first word of a form -> length of its longest form.
        last: Every last word of a form: of two words it is the one that is rarer in other talk.
        names: Given names, lower-case.
        qualifiers: Words that tell one of a relation from the others -> how it is written.
        alone: Those of them that need no relation behind them ("my youngest").
        behind: Those of them that stand behind a relation ("ma soeur aînée").
        taught: Those of them that only tell teachers apart ("my piano teacher").
        genders: Given name, lower-case -> whose it nearly always is.
        sized: More relations than brothers and sisters of whom "big" and "little" tell which.
        worn: Words that tell a former one only of ``held`` ("my old boss", not "my old dog").
        held: Relations that one has for a time.
        compounds: Nouns behind a relation with which it is none ("mother tongue").
    """

    forms: dict[tuple[str, ...], Relation]
    first: dict[str, int]
    last: frozenset[str]
    names: frozenset[str]
    qualifiers: dict[str, str]
    alone: frozenset[str]
    behind: frozenset[str]
    taught: frozenset[str]
    genders: Mapping[str, Gender]
    compounds: frozenset[str]
    sized: frozenset[str]
    worn: frozenset[str]
    held: frozenset[str]

    def gender_of(self, name: str) -> Gender:
        """Whose a given name nearly always is; "unknown" of all others."""
        return self.genders.get(name, "unknown")

    def qualifier_in(self, norm: list[str], begin: int, behind: int, relation: Relation) -> str:
        """Which one of a relation the words ``norm[begin:behind]`` mean: "older", "other", "".

        Args:
            norm: Words in normal form.
            begin: Index behind the possessive.
            behind: Index behind the relation's last word.
            relation: The relation those words name.
        """
        if relation.plural:
            return ""
        siblings = relation.name in ("brother", "sister")
        for i in range(begin, behind):
            said = self.qualifiers.get(norm[i], "")
            if not said or not self._beside_kin(norm, i, begin, behind, relation):
                continue
            if said in BY_SIZE and not siblings and relation.name not in self.sized:
                continue
            if norm[i] in self.taught and relation.name != "teacher":
                continue
            if norm[i] in self.worn and relation.name not in self.held:
                continue
            return BY_SIZE.get(said, said)
        return ""

    def _beside_kin(
        self, norm: list[str], i: int, begin: int, behind: int, relation: Relation
    ) -> bool:
        """Whether the word at ``i`` qualifies: "other half" is no other one of "half"."""
        if norm[i] in self.alone:
            return True
        spans = [(k, behind) for k in range(i + 1, behind)]
        spans += [(k, i) for k in range(begin, i)]
        found = (self.forms.get(tuple(norm[k:end])) for k, end in spans)
        return any(one is not None and one.name == relation.name for one in found)

    def relation_at(self, norm: list[str], i: int, end: int) -> tuple[Relation, int] | None:
        """The relation whose words begin at ``i``, and the index behind them."""
        if i >= end:
            return None
        longest = self.first.get(norm[i])
        if longest is None:
            return None
        for size in range(min(longest, end - i), 0, -1):
            relation = self.forms.get(tuple(norm[i : i + size]))
            if relation is not None:
                if i + size < end and norm[i + size] in self.compounds:
                    return None  # "mother tongue", "dog food"
                if norm[i] in self.alone and norm[i + 2 : min(i + 3, end)] in _OF_SEVERAL:
                    return None  # "my oldest jeans are ripped"
                if norm[i] in self.alone and self.relation_at(norm, i + size, end) is not None:
                    return None  # "my oldest friend" is no eldest child
                return relation, i + size
        return None


def _relation(
    name: str, plural: bool, raw: Mapping[str, list[str]], formed: Gender = "unknown"
) -> Relation:
    """A relation; ``formed``: the gender that the word for it tells ("kollegin")."""
    pet = name in raw["pets"]
    gender = formed
    if plural:
        gender = "plural"
    elif name in raw["male"]:
        gender = "male"
    elif name in raw["female"]:
        gender = "female"
    return Relation(name, plural, gender, name in raw["single"], pet)


@cache
def people_lexicon(language: LanguageCode) -> PeopleLexicon:
    """The people lexicon of ``language``; the relations are English in all of them.

    A language's ``people.toml`` holds ``[one]`` and ``[many]``; genders and pets are English's.
    """
    english = read_table("en", "people.toml")
    own = read_table(language, "people.toml") or english
    forms: dict[tuple[str, ...], Relation] = {}
    formed: dict[str, Gender] = dict.fromkeys(own.get("male_forms", ()), "male")
    formed.update(dict.fromkeys(own.get("female_forms", ()), "female"))
    for plural, table in ((False, own["one"]), (True, own.get("many", {}))):
        for name, words in table.items():
            for word in words:
                relation = _relation(name, plural, english, formed.get(word, "unknown"))
                forms.setdefault(tuple(word.lower().split()), relation)
    first: dict[str, int] = {}
    for form in forms:
        first[form[0]] = max(first.get(form[0], 0), len(form))
    for name in (
        *own["one"],
        *own.get("many", ()),
    ):  # subjects are written in English: known by their English names too
        forms.setdefault(tuple(name.lower().split()), _relation(name, False, english))
    text = read_text("en", "names.txt")
    if language != "en":
        text += read_text(language, "names.txt")
    names = [w for line in text.splitlines() if not line.startswith("#") for w in line.split()]
    last = frozenset(form[-1] for form in forms)
    told = own.get("qualifiers", {})
    return PeopleLexicon(
        forms,
        first,
        last,
        frozenset(names),
        {
            word: word if said == "taught" else said
            for said, words in told.items()
            if said not in _KINDS_OF_QUALIFIER
            for word in words
        },
        frozenset(told.get("alone", ())),
        frozenset(told.get("behind", ())),
        frozenset(told.get("taught", ())),
        _name_genders(),
        frozenset(own.get("compounds", ())),
        frozenset(told.get("sized", ())),
        frozenset(told.get("worn", ())),
        frozenset(told.get("held", ())),
    )


@cache
def _name_genders() -> Mapping[str, Gender]:
    """Given names of one gender; names that differ by country or person are in no list."""
    genders: tuple[Gender, ...] = ("male", "female")
    told: dict[str, Gender] = {}
    for gender in genders:
        lines = read_text("en", f"names_{gender}.txt").splitlines()
        for line in lines:
            if not line.startswith("#"):
                told.update(dict.fromkeys(line.split(), gender))
    return told


def subject_of(relation: Relation, name: str = "", owner: str = "user", qualifier: str = "") -> str:
    """The subject of a person ("user.brother:sam", "user.husband.sister:steffi").

    Args:
        relation: What they are.
        name: Their name, if it is known.
        owner: Whose they are.
        qualifier: Which one of several is meant where no name is ("user.older_brother"); a new
            one has the relation to itself.
    """
    which = f"{qualifier}_" if qualifier and not name and qualifier != NEW else ""
    base = f"{owner.partition(':')[0]}.{which}{relation.key}"
    return f"{base}:{name.lower()}" if name else base


def label_of(subject: str, name: str = "") -> str:
    """How a subject is written at the front of a canonical text ("Brother Sam").

    Args:
        subject: A person's subject.
        name: The name as it is written; default is the subject's name, title case.
    """
    path, _, key_name = subject.partition(":")
    relations = [part.replace("_", " ") for part in path.split(".")[1:]]
    if not relations:
        return "The team" if path == "team" else ""
    words = " ".join([*(f"{relation}'s" for relation in relations[:-1]), relations[-1]])
    shown = name or key_name.title()
    return (words[:1].upper() + words[1:] + (f" {shown}" if shown else "")).strip()
