"""Reads one clause after the other: speech act, vetoes, head, rules, mentions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from bmo.gate.apposition import turned_round
from bmo.gate.clause_head import Head, read_head
from bmo.gate.discourse import Discourse, Person
from bmo.gate.ellipsis import completed
from bmo.gate.factuality import Veto, vetoes
from bmo.gate.mentions import mentions
from bmo.gate.named_people import NAMED, name_fact
from bmo.gate.open_canonicalisation import canonicalise
from bmo.gate.other_heads import read_other_clauses, topic_of
from bmo.gate.packs import Pack
from bmo.gate.people import PeopleLexicon
from bmo.gate.remembering import remembered_clause
from bmo.gate.retraction import retraction
from bmo.gate.slots import match_head
from bmo.gate.speech_act import SpeechAct
from bmo.language import Clause, LanguageCode, Words
from bmo.turn import DialogueContext, Fact, Turn

_NAMING_WORDS = 3
"""Words that name somebody: "my friend jo"."""
_TELLING_WORDS = 3
"""Words beside them that may tell something."""


class ClauseAnalysis(NamedTuple):
    """What the rules make of one clause.

    Attributes:
        text: The clause as it was said.
        span: Its offsets in the turn's text.
        norm: Its words in normal form.
        speech_act: What it does.
        vetoes: Why it may not be stored.
        facts: What the rules vouch for.
        open: Substantive, and the rules cannot vouch either way.
    """

    text: str
    span: tuple[int, int]
    norm: tuple[str, ...]
    speech_act: SpeechAct
    vetoes: tuple[Veto, ...]
    facts: tuple[Fact, ...]
    open: bool


@dataclass(slots=True)
class ClauseReader:
    """Reads clauses of one turn, one after the other."""

    turn: Turn
    context: DialogueContext
    pack: Pack
    people: PeopleLexicon
    discourse: Discourse
    language: LanguageCode
    weak: bool
    previous: Clause | None = None
    topic: list[int] = field(default_factory=list)

    def read(
        self,
        spoken: Words,
        clause: Clause,
        said: tuple[SpeechAct, int],
        known: tuple[Veto, ...] | None = None,
    ) -> ClauseAnalysis:
        """One clause, whose speech act (and vetoes) are known."""
        act, behind = said
        facts: list[Fact] = []
        refused: tuple[Veto, ...] = ()
        is_open = False
        if act == "forget":
            found = retraction(spoken, clause, behind, self.discourse, self.context, self.turn)
            if found is None:
                is_open = True
            else:
                facts.append(found)
        elif act in ("statement", "instruction", "remember"):
            body = clause
            if act == "remember":
                body = remembered_clause(spoken, clause, behind)
            if act == "instruction":
                body = self._without_frame(spoken, body)
            if act == "statement" and known is not None:
                refused = known
            else:
                refused = vetoes(spoken, body, self.language)
            if act == "instruction":
                # A condition belongs to what is asked for: "do not read my mail unless i ask".
                refused = tuple(veto for veto in refused if veto != "conditional")
            if not refused:
                firm = self.weak
                if (
                    firm
                    and act == "statement"
                    and not self.pack.transient.isdisjoint(spoken.norm[body.start : body.end])
                ):
                    self.weak = False
                facts = self._facts(spoken, body)
                self.weak = firm
                if act == "remember" and not facts:
                    facts = self._as_said(spoken, body)
                is_open = not facts and (act != "statement" or body.end - body.start > 1)
                is_open = is_open or _tells_more(facts, body)
        first, last = spoken.start[clause.start], spoken.end[clause.end - 1]
        last = max(first, last)
        return ClauseAnalysis(
            spoken.text[first:last],
            (first, last),
            tuple(spoken.norm[clause.start : clause.end]),
            act,
            refused,
            tuple(facts),
            is_open,
        )

    def _facts(self, spoken: Words, clause: Clause) -> list[Fact]:
        facts: list[Fact] = []
        at: datetime = self.turn.at
        if self.language == "en":
            head = read_head(spoken, clause.start, clause.end, self.discourse, self.pack.stops)
            if head is not None:
                for relation, name, first, last, owner in head.introduced:
                    facts.append(name_fact(relation, name, owner, _span(spoken, first, last)))
                found = match_head(head, spoken, self.pack, self.people, at, self.weak)
                self._remember_things(found)
                facts += found
            if not facts:
                facts += self._facts_written_out(spoken, clause, head is None)
            facts += mentions(spoken, clause, self.discourse, self.pack.stops)
        else:
            others = read_other_clauses(
                spoken,
                clause.start,
                clause.end,
                self.discourse,
                self.language,
                self.turn.assistant_before,
                self.topic,
            )
            if not any(other.heads for other in others):
                topic = topic_of(spoken, clause.start, clause.end, self.language)
                self.topic = topic or self.topic
            for other in others:
                for relation, name, first, last, owner in other.introduced:
                    facts.append(name_fact(relation, name, owner, _span(spoken, first, last)))
                for head in other.heads:
                    matched = match_head(head, spoken, self.pack, self.people, at)
                    facts += matched
                    if matched:
                        break
        if not facts and _may_match(self.pack, spoken.norm, clause):
            tokens = spoken.norm[clause.start : clause.end]
            raw = Head(
                " ".join(tokens) + " ",
                tokens,
                list(range(clause.start, clause.end)),
                "user",
                None,
                False,
                "we" if tokens[0] in ("we", "our") else "",
            )
            facts = match_head(raw, spoken, self.pack, self.people, at, self.weak)
            self._remember_things(facts)
        return facts

    def _facts_written_out(self, spoken: Words, clause: Clause, headless: bool) -> list[Fact]:
        """The facts of a clause that is told backwards, or that leaves something out."""
        full = completed(spoken, clause, self.previous, self.pack.lexicons)
        if full is None and headless:
            full = turned_round(spoken, clause, self.previous, self.people)
        if full is None:
            return []
        head = read_head(full, 0, len(full), self.discourse, self.pack.stops)
        if head is None:
            return []
        found = match_head(head, full, self.pack, self.people, self.turn.at, self.weak)
        return found

    def _remember_things(self, facts: list[Fact]) -> None:
        """What a fact brings up may be "he" or "it" in the next clause."""
        for fact in facts:
            name = fact.subject.partition(":")[2]
            if fact.slot == "name" and name:
                self.discourse.names[name] = fact.subject
                self.discourse.point_at(self.discourse.person(fact.subject))
            elif fact.rule_id in ("has_kin", "has_named", "there_is_a_pet"):
                norm = fact.value.lower().split()
                for i in range(len(norm)):
                    found = self.people.relation_at(norm, i, len(norm))
                    if found is not None and not found[0].plural and fact.subject == "user":
                        self.discourse.introduce(found[0])
                        break
            elif fact.slot in ("owns", "drives") and fact.subject == "user" and fact.value:
                thing = fact.value.split()[-1]
                label = thing[:1].upper() + thing[1:]
                self.discourse.point_at(Person("user", label, "thing", False, "", ""))

    def _without_frame(self, spoken: Words, clause: Clause) -> Clause:
        """An instruction without "from now on", "please" and the like at its front."""
        frames = self.pack.lexicons.get("instruction_frames", frozenset())
        start = clause.start
        moved = True
        while moved:
            moved = False
            for size in (5, 4, 3, 2, 1):
                if start + size < clause.end and tuple(spoken.norm[start : start + size]) in frames:
                    start += size
                    moved = True
                    break
        return clause._replace(start=start) if start > clause.start else clause

    def _as_said(self, spoken: Words, clause: Clause) -> list[Fact]:
        """What is to be remembered and no rule reads: the words themselves, in third person."""
        norm = spoken.norm[clause.start : clause.end]
        lexicons = self.pack.lexicons
        if len(norm) < 4 or any((w,) in lexicons.get("remember_reject", ()) for w in norm):
            return []
        found = canonicalise(
            spoken,
            self.turn.assistant_before,
            self.language,
            self.discourse.names,
            start=clause.start,
            end=clause.end,
        )
        if found is None:
            return []
        return [
            Fact(
                text=found.text,
                category="relationships" if found.subject != "user" else "personal_facts",
                subject=found.subject,
                confidence=0.85,
                rule_id="remember",
                extraction_method="pattern:remember",
                span=_span(spoken, clause.start, clause.end),
            )
        ]


def _tells_more(facts: list[Fact], clause: Clause) -> bool:
    """Whether a clause says more than the names that were read ("my friend jo moves to spain")."""
    if not facts or any(fact.rule_id != NAMED for fact in facts):
        return False
    return clause.end - clause.start - _NAMING_WORDS * len(facts) >= _TELLING_WORDS


def _may_match(pack: Pack, norm: list[str], clause: Clause) -> bool:
    """Whether any rule begins with the words of a clause as it stands."""
    index, start, end = pack.index, clause.start, clause.end
    return (
        (norm[start],) in index
        or (start + 1 < end and (norm[start], norm[start + 1]) in index)
        or (start + 2 < end and tuple(norm[start : start + 3]) in index)
    )


def _span(spoken: Words, first: int, last: int) -> tuple[int, int]:
    return spoken.start[max(first, 0)], spoken.end[last - 1]
