"""Finds the subject of German, French and Spanish clauses, and the people named in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bmo.gate.discourse import Discourse, Person
from bmo.gate.other_grammar import Grammar
from bmo.gate.people import PeopleLexicon, Relation
from bmo.gate.person_names import is_cased, proper
from bmo.language import Words

_MAX_NAME_WORDS = 2
_MAX_NAMES = 5
_ONE = "one of them"
_BEFORE_NAMES = frozenset({"der", "die", "den", "das"})
_OTHERS_PAST = ("ó", "aron", "ieron")
_OTHERS_FORMS = frozenset({"fue", "dijo", "tuvo", "hizo", "vino", "puso", "quiso", "estuvo"})
_POINTING = frozenset({"das", "ce"})
_AND = frozenset({"und", "et", "y"})

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
        self.led = False

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
        lexicon = self.discourse.lexicon
        found = lexicon.relation_at(self.norm, at, self.end)
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
        name = ""
        if size:
            name = proper(
                self.words.text[self.words.start[behind] : self.words.end[behind + size - 1]]
            )
            self.introduced.append((relation, name, i, behind + size, subject_of_owner))
        person = self.discourse.introduce(relation, name, subject_of_owner)
        if not name:
            person = _with_spoken(person, " ".join(self.norm[behind_own:behind]))
        used = set(range(i, behind + size))
        if not nominative or (self._behind_preposition(i) and not self._experienced()):
            return None, behind + size
        if self._behind_preposition(i):
            used.add(i - 1)
        return ClauseSubject(person, relation.name, used, plural=relation.plural), behind + size

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
        begin = at - 1 if at > first and self.norm[at - 1] in self.rules.name_articles else at
        known = self.norm[at] in self.discourse.lexicon.names
        if begin != first or not (known or at < i - 1 or begin < at):
            return None
        return proper(self.words.raw(at)), begin

    def _article_before_name(self, i: int) -> int:
        """1 when an article and a name stand at ``i`` ("meine frau die sabine")."""
        if i + 1 >= self.end or self.norm[i] not in self.rules.name_articles:
            return 0
        return int(bool(self._name_size(i + 1)))

    def _brought_up(self, i: int) -> int | None:
        """Index behind somebody the user says to have ("une fille léonie", "zwei katzen ...")."""
        rules = self.rules
        goes_on = self.led and i > self.start and self.norm[i - 1] in _AND
        goes_on = goes_on or (i == self.start and bool(self.discourse.recent))
        if self.norm[i] not in rules.indefinite or not (goes_on or self._has()):
            return None
        at = i + 1
        while at < self.end and self.norm[at] in rules.adjectives:
            at += 1
        found = self.discourse.lexicon.relation_at(self.norm, at, self.end)
        if found is None:
            return None
        relation, behind = found
        if relation.plural:
            return self._brought_up_several(relation, i, behind)
        behind += self._article_before_name(behind)
        size = self._name_size(behind)
        name = ""
        if size:
            last = behind + size - 1
            name = proper(self.words.text[self.words.start[behind] : self.words.end[last]])
            self.introduced.append((relation, name, i, behind + size, "user"))
        self.discourse.introduce(relation, name)
        return behind + size

    def _brought_up_several(self, relation: Relation, i: int, behind: int) -> int:
        """The names behind "zwei katzen": joined, and nothing else behind them."""
        names: list[int] = []
        at = behind
        while at < self.end and len(names) < _MAX_NAMES:
            if (names and self.norm[at] in _AND) or self.norm[at] in _BEFORE_NAMES:
                at += 1
            elif self._may_name(self.norm[at]) and self.norm[at] not in _AND:
                names.append(at)
                at += 1
            else:
                break
        one = self.discourse.lexicon.forms.get(tuple(relation.name.split()))
        joined = len(names) > 1 and any(self.norm[k] in _AND for k in range(behind, at))
        if one is None or not joined or at < self.end:
            self.discourse.introduce(relation)
            return behind
        for place in names:
            name = proper(self.words.raw(place))
            self.introduced.append((one, name, i, place + 1, "user"))
            self.discourse.introduce(one, name)
        return at

    def _has(self) -> bool:
        """Whether the clause's verb is "to have", said of the user."""
        forms = (self.rules.form(self.norm, k) for k in range(self.start, self.end))
        first = next((f for f in forms if f is not None and not f.participle), None)
        return (first is not None and first.lemma in self.rules.having and first.person != 3) or (
            first is not None and first.lemma in self.rules.having and self._says_we()
        )

    def _says_we(self) -> bool:
        return any(self.rules.first.get(w) == "we" for w in self.norm[self.start : self.end])

    def _own_child(self, i: int) -> tuple[ClauseSubject | None, int] | None:
        """A child of the user's called by its size ("die große die pauline"), or "maman"."""
        rules, lexicon = self.rules, self.discourse.lexicon
        if self._behind_preposition(i):
            return None
        bare = i + 1 if self.norm[i] in rules.name_articles else i
        relation = None
        behind = i
        if bare < self.end and self.norm[bare] in rules.bare:
            relation, behind = lexicon.forms.get((self.norm[bare],)), bare + 1
        else:
            for size in (4, 3, 2, 1):
                name = rules.children.get(tuple(self.norm[i : i + size]))
                if name is not None and i + size < self.end:
                    relation = self._one_of() if name == _ONE else lexicon.forms.get((name,))
                    behind = i + size
                    break
        if relation is None:
            return None
        is_child = not (bare < self.end and self.norm[bare] in rules.bare)
        behind += self._article_before_name(behind)
        size = self._name_size(behind)
        verb = behind < self.end and rules.form(self.norm, behind) is not None
        next_word = self.norm[behind] if behind < self.end else ""
        pronoun = next_word in rules.resumed or next_word in rules.clitics
        if not size and not verb and not pronoun:
            return None
        if not size and is_child and not self._speaks_of_children():
            return None
        name = ""
        if size:
            last = behind + size - 1
            name = proper(self.words.text[self.words.start[behind] : self.words.end[last]])
            self.introduced.append((relation, name, i, behind + size, "user"))
        person = self.discourse.introduce(relation, name)
        if not name and not is_child:
            person = _with_spoken(person, self.norm[bare])
        return ClauseSubject(person, relation.name, set(range(i, behind + size))), behind + size

    def _one_of(self) -> Relation | None:
        """One of those just spoken of ("tengo dos hijas una se llama carla")."""
        for person in reversed(self.discourse.recent):
            if person.gender == "plural":
                return self.discourse.lexicon.forms.get(tuple(person.relation.split()))
        return None

    def _speaks_of_children(self) -> bool:
        """Whether the turn, or what is known, has spoken of the user's children."""
        known = [p.relation for p in self.discourse.recent]
        known += [s.partition(":")[0].rpartition(".")[2] for s in self.discourse.names.values()]
        return not {"child", "son", "daughter"}.isdisjoint(known)

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


def _with_spoken(person: Person, spoken: str) -> Person:
    """Somebody without a name, called in both languages ("Mother (mama)")."""
    if person.name or ":" in person.subject or spoken == person.relation:
        return person
    return replace(person, label=f"{person.label} ({spoken})")
