"""What the rules make of a turn, clause by clause: the base of their verdict and of the judge's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from bmo.gate.appositives import written_out
from bmo.gate.clause_reader import LIFTING, ClauseAnalysis, ClauseReader, asked
from bmo.gate.corrections import corrected, restated, spelled_again
from bmo.gate.details import with_details
from bmo.gate.dialogue_context import answer_clauses
from bmo.gate.discourse import Discourse, open_discourse
from bmo.gate.factuality import Veto, may_veto, vetoes, vetoes_of_turn
from bmo.gate.known_changes import KnownChange, changes_in
from bmo.gate.open_category import WIDE, rule_category
from bmo.gate.other_topics import with_topics
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon, subject_of
from bmo.gate.professional_word import without_professional
from bmo.gate.said_of_another import with_verb_said
from bmo.gate.self_introduction import introduced
from bmo.gate.speech_act import SpeechAct, speech_act
from bmo.language import Clause, LanguageCode, Words, repair, segment, words
from bmo.turn import DialogueContext, Fact, Turn

__all__ = ["Analysis", "ClauseAnalysis", "analyse", "without_doubles"]


@dataclass(slots=True)
class Analysis:
    """What the rules make of a turn.

    Attributes:
        clauses: In the order they were said.
        language: Whose pack was used.
        words: The turn's repaired words.
        discourse: Who was spoken of.
        answered: The turn answers the assistant's question.
        facts: Facts of all clauses, each once, corrections marked.
    """

    clauses: list[ClauseAnalysis] = field(default_factory=list)
    language: LanguageCode = "en"
    words: Words = field(default_factory=lambda: Words("", [], [], [], []))
    discourse: Discourse | None = None
    answered: bool = False
    facts: tuple[Fact, ...] = ()

    @property
    def open_clauses(self) -> tuple[ClauseAnalysis, ...]:
        """Clauses a judge may look at."""
        return tuple(clause for clause in self.clauses if clause.open)


def without_doubles(facts: list[Fact]) -> tuple[Fact, ...]:
    """Each statement once; the first one counts."""
    if len(facts) == 1 and facts[0].slot != "name":
        return (facts[0],)
    seen: set[tuple[str, str | None, str, str]] = set()
    kept: list[Fact] = []
    named = {f.subject.partition(":")[0] for f in facts if f.slot == "name" and ":" in f.subject}
    for fact in facts:
        kin = fact.rule_id.rpartition(".")[2] in ("has_kin", "there_is_a_pet")
        if kin and named and _is_named(fact, named):
            continue
        key = (fact.subject, fact.slot, (fact.value or fact.text).lower(), fact.op)
        if key not in seen:
            seen.add(key)
            kept.append(fact)
    return tuple(kept)


def _is_named(fact: Fact, named: set[str]) -> bool:
    """Whether "Has a cat" says nothing beside "Has a cat named Gumbo"."""
    return any(relation.rpartition(".")[2].replace("_", " ") in fact.value for relation in named)


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
    repaired = repair(spoken if spoken is not None else words(turn.text, language), language)
    if language == "en":
        jobs = pack.lexicons.get("occupations", frozenset())
        repaired = written_out(without_professional(repaired), people, pack.stops, jobs)
        repaired = introduced(repaired, turn.assistant_before, jobs)
    analysis = Analysis(language=language, words=repaired)
    if not repaired.norm:
        return analysis
    discourse = open_discourse(people, context, turn.assistant_before)
    analysis.discourse = discourse
    of_turn_before = False
    if language == "en":
        repaired, of_turn_before = with_verb_said(
            repaired, people, pack.stops, context, discourse.names
        )
        analysis.words = repaired
    clauses = segment(repaired, language, frozenset(discourse.names))
    if language != "en":
        clauses = with_topics(repaired, clauses, language)
    acts = _speech_acts(repaired, clauses, language)
    if "?" not in turn.assistant_before and _only_asks(repaired, clauses, acts):
        # Most turns to an assistant: nothing is told, and no rule has to look.
        analysis.clauses = [
            asked(repaired, clause, act) for clause, (act, _) in zip(clauses, acts, strict=True)
        ]
        return analysis
    refused = _refusals(repaired, clauses, acts, language)
    weak = True
    for (act, _), found in zip(acts, refused, strict=True):
        if act in _ASKING or "hedge" in found:
            weak = False
            break
    reader = ClauseReader(turn, context, pack, people, discourse, language, weak)
    used = 0
    if "?" in turn.assistant_before and clauses:
        used = _read_answer(analysis, reader, clauses)
    _read_clauses(analysis, reader, clauses[used:], acts[used:], refused[used:])
    analysis.facts = _settled(analysis, context)
    if of_turn_before:  # as sure as what was stored of that turn
        analysis.facts = tuple(replace(fact, confidence=KNOWN) for fact in analysis.facts)
    if language == "en" and (context.recent_facts or context.known):
        _with_what_is_known(analysis, turn, context, spoken)
    if context.recent_facts or context.known:
        _with_known_changes(analysis, turn, context)
    return analysis


def _only_asks(spoken: Words, clauses: list[Clause], acts: list[tuple[SpeechAct, int]]) -> bool:
    """Whether every clause is a question, or a request that lifts no wish."""
    for clause, (act, _) in zip(clauses, acts, strict=True):
        if act not in _ASKING or (act == "directive" and spoken.norm[clause.start] in LIFTING):
            return False
    return True


_ASKING = frozenset({"question", "directive"})
_CONDITIONS = frozenset({"if", "unless", "suppose", "imagine"})


def _refusals(
    spoken: Words,
    clauses: list[Clause],
    acts: list[tuple[SpeechAct, int]],
    language: LanguageCode,
) -> list[tuple[Veto, ...]]:
    """What speaks against each clause that is a statement, and against the turn as a whole."""
    refused: list[tuple[Veto, ...]] = [()] * len(clauses)
    stated = [place for place, (act, _) in enumerate(acts) if act == "statement"]
    if stated and may_veto(spoken, clauses, language):
        for place in stated:
            refused[place] = vetoes(spoken, clauses[place], language)
    turn_veto = vetoes_of_turn(spoken, language)
    if turn_veto is not None:
        refused = [(*found, turn_veto) for found in refused]
    return refused


def _read_answer(analysis: Analysis, reader: ClauseReader, clauses: list[Clause]) -> int:
    """Reads the turn's beginning as the answer to a question; how many clauses that explains."""
    turn, language = reader.turn, analysis.language
    answer = answer_clauses(
        analysis.words, clauses, turn.assistant_before, reader.discourse, language
    )
    if answer is None:
        return 0
    weak = reader.weak
    reader.weak = weak and not answer.settled
    for line in answer.readings:
        whole = Clause(0, len(line.norm))
        found = reader.read(line, whole, speech_act(line, whole, language))
        if found.facts:
            analysis.answered = True
            analysis.clauses.append(found)
            if not answer.all:
                break
    reader.weak = weak
    return answer.used if analysis.answered else 0


def _read_clauses(
    analysis: Analysis,
    reader: ClauseReader,
    clauses: list[Clause],
    acts: list[tuple[SpeechAct, int]],
    refused: list[tuple[Veto, ...]],
) -> None:
    """Reads clauses in order; what is carried on or conditional takes that from its sentence."""
    spoken = analysis.words
    previous: Clause | None = None
    conditional_sentence = -1
    repeated = len(clauses) > _MANY_CLAUSES
    heard: set[tuple[str, ...]] = set()
    for clause, act, vetoed in zip(clauses, acts, refused, strict=True):
        if repeated:
            # Said word for word before: a bound on time for text that says one thing for ever.
            line = tuple(spoken.norm[clause.start : clause.end])
            if line in heard:
                continue
            heard.add(line)
        if clause.carried and previous is not None and act[0] == "statement":
            carried = _with_subject_of(spoken, previous, clause)
            whole = clause._replace(start=0, end=len(carried.norm), carried=False)
            refuse = _inherited(spoken, previous, analysis.clauses)
            reader.previous = None  # its words are not those of the carried clause
            found = reader.read(carried, whole, act)
            if refuse is not None:
                found = _vetoed(found, refuse)
        else:
            reader.previous = previous
            found = reader.read(spoken, clause, act, vetoed)
            previous = clause
        if clause.sentence == conditional_sentence and found.speech_act == "statement":
            found = _vetoed(found, "conditional")
        elif "conditional" in found.vetoes and spoken.norm[clause.start] in _CONDITIONS:
            conditional_sentence = clause.sentence
        analysis.clauses.append(found)


def _settled(analysis: Analysis, context: DialogueContext) -> tuple[Fact, ...]:
    """The facts of all clauses, each once, corrections marked as such."""
    told = [fact for clause in analysis.clauses for fact in clause.facts]
    if not told and not context.recent_facts:
        return ()
    facts = without_doubles([_sorted_in(fact) for fact in told])
    if len(facts) > 1 and any(f.op == "retract" and f.scope == "last" for f in facts):
        # "im not saving for that any more so you can lose that too" ends one thing, not two.
        facts = tuple(f for f in facts if not (f.op == "retract" and f.scope == "last"))
    norm = analysis.words.norm
    if analysis.language == "en":
        facts = with_details(facts, norm)
    if not facts and analysis.discourse is not None:
        again = spelled_again(norm, context, analysis.discourse)
        return (again,) if again is not None else ()
    return corrected(facts, norm, context)


def _sorted_in(fact: Fact) -> Fact:
    """A fact of a wide rule in the category that its words tell."""
    if fact.rule_id not in WIDE or fact.subject != "user":
        return fact
    category = rule_category(fact)
    return fact if category == fact.category else replace(fact, category=category)


def _with_what_is_known(
    analysis: Analysis, turn: Turn, context: DialogueContext, spoken: Words | None
) -> None:
    """Corrections of what was told before, and who takes whose place."""
    told = spoken if spoken is not None else words(turn.text, analysis.language)
    if not any(clause.speech_act == "question" for clause in analysis.clauses):
        right = restated(told.norm, context, told=bool(analysis.facts), at=turn.at)
        if right:
            analysis.facts = right
            # What is put right is said: nothing of the correction is a memory beside it.
            analysis.clauses = [clause._replace(open=False) for clause in analysis.clauses]
            return
    if "new" in analysis.words.norm:
        analysis.facts = (*_predecessors(analysis), *analysis.facts)
    analysis.facts = tuple(
        replace(fact, confidence=max(fact.confidence, KNOWN))
        if fact.polarity == "negative" and _denies_known(fact, context)
        else fact
        for fact in analysis.facts
    )


def _with_known_changes(analysis: Analysis, turn: Turn, context: DialogueContext) -> None:
    """What the turn ends of the user's live memories; what is told of it only is no memory."""
    if any(fact.op == "correct" or fact.rule_id == "retraction" for fact in analysis.facts):
        return
    told = {(fact.subject, fact.text.lower()) for fact in analysis.facts}
    known = {(old.subject, old.text): old for old in (*context.known, *context.recent_facts)}
    live = [old for key, old in known.items() if (key[0], key[1].lower()) not in told]
    names = analysis.discourse.names if analysis.discourse is not None else {}

    def read(norm: Sequence[str], *, request: bool) -> KnownChange | None:
        return changes_in(norm, live, names, analysis.language, turn.at, turn.text, request=request)

    stated = [c for c in analysis.clauses if c.speech_act in _CHANGING and not c.vetoes]
    ended: list[Fact] = []
    only_changes: list[Fact] = []  # "Said in French about a change": it has been made
    for clause in stated:
        change = read(clause.norm, request=clause.speech_act != "statement")
        if change is not None:
            ended += _beside(change, clause)
            if not change.tells_more:
                only_changes += [f for f in clause.facts if f.slot == "change"]
            _close(analysis, [] if change.tells_more else [clause])
    for run in _runs(analysis, stated) if not ended else ():
        change = read(
            _norm_of(analysis, run), request=any(c.speech_act != "statement" for c in run)
        )
        if change is not None:
            ended += change.facts
            _close(analysis, [] if change.tells_more else run)
            break
    if ended:
        told_still = [fact for fact in analysis.facts if fact not in only_changes]
        analysis.facts = without_doubles([*ended, *told_still])


_CHANGING: frozenset[SpeechAct] = frozenset({"statement", "directive", "instruction", "forget"})
_SHORT_TURN = 18
"""Words up to which a change may run through several clauses ("we're done, steve and i")."""


def _runs(analysis: Analysis, stated: Sequence[ClauseAnalysis]) -> list[list[ClauseAnalysis]]:
    """Clauses through which one change may run: a short turn as a whole, then pairs."""
    if len(stated) < 2:
        return []
    pairs = [
        [one, other]
        for one, other in pairwise(analysis.clauses)
        if one in stated and other in stated
    ]
    short = len(stated) == len(analysis.clauses) and len(analysis.words.norm) <= _SHORT_TURN
    return [list(stated), *pairs] if short else pairs


def _norm_of(analysis: Analysis, run: Sequence[ClauseAnalysis]) -> list[str]:
    """The words from the first of some clauses to the last, those between them too."""
    words, first, last = analysis.words, run[0].span[0], run[-1].span[1]
    return [
        word
        for word, start, end in zip(words.norm, words.start, words.end, strict=True)
        if first <= start and end <= last
    ]


def _beside(change: KnownChange, clause: ClauseAnalysis) -> list[Fact]:
    """A change's facts, without what the clause's own facts say or take the place of."""
    told = [fact for fact in clause.facts if fact.op != "retract"]
    filled = {(fact.subject, fact.slot) for fact in told if fact.cardinality == "one"}
    left = [f for f in change.facts if f.slot is None or (f.subject, f.slot) not in filled]
    if not told:
        return left
    return [
        replace(f, op="retract", scope="memory", text=f.replaces, replaces=None)
        if f.replaces is not None
        else f
        for f in left
    ]


def _close(analysis: Analysis, clauses: Sequence[ClauseAnalysis]) -> None:
    """Takes clauses from the judge: what they tell is the change itself."""
    spans = {clause.span for clause in clauses}
    analysis.clauses = [
        clause._replace(open=False) if clause.span in spans else clause
        for clause in analysis.clauses
    ]


KNOWN = 0.95
"""Confidence of a statement that denies what is known: it is news to nobody else."""


def _denies_known(fact: Fact, context: DialogueContext) -> bool:
    return any(
        old.slot == fact.slot and old.value.lower() == fact.value.lower()
        for old in (*context.recent_facts, *context.known)
    )


def _predecessors(analysis: Analysis) -> tuple[Fact, ...]:
    """Reads "my new boss is called raj": whoever was the boss before is it no longer."""
    norm, discourse = analysis.words.norm, analysis.discourse
    if discourse is None:
        return ()
    found: list[Fact] = []
    for i, word in enumerate(norm[:-1]):
        if word != "new" or not i or norm[i - 1] not in ("my", "our", "a"):
            continue
        relation = discourse.lexicon.relation_at(norm, i + 1, len(norm))
        if relation is None or relation[0].plural or relation[0].pet:
            continue
        subject = subject_of(relation[0])
        if not any(fact.subject.partition(":")[0] == subject for fact in analysis.facts):
            continue
        found.append(
            Fact(
                text=f"Has a new {relation[0].name}",
                category="relationships",
                slot="successor",
                subject=subject,
                op="retract",
                scope="subject",
                rule_id="new_holder",
                extraction_method="pattern:new_holder",
            )
        )
    return tuple(found)


def _speech_acts(
    spoken: Words, clauses: list[Clause], language: LanguageCode
) -> list[tuple[SpeechAct, int]]:
    """The speech act of each clause; what runs on from a question or a request belongs to it."""
    acts: list[tuple[SpeechAct, int]] = []
    polite = "please" in spoken.norm
    for position, clause in enumerate(clauses):
        act, behind = speech_act(spoken, clause, language)
        said = spoken.norm[clause.start : clause.end]
        if polite and act == "statement" and "please" in said:
            sentence = [other for other in clauses if other.sentence == clause.sentence]
            last = sentence[-1].end if sentence else clause.end
            standing = _is_standing(said, spoken.norm[clause.start : last])
            act = act if standing else "directive"
        if act == "statement" and position and acts[-1][0] in ("question", "directive"):
            before = clauses[position - 1]
            if not before.closed_by and not clause.intro:
                told = acts[-1][0] == "directive" and _tells_of_self(spoken, before, said)
                act = act if told else acts[-1][0]
        acts.append((act, behind))
    if "?" in spoken.text and len(clauses) > 1:
        asked = {c.sentence for c in clauses if "?" in c.closed_by}
        opened: dict[int, SpeechAct] = {}
        for clause, (act, _) in zip(clauses, acts, strict=True):
            opened.setdefault(clause.sentence, act)
        # A sentence that opens as a question and closes as one is a question throughout.
        whole = {sentence for sentence in asked if opened[sentence] == "question"}
        acts = [
            ("question", behind) if clause.sentence in whole else (act, behind)
            for clause, (act, behind) in zip(clauses, acts, strict=True)
        ]
    return acts


_FOR_GOOD = frozenset({"always", "any", "anything", "ever", "everything", "never", "only"})
_UNTIL_NOW = frozenset({"now", "today", "tonight", "tomorrow"})


def _is_standing(said: list[str], sentence: list[str]) -> bool:
    """Whether a polite wish is one for good: "please, no calls while i work, ever"."""
    if not _UNTIL_NOW.isdisjoint(sentence) or said[0] not in ("no", "please"):
        return False
    unwanted = said[1] if said[0] == "please" and len(said) > 1 else said[0]
    return unwanted == "no" and not _FOR_GOOD.isdisjoint(sentence)


_PASSING_ON = frozenset(
    (
        "ask call email let mail message note remind reply say send tell text whatsapp write "
        "remember remembers play"
    ).split()
)
"""Requests that pass words on, or name what they want by what runs on from them."""
_STATES = frozenset("am are is was have has do does did can could will would".split())
_TELLING_WORDS = 5


def _tells_of_self(spoken: Words, request: Clause, said: list[str]) -> bool:
    """Whether a clause behind a request is told beside it ("speak up | i am deaf in one ear")."""
    if said[0] not in ("i", "my") or len(said) < _TELLING_WORDS:
        return False
    if not _PASSING_ON.isdisjoint(spoken.norm[request.start : request.start + 3]):
        return False
    return said[0] == "my" or said[1] in _STATES


_MANY_CLAUSES = 12
"""In a turn of more clauses one that was said before is not read again."""

_MODALS = frozenset({"could", "would", "might", "may", "should", "if"})


def _inherited(spoken: Words, previous: Clause, read: list[ClauseAnalysis]) -> Veto | None:
    """What speaks against a clause also speaks against what is carried on from it."""
    if read and read[-1].vetoes:
        return read[-1].vetoes[0]
    if not _MODALS.isdisjoint(spoken.norm[previous.start : previous.end]):
        return "hedge"
    return None


def _vetoed(clause: ClauseAnalysis, veto: Veto) -> ClauseAnalysis:
    return clause._replace(vetoes=(*clause.vetoes, veto), facts=(), open=False)


def _with_subject_of(spoken: Words, previous: Clause, clause: Clause) -> Words:
    """A carried clause with the subject of the clause before it."""
    take = previous.start
    norm = spoken.norm
    stop = take + 1
    if norm[take] not in ("i", "we", "he", "she", "they", "it"):
        stop = min(previous.end, take + 3)
        for i in range(take, min(previous.end, take + 6)):
            if norm[i] in ("is", "has", "lives", "works", "was", "'s", "are", "have"):
                stop = i
                break
    kept = [*range(take, stop), *range(clause.start, clause.end)]
    return spoken.select(kept)
