"""Finds the subject of German, French and Spanish clauses."""

from __future__ import annotations

from bmo.gate.discourse import Person
from bmo.gate.other_people import ClauseSubject, PeopleFinder, with_spoken
from bmo.gate.people import PeopleLexicon, Relation
from bmo.gate.person_names import proper
from bmo.gate.talk_words import talk_words

_OTHERS_PAST = ("ó", "aron", "ieron")
_OTHERS_FORMS = frozenset({"fue", "dijo", "tuvo", "hizo", "vino", "puso", "quiso", "estuvo"})
_AND = frozenset({"und", "et", "y"})
_LONGEST_RELATIVE = 5
_POINTING = frozenset({"das", "ce"})


class SubjectFinder(PeopleFinder):
    """Finds whom a clause is about, and everyone named on the way."""

    def subject(self, leading: Person | None = None) -> ClauseSubject | None:
        """The first word or phrase that can be the subject; everyone named on the way is noted.

        Args:
            leading: Whom a relative pronoun at the front points at, if anyone.
        """
        found: ClauseSubject | None = None
        i = self.start
        if leading is not None and i < self.end and self.norm[i] in self.rules.relatives:
            found = ClauseSubject(leading, self.norm[i], {i})
            self.led = True
            i += 1
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
        if word in rules.first and not taken and not self._behind_preposition(i):
            return ClauseSubject(
                "user", rules.first[word], {i}, plural=rules.first[word] == "we"
            ), i + 1
        after = norm[i + 1] if i + 1 < self.end else ""
        if (word in rules.own or word in rules.own_oblique) and after not in rules.first:
            if self._of_somebody(i):
                return None, i + 1
            return self._person_or_thing(i, "user", rules.own.get(word, "my"), word in rules.own)
        brought_up = self._brought_up(i)
        if brought_up is not None:
            return None, brought_up
        child = self._own_child(i)
        if child is not None:
            return child
        if word in rules.third_own:
            person = self.discourse.antecedent(rules.third_own[word])
            if person is not None:
                return self._person_or_thing(i, person, rules.third_own[word], True)
        if not taken:
            named = self.discourse.by_name(word)
            if named is not None:
                self.discourse.point_at(named)
            if named is not None and not self._behind_preposition(i):
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

    def _of_somebody(self, i: int) -> bool:
        """Whether a relative clause about somebody goes on at ``i``: "la dame qui garde mes"."""
        rules, norm = self.rules, self.norm
        if rules.relatives.isdisjoint(norm[self.start + 2 : i]):
            return False  # most clauses
        somebody = talk_words(rules.language).somebody
        return any(
            norm[k] in rules.relatives and norm[k - 1] in somebody and norm[k - 2] in rules.articles
            for k in range(max(self.start + 2, i - _LONGEST_RELATIVE), i)
        )

    def _named_before(self, subject: ClauseSubject) -> bool:
        """Introduces whom "noelia es mi prima" names: one name, the copula, the relation."""
        first = min(subject.used, default=self.start)
        verb = first - 1
        if not isinstance(subject.who, Person) or verb < self.start + 1:
            return False
        form = self.rules.form(self.norm, verb)
        if form is None or form.lemma not in self.rules.copulas:
            return False
        passed = self.rules.openers | self.rules.drop | self.rules.name_articles | _POINTING
        before = [i for i in range(self.start, verb) if self.norm[i] not in passed]
        if len(before) != 1 or not self._may_name(self.norm[before[0]]):
            return False
        if self.discourse.lexicon.relation_at(self.norm, before[0], before[0] + 1) is not None:
            return False  # "no es mi hermano, es mi primo"
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
        after = self.rules.form(self.norm, i + 1)
        return after is not None and after.person != 1

    def _person_or_thing(
        self, i: int, owner: Person | str, word: str, nominative: bool
    ) -> tuple[ClauseSubject | None, int]:
        """Behind a possessive: a person ("meine schwester annika"), or something owned."""
        begin = i + 1
        at = begin
        lexicon = self.discourse.lexicon
        while at < self.end and (
            self.norm[at] in self.rules.adjectives or self.norm[at] in lexicon.qualifiers
        ):
            at += 1
        found = lexicon.relation_at(self.norm, at, self.end)
        if found is not None and at > begin:
            longer = lexicon.relation_at(self.norm, begin, self.end)  # "bester freund"
            found = longer if longer is not None and longer[1] > at else found
        if found is None and at > begin:
            found = lexicon.relation_at(self.norm, begin, self.end)  # "unser jüngster"
            if found is not None and found[1] <= at and not self._stands_alone(at):
                found = None  # "meine kleine wohnung"
        if found is None:
            if nominative and not self._behind_preposition(i):
                return ClauseSubject(owner, word, {i}, possessor=True), begin
            return None, begin
        relation, behind = found
        behind_own = behind - max(1, _size_of(lexicon, relation, self.norm, behind))
        while behind < self.end and self.norm[behind] in lexicon.behind:
            behind += 1  # "ma soeur aînée", "mi prima mayor"
        subject_of_owner = owner.subject if isinstance(owner, Person) else "user"
        before = self._apposed_to(i)
        if before is not None:
            self.introduced.append((relation, before[0], before[1], behind, subject_of_owner))
            person = self.discourse.introduce(relation, before[0], subject_of_owner)
            used = set(range(before[1], behind))
            return ClauseSubject(person, relation.name, used), behind
        if not relation.plural:
            behind += self._article_before_name(behind)
        size = 0 if relation.plural else self._name_size(behind)
        if size and self._one_of_two(i) and self.norm[behind] not in lexicon.names:
            size = 0  # "mi hermano y mi padre pescan"
        name = ""
        if size:
            name = self._written_name(behind, size)
            self.introduced.append((relation, name, i, behind + size, subject_of_owner))
        which = lexicon.qualifier_in(self.norm, begin, behind, relation)
        person = self.discourse.introduce(relation, name, subject_of_owner, which)
        if not name:
            person = with_spoken(person, " ".join(self.norm[behind_own:behind]))
        used = set(range(i, behind + size))
        if not nominative or (self._behind_preposition(i) and not self._experienced()):
            return None, behind + size
        if self._behind_preposition(i):
            used.add(i - 1)
        return ClauseSubject(person, relation.name, used, plural=relation.plural), behind + size

    def _one_of_two(self, i: int) -> bool:
        """Whether "and" stands before a possessive and another one somewhere before that."""
        if i <= self.start + 1 or self.norm[i - 1] not in _AND:
            return False
        return any(word in self.rules.own for word in self.norm[self.start : i])

    def _stands_alone(self, i: int) -> bool:
        """Whether an adjective before ``i`` has no noun: "meine kleine ist", "mon petit il a"."""
        if i >= self.end:
            return True
        word, rules = self.norm[i], self.rules
        if word in rules.resumed or word in rules.clitics or rules.form(self.norm, i) is not None:
            return True
        return word in rules.name_articles or word in self.discourse.lexicon.names

    def _apposed_to(self, i: int) -> tuple[str, int] | None:
        """The name before a possessive ("léna ma copine", "der oskar das ist mein enkel")."""
        at = i - 1
        first = self._first_word()
        for pointer in self.rules.pointers:
            if tuple(self.norm[max(self.start, i - len(pointer)) : i]) == pointer:
                at = i - 1 - len(pointer)
                if at == self.start - 1:  # the name is a clause of its own in front
                    first = max(0, at - 1) if self.norm[at - 1] in self.rules.name_articles else at
        if at < max(first, 0) or not self._may_name(self.norm[at]):
            return None
        if self.discourse.lexicon.relation_at(self.norm, at, at + 1) is not None:
            return None  # "der hund meiner nachbarin": whose dog, and no name
        begin = at - 1 if at > first and self.norm[at - 1] in self.rules.name_articles else at
        known = self.norm[at] in self.discourse.lexicon.names
        if begin != first or not (known or at < i - 1 or begin < at):
            return None
        return proper(self.words.raw(at)), begin

    def _experienced(self) -> bool:
        return any(
            (form := self.rules.verbs.get(word)) is not None
            and form.lemma in self.rules.experiencers
            for word in self.norm[self.start : self.end]
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

    def _of_another(self, verb: int) -> bool:
        """Whether a Spanish past form cannot be the user's own ("se fue", "cambió")."""
        word = self.norm[verb]
        return word.endswith(_OTHERS_PAST) or word in _OTHERS_FORMS

    def _leads(self, verb: int) -> bool:
        """Whether nothing of content stands before a verb."""
        rules = self.rules
        empty = rules.drop | rules.clitics | rules.negations | rules.openers | rules.no_more
        return all(self.norm[k] in empty | rules.adverbs for k in range(self.start, verb))

    def _implied_subject(self) -> ClauseSubject | None:
        """The user as object ("me gusta") or in the verb ("vivo")."""
        for i in range(self.start, self.end):
            form = self.rules.form(self.norm, i)
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
            told = form.past and self._of_another(i)
            if self.rules.subject_from_verb and (told or form.person == 3) and self._leads(i):
                recent = self.discourse.recent
                if recent and recent[-1].gender != "plural" and not form.plural:
                    return ClauseSubject(recent[-1], recent[-1].relation, set())
            if told:
                return None
            if self.rules.subject_from_verb and (form.person == 1 or form.past):
                return ClauseSubject(
                    "user", "we" if form.plural else "i", set(), plural=form.plural
                )
        return None


def _size_of(lexicon: PeopleLexicon, relation: Relation, norm: list[str], behind: int) -> int:
    """How many words before ``behind`` say the relation."""
    for size in range(min(4, behind), 0, -1):
        found = lexicon.forms.get(tuple(norm[behind - size : behind]))
        if found is not None and found.name == relation.name:
            return size
    return 1
