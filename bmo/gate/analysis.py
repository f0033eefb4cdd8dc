"""What the rules make of a turn, clause by clause: the base of their verdict and of the judge's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import repeat

from bmo.gate.analysed_turn import Analysis, without_doubles
from bmo.gate.beside_known import beside_known, not_long_over
from bmo.gate.carried_clauses import inherited, with_subject_of
from bmo.gate.clause_reader import LIFTING, ClauseAnalysis, ClauseReader, asked
from bmo.gate.clause_speech_acts import speech_acts
from bmo.gate.contrasted_places import without_denied_place
from bmo.gate.corrections import corrected, spelled_again
from bmo.gate.cue_words import (
    CONTRASTED,
    DIALECTAL,
    LEADING,
    NAMED_APART,
    ORDERED,
    REPAIRED,
    SAID_OF_ANOTHER,
    STANDING,
    TITLED,
    stages_of,
)
from bmo.gate.denied_relations import with_denied_relations
from bmo.gate.details import with_details
from bmo.gate.dialect import with_my
from bmo.gate.discourse import open_discourse
from bmo.gate.echo_questions import echoed, without_leads
from bmo.gate.factuality import Veto
from bmo.gate.known_effects import (
    KNOWN,
    with_bare_correction,
    with_known_changes,
    with_what_is_known,
)
from bmo.gate.left_open import leaves_open
from bmo.gate.named_apart import with_both_named
from bmo.gate.open_category import WIDE, rule_category
from bmo.gate.other_topics import with_topics
from bmo.gate.packs import Pack, load_pack
from bmo.gate.people import PeopleLexicon, people_lexicon
from bmo.gate.person_names import without_stops_of_titles
from bmo.gate.refusals import refusals
from bmo.gate.reply_no import may_be_reply, without_reply
from bmo.gate.restarts import without_restart
from bmo.gate.said_of_another import told_of, with_verb_said
from bmo.gate.speech_act import SpeechAct
from bmo.gate.standing_orders import StandingOrder, standing_orders
from bmo.gate.taken_back import TakenBack, objection, taken_back
from bmo.gate.taken_up import with_pronouns_for_pointers
from bmo.gate.talk_order import in_clauses, in_order
from bmo.gate.told_of_several import with_relations_first
from bmo.gate.turn_answers import gives_no_answer, read_answer
from bmo.language import Clause, LanguageCode, Words, repair, segment, words
from bmo.turn import DialogueContext, Fact, Turn

__all__ = ["Analysis", "ClauseAnalysis", "analyse", "without_doubles"]


_NOBODY: frozenset[str] = frozenset()
_NO_NAMES: Mapping[str, str] = {}
_NO_ORDERS: dict[int, StandingOrder] = {}
_NOT_THE_USERS: frozenset[Veto] = frozenset(("quotation", "third_party", "joke", "sarcasm"))
"""What bars an order for good like any other statement."""
_QUOTES = frozenset('"“”«»„')
"""Who orders something within these is not the user ("it said: 'from now on always ...'")."""


def analyse(
    turn: Turn,
    context: DialogueContext,
    language: LanguageCode = "en",
    spoken: Words | None = None,
) -> Analysis:
    """Reads a turn clause by clause.

    Args:
        turn: What was said.
        context: The conversation and the user's known people.
        language: Whose rules apply.
        spoken: The turn's words, if the caller has them already.
    """
    pack = load_pack(language)
    people = people_lexicon(language)
    said = spoken if spoken is not None else words(turn.text, language)
    if context.last_facts and said.norm:
        undone = taken_back(said, context, turn.assistant_before, language)
        if undone is not None:
            return _undone(undone, said, turn, context, language)
    stages = stages_of(said.norm, language)
    repaired = _put_straight(said, stages, turn, context, pack, people)
    if not repaired.norm:
        return Analysis(language=language, words=repaired)
    opening = partial(open_discourse, people, context, turn.assistant_before, language)
    discourse = opening() if context.subjects or context.recent_facts else None
    known = discourse.names if discourse is not None else _NO_NAMES
    analysis = Analysis([], language, repaired, opening, discourse)
    of_turn_before = False
    if stages & SAID_OF_ANOTHER:
        again = with_verb_said(repaired, people, pack.stops, context, known)
        repaired, of_turn_before, analysis.stranger = again
        analysis.words = repaired
    if repaired is not said:
        stages = stages_of(repaired.norm, language)
    names = frozenset(known) if known else _NOBODY
    clauses = segment(repaired, language, names)
    if language != "en":
        clauses = with_topics(repaired, clauses, language)
    elif stages & LEADING:
        clauses = without_leads(repaired, clauses, turn.assistant_before)
    acts = speech_acts(repaired, clauses, language)
    ordered = stages & STANDING and _QUOTES.isdisjoint(turn.text)
    orders = standing_orders(repaired, clauses, language) if ordered else []
    if not orders and "?" not in turn.assistant_before and _only_asks(repaired, clauses, acts):
        # Most turns to an assistant: nothing is told, and no rule has to look.
        analysis.clauses = list(map(asked, repeat(repaired), clauses, acts))
        return analysis
    if discourse is None:
        discourse = analysis.opened = opening()
    refused = refusals(repaired, clauses, acts, language, stages)
    weak = _is_plain(acts, refused)
    reader = ClauseReader(turn, context, pack, people, discourse, language, weak, stages)
    used, nothing = 0, False
    if "?" in turn.assistant_before:
        used, nothing = _read_beginning(analysis, reader, said, clauses, refused)
    ahead = _NO_ORDERS
    if orders:
        ahead = {order.first - used: order for order in orders if order.first >= used}
    _read_clauses(analysis, reader, clauses[used:], acts[used:], refused[used:], ahead)
    facts = _settled(analysis, context)
    if facts:
        facts = beside_known(facts, analysis.words, context, language, turn.at)
        if analysis.stranger is not None:
            facts = told_of(facts, analysis.stranger)
        if of_turn_before:  # as sure as what was stored of that turn
            facts = tuple(replace(fact, confidence=KNOWN) for fact in facts)
        analysis.facts = facts
    _with_talk_before(analysis, turn, context, spoken, settles_nothing=nothing)
    return analysis


def _is_plain(acts: list[tuple[SpeechAct, int]], refused: list[tuple[Veto, ...]]) -> bool:
    """Whether rules of wide constructions may speak: nothing is asked or hedged beside."""
    for act, _ in acts:
        if act in _ASKING:
            return False
    return all("hedge" not in found for found in filter(None, refused))


def _put_straight(
    said: Words,
    stages: int,
    turn: Turn,
    context: DialogueContext,
    pack: Pack,
    people: PeopleLexicon,
) -> Words:
    """The words of a turn repaired, and in the order in which they can be cut into clauses."""
    language = pack.language
    if stages & TITLED:
        said = without_stops_of_titles(said)
    repaired = repair(said, language, cued=stages & REPAIRED != 0)
    if stages & NAMED_APART:
        repaired = with_both_named(repaired, people, language)
    if language == "en":
        if stages & DIALECTAL:
            repaired = with_my(repaired, people)
        if stages & LEADING:
            repaired = without_restart(repaired)
        if stages & ORDERED or '"' in turn.text:
            repaired = in_order(repaired, stages, people, context)
        repaired = in_clauses(repaired, stages, turn, pack, people)
    elif repaired.norm:
        repaired = without_reply(repaired, language)
        repaired = with_relations_first(repaired, people, language)
        if language == "de" and "," in turn.text:
            repaired = with_pronouns_for_pointers(repaired)
    if stages & CONTRASTED:
        repaired = without_denied_place(repaired, language)
    return repaired


def _read_beginning(
    analysis: Analysis,
    reader: ClauseReader,
    said: Words,
    clauses: list[Clause],
    refused: list[tuple[Veto, ...]],
) -> tuple[int, bool]:
    """Reads the beginning of a turn behind a question.

    Returns:
        How many clauses the answer takes, and whether the turn gives the question none. What bars
        the first clause is added to ``refused``.
    """
    turn, language, repaired = reader.turn, reader.language, analysis.words
    if gives_no_answer(said, repaired, clauses, turn, language):
        if not clauses:
            return 0, True
        refused[0] = (*refused[0], "hedge")
        return 0, True
    if language != "en":
        used = read_answer(analysis, reader, clauses)
        unclear = clauses and not analysis.answered
        if unclear and may_be_reply(repaired, turn.assistant_before, language):
            refused[0] = (*refused[0], "hedge")
        return used, False
    if clauses and "quotation" in refused[0]:  # "tom texted i'm bob" is no answer
        return 0, False
    return read_answer(analysis, reader, clauses), False


def _undone(
    undone: TakenBack, said: Words, turn: Turn, context: DialogueContext, language: LanguageCode
) -> Analysis:
    """What is left when the turn before is taken back, and what this one tells instead."""
    without = replace(context, last_facts=())
    if undone.behind >= len(said.norm):
        return Analysis(language=language, words=said, facts=undone.facts)
    rest = said.select([*range(undone.behind, len(said.norm))])
    told = analyse(turn, without, language, rest)
    if not told.facts:
        rest = objection(rest, language)
        again = analyse(turn, without, language, rest)
        told = again if again.facts else told
    # A correction names what it puts right: the rest of the turn before stands.
    right = any(fact.op == "correct" for fact in told.facts)
    told.facts = told.facts if right else (*undone.facts, *told.facts)
    return told


def _with_talk_before(
    analysis: Analysis,
    turn: Turn,
    context: DialogueContext,
    spoken: Words | None,
    *,
    settles_nothing: bool,
) -> None:
    """What a turn says of what was told before: changes, corrections, ends."""
    with_denied_relations(analysis)
    if not context.recent_facts and not context.known:
        return
    if analysis.language == "en":
        with_what_is_known(analysis, turn, context, spoken)
    told = any(fact.rule_id != "correction" or fact.op != "assert" for fact in analysis.facts)
    if context.recent_facts and not told and not analysis.answered and not settles_nothing:
        with_bare_correction(analysis, turn, context, spoken)
    with_known_changes(analysis, turn, context)
    analysis.facts = not_long_over(analysis.facts, analysis.words, analysis.language, turn.at)


def _only_asks(spoken: Words, clauses: list[Clause], acts: list[tuple[SpeechAct, int]]) -> bool:
    """Whether every clause is a question, or a request that lifts no wish."""
    for place, (act, _) in enumerate(acts):
        lifting = act == "directive" and spoken.norm[clauses[place].start] in LIFTING
        if lifting or act not in _ASKING:
            return False
    return True


_ASKING = frozenset({"question", "directive"})
_CONDITIONS = frozenset({"if", "unless", "suppose", "imagine"})


def _read_clauses(
    analysis: Analysis,
    reader: ClauseReader,
    clauses: list[Clause],
    acts: list[tuple[SpeechAct, int]],
    refused: list[tuple[Veto, ...]],
    orders: Mapping[int, StandingOrder],
) -> None:
    """Reads clauses in order; what is carried on or conditional takes that from its sentence."""
    spoken = analysis.words
    previous: Clause | None = None
    conditional_sentence = -1
    repeated = len(clauses) > _MANY_CLAUSES
    heard: set[tuple[str, ...]] = set()
    ordered = 0
    for place, (clause, act, vetoed) in enumerate(zip(clauses, acts, refused, strict=True)):
        if place < ordered:
            continue  # a part of the order before
        if repeated:
            # Said word for word before: a bound on time for text that says one thing for ever.
            line = tuple(spoken.norm[clause.start : clause.end])
            if line in heard:
                continue
            heard.add(line)
        order = orders.get(place)
        if order is not None and _NOT_THE_USERS.isdisjoint(vetoed):
            whole = clause._replace(end=clauses[order.stop - 1].end, carried=False)
            analysis.clauses.append(reader.read_order(spoken, whole, act, order))
            previous, ordered = whole, order.stop
            continue
        if clause.carried and previous is not None and act[0] == "statement":
            carried = with_subject_of(spoken, previous, clause, reader)
            whole = clause._replace(start=0, end=len(carried.norm), carried=False)
            refuse = inherited(spoken, previous, analysis.clauses)
            reader.previous = None  # its words are not those of the carried clause
            found = reader.read(carried, whole, act)
            if refuse is not None:
                found = _vetoed(found, refuse)
        else:
            reader.previous = previous
            found = reader.read(spoken, clause, act, vetoed)
            if act[0] == "question" and reader.language == "en":
                if echoed(spoken, clause, reader.discourse, reader.pack.stops) is not None:
                    analysis.named_until = clause.end
            previous = clause
        if clause.sentence == conditional_sentence and act[0] == "statement":
            found = _vetoed(found, "conditional")
        elif found.vetoes and "conditional" in found.vetoes:
            if spoken.norm[clause.start] in _CONDITIONS:
                conditional_sentence = clause.sentence
        analysis.clauses.append(found)


def _settled(analysis: Analysis, context: DialogueContext) -> tuple[Fact, ...]:
    """The facts of all clauses, each once, corrections marked as such."""
    told = [fact for clause in analysis.clauses for fact in clause.facts]
    if not told and not context.recent_facts:
        return ()
    if analysis.language == "en" and not _OBJECTS.isdisjoint(analysis.words.norm):
        told = [
            f for f in told if f.op != "assert" or not leaves_open(f.text, people_lexicon("en"))
        ]
    if not WIDE.isdisjoint([fact.rule_id for fact in told]):
        told = [_sorted_in(fact) for fact in told]
    facts = without_doubles(told)
    if len(facts) > 1 and any(f.op == "retract" and f.scope == "last" for f in facts):
        # "im not saving for that any more so you can lose that too" ends one thing, not two.
        facts = tuple(f for f in facts if not (f.op == "retract" and f.scope == "last"))
    norm = analysis.words.norm
    if analysis.language == "en":
        facts = with_details(facts, norm)
    if not facts and analysis.discourse is not None:
        again = spelled_again(norm, context, analysis.discourse)
        return (again,) if again is not None else ()
    return corrected(facts, norm, context, analysis.language)


def _sorted_in(fact: Fact) -> Fact:
    """A fact of a wide rule in the category that its words tell."""
    if fact.rule_id not in WIDE or fact.subject != "user":
        return fact
    category = rule_category(fact)
    return fact if category == fact.category else replace(fact, category=category)


_OBJECTS = frozenset({"him", "her"})
_MANY_CLAUSES = 12
"""In a turn of more clauses one that was said before is not read again."""


def _vetoed(clause: ClauseAnalysis, veto: Veto) -> ClauseAnalysis:
    return clause._replace(vetoes=(*clause.vetoes, veto), facts=(), open=False)
