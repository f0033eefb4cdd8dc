"""Finds the people that German, French and Spanish clauses name or bring up."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bmo.gate.discourse import Discourse, Person
from bmo.gate.other_grammar import Grammar
from bmo.gate.people import BY_SIZE, Relation
from bmo.gate.person_names import is_cased, proper
from bmo.language import Words

_MAX_NAME_WORDS = 2
_MAX_NAMES = 5
_ONE = "one of them"
_BEFORE_NAMES = frozenset({"der", "die", "den", "das"})
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


class PeopleFinder:
    """Finds everyone whom a clause names: who is brought up, and how many words are a name."""

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

    def _behind_preposition(self, i: int) -> bool:
        return i > self.start and self.norm[i - 1] in self.rules.prepositions

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
            name = self._written_name(behind, size)
            self.introduced.append((relation, name, i, behind + size, "user"))
        which = self.discourse.lexicon.qualifier_in(self.norm, i + 1, found[1], relation)
        self.discourse.introduce(relation, name, qualifier=which)
        return behind + size

    def _brought_up_several(self, relation: Relation, i: int, behind: int) -> int:
        """The names behind "zwei katzen": joined, and nothing else behind them."""
        rules = self.rules
        names: list[int] = []
        at = behind
        while at < self.end and len(names) < _MAX_NAMES:
            word = self.norm[at]
            described = word in rules.adjectives or word in self.discourse.lexicon.qualifiers
            if (names and word in _AND) or word in _BEFORE_NAMES:
                at += 1
            elif at > behind and described and self.norm[at - 1] in _BEFORE_NAMES:
                at += 1  # "paul und die kleine emmi"
            elif names and word.isdigit():
                at += 1  # "lina (11)"
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
            name = self._written_name(behind, size)
            self.introduced.append((relation, name, i, behind + size, "user"))
        which = ""
        if is_child:  # "die große ist neun, die kleine vier"
            sizes = (lexicon.qualifiers.get(word, "") for word in self.norm[i:behind])
            which = next((BY_SIZE.get(said, said) for said in sizes if said), "")
        person = self.discourse.introduce(relation, name, qualifier=which)
        if not name and not is_child:
            person = with_spoken(person, self.norm[bare])
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

    def _article_before_name(self, i: int) -> int:
        """1 when an article and a name stand at ``i`` ("meine frau die sabine")."""
        if i + 1 >= self.end or self.norm[i] not in self.rules.name_articles:
            return 0
        return int(bool(self._name_size(i + 1)))

    def _name_size(self, i: int) -> int:
        """How many words at ``i`` are the name of the person just mentioned."""
        size = 0
        cased = is_cased(self.words.text)
        while i + size < self.end and size < _MAX_NAME_WORDS:
            word = self.norm[i + size]
            if not self._may_name(word) or word in self.rules.clitics:
                break  # "ma femme m'a quitté"
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

    def _written_name(self, first: int, size: int) -> str:
        """The name of ``size`` words at ``first``."""
        return proper(self.words.text[self.words.start[first] : self.words.end[first + size - 1]])


def with_spoken(person: Person, spoken: str) -> Person:
    """Somebody without a name, called in both languages ("Mother (mama)")."""
    if person.name or ":" in person.subject or spoken == person.relation:
        return person
    return replace(person, label=f"{person.label} ({spoken})")
