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

from bmo.gate.clause_head import Head
from bmo.gate.discourse import Discourse, Person
from bmo.gate.other_answers import answered_by_table
from bmo.gate.other_grammar import Grammar, VerbForm, grammar
from bmo.gate.other_people import ClauseSubject, Introduced
from bmo.gate.other_subjects import SubjectFinder
from bmo.gate.other_topics import THAT
from bmo.language import LanguageCode, VerbGroup, Words
from bmo.language.lexicon import match_phrase

_WORD = re.compile(r"[^\W\d_]+")
_AND = frozenset({"und", "et", "y"})
_BEFORE = frozenset({"de", "que", "d"})
"""Behind "antes" and "avant" they make a "before", and nothing is past."""


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
_ANSWER_BEGINS = 3
"""Up to this word of a turn a part without a verb may answer the assistant's question."""


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
    if start < end:
        size = match_phrase(rules.lead_ins, words.norm, start)
        start += size if start + size < end else 0
    frame = _frame(assistant_before, rules) if start <= _ANSWER_BEGINS else []
    if frame and answered_by_table(assistant_before, language):
        frame = []
    found: list[OtherClause] = []
    leading: Person | None = None
    while start < end and len(found) < _MAX_CLAUSES:
        clause = _Clause(words, start, end, discourse, rules)
        clause.topic = list(topic)
        if frame and not clause.has_verb():
            clause.end = clause.next_coordinator()
            heads = clause.framed(clause.subject(), frame)
        else:
            clause.end = clause.border()
            subject = clause.subject(leading)
            cut = clause.relative()
            if cut > 0:
                clause.end = cut
            heads = clause.heads(subject)
            leading = discourse.recent[-1] if cut > 0 else None
        found.append(OtherClause(tuple(heads), tuple(clause.introduced)))
        start = clause.end
    return found


def _frame(assistant_before: str, rules: Grammar) -> list[str]:
    """The words an answer leaves out ("wohnen"), or nothing when no question is known."""
    asked, mark, _ = assistant_before.rpartition("?")
    if not mark:
        return []
    for word in reversed(_WORD.findall(asked.lower())):
        if word in rules.answers:
            return rules.answers[word].split()
    return []


class _Clause(SubjectFinder):
    """One clause while it is read: its verb, and the order of its words for the rules."""

    def heads(self, subject: ClauseSubject | None) -> list[Head]:
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
            kept = [k for i in kept for k in (self.topic if self.norm[i] in THAT else [i])]
        owned: list[int] = []
        if subject.possessor:
            owned = [i for i in kept if max(subject.used) < i < pivot]
            kept = [i for i in kept if i not in owned]
        orders = self._ordered(kept, pivot)
        front = "P" if subject.possessor else "S"
        heads: list[Head] = []
        as_said = self.rules.verb_second or self._topic_first(kept, subject)
        for rest in orders if as_said else reversed(orders):
            tokens = [front, *(self.norm[i] for i in owned), group.lemma]
            tokens += [self.norm[i] for i in rest]
            source = [-1, *owned, verb_at, *rest]
            line = " ".join(tokens) + " "
            if not heads or heads[0].line != line:
                heads.append(
                    Head(
                        line,
                        tokens,
                        source,
                        subject.who,
                        group,
                        subject.plural,
                        subject.word,
                        said=(min([first, pivot, *subject.used]), self.end),
                    )
                )
        return heads

    def _topic_first(self, kept: list[int], subject: ClauseSubject) -> bool:
        """Whether something stands before the subject ("les polars j'adore surtout ...")."""
        return bool(subject.used) and bool(kept) and min(kept) < min(subject.used)

    def has_verb(self) -> bool:
        """Whether a finite verb stands in the clause."""
        forms = (self.rules.form(self.norm, i) for i in range(self.start, self.end))
        return any(form is not None and not form.participle for form in forms)

    def next_coordinator(self) -> int:
        """Index behind the next "and", or the end: an answer may speak of two people."""
        for i in range(self.start + 1, self.end):
            if self.norm[i] in _AND:
                return i + 1
        return self.end

    def framed(self, subject: ClauseSubject | None, frame: list[str]) -> list[Head]:
        """An answer as the full clause it stands for ("in bremen" is "S wohnen in bremen")."""
        found = subject or ClauseSubject("user", "i", set())
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
        said = (self.start, self.end)
        return [Head(line, tokens, source, found.who, group, found.plural, found.word, said=said)]

    def border(self) -> int:
        """Where the clause really ends: before the second finite verb, with the word before it."""
        rules = self.rules
        seen = -1
        for i in range(self.start, self.end):
            form = rules.form(self.norm, i)
            if form is None or form.participle:
                continue
            if seen < 0:
                seen = i
            elif self._of_a_thing(seen, i):
                seen = i
            elif self.norm[i] not in rules.infinitives and not self._joined(seen, i):
                begin = self._begin_of_next(seen, i)
                if begin > seen and self._of_somebody(begin):
                    seen = i  # "la dame qui garde mes enfants s'appelle marta": one clause
                elif begin > seen:
                    return begin
        return self.end

    def relative(self) -> int:
        """Where a relative clause about somebody just brought up begins, or 0."""
        for _, _, _, behind, _ in self.introduced:
            if (
                behind + 1 < self.end
                and self.norm[behind] in self.rules.relatives
                and self.norm[behind] not in self.rules.third
                and self.rules.form(self.norm, behind + 1) is not None
            ):
                return behind
        return 0

    def _of_a_thing(self, first: int, verb: int) -> bool:
        """Whether the verb's pronoun is the thing before it ("la boutique elle est à rezé")."""
        noun = verb - 2
        return (
            self.norm[verb - 1] in self.rules.third
            and noun - 1 > first
            and self.norm[noun - 1] in self.rules.articles
            and self.discourse.lexicon.relation_at([self.norm[noun]], 0, 1) is None
            and self.discourse.by_name(self.norm[noun]) is None
            and not self.rules.verb_second
        )

    def _joined(self, first: int, second: int) -> bool:
        """Whether the second verb belongs to the clause of the first: a relative, an infinitive."""
        rules = self.rules
        for i in range(max(first, second - 2), second):
            if self.norm[i] in rules.relatives and self.norm[i - 1] not in rules.prepositions:
                return True
        return second == first + 1

    def _begin_of_next(self, first: int, verb: int) -> int:
        """Where the clause of a later verb begins: at its subject, if one stands right before."""
        rules, norm = self.rules, self.norm
        i = verb
        before = rules.clitics
        if rules.subject_from_verb:  # "... ahora ya no vivo en lugo"
            before = before | rules.negations | rules.no_more | rules.past_cues | rules.adverbs
        while i - 1 > first and norm[i - 1] in before:
            i -= 1
        if i - 1 > first and (norm[i - 1] in rules.first or norm[i - 1] in rules.third):
            return i - 1
        form = rules.form(norm, verb) or VerbForm("", 0)
        if (
            form.lemma in rules.copulas
            and norm[verb + 1 : verb + 2]
            and norm[verb + 1] in rules.own
        ):
            return i - 1  # "noelia es mi prima"
        for back in (2, 3, 4):  # "mi hermana", "meine schwester annika"
            at = verb - back
            if at > first and (norm[at] in rules.own or norm[at] in rules.third_own):
                said_of = rules.form(norm, at - 1)
                if said_of is not None and said_of.lemma in rules.copulas:
                    return i  # "bruno es mi nieto entra al cole"
                return at
        takes_over = rules.verb_second and form.person == 1 and norm[verb + 1 : verb + 2] != ["ich"]
        if i - 1 > first + 1 and not rules.subject_from_verb and not takes_over:
            return i - 1
        return i

    def _first_place(self, subject: ClauseSubject, pivot: int) -> int:
        """Where the clause really begins: run-on speech may have more in front of its verb.

        A word that opens a thought ends what is not meant ("klingt gut übrigens couscous mag
        ich"), and where the verb comes second nothing stands before a subject in front of it.
        """
        rules = self.rules
        first = self.start
        for i in range(self.start, pivot):
            opens = self.norm[i] in rules.openers and (self.norm[i] not in _AND or i == self.start)
            if opens and i + 1 != pivot and i + 1 not in subject.used:
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

    def _verb(self, subject: ClauseSubject, group: VerbGroup) -> tuple[int, set[int]]:
        """Index of the main verb (-1: none), and auxiliaries that are taken off."""
        rules = self.rules
        finite = participle = -1
        for i in range(self.start, self.end):
            if i in subject.used:
                continue
            form = rules.form(self.norm, i)
            if form is None:
                continue
            if form.participle:
                participle = i
            elif finite < 0:
                finite = i
        if finite < 0:
            return -1, set()
        form = rules.form(self.norm, finite) or VerbForm("", 0)
        group.verb_at, group.end = finite, finite + 1
        if form.lemma in rules.auxiliaries and participle > finite:
            group.lemma, group.tense = rules.verbs[self.norm[participle]].lemma, "past"
            group.aspect = "perfect"
            return participle, {finite}
        group.lemma = form.lemma
        if form.past:
            group.tense = "past"
        return finite, set()

    def _compares(self, at: int) -> bool:
        """Whether the word at ``at`` says "more than" or "nothing but", and not "no longer"."""
        rules = self.rules
        return any(
            self.norm[i] in rules.than and self.norm[i + 1] in rules.compared
            for i in range(at + 1, self.end - 1)
        )

    def _without_grammar(self, places: list[int], group: VerbGroup) -> list[int]:
        """Takes negation, past cues and empty words off, noting what they say."""
        rules = self.rules
        kept: list[int] = []
        since = -2
        for i in places:
            word = self.norm[i]
            if word in rules.since or (since == i - 1 and word in rules.time_words):
                since = i
            elif word == rules.no_longer and i == group.verb_at + 1:
                if self._compares(i):
                    return []  # "je bois plus de café que de thé": nothing is over
                group.polarity, group.change = "negative", "any_more"
            elif word in rules.negations:
                if not rules.subject_from_verb or i < group.verb_at:
                    group.polarity = "negative"  # behind a Spanish verb it denies nothing alone
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
