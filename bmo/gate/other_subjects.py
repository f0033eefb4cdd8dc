"""Finds the subject of German, French and Spanish clauses, and the people named in them."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.gate.clause_head import is_cased, proper
from bmo.gate.discourse import Discourse, Person
from bmo.gate.other_grammar import Grammar
from bmo.gate.people import Relation
from bmo.language import Words

_MAX_NAME_WORDS = 2

Introduced = tuple[Relation, str, int, int, str]
"""Relation, name, first word, index behind the last, subject of the owner."""


@dataclass(slots=True)
class ClauseSubject:
    """Who a clause is about, and the words that say so."""

    who: Person | str
    word: str
    used: set[int]
    possessor: bool = False
    plural: bool = False


class SubjectFinder:
    """Finds whom a clause is about, and everyone named on the way."""

    def __init__(
        self, words: Words, start: int, end: int, discourse: Discourse, rules: Grammar
    ) -> None:
        """A clause of ``words[start:end]``, read by a language's grammar."""
        self.words = words
        self.norm = words.norm
        self.start = start
        self.end = end
        self.discourse = discourse
        self.rules = rules
        self.introduced: list[Introduced] = []
        self.topic: list[int] = []

    def subject(self) -> ClauseSubject | None:
        """The first word or phrase that can be the subject; everyone named on the way is noted."""
        found: ClauseSubject | None = None
        i = self.start
        while i < self.end:
            candidate, behind = self._subject_at(i, found is not None)
            if candidate is not None and found is None:
                found = candidate
            i = max(behind, i + 1)
        if found is None:
            found = self._implied_subject()
        elif isinstance(found.who, Person) and not found.who.name and self._named_before(found):
            return None
        elif found.who == "user" or isinstance(found.who, Person):
            self._resumption(found)
        return found

    def _subject_at(self, i: int, taken: bool) -> tuple[ClauseSubject | None, int]:
        rules, norm = self.rules, self.norm
        word = norm[i]
        if word in rules.first and not taken:
            return ClauseSubject(
                "user", rules.first[word], {i}, plural=rules.first[word] == "we"
            ), i + 1
        after = norm[i + 1] if i + 1 < self.end else ""
        if (word in rules.own or word in rules.own_oblique) and after not in rules.first:
            return self._person_or_thing(i, "user", rules.own.get(word, "my"), word in rules.own)
        if word in rules.third_own:
            person = self.discourse.antecedent(rules.third_own[word])
            if person is not None:
                return self._person_or_thing(i, person, rules.third_own[word], True)
        if not taken:
            named = self.discourse.by_name(word)
            if named is not None and not self._behind_preposition(i):
                self.discourse.point_at(named)
                return ClauseSubject(named, word, {i}), i + 1
            suffix = rules.own_suffix
            if suffix and word.endswith(suffix):
                owner = self.discourse.by_name(word[: -len(suffix)])
                if owner is not None:
                    return ClauseSubject(owner, word, {i}, possessor=True), i + 1
            if (
                word in rules.third
                and i + 1 < self.end
                and self._is_clause_subject(i)
                and not self._behind_preposition(i)
            ):
                person = self.discourse.antecedent(rules.third[word])
                if person is not None:
                    self.discourse.point_at(person)
                    return ClauseSubject(person, word, {i}), i + 1
        return None, i + 1

    def _named_before(self, subject: ClauseSubject) -> bool:
        """Introduces whom "noelia es mi prima" names: one name, the copula, the relation."""
        first = min(subject.used, default=self.start)
        verb = first - 1
        if not isinstance(subject.who, Person) or verb < self.start + 1:
            return False
        form = self.rules.verbs.get(self.norm[verb])
        if form is None or form.lemma not in self.rules.copulas:
            return False
        before = [
            i
            for i in range(self.start, verb)
            if self.norm[i] not in self.rules.openers and self.norm[i] not in self.rules.drop
        ]
        if len(before) != 1 or not self._may_name(self.norm[before[0]]):
            return False
        relation = self.discourse.lexicon.forms.get(tuple(subject.who.relation.split()))
        if relation is None:
            return False
        name = proper(self.words.raw(before[0]))
        self.introduced.append((relation, name, before[0], first + 1, "user"))
        self.discourse.introduce(relation, name)
        return True

    def _first_word(self) -> int:
        """Index of the first word that is neither an opener nor empty."""
        i = self.start
        while i < self.end and (
            self.norm[i] in self.rules.openers or self.norm[i] in self.rules.drop
        ):
            i += 1
        return i

    def _is_clause_subject(self, i: int) -> bool:
        """A pronoun that could be an article too ("der", "la") must stand beside the verb."""
        word = self.norm[i]
        if word not in self.rules.articles:
            return True
        after = self.rules.verbs.get(self.norm[i + 1])
        return after is not None and after.person != 1

    def _behind_preposition(self, i: int) -> bool:
        return i > self.start and self.norm[i - 1] in self.rules.prepositions

    def _person_or_thing(
        self, i: int, owner: Person | str, word: str, nominative: bool
    ) -> tuple[ClauseSubject | None, int]:
        """Behind a possessive: a person ("meine schwester annika"), or something owned."""
        begin = i + 1
        at = begin
        while at < self.end and self.norm[at] in self.rules.adjectives:
            at += 1
        found = self.discourse.lexicon.relation_at(self.norm, at, self.end)
        if found is None:
            if nominative and not self._behind_preposition(i):
                return ClauseSubject(owner, word, {i}, possessor=True), begin
            return None, begin
        relation, behind = found
        subject_of_owner = owner.subject if isinstance(owner, Person) else "user"
        size = 0 if relation.plural else self._name_size(behind)
        name = ""
        if size:
            name = proper(
                self.words.text[self.words.start[behind] : self.words.end[behind + size - 1]]
            )
            self.introduced.append((relation, name, i, behind + size, subject_of_owner))
        person = self.discourse.introduce(relation, name, subject_of_owner)
        used = set(range(i, behind + size))
        if not nominative or (self._behind_preposition(i) and not self._experienced()):
            return None, behind + size
        if self._behind_preposition(i):
            used.add(i - 1)
        return ClauseSubject(person, relation.name, used, plural=relation.plural), behind + size

    def _experienced(self) -> bool:
        return any(
            (form := self.rules.verbs.get(word)) is not None
            and form.lemma in self.rules.experiencers
            for word in self.norm[self.start : self.end]
        )

    def _name_size(self, i: int) -> int:
        """How many words at ``i`` are the name of the person just mentioned."""
        size = 0
        cased = is_cased(self.words.text)
        while i + size < self.end and size < _MAX_NAME_WORDS:
            word = self.norm[i + size]
            if not self._may_name(word):
                break
            raw = self.words.raw(i + size)
            capital = cased and raw[:1].isupper() and not self.rules.capital_nouns
            known = word in self.discourse.lexicon.names or capital
            follows = i + size + 1
            closed = (
                follows >= self.end
                or bool(self.words.after[i + size])
                or self.norm[follows] in self.rules.verbs
                or self.norm[follows] in self.rules.resumed
                or self.norm[follows] in self.rules.negations
            )
            if not known and not (closed and not cased and size == 0):
                break
            size += 1
            if self.words.after[i + size - 1]:
                break
        return size

    def _may_name(self, word: str) -> bool:
        rules = self.rules
        return (
            word[0].isalpha()
            and word not in rules.verbs
            and word not in rules.drop
            and word not in rules.negations
            and word not in rules.prepositions
            and word not in rules.articles
            and word not in rules.first
            and word not in rules.third
            and word not in rules.third_own
            and word not in rules.past_cues
            and word not in rules.no_more
            and word not in rules.no_names
        )

    def _resumption(self, subject: ClauseSubject) -> None:
        """Takes "der" off "tarek der isst"."""
        behind = max(subject.used) + 1
        if (
            behind + 1 < self.end
            and self.norm[behind] in self.rules.resumed
            and self.norm[behind + 1] in self.rules.verbs
        ):
            subject.used.add(behind)

    def _implied_subject(self) -> ClauseSubject | None:
        """The user as object ("me gusta") or in the verb ("vivo")."""
        for i in range(self.start, self.end):
            form = self.rules.verbs.get(self.norm[i])
            if form is None or form.participle:
                continue
            if form.lemma in self.rules.experiencers:
                objects = [
                    k
                    for k in range(self.start, self.end)
                    if self.norm[k] in self.rules.experiencer_user
                ]
                return ClauseSubject("user", "i", set(objects)) if objects else None
            said_first = self.rules.verb_second and form.person == 1 and i == self._first_word()
            if said_first:  # "komme aus rostock"
                return ClauseSubject("user", "i", set())
            if self.rules.subject_from_verb and (form.person == 1 or form.past):
                return ClauseSubject(
                    "user", "we" if form.plural else "i", set(), plural=form.plural
                )
        return None
