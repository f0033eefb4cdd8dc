"""Reads one clause after the other: speech act, vetoes, head, rules, mentions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from bmo.gate.apposition import turned_round
from bmo.gate.clause_head import Head, read_head
from bmo.gate.cue_words import ANYTHING, BROUGHT_UP, DATED, OF_THE_MOMENT, OWNED, WISHED
from bmo.gate.cue_words import NAMED as NAMES
from bmo.gate.discourse import Discourse, Person
from bmo.gate.ellipsis import completed, lost_to_death
from bmo.gate.factuality import Veto, vetoes
from bmo.gate.from_now_on import is_opener
from bmo.gate.known_facts import is_known
from bmo.gate.mentions import mentions
from bmo.gate.named_people import NAMED, name_fact, spoken_relation
from bmo.gate.open_canonicalisation import canonicalise
from bmo.gate.open_fragments import has_predicate
from bmo.gate.open_other_languages import quoted
from bmo.gate.other_grammar import grammar
from bmo.gate.other_heads import read_other_clauses
from bmo.gate.other_moments import of_the_moment
from bmo.gate.other_retraction import other_retraction
from bmo.gate.other_topics import topic_of
from bmo.gate.packs import Pack
from bmo.gate.people import PeopleLexicon
from bmo.gate.remembering import remembered_clause
from bmo.gate.retraction import retraction
from bmo.gate.slots import match_head
from bmo.gate.speech_act import SpeechAct
from bmo.gate.spoken_of_before import introduces
from bmo.gate.standing_orders import StandingOrder
from bmo.gate.untrue_of_people import PRONOUNS, untrue_of
from bmo.gate.verbless_wishes import POLITE, verbless_wish
from bmo.language import Clause, LanguageCode, Words
from bmo.turn import DialogueContext, Fact, Turn

_OF_AN_ORDER = frozenset({"conditional", "wish", "scope"})
_MAY_WISH = frozenset({"statement", "instruction"})
_GOES_ON = tuple([word] for word in ("while", "when", "whenever", "if", "unless", "until"))
_NAMING_WORDS = 3
"""Words that name somebody: "my friend jo"."""
_TELLING_WORDS = 2
"""Words beside them that may tell something."""
_LONGEST_CLAUSE = 120
"""Words up to which the rules read a clause: nothing longer is one memory, nor speech."""


class ClauseAnalysis(NamedTuple):
    """What the rules make of one clause.

    Attributes:
        spoken: The words it is a part of.
        place: Its first word in them, and the index behind its last.
        norm: Its words in normal form.
        speech_act: What it does.
        vetoes: Why it may not be stored.
        facts: What the rules vouch for.
        open: Substantive, and the rules cannot vouch either way.
    """

    spoken: Words
    place: tuple[int, int]
    norm: tuple[str, ...]
    speech_act: SpeechAct
    vetoes: tuple[Veto, ...]
    facts: tuple[Fact, ...]
    open: bool

    @property
    def span(self) -> tuple[int, int]:
        """Its offsets in the turn's text."""
        start, end = self.place
        first = self.spoken.start[start]
        return first, max(first, self.spoken.end[end - 1])

    @property
    def text(self) -> str:
        """The clause as it was said."""
        first, last = self.span
        return self.spoken.text[first:last]


def asked(spoken: Words, clause: Clause, said: tuple[SpeechAct, int]) -> ClauseAnalysis:
    """A question or a request, in which nothing is told."""
    start, end, *_ = clause
    norm = tuple(spoken.norm[start:end])
    return _made(ClauseAnalysis, (spoken, (start, end), norm, said[0], (), (), False))


_made = tuple.__new__
"""Makes a named tuple of all its fields in a third of the time."""


@dataclass(slots=True)
class ClauseReader:
    """Reads clauses of one turn, one after the other.

    Attributes:
        stages: What the words of the turn concern (see ``cue_words``).
    """

    turn: Turn
    context: DialogueContext
    pack: Pack
    people: PeopleLexicon
    discourse: Discourse
    language: LanguageCode
    weak: bool
    stages: int = ANYTHING
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
        start, end, *_ = clause
        discourse, stages, english = self.discourse, self.stages, self.language == "en"
        if start:
            discourse.heard = spoken.norm[:start]
        facts: list[Fact] = []
        refused: tuple[Veto, ...] = ()
        is_open = False
        if act == "forget":
            if self.language == "en":
                found = retraction(spoken, clause, behind, self.discourse, self.context, self.turn)
            else:
                found = other_retraction(spoken, clause, behind, self.discourse, self.language)
            facts += found
            is_open = not found
        elif act == "directive" and spoken.norm[clause.start] in LIFTING:
            facts = [
                fact
                for fact in self._facts(spoken, clause)
                if fact.op == "retract" or fact.slot == "answer_language"
            ]
        elif (
            stages & WISHED
            and act in _MAY_WISH
            and (wish := self._wish(spoken, clause)) is not None
        ):
            facts.append(wish)
        elif act in ("statement", "instruction", "remember"):
            body = clause
            if act == "remember":
                body = remembered_clause(spoken, clause, behind)
            if act == "instruction":
                body = self._without_frame(spoken, body)
            if behind > start and act == "statement":
                opens = is_opener(spoken.norm[start:behind], self.language)
                body = clause._replace(start=behind) if opens else clause
            if act == "statement" and known is not None:
                refused = known
            else:
                refused = vetoes(spoken, body, self.language)
                if known is not None and "quotation" in known and "quotation" not in refused:
                    refused = (*refused, "quotation")
            if act == "instruction":
                # A condition belongs to what is asked for: "do not read my mail unless i ask".
                # So does a wish: "i would rather you did not give me lists"; and what is not
                # always to be done is not to be done: "do not always say sorry".
                refused = tuple(v for v in refused if v not in _OF_AN_ORDER)
            if not refused and body.end - body.start > _LONGEST_CLAUSE:
                is_open = True
            elif not refused:
                firm = self.weak
                if (
                    firm
                    and stages & OF_THE_MOMENT
                    and act == "statement"
                    and of_the_moment(spoken.norm[body.start : body.end], self.pack)
                ):
                    self.weak = False
                facts = []
                if act == "instruction" and self.language != "en":
                    facts = self._as_it_stands(spoken, body)
                facts = facts or self._facts(spoken, body)
                if facts and (self.language == "en" or self.discourse.departed):
                    facts = self._true_of_people(facts, spoken.norm[body.start : body.end])
                if facts and "stop" in spoken.norm[body.start : body.end]:
                    # "i can't stop eating it" is no ability
                    facts = [fact for fact in facts if fact.slot != "ability"]
                self.weak = firm
                if act == "remember" and not facts:
                    facts = self._as_said(spoken, body)
                is_open = not facts and (act != "statement" or body.end - body.start > 1)
                is_open = is_open or _tells_more(facts, body)
        if facts and facts[0].rule_id == "announced" and discourse.recent:
            facts = []  # "my brother's name isn't tom | it's tim"
        norm = spoken.norm[start:end]
        if stages & NAMES and english and not discourse.stranger:
            discourse.stranger = self._names_a_stranger(norm)
        if stages & BROUGHT_UP and not facts and not discourse.stranger:
            discourse.stranger = introduces(norm)
        if discourse.said_before and _is_fragment(spoken, clause):
            discourse.said_before = ()  # "beckett, but he is a cat": he is what was just named
        told = tuple(facts)
        return _made(
            ClauseAnalysis, (spoken, (start, end), tuple(norm), act, refused, told, is_open)
        )

    def read_order(
        self, spoken: Words, clause: Clause, said: tuple[SpeechAct, int], order: StandingOrder
    ) -> ClauseAnalysis:
        """The clauses of an order for good, unless a rule for its subject reads its only clause."""
        facts = [order.fact]
        if order.alone and said[0] == "instruction":
            ruled = self.read(spoken, clause, said)
            if any(fact.slot != order.fact.slot for fact in ruled.facts):
                facts = [*ruled.facts]  # a rule for units, manner or language knows more
        place = (clause.start, clause.end)
        norm = tuple(spoken.norm[clause.start : clause.end])
        return ClauseAnalysis(spoken, place, norm, "instruction", (), tuple(facts), False)

    def _true_of_people(self, facts: list[Fact], norm: list[str]) -> list[Fact]:
        """Facts that can be true of whom a pronoun at the front was taken for."""
        pronouns = PRONOUNS if self.language == "en" else grammar(self.language).third
        if norm[0] not in pronouns:
            return facts
        kept = []
        for fact in facts:
            pet = self.discourse.person(fact.subject).pet
            past = fact.tense == "past" or fact.slot == "deceased"
            if not untrue_of(fact.subject, norm, self.discourse.departed, pet=pet, past=past):
                kept.append(fact)
        return kept

    def _wish(self, spoken: Words, clause: Clause) -> Fact | None:
        """The standing wish of a clause without a verb: "no phone calls after eight please"."""
        if POLITE.isdisjoint(spoken.norm):
            return None
        if not clause.closed_by and spoken.norm[clause.end : clause.end + 1] in _GOES_ON:
            return None  # "no notifications | while i am milking"
        norm = tuple(spoken.norm[clause.start : clause.end])
        said = verbless_wish(norm, self.language)
        if not said:
            return None
        text = f"Wants {said}"
        if self.language != "en":
            about = "how the assistant should behave"
            text = quoted(spoken, clause.start, clause.end, self.language, about)
        return Fact(
            text=text,
            category="preferences",
            slot="standing_instruction",
            value=said,
            kind="preference",
            confidence=0.9,
            rule_id="verbless_wish",
            extraction_method="pattern:verbless_wish",
            span=_span(spoken, clause.start, clause.end),
        )

    def _names_a_stranger(self, said: list[str]) -> bool:
        """Whether the words of a clause name somebody whose relation nobody has told."""
        names = self.people.names
        if names.isdisjoint(said):
            return False
        known, stops = self.discourse.names, self.pack.stops
        return any(word in names and word not in known and word not in stops for word in said)

    def _is_news(self, fact: Fact) -> bool:
        """Whether a rule that speaks only of what is known has found it among the live facts."""
        return is_known(fact, self.context, self.pack.lexicons.get("company_noun", frozenset()))

    def _facts(self, spoken: Words, clause: Clause) -> list[Fact]:
        facts: list[Fact] = []
        at: datetime = self.turn.at
        if self.language == "en":
            head = read_head(spoken, clause.start, clause.end, self.discourse, self.pack.stops)
            if head is not None:
                for relation, name, first, last, owner in head.introduced:
                    facts.append(name_fact(relation, name, owner, _span(spoken, first, last)))
                found = match_head(
                    head, spoken, self.pack, self.people, at, self.weak, self._is_news
                )
                self._remember_things(found)
                facts += found
            if not facts:
                facts += self._facts_written_out(spoken, clause, head is None)
            if self.stages & OWNED:
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
                    said = spoken_relation(relation, spoken.norm, first, last, self.people)
                    span = _span(spoken, first, last)
                    facts.append(name_fact(relation, name, owner, span, spoken=said))
                for head in other.heads:
                    matched = match_head(
                        head, spoken, self.pack, self.people, at, self.weak, self._is_news
                    )
                    facts += matched
                    self._remember_things(matched)
                    if matched:
                        break
        return facts or self._as_it_stands(spoken, clause)

    def _as_it_stands(self, spoken: Words, clause: Clause) -> list[Fact]:
        """Facts of rules that match a clause by its words alone."""
        if not _may_match(self.pack, spoken.norm, clause):
            return []  # most clauses
        tokens = spoken.norm[clause.start : clause.end]
        raw = Head(
            " ".join(tokens) + " ",
            tokens,
            list(range(clause.start, clause.end)),
            "user",
            None,
            False,
            "we" if tokens[0] in ("we", "our") else "",
            said=(clause.start, clause.end),
        )
        facts = match_head(
            raw, spoken, self.pack, self.people, self.turn.at, self.weak, self._is_news
        )
        self._remember_things(facts)
        return facts

    def _facts_written_out(self, spoken: Words, clause: Clause, headless: bool) -> list[Fact]:
        """The facts of a clause that is told backwards, or that leaves something out."""
        days = self.stages & DATED != 0
        full = completed(spoken, clause, self.previous, self.pack.lexicons, days=days)
        if full is None and self.discourse.names:
            full = lost_to_death(spoken, clause, self.discourse.names)
        if full is None and headless:
            full = turned_round(spoken, clause, self.previous, self.people, self.pack.lexicons)
        if full is None:
            return []
        head = read_head(full, 0, len(full), self.discourse, self.pack.stops)
        if head is None:
            return []
        found = match_head(
            head, full, self.pack, self.people, self.turn.at, self.weak, self._is_news
        )
        return found

    def _remember_things(self, facts: list[Fact]) -> None:
        """What a fact brings up may be "he" or "it" in the next clause."""
        for fact in facts:
            if fact.slot == "deceased":
                self.discourse.departed.add(fact.subject)
            if fact.slot == "name" and (name := fact.subject.partition(":")[2]):
                self.discourse.name(name, fact.subject)
                self.discourse.point_at(self.discourse.person(fact.subject))
            elif fact.rule_id == "has_another_kin":
                said = fact.value.split()[1:]
                relation = self.people.relation_at(said, 0, len(said))
                if relation is not None and fact.subject == "user":
                    self.discourse.introduce(relation[0], qualifier="other")
            elif fact.rule_id in ("has_kin", "has_named", "there_is_a_pet", "count_of"):
                norm = fact.value.lower().split()
                for i in range(len(norm)):
                    found = self.people.relation_at(norm, i, len(norm))
                    if found is None or (found[0].plural and fact.rule_id != "count_of"):
                        continue
                    if fact.subject == "user":
                        self.discourse.introduce(found[0])
                    elif ":" in fact.subject or "." in fact.subject:
                        self.discourse.introduce(found[0], owner=fact.subject)
                    break
            elif fact.slot in ("owns", "drives") and fact.subject == "user" and fact.value:
                thing = fact.value.split()[-1]
                label = thing[:1].upper() + thing[1:]
                self.discourse.point_at(Person("user", label, "thing", False, "", ""))

    def _without_frame(self, spoken: Words, clause: Clause) -> Clause:
        """An instruction without "from now on", "please" and the like at its front."""
        frames = self.pack.lexicons.get("instruction_frames", frozenset())
        start = clause.start
        # "you can use long sentences again" lifts a wish: there "you can" belongs to what is said.
        lifts = spoken.norm[clause.end - 1] in _LIFTED
        moved = True
        while moved:
            moved = False
            for size in (5, 4, 3, 2, 1):
                frame = tuple(spoken.norm[start : start + size])
                if start + size < clause.end and frame in frames:
                    if lifts and frame[0] == "you":
                        continue
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
    if not facts or facts[0].rule_id != NAMED:
        return False
    if any(fact.rule_id != NAMED for fact in facts):
        return False
    return clause.end - clause.start - _NAMING_WORDS * len(facts) >= _TELLING_WORDS


_LIFTED = frozenset({"again", "more", "longer"})
LIFTING = frozenset(
    {"you", "no", "stop", "quit", "drop", "scrap", "cancel", "do", "lose", "switch"}
)
"""First words of requests that may lift a standing wish ("stop reminding me to drink")."""


def _is_fragment(spoken: Words, clause: Clause) -> bool:
    """Whether a clause has no verb: an answer, or what the next clause speaks of."""
    return not has_predicate(spoken.norm[clause.start : clause.end])


def _may_match(pack: Pack, norm: list[str], clause: Clause) -> bool:
    """Whether any rule begins with the words of a clause as it stands."""
    start, end, *_ = clause
    if norm[start] not in pack.openers:
        return False
    index = pack.index
    return (
        (norm[start],) in index
        or (start + 1 < end and (norm[start], norm[start + 1]) in index)
        or (start + 2 < end and tuple(norm[start : start + 3]) in index)
    )


def _span(spoken: Words, first: int, last: int) -> tuple[int, int]:
    return spoken.start[max(first, 0)], spoken.end[last - 1]
