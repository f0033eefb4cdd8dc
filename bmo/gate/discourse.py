"""Who is who in a turn: people by name, pronouns, and what the assistant spoke of last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from bmo.gate.asked_question import asked_subject
from bmo.gate.people import (
    NEW,
    Gender,
    PeopleLexicon,
    Relation,
    label_of,
    people_lexicon,
    subject_of,
)
from bmo.gate.spoken_of_before import Mention, Spoken, meant_before, people_in, people_of
from bmo.gate.talk_words import talk_words
from bmo.language import LanguageCode
from bmo.language.lexicon import LANGUAGES
from bmo.turn import DialogueContext

_WORD = re.compile(r"[^\W\d_]+")
_PRONOUN_GENDERS: dict[str, tuple[Gender, ...]] = {
    "he": ("male", "unknown"),
    "him": ("male", "unknown"),
    "his": ("male", "unknown"),
    "she": ("female", "unknown"),
    "her": ("female", "unknown"),
    "they": ("plural", "unknown", "male", "female"),
    "their": ("plural", "unknown", "male", "female"),
    "them": ("plural", "unknown", "male", "female"),
    "it": ("thing",),
    "its": ("thing",),
    "either": ("male", "female", "unknown"),
}
_SINGULAR = frozenset({"he", "him", "his", "she", "her", "either"})
_TWO = 2
_SEVERAL = frozenset({"they", "their", "them"})


@cache
def _given_names() -> frozenset[str]:
    """Given names of every language: "mehdi ist lehrer und er ..." speaks of Mehdi."""
    names = frozenset[str]()
    for language in LANGUAGES:
        said = talk_words(language)
        names |= people_lexicon(language).names - said.not_names
    return names


@dataclass(frozen=True, slots=True)
class Person:
    """Someone (or a pet) a clause speaks of.

    Attributes:
        subject: "user.brother:sam".
        label: "Brother Sam".
        gender: Which pronouns may point here.
        pet: It is an animal.
        relation: The relation's words ("brother"), or "" when only the subject is known.
        name: The name as written, or "".
    """

    subject: str
    label: str
    gender: Gender
    pet: bool
    relation: str
    name: str


@dataclass(slots=True)
class Discourse:
    """What the clauses of one turn have established so far.

    Attributes:
        names: Lower-case name -> subject, from the ledger and from this turn.
        recent: People spoken of, latest last.
        assistant: The person the assistant spoke of last, if anyone.
        stranger: Someone was named last of whom nothing is known: no pronoun points past them.
        said_before: What the assistant and the user said before the turn, and whether it was the
            assistant: read only when a pronoun points at nobody of this turn.
        shared: Names of two people, of whom one name alone does not tell which is meant.
        lately: Subjects of whom the latest facts and this turn tell.
        departed: Subjects of those who have died, as far as the talk tells.
        heard: The words of this turn before the clause that is read.
    """

    lexicon: PeopleLexicon
    names: dict[str, str] = field(default_factory=dict)
    recent: list[Person] = field(default_factory=list)
    assistant: Person | None = None
    earlier: list[Person] = field(default_factory=list)

    language: LanguageCode = "en"
    stranger: bool = False
    said_before: tuple[tuple[str, bool], ...] = ()
    heard: list[str] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)
    lately: set[str] = field(default_factory=set)
    told_apart: dict[str, str] = field(default_factory=dict)
    departed: set[str] = field(default_factory=set)

    def introduce(
        self, relation: Relation, name: str = "", owner: str = "user", qualifier: str = ""
    ) -> Person:
        """Notes that someone was spoken of and returns them.

        A relation without a name is the one person of that relation whom the turn or the ledger
        knows by name, if there is exactly one. With a qualifier ("my other brother") it is that
        one only where the name was said with the same qualifier.

        Args:
            relation: What they are.
            name: Their name, if it was said.
            owner: The subject of whose they are.
            qualifier: As of ``PeopleLexicon.qualifier_in``.
        """
        subject = subject_of(relation, name, owner, qualifier)
        if name:
            self.name(name.lower(), subject)
            if qualifier:
                self.told_apart[subject_of(relation, "", owner, qualifier)] = subject
        elif qualifier:
            subject = self.told_apart.get(subject) or self._said_with(qualifier, subject)
        elif not relation.plural:
            ones = {s for s in self.names.values() if s.partition(":")[0] == subject}
            if len(ones) == 1:
                subject = ones.pop()
        label = label_of(subject, name)
        if qualifier == NEW and not name and label == label_of(subject_of(relation, "", owner)):
            label = f"New {label[:1].lower()}{label[1:]}"
        if relation.plural:
            label = plural_label(relation.name)
            if owner != "user":
                label = f"{label_of(owner)}'s {label.lower()}"
        gender = relation.gender
        if gender == "unknown" and not relation.pet:
            gender = self.lexicon.gender_of(subject.partition(":")[2])
        person = Person(subject, label, gender, relation.pet, relation.name, name)
        self.point_at(person)
        return person

    def name(self, name: str, subject: str) -> None:
        """Notes whose a name is; of two people of whom the talk tells it is neither's alone.

        Args:
            name: The name, lower-case.
            subject: Who bears it.
        """
        known = self.names.get(name, subject)
        if known != subject and known in self.lately:
            self.shared.add(name)
        self.lately.add(subject)
        self.names[name] = subject

    def _said_with(self, qualifier: str, subject: str) -> str:
        """Whom the talk just named with a qualifier ("my younger daughter ann"), else ``subject``.

        Args:
            qualifier: As of ``PeopleLexicon.qualifier_in``.
            subject: Whoever is meant where nobody was named so.
        """
        for text, by_assistant in self.said_before:
            norm = [word.lower() for word in _WORD.findall(text)]
            for i, word in enumerate(norm):
                if by_assistant or self.lexicon.qualifiers.get(word) is None:
                    continue
                found = self.lexicon.relation_at(norm, i, len(norm))
                found = found or self.lexicon.relation_at(norm, i + 1, len(norm))
                if found is None or found[1] >= len(norm):
                    continue
                relation, behind = found
                said = self.lexicon.qualifier_in(norm, i, behind, relation)
                known = self.names.get(norm[behind], "")
                own = subject_of(relation)
                meant = subject_of(relation, "", "user", qualifier)
                if said == qualifier and subject == meant and known.partition(":")[0] == own:
                    return known
        return subject

    def point_at(self, person: Person) -> None:
        """Makes a person the latest spoken of."""
        self.stranger = False
        self.recent = [p for p in self.recent if p.subject != person.subject]
        self.recent.append(person)

    def by_name(self, name: str) -> Person | None:
        """The person of that name, if ledger or turn know one."""
        subject = self.names.get(name)
        if subject is None or name in self.shared:
            return None
        return self.person(subject)

    def person(self, subject: str) -> Person:
        """The person behind a subject, as far as the subject tells."""
        relation = subject.partition(":")[0].rpartition(".")[2].replace("_", " ")
        found = self.lexicon.forms.get(tuple(relation.split()))
        if found is None and " " in relation:  # "other brother"
            found = self.lexicon.forms.get(tuple(relation.split()[1:]))
            relation = found.name if found is not None else relation
        gender: Gender = found.gender if found else "unknown"
        pet = found.pet if found else False
        name = subject.partition(":")[2]
        if gender == "unknown" and name and not pet:
            gender = self.lexicon.gender_of(name)
        return Person(subject, label_of(subject), gender, pet, relation, name.title())

    def antecedent(self, pronoun: str) -> Person | None:
        """Whom a pronoun points at: the latest fitting person of the turn, then the assistant's."""
        if self.stranger and pronoun in _SINGULAR:
            return None
        genders = _PRONOUN_GENDERS.get(pronoun, ())
        both = self._named_together() if pronoun in _SEVERAL else None
        if both is not None:
            return both
        for person in reversed(self.recent):
            if person.gender in genders or (pronoun in ("it", "its") and person.pet):
                return person
        if self.recent and pronoun in ("it", "its"):
            return None  # "he's gone off biology, it's nursing now": no dog of some turns ago
        if self.assistant is not None and self.assistant.gender in genders:
            leading = self._leading(genders)
            return self.assistant if leading is None else self._known(leading)
        if pronoun in _SEVERAL:
            genders = ("plural",)  # "they've pushed it back" is nobody's husband of a turn ago
        if pronoun not in ("it", "its"):
            meant = meant_before(self._turns_before(), genders, self._subject_meant)
            if meant.unclear:
                return None
            if meant.mention is not None:
                return self._known(meant.mention)
        for person in self.earlier:
            if person.gender in genders or (pronoun in ("it", "its") and person.pet):
                return person
        return None

    def _named_together(self) -> Person | None:
        """The two who were named last, where they are of one kind: "my dogs are rex and max"."""
        if len(self.recent) < _TWO:
            return None
        one, other = self.recent[-2:]
        kind = one.subject.partition(":")[0]
        if not (one.name and other.name) or other.subject.partition(":")[0] != kind:
            return None
        relation = self.lexicon.forms.get(tuple(one.relation.split()))
        if relation is None or not kind.startswith("user."):
            return None
        label = plural_label(relation.name)
        return Person(kind, label, "plural", one.pet, one.relation, "")

    def _leading(self, genders: tuple[Gender, ...]) -> Mention | None:
        """Whoever is the subject of the turn so far, known or not: "mehdi is a cook and he ..."."""
        if not self.heard:
            return None
        spoken = people_in(self.heard, self.language, self.lexicon, self.names)
        first = spoken.mentions[0] if spoken.mentions else None
        if first is None and self.heard[0] in _given_names():
            first = Mention(None, self.heard[0], "", "", "unknown", True, False, False)
        return first if first and first.leads and first.gender in (*genders, "unknown") else None

    def _turns_before(self) -> Iterator[Spoken]:
        """The people of this turn's words so far, then of the turns before it, latest first."""
        if self.heard:
            yield people_in(self.heard, self.language, self.lexicon, self.names)
        for said, by_assistant in self.said_before:
            yield people_of(
                said, self.language, self.lexicon, self.names, by_assistant=by_assistant
            )

    def _subject_meant(self, mention: Mention) -> str:
        """The subject of somebody spoken of before, or what else tells them from others."""
        person = self._known(mention)
        if person is not None:
            return person.subject
        relation = mention.relation.key if mention.relation is not None else ""
        return f"{mention.whose}.{mention.which}.{relation}:{mention.name}"

    def _known(self, mention: Mention) -> Person | None:
        """Somebody spoken of before; None where nobody knows who it is."""
        relation = mention.relation
        known = self.names.get(mention.name) if mention.name else None
        if relation is None:
            return self.person(known) if known is not None else None
        if mention.whose == "user":
            if mention.which and mention.which != NEW and not mention.name:
                own = subject_of(relation, "", "user", mention.which)
                return self.person(self.told_apart.get(own) or self._said_with(mention.which, own))
            if mention.name:
                return self.person(known or subject_of(relation, mention.name))
            return self._one_of(relation)
        owner = self._known(mention.of) if mention.of is not None else None
        if owner is not None:
            return self.person(subject_of(relation, mention.name, owner.subject))
        for person in self.earlier:  # "her brother is a pilot"
            path, _, name = person.subject.partition(":")
            if path.rpartition(".")[2] == relation.key and path.count(".") > 1:
                if not mention.name or mention.name == name:
                    return person
        return None

    def _one_of(self, relation: Relation) -> Person:
        """The person of a relation: of whom the latest facts tell, else the only one known."""
        subject = subject_of(relation)
        for person in self.earlier:
            if person.subject.partition(":")[0] == subject and not relation.plural:
                return person
        known = {s for s in self.names.values() if s.partition(":")[0] == subject}
        label = plural_label(relation.name) if relation.plural else label_of(subject)
        if len(known) == 1 and not relation.plural:
            return self.person(known.pop())
        return Person(subject, label, relation.gender, relation.pet, relation.name, "")


def plural_label(relation: str) -> str:
    """Reads "Brothers", "Children", for facts about several at once."""
    if relation.endswith("child"):
        plural = relation[:-5] + "children"
    elif relation.endswith("y"):
        plural = relation[:-1] + "ies"
    else:
        plural = relation + "s"
    return plural[:1].upper() + plural[1:]


def open_discourse(
    lexicon: PeopleLexicon,
    context: DialogueContext,
    assistant_before: str,
    language: LanguageCode = "en",
) -> Discourse:
    """The discourse at the beginning of a turn.

    Whom the assistant named last comes first ("And Kavi, is he in Canada as well?"); otherwise
    the person the latest stored facts are about.
    """
    discourse = Discourse(lexicon, language=language)
    if assistant_before or context.recent_turns:
        mine = tuple((said, False) for said, _ in context.recent_turns)
        discourse.said_before = ((assistant_before, True), *mine)
    if context.subjects:
        discourse.names.update(context.subjects)
    for fact in context.recent_facts:
        name = fact.subject.partition(":")[2]
        if name:
            discourse.names.setdefault(name, fact.subject)
            if any(s != fact.subject and s.partition(":")[2] == name for s in discourse.lately):
                discourse.shared.add(name)
            discourse.lately.add(fact.subject)
    if "?" in assistant_before:
        # "does Clar still come?", "no, he is abroad": he is Clar, and nobody known by relation.
        asked = asked_subject(assistant_before)
        discourse.stranger = asked != "" and asked.lower() not in discourse.names
    if not discourse.names and not context.recent_facts:
        return discourse
    if discourse.names and assistant_before:
        for word in reversed(_WORD.findall(assistant_before.lower())):
            if word in discourse.names:
                discourse.assistant = discourse.person(discourse.names[word])
                break
    for fact in (*context.recent_facts, *context.known):
        if fact.slot == "deceased":
            discourse.departed.add(fact.subject)
    for subject, text in {fact.subject: fact.text for fact in context.recent_facts}.items():
        if subject.startswith("user."):
            person = discourse.person(subject)
            several = plural_label(person.relation)
            if ":" not in subject and text.startswith(f"{several} "):
                person = replace(person, label=several, gender="plural")
            discourse.earlier.append(person)
    return discourse


def known_subjects(context: DialogueContext) -> Mapping[str, str]:
    """Names the context knows, for callers that only need the mapping."""
    return context.subjects
