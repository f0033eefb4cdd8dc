"""Acceptance: what a model proposes is held against the user's own words before it is a memory.

A model points (a quote of the user's words) and writes a canonical text. The text is accepted only
where names, numbers, times, denial and doubt are the user's own; secrets and attacks are looked for
in it as in a turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bmo.extract.answer import Candidate
from bmo.extract.grounding import Said, has_meaning, is_grounded, keeps_times, stance_of
from bmo.extract.quoting import locate
from bmo.extract.settlement import Known, Refusal, RefusalReason
from bmo.gate.firewall import attack
from bmo.gate.guards import kind_of, mask
from bmo.gate.orders import read_order
from bmo.gate.published_signals import published_signals
from bmo.gate.slots import read_canonical
from bmo.language import clean, identify, words
from bmo.language.domains import domain_of
from bmo.ledger.values import stems
from bmo.quotation import one_line
from bmo.settings import SensitivePolicy
from bmo.turn import Fact, Turn, is_masked

CONFIDENCE_CAP = 0.8
"""Most a model's word counts: under the precision from which a rule's fact is not doubted."""

MAX_FACTS = 5
"""Most memories of one turn that are stored."""

ECHO = 0.8
"""Share of a memory's words of meaning in one given memory from which it is its echo."""

LONGEST = 40
"""Most words of a memory."""

COVERED = 0.65
"""Share of a turn's words of meaning that quotes and texts must hold to stand in its place."""

WISH = "Wants the assistant "
"""How a standing wish begins; the instructions ask for it."""

_SHORT = 4
"""Fewer words are often names, which are of no language."""

_FIRST_PERSON = frozenset(
    "i i'm i've i'd i'll im ive me my mine myself we we're we've us our ours ourselves".split()
)
_BEHIND = re.compile(r"[^.!?]*([.!?]?)")


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of a turn's candidates; ``whole``: the facts say all that the turn does."""

    facts: tuple[Fact, ...]
    refused: tuple[Refusal, ...]
    whole: bool


def accept(
    candidates: Sequence[Candidate],
    turn: Turn,
    known: Known,
    policy: SensitivePolicy,
    method: str,
    memories: Mapping[int, str] | None = None,
) -> Accepted:
    """Turns a model's candidates for a turn into memories, or refuses them.

    ``memories``: number that the model was shown -> id of an older memory.
    """
    asked = safe_context(turn.assistant_before, policy)
    earlier = " ".join(
        one.text for one in known.neighbours if (one.at, one.id) < (turn.at, turn.id)
    )
    said = Said(turn.text, asked, earlier, known.subjects)
    english = identify(turn.text, tag=turn.language, previous=asked) == "en"
    facts: dict[str, Fact] = {}
    refused: list[Refusal] = []
    quoted: list[str] = []
    for candidate in candidates:
        why = _why_not(candidate, said, known.injected, policy, english=english)
        if why:
            refused.append(Refusal(candidate.statement, why))
        else:
            fact = _fact(candidate, turn, asked, known)
            ends = _ends(candidate, fact, turn, known, memories or {})
            topic = domain_of(fact.text)
            made = replace(fact, ends=ends, extraction_method=method, domain=topic)
            facts.setdefault(fact.text.casefold(), made)
            quoted.append(candidate.quote)
    held = stems([*quoted, *(fact.text for fact in facts.values())])
    meant = stems([turn.text])
    whole = not refused and len(facts) <= MAX_FACTS and len(meant & held) >= COVERED * len(meant)
    return Accepted(tuple(facts.values())[:MAX_FACTS], tuple(refused), whole)


def safe_context(assistant_words: str, policy: SensitivePolicy) -> str:
    """The assistant's words as they may be shown and kept: masked; "" where they would steer."""
    masked, _ = mask(clean(assistant_words), policy)
    return "" if attack(masked) is not None else masked


def _why_not(
    candidate: Candidate,
    said: Said,
    injected: Iterable[str],
    policy: SensitivePolicy,
    *,
    english: bool,
) -> RefusalReason | None:
    """Why a candidate is refused, or None."""
    statement, span = candidate.statement, locate(candidate.quote, said.words)
    if span is None or not has_meaning(candidate.quote):
        return "quote"
    if published_signals(said.words).sarcastic:
        return "factuality"
    behind = _BEHIND.match(said.words, span[1])
    if behind is not None and behind[1] == "?":
        return "question"
    if attack(statement, said.asked) is not None:
        return "injection"
    if is_masked(f"{candidate.quote} {statement}") or mask(statement, policy)[1]:
        return "sensitive"
    order = read_order(statement)
    if order is not None and order.kind.startswith("forget"):
        return "scope"
    if not _is_plain_english(statement):
        return "unread"
    if not is_grounded(statement, said, english=english):
        return "grounding"
    if not keeps_times(statement, said):
        return "time"
    return stance_of(statement, said.words, span) or (
        "echo" if _echoes(statement, injected) else None
    )


def _ends(
    candidate: Candidate, fact: Fact, turn: Turn, known: Known, memories: Mapping[int, str]
) -> tuple[str, ...]:
    """The older memories that a fact ends: only such as may be about the same."""
    named = {memories[number] for number in candidate.ends if number in memories}
    return tuple(
        old.id
        for old in known.candidates.get(turn.id, ())
        if old.id in named
        and (old.category == fact.category or stems([fact.text, turn.text]) & stems([old.text]))
        and (old.kind != "hard_rule" or fact.kind == "hard_rule")
    )


def _is_plain_english(statement: str) -> bool:
    said = words(statement)
    count = len(said)
    if not 0 < count <= LONGEST or statement.rstrip().endswith("?"):
        return False
    if not _FIRST_PERSON.isdisjoint(said):  # unquoted it would be the reader's own
        return False
    return identify(statement) == "en" or (count < _SHORT and identify(statement) is None)


def _echoes(statement: str, injected: Iterable[str]) -> bool:
    """Whether a memory repeats one that was given in the visit; stored it would feed on itself."""
    told = stems([statement])
    lines = (stems([line]) for block in injected for line in block.splitlines())
    return bool(told) and any(len(told & line) / len(told) >= ECHO for line in lines)


def _fact(candidate: Candidate, turn: Turn, asked: str, known: Known) -> Fact:
    """The memory: with slot and value where its text is one of the plain slots'."""
    text = one_line(clean(candidate.statement)).rstrip(".")
    confidence = round(min(candidate.confidence, CONFIDENCE_CAP), 3)
    slotted = read_canonical(text)
    # A model that names another slot than its text reads as is not sure which it means.
    if slotted is not None and candidate.slot in ("", slotted.rule_id, slotted.slot):
        return replace(slotted, said=turn.text, asked=asked, confidence=confidence)
    wish, category = text.startswith(WISH), candidate.category
    if wish and category != "policies":
        category = "preferences"
    opening = words(text)[:3]  # "Brother Sam lives in Leeds"
    subject = next((known.subjects[word] for word in opening if word in known.subjects), "user")
    return Fact(
        text=text,
        category=category,
        said=turn.text,
        asked=asked,
        subject="team" if category in ("policies", "decisions") else subject,
        kind="hard_rule" if wish else kind_of(text, category),
        confidence=confidence,
    )
