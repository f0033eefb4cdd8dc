"""Facts of rules with what the judge adds to them: words left out, clauses about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bmo.gate.analysis import Analysis, ClauseAnalysis
from bmo.gate.judge_memories import Asked, lowered, memory_of
from bmo.gate.open_canonicalisation import canonicalise, leaning
from bmo.gate.open_coverage import front_of, incomplete, says_all_of
from bmo.gate.open_fragments import is_object_of
from bmo.gate.open_grouping import runs, tells_event
from bmo.gate.packs import load_pack
from bmo.turn import Fact

EXTRA_WORDS = 3
"""Least words of such a clause."""
FOREIGN_WORDS = 5
"""The same in other languages, whose clauses are cut less well."""
LEANING = 0.3
"""P(allow) from which a clause about a rule's fact ("she's called Tess") is told with it."""

_REASONS = frozenset({"because", "cos", "cause", "if", "otherwise", "since"})
_OF_PEOPLE = frozenset({"he", "she", "they"})
_OF_ANYTHING = frozenset({"it", "which", "who", "whose", "one", "both"})


def stands_alone(asked: Asked, clause: ClauseAnalysis) -> bool:
    """Whether a clause may be a memory beside those of the rules.

    Not a reason ("because ..."), not an event told on the way to what is true now ("sold the old
    one"), not a few words.
    """
    norm = clause.norm
    if len(norm) < (EXTRA_WORDS if asked.analysis.language == "en" else FOREIGN_WORDS):
        return False
    before = asked.turn.text[: clause.span[0]].lower().split()
    if before and before[-1] in _REASONS:
        return False
    return not tells_event(clause)


def tells_when_to_think_of_it(text: str) -> bool:
    """Whether a text says when to think of it, which is no part of what is so.

    "Is diabetic when you suggest food".
    """
    words = text.lower().split()
    orders = load_pack("en").lexicons["assistant_verb"]
    return any(
        word in _WHEN and words[at + 1] == "you" and (words[at + 2],) in orders
        for at, word in enumerate(words[:-2])
    )


_WHEN = frozenset({"when", "whenever", "if", "before"})


def completed(asked: Asked, facts: list[Fact]) -> list[Fact]:
    """Gives facts the words of their clause that the rule left out."""
    found = list(facts)
    for clause, fact in incomplete(asked.analysis, facts):
        said, before = asked.analysis.words, asked.turn.assistant_before
        if clause.spoken is not said and "?" in before and asked.analysis.answered:
            # An answer written out with its question ("i have two kids a boy and a girl").
            said, before = clause.spoken, before.replace("?", ".")
            start, stop = clause.place
        else:
            front = front_of(asked.analysis, clause)
            stretches = runs([front, clause] if front else [clause], said)
            if not stretches:
                continue  # "yes" alone: every word of the clause is the question's
            start, stop = stretches[0][0], stretches[-1][1]
        full = canonicalise(
            said,
            before,
            asked.analysis.language,
            asked.context.subjects,
            start=start,
            end=stop,
            own=asked.own_names(),
        )
        if full is None or not says_all_of(full.text, fact) or tells_when_to_think_of_it(full.text):
            continue
        named = fact.text + full.text[len(fact.text) :]  # with the names as the rule writes them
        told = named if named.lower() == full.text.lower() else full.text
        text = at_the_firm(told) if fact.slot == "employer" else told
        if fact.subject == "team":
            text = f"The team {lowered(text)}" if clause.norm[0] in ("i", "we") else text
        elif fact.subject != "user" and not full.subject.startswith(fact.subject.partition(":")[0]):
            continue
        found[found.index(fact)] = replace(fact, text=text)
    return found


def at_the_firm(text: str) -> str:
    """From "Is data analyst at a bank" to "Works at a bank": the job is told by itself.

    Args:
        text: What a clause says of an employer.
    """
    be, _, rest = text.partition(" ")
    job, _, firm = rest.partition(" at ")
    if be != "Is" or not firm or len(job.split()) > _JOB_WORDS:
        return text  # "engineering manager for the claims team at ..." says more
    if job.split()[0] in ("a", "an", "the", "in", "with", "on"):
        return text
    return f"Works at {firm}"


_JOB_WORDS = 3


def told_with_rules(
    asked: Asked, facts: list[Fact], clauses: Sequence[ClauseAnalysis]
) -> tuple[list[Fact], list[ClauseAnalysis]]:
    """Adds clauses that speak of a rule's fact to its text ("has a cat; she is called Tess").

    Returns:
        The facts, and the clauses that stand for themselves.
    """
    if asked.analysis.language != "en":
        return facts, list(clauses)
    told, alone = list(facts), []
    chain: dict[ClauseAnalysis, int] = {}  # clauses that were told with a fact, and which
    for clause in clauses:
        place = _fact_before(asked.analysis, told, clause, chain)
        if place is None or (clause not in chain and asked.odds(clause.text).allow < LEANING):
            alone.append(clause)
            continue
        if clause in chain:  # "(he has finished) his degree" is written already
            continue
        chain[clause] = place
        parts = [clause]
        behind = asked.analysis.clauses[asked.analysis.clauses.index(clause) + 1 :][:1]
        if behind and is_object_of(clause.norm, behind[0].norm):
            parts, chain[behind[0]] = [clause, behind[0]], place
        own = _of_the_named(asked, told[place], parts)
        if own is not None:
            told.append(own)
            chain.update(dict.fromkeys(parts, len(told) - 1))
            continue
        said, (start, stop) = clause.spoken, clause.place  # carried on: with its subject before it
        if said is asked.analysis.words:
            (start, stop), *_ = runs(parts, said)
        more = leaning(said, asked.turn.assistant_before, start, stop)
        if more:
            fact = told[place]
            told[place] = replace(fact, text=f"{fact.text}; {more}")
    return told, alone


def _of_the_named(asked: Asked, fact: Fact, parts: Sequence[ClauseAnalysis]) -> Fact | None:
    """What is told of somebody behind the answer or the echo that named them, as its own memory."""
    named_until = asked.analysis.named_until
    if not named_until or fact.slot != "name" or parts[0].spoken is not asked.analysis.words:
        return None
    if parts[0].place[0] < named_until or parts[0].norm[0] not in _OF_PEOPLE:
        return None
    found = memory_of(asked, parts)
    return found if found is not None and found.subject == fact.subject else None


def _fact_before(
    analysis: Analysis,
    facts: Sequence[Fact],
    clause: ClauseAnalysis,
    chain: Mapping[ClauseAnalysis, int],
) -> int | None:
    """Which fact ``clause`` speaks of: that of the clause just before, or None."""
    if clause in chain:
        return chain[clause]
    first = clause.norm[0]
    at = analysis.clauses.index(clause)
    if at and first in _OF_PEOPLE and analysis.clauses[at - 1] in chain:
        return chain[analysis.clauses[at - 1]]
    if at == 0 or (first not in _OF_PEOPLE and first not in _OF_ANYTHING):
        return None
    written = [(f.rule_id, f.value) for f in analysis.clauses[at - 1].facts]
    own = [i for i, f in enumerate(facts) if (f.rule_id, f.value) in written]
    if len(own) != 1 or facts[own[0]].op != "assert":
        return None
    someone = facts[own[0]].category == "relationships"
    return own[0] if someone or first in _OF_ANYTHING else None
