"""Reads the subject and verb of German, French and Spanish clauses.

The result is the same head that English clauses get (``S wohnen in leipzig``, ``P name sein
thore``): who, then the verb in its base form, then the rest in the order it was said, with
polarity and tense beside it. So a rule is written once in the positive present, and holds for the
user, for people and for the team. The words are data (``packs/<language>/grammar.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bmo.gate.clause_head import Head, is_cased, proper
from bmo.gate.discourse import Discourse, Person
from bmo.gate.other_grammar import Grammar, grammar
from bmo.gate.people import Relation
from bmo.language import LanguageCode, VerbGroup, Words

_MAX_NAME_WORDS = 2
_WORD = re.compile(r"[^\W\d_]+")
_AND = frozenset({"und", "et", "y"})
_THAT = frozenset({"ça", "cela", "ce"})
_BEFORE = frozenset({"de", "que", "d"})
"""Behind "antes" and "avant" they make a "before", and nothing is past."""


Introduced = tuple[Relation, str, int, int, str]
"""Relation, name, first word, index behind the last, subject of the owner."""


@dataclass(slots=True)
class _Subject:
    """Who a clause is about, and the words that say so."""

    who: Person | str
    word: str
    used: set[int]
    possessor: bool = False
    plural: bool = False


@dataclass(frozen=True, slots=True)
class OtherClause:
    """What was read of a clause.

    Attributes:
        heads: The clause in the orders that rules may know it in, the likelier first.
        introduced: Everyone named in it.
    """

    heads: tuple[Head, ...]
    introduced: tuple[Introduced, ...]


_MAX_CLAUSES = 5


def read_other_clauses(
    words: Words,
    start: int,
    end: int,
    discourse: Discourse,
    language: LanguageCode,
    assistant_before: str = "",
    topic: Sequence[int] = (),
) -> list[OtherClause]:
    """Reads ``words[start:end]``, which run-on speech may make several clauses of.

    Args:
        words: The turn's repaired words.
        start: First word.
        end: Index behind the last.
        discourse: Who was spoken of; people named here are added.
        language: de, fr or es.
        assistant_before: The assistant's words before the turn: a question in them gives an answer
            without a verb its verb.
        topic: Words of a topic put in front ("le fromage"), which "ça" points at.
    """
    rules = grammar(language)
    frame = _frame(assistant_before, rules)
    found: list[OtherClause] = []
    while start < end and len(found) < _MAX_CLAUSES:
        clause = _Clause(words, start, end, discourse, rules)
        clause.topic = list(topic)
        if frame and not clause.has_verb():
            clause.end = clause.next_coordinator()
            heads = clause.framed(clause.subject(), frame)
        else:
            clause.end = clause.border()
            heads = clause.heads(clause.subject())
        found.append(OtherClause(tuple(heads), tuple(clause.introduced)))
        start = clause.end
    return found


def topic_of(words: Words, start: int, end: int, language: LanguageCode) -> list[int]:
    """Words of a topic put in front of a clause: a noun phrase without a verb, or nothing."""
    rules = grammar(language)
    for i in range(start, end - 1):
        if words.norm[i] in rules.articles:
            stop = i + 1
            while (
                stop < end and words.norm[stop] not in rules.verbs and words.norm[stop] not in _THAT
            ):
                stop += 1
            return list(range(i, stop)) if stop - i in (2, 3) else []
    return []


def _frame(assistant_before: str, rules: Grammar) -> list[str]:
    """The words an answer leaves out ("wohnen"), or nothing when no question is known."""
    asked, mark, _ = assistant_before.rpartition("?")
    if not mark:
        return []
    for word in reversed(_WORD.findall(asked.lower())):
        if word in rules.answers:
            return rules.answers[word].split()
    return []


class _Clause:
    """One clause while it is read."""

    def __init__(
        self, words: Words, start: int, end: int, discourse: Discourse, rules: Grammar
    ) -> None:
        self.words = words
        self.norm = words.norm
        self.start = start
        self.end = end
        self.discourse = discourse
        self.rules = rules
        self.introduced: list[Introduced] = []
        self.topic: list[int] = []

    def subject(self) -> _Subject | None:
        """The first word or phrase that can be the subject; everyone named on the way is noted."""
        found: _Subject | None = None
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

    def _subject_at(self, i: int, taken: bool) -> tuple[_Subject | None, int]:
        rules, norm = self.rules, self.norm
        word = norm[i]
        if word in rules.first and not taken:
            return _Subject("user", rules.first[word], {i}, plural=rules.first[word] == "we"), i + 1
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
                return _Subject(named, word, {i}), i + 1
            suffix = rules.own_suffix
            if suffix and word.endswith(suffix):
                owner = self.discourse.by_name(word[: -len(suffix)])
                if owner is not None:
                    return _Subject(owner, word, {i}, possessor=True), i + 1
            if (
                word in rules.third
                and i + 1 < self.end
                and self._is_clause_subject(i)
                and not self._behind_preposition(i)
            ):
                person = self.discourse.antecedent(rules.third[word])
                if person is not None:
                    self.discourse.point_at(person)
                    return _Subject(person, word, {i}), i + 1
        return None, i + 1

    def _named_before(self, subject: _Subject) -> bool:
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
    ) -> tuple[_Subject | None, int]:
        """Behind a possessive: a person ("meine schwester annika"), or something owned."""
        begin = i + 1
        at = begin
        while at < self.end and self.norm[at] in self.rules.adjectives:
            at += 1
        found = self.discourse.lexicon.relation_at(self.norm, at, self.end)
        if found is None:
            if nominative and not self._behind_preposition(i):
                return _Subject(owner, word, {i}, possessor=True), begin
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
        return _Subject(person, relation.name, used, plural=relation.plural), behind + size

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

    def _resumption(self, subject: _Subject) -> None:
        """Takes "der" off "tarek der isst"."""
        behind = max(subject.used) + 1
        if (
            behind + 1 < self.end
            and self.norm[behind] in self.rules.resumed
            and self.norm[behind + 1] in self.rules.verbs
        ):
            subject.used.add(behind)

    def _implied_subject(self) -> _Subject | None:
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
                return _Subject("user", "i", set(objects)) if objects else None
            said_first = self.rules.verb_second and form.person == 1 and i == self._first_word()
            if said_first:  # "komme aus rostock"
                return _Subject("user", "i", set())
            if self.rules.subject_from_verb and (form.person == 1 or form.past):
                return _Subject("user", "we" if form.plural else "i", set(), plural=form.plural)
        return None

    def heads(self, subject: _Subject | None) -> list[Head]:
        """The clause as heads, likelier order first; empty without subject and verb."""
        if subject is None:
            return []
        group = VerbGroup()
        verb_at, dropped = self._verb(subject, group)
        if verb_at < 0:
            return []
        pivot = min({verb_at, *dropped})
        first = self._first_place(subject, pivot)
        places = [
            i
            for i in range(first, self.end)
            if i not in subject.used and i not in dropped and i != verb_at
        ]
        kept = self._without_grammar(places, group)
        if self.topic:
            kept = [k for i in kept for k in (self.topic if self.norm[i] in _THAT else [i])]
        owned: list[int] = []
        if subject.possessor:
            owned = [i for i in kept if max(subject.used) < i < pivot]
            kept = [i for i in kept if i not in owned]
        orders = self._ordered(kept, pivot)
        front = "P" if subject.possessor else "S"
        heads: list[Head] = []
        for rest in orders if self.rules.verb_second else reversed(orders):
            tokens = [front, *(self.norm[i] for i in owned), group.lemma]
            tokens += [self.norm[i] for i in rest]
            source = [-1, *owned, verb_at, *rest]
            line = " ".join(tokens) + " "
            if not heads or heads[0].line != line:
                heads.append(
                    Head(line, tokens, source, subject.who, group, subject.plural, subject.word)
                )
        return heads

    def has_verb(self) -> bool:
        """Whether a finite verb stands in the clause."""
        forms = (self.rules.verbs.get(self.norm[i]) for i in range(self.start, self.end))
        return any(form is not None and not form.participle for form in forms)

    def next_coordinator(self) -> int:
        """Index behind the next "and", or the end: an answer may speak of two people."""
        for i in range(self.start + 1, self.end):
            if self.norm[i] in _AND:
                return i + 1
        return self.end

    def framed(self, subject: _Subject | None, frame: list[str]) -> list[Head]:
        """An answer as the full clause it stands for ("in bremen" is "S wohnen in bremen")."""
        found = subject or _Subject("user", "i", set())
        if found.possessor:
            return []
        group = VerbGroup(lemma=frame[0], verb_at=-1)
        places = [
            i
            for i in range(self.start, self.end)
            if i not in found.used
            and self.norm[i] not in _AND
            and self.norm[i] not in self.rules.openers
        ]
        rest = self._without_grammar(places, group)
        if not rest or group.polarity == "negative":
            return []
        tokens = ["S", *frame, *(self.norm[i] for i in rest)]
        source = [*([-1] * (len(frame) + 1)), *rest]
        line = " ".join(tokens) + " "
        return [Head(line, tokens, source, found.who, group, found.plural, found.word)]

    def border(self) -> int:
        """Where the clause really ends: before the second finite verb, with the word before it."""
        rules = self.rules
        seen = -1
        for i in range(self.start, self.end):
            form = rules.verbs.get(self.norm[i])
            if form is None or form.participle:
                continue
            if seen < 0:
                seen = i
            elif self.norm[i] not in rules.infinitives and not self._joined(seen, i):
                begin = self._begin_of_next(seen, i)
                if begin > seen:
                    return begin
        return self.end

    def _joined(self, first: int, second: int) -> bool:
        """Whether the second verb belongs to the clause of the first: a relative, an infinitive."""
        rules = self.rules
        if rules.relatives.intersection(self.norm[max(first, second - 2) : second]):
            return True
        return second == first + 1

    def _begin_of_next(self, first: int, verb: int) -> int:
        """Where the clause of a later verb begins: at its subject, if one stands right before."""
        rules, norm = self.rules, self.norm
        i = verb
        while i - 1 > first and norm[i - 1] in rules.clitics:
            i -= 1
        if i - 1 > first and (norm[i - 1] in rules.first or norm[i - 1] in rules.third):
            return i - 1
        form = rules.verbs[norm[verb]]
        if (
            form.lemma in rules.copulas
            and norm[verb + 1 : verb + 2]
            and norm[verb + 1] in rules.own
        ):
            return i - 1  # "noelia es mi prima"
        for back in (2, 3, 4):  # "mi hermana", "meine schwester annika"
            at = verb - back
            if at > first and (norm[at] in rules.own or norm[at] in rules.third_own):
                return at
        if i - 1 > first + 1 and not rules.subject_from_verb:
            return i - 1
        return i

    def _first_place(self, subject: _Subject, pivot: int) -> int:
        """Where the clause really begins: run-on speech may have more in front of its verb.

        A word that opens a thought ends what is not meant ("klingt gut übrigens couscous mag
        ich"), and where the verb comes second nothing stands before a subject in front of it.
        """
        rules = self.rules
        first = self.start
        for i in range(self.start, pivot):
            if self.norm[i] in rules.openers and i + 1 != pivot and i + 1 not in subject.used:
                first = i + 1
        if (
            rules.verb_second
            and subject.used
            and not subject.possessor
            and max(subject.used) + 1 == pivot
        ):
            first = min(subject.used)
        return first

    def _ordered(self, kept: list[int], pivot: int) -> tuple[list[int], list[int]]:
        """The rest in two orders: as it was said, and what stood before the verb last.

        Object pronouns come first in both.
        """
        before = [i for i in kept if i < pivot and i not in self.topic]
        clitics: list[int] = []
        while (
            before
            and before[-1] == pivot - 1 - len(clitics)
            and self.norm[before[-1]] in self.rules.clitics
        ):
            clitics.insert(0, before.pop())
        behind = [i for i in kept if i > pivot or i in self.topic]
        return [*clitics, *before, *behind], [*clitics, *behind, *before]

    def _verb(self, subject: _Subject, group: VerbGroup) -> tuple[int, set[int]]:
        """Index of the main verb (-1: none), and auxiliaries that are taken off."""
        rules = self.rules
        finite = participle = -1
        for i in range(self.start, self.end):
            if i in subject.used:
                continue
            form = rules.verbs.get(self.norm[i])
            if form is None:
                continue
            if form.participle:
                participle = i
            elif finite < 0:
                finite = i
        if finite < 0:
            return -1, set()
        form = rules.verbs[self.norm[finite]]
        group.verb_at, group.end = finite, finite + 1
        if form.lemma in rules.auxiliaries and participle > finite:
            group.lemma, group.tense = rules.verbs[self.norm[participle]].lemma, "past"
            group.aspect = "perfect"
            return participle, {finite}
        group.lemma = form.lemma
        if form.past:
            group.tense = "past"
        return finite, set()

    def _without_grammar(self, places: list[int], group: VerbGroup) -> list[int]:
        """Takes negation, past cues and empty words off, noting what they say."""
        rules = self.rules
        kept: list[int] = []
        since = -1
        for i in places:
            word = self.norm[i]
            if word in rules.since or (since == i - 1 and word in rules.time_words):
                since = i
            elif word == rules.no_longer and i == group.verb_at + 1:
                group.polarity, group.change = "negative", "any_more"
            elif word in rules.negations:
                group.polarity = "negative"
            elif word in rules.past_cues and (i + 1 >= self.end or self.norm[i + 1] not in _BEFORE):
                group.change, group.tense = "used_to", "past"
            elif word not in rules.drop and word not in rules.no_more:
                kept.append(i)
        if group.change == "any_more":
            return kept
        if group.polarity == "negative" and any(self.norm[i] in rules.no_more for i in places):
            group.change = "any_more"
        elif group.polarity != "negative":
            kept = [
                i
                for i in places
                if i in kept or (self.norm[i] in rules.no_more and self.norm[i] not in rules.drop)
            ]
        return kept
