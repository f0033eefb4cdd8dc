"""The types that flow through a turn, and nothing else.

Every room of the house speaks in these words; see ``docs/concepts.md``. All types are frozen and
slotted: a turn is decided once, and what was decided is written down as it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, get_args

from bmo.ids import new_id

Verdict = Literal["allow", "hold", "discard"]
"""What the write gate says of a turn.

- ``allow``: facts are stored (or ended, for a retraction).
- ``hold``: kept in the ledger for later, never recalled by default.
- ``discard``: logged only.
"""

Signal = Literal[
    "greeting",
    "confirmation",
    "correction",
    "preference",
    "policy",
    "decision",
    "technology",
    "temporal",
    "goal",
    "relationship",
    "personal_fact",
    "remember",
    "forget",
    "question",
    "command",
    "sensitive",
    "injection",
    "other",
]
"""What a pattern saw in a turn. A decision lists every signal, strongest first."""

Category = Literal[
    "relationships", "preferences", "goals", "personal_facts", "policies", "decisions"
]
"""Where a memory belongs: BMO's four, and two for work talk."""

Kind = Literal["fact", "preference", "policy", "hard_rule"]
"""How a memory is used. A ``hard_rule`` is guaranteed a place in the context."""

Cardinality = Literal["one", "many"]
Polarity = Literal["positive", "negative"]
FactOp = Literal["assert", "retract"]

RetractScope = Literal["memory", "subject", "period", "all"]
"""How much a request to forget is about.

- ``memory``: the few memories of ``Fact.ends``; done at once.
- ``subject``: a person or thing, with all the memories of ``Fact.ends``; asked back first.
- ``period``: what was told on certain days, ``Fact.days``; asked back first.
- ``all``: everything known of the user; asked back first.
"""

Visibility = Literal["shared", "agent", "private"]
"""Which of its user's agents may be given a memory.

- ``shared``: all of them.
- ``agent``: the one it was told to.
- ``private``: none; the user sees it with ``bmo memories``.
"""

Complexity = Literal["trivial", "simple", "moderate", "complex", "deep"]
Intent = Literal["question", "generation", "analysis", "discussion", "continuation"]
Depth = Literal["auto", "minimal", "full"]

CATEGORIES: tuple[Category, ...] = get_args(Category)
CATEGORY_SIGNALS: dict[Category, Signal] = {
    "relationships": "relationship",
    "preferences": "preference",
    "goals": "goal",
    "personal_facts": "personal_fact",
    "policies": "policy",
    "decisions": "decision",
}
"""Category of a stored fact -> the signal that it is."""


FORGET_LAST_RULE = "order.forget_last"
"""Rule of a request to forget what the turn before it said."""

WITHHOLD_RULE = "order.withhold"
"""Rule of a memory whose ``value`` is a topic that is never to be brought up."""


MASKS = ("[secret]", "[e-mail]", "[phone]", "[forgotten]")
"""What stands where a secret, an identifier or a forgotten word stood."""


def is_masked(text: str) -> bool:
    """Whether something was taken out of a text."""
    return any(mask in text for mask in MASKS)


_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Takes out what no SQL column and no hash holds: NUL goes, a lone surrogate is U+FFFD."""
    return _NOT_STORABLE.sub(lambda hit: "" if hit[0] == "\x00" else "\ufffd", text)


def utc_now() -> datetime:
    """The present moment, timezone-aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Turn:
    """One completed user utterance and the words around it.

    Attributes:
        text: What the user said, as transcribed or typed.
        user_id: Whose memory this is.
        session_id: Which visit this is.
        at: When it was said, timezone-aware.
        assistant_before: The assistant's words just before the turn ("" at the start).
        assistant_after: The assistant's words just after it ("" while not yet known).
        language: ISO 639-1 code from the recogniser, or None when unknown.
        confidence: Transcript confidence 0..1, or None when unknown.
        agent_id: Which of the user's agents it was said to ("" where there is one).
        visibility: Which of them may be given what it tells.
        id: Unique id of the turn.
    """

    text: str
    user_id: str = "local"
    session_id: str = ""
    at: datetime = field(default_factory=utc_now)
    assistant_before: str = ""
    assistant_after: str = ""
    language: str | None = None
    confidence: float | None = None
    agent_id: str = ""
    visibility: Visibility = "shared"
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory, as the gate hands it to the ledger: the user's words, or a canonical text.

    Attributes:
        text: What is stored and searched: the user's words without fillers, or, where a plain
            slot covers the clause or a model service wrote it, a canonical third-person text
            ("Has a brother named Sam"). For a retraction: what was asked to be ended.
        category: Where it belongs.
        said: The user's words it came from, secrets masked; always.
        asked: The assistant's words before them, secrets masked: context, never a fact.
        slot: The attribute it fills ("lives_in"), or None for words.
        value: The slot's value as spoken ("Leeds"), or "".
        subject: ``user``, ``user.<relation>`` or ``user.<relation>:<lower-case name>``
            ("user.brother:sam"), or ``team``.
        op: ``assert`` stores, ``retract`` only ends.
        ends: Ids of live memories that it ends; with ``assert`` it takes their place.
        rests: Of ended memories of which a part is still true, the id and that part.
        cardinality: ``one`` when a new value of the slot supersedes the old one.
        polarity: ``negative`` for "Does not eat meat".
        kind: How it is used.
        expires_at: After this moment the fact leaves profile and recall, or None.
        confidence: 0..1; for a rule its measured precision, for the encoder its probability.
        rule_id: The rule that wrote it ("likes"), or "" for the encoder.
        extraction_method: "pattern:<rule>", "encoder:<version>", "gemini:<model>", "raw" ...
        entities: Names and things it mentions, lower-case.
        domain: Topic ("food", "work", "health", ...), or None.
        sensitive: Marked health or identity data.
        scope: For a request to forget only: how much is meant.
        days: For one of the scope ``period`` only: when the days that are meant begin and end.
        id: Its id in the ledger, given when it is made.
    """

    text: str
    category: Category
    said: str = ""
    asked: str = ""
    slot: str | None = None
    value: str = ""
    subject: str = "user"
    op: FactOp = "assert"
    ends: tuple[str, ...] = ()
    rests: tuple[tuple[str, str], ...] = ()
    cardinality: Cardinality = "many"
    polarity: Polarity = "positive"
    kind: Kind = "fact"
    expires_at: datetime | None = None
    confidence: float = 0.9
    rule_id: str = ""
    extraction_method: str = ""
    entities: tuple[str, ...] = ()
    domain: str | None = None
    sensitive: bool = False
    scope: RetractScope | None = None
    days: tuple[datetime, datetime] | None = None
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the local encoder says of one turn: probabilities, nothing decided.

    Attributes:
        allow: Probability that the turn carries a durable fact.
        hold: Probability that it might.
        discard: Probability that it carries nothing.
        categories: Probability of each category, independent of each other.
        read_need: Probability that a good reply needs stored memory.
        version: Version of the encoder's model.
        steers: Probability that it would steer the assistant through memory.
    """

    allow: float
    hold: float
    discard: float
    categories: Mapping[Category, float]
    read_need: float
    version: str
    steers: float = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The write gate's word on a turn.

    Attributes:
        verdict: allow, hold or discard.
        signals: Every signal seen, strongest first; ("other",) when none.
        reason: Short text for people ("stated preference", "question", "injection").
        confidence: 0..1.
        rule_id: The rule that decided, or "".
        facts: Facts to store, end or correct; empty unless verdict is allow.
        gate_version: Version of rules (and encoder) that decided.
        extraction_method: "pattern", "pattern:<rule>", "encoder:<version>", "raw", ...
        fallback: True when a stage was missing or failed and a default was used.
        open: True when the rules could not vouch either way and an encoder or model may look.
        text: The turn's words as they may be written down (secrets masked).
        elapsed_us: Microseconds the decision took.
        assessment: The encoder's probabilities when it was asked.
    """

    verdict: Verdict
    signals: tuple[Signal, ...]
    reason: str
    confidence: float
    rule_id: str = ""
    facts: tuple[Fact, ...] = ()
    gate_version: str = ""
    extraction_method: str = "pattern"
    fallback: bool = False
    open: bool = False
    text: str = ""
    elapsed_us: float = 0.0
    assessment: Assessment | None = None


@dataclass(frozen=True, slots=True)
class RecallPlan:
    """The read gate's word on a turn: whether memory is needed, why, how much and which.

    Attributes:
        recall: Whether memory is asked for.
        trigger: Why ("own_fact_question", "explicit_prompt", "indirect_need", "follow_up",
            "command_needs_fact", "judge", "forced") or why not ("general_knowledge", "command",
            "smalltalk", "statement", "trivial", "minimal_depth", ...).
        complexity: Size class of the request.
        intent: What kind of answer is wanted.
        domains: Topics ("food", "work", ...).
        depth: Effective depth override.
        budget_tokens: Ceiling for injected memory, in tokens (characters / 4).
        slots: Slots asked for, most important first; empty means semantic only.
        subjects: Subjects asked about ("user", "user.brother", "user.brother:sam"); empty: any.
        query: The text to embed for the search.
        asked: The assistant's words just before it, or "".
        references_history: "as we discussed", "remember when".
        include_past: Ended facts are wanted ("where did i live before").
        include_all: A wide question ("what do you know about me").
        read_need: The encoder's probability when it was asked.
        elapsed_us: Microseconds the plan took.
    """

    recall: bool
    trigger: str
    complexity: Complexity = "simple"
    intent: Intent = "discussion"
    domains: tuple[str, ...] = ()
    depth: Depth = "auto"
    budget_tokens: int = 0
    slots: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    query: str = ""
    asked: str = ""
    references_history: bool = False
    include_past: bool = False
    include_all: bool = False
    read_need: float | None = None
    elapsed_us: float = 0.0


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A memory's relevance, in parts that add up to ``total``."""

    semantic: float = 0.0
    recency: float = 0.0
    domain: float = 0.0
    usage: float = 0.0
    kind: float = 0.0

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return self.semantic + self.recency + self.domain + self.usage + self.kind


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact as the ledger holds it: the row that recall, CLI and reports read.

    What stands in ``Fact`` too means the same.

    Attributes:
        id: Ledger id (32 hexadecimal characters).
        user_id: Whose it is.
        said: See ``Fact.said``; "" for memories of versions before.
        valid_from: When it became true (the turn's time unless said otherwise).
        valid_until: When it ended, or None while it is live.
        superseded_by: Id of the fact that replaced it, or None.
        source_type: gate, tool, model, import or manual.
        turn_id: The turn it came from, or None.
        extraction_version: Gate version that wrote it.
        use_count: Times a reply used it.
        last_used_at: When last, or None.
        index_id: Mem0's id, or None while it is not indexed.
        conflict: Set when two live facts contradict each other and cannot be ordered.
        when: The time a version before read in it: ISO 8601 date, "--06-09" yearly, or None.
        end_reason: "" while it is live; else superseded, corrected, contradicted, past,
            retracted, edited or merged. A corrected or edited fact was never true.
        agent_id: Which agent it was told to.
        visibility: Which agents may be given it.
    """

    id: str
    user_id: str
    subject: str
    slot: str | None
    value: str
    text: str
    category: Category
    kind: Kind
    cardinality: Cardinality
    polarity: Polarity
    confidence: float
    valid_from: datetime
    valid_until: datetime | None = None
    superseded_by: str | None = None
    expires_at: datetime | None = None
    source_type: str = "gate"
    turn_id: str | None = None
    rule_id: str = ""
    extraction_method: str = ""
    extraction_version: str = ""
    entities: tuple[str, ...] = ()
    domain: str | None = None
    sensitive: bool = False
    use_count: int = 0
    last_used_at: datetime | None = None
    index_id: str | None = None
    conflict: bool = False
    when: str | None = None
    end_reason: str = ""
    said: str = ""
    asked: str = ""
    agent_id: str = ""
    visibility: Visibility = "shared"

    def is_for(self, agent_id: str) -> bool:
        """Whether an agent may be given it."""
        told = self.visibility == "agent" and self.agent_id == agent_id
        return told or self.visibility == "shared"


@dataclass(frozen=True, slots=True)
class DialogueContext:
    """What the write gate may know of the conversation and the user beside the turn itself.

    Attributes:
        recent_turns: (user words, assistant words after) of the latest turns, newest first.
        last_facts: What the latest turn of the visit stored, small talk aside; empty at the start.
        candidates: Live memories that the turn may restate or end: the nearest in meaning, those
            that share a name or a slot, and the visit's own; nearest first.
        near: Memory id -> cosine similarity to the turn, for candidates where it is known.
    """

    recent_turns: tuple[tuple[str, str], ...] = ()
    last_facts: tuple[Fact, ...] = ()
    candidates: tuple[StoredFact, ...] = ()
    near: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """One memory that was considered for a turn.

    Attributes:
        fact: The ledger's row.
        score: Total relevance.
        parts: The score in parts.
        why: "slot", "search", "hard_rule", "profile", or why it was left out.
        answers: The encoder's P(answers), None where it was not asked.
    """

    fact: StoredFact
    score: float
    parts: ScoreParts
    why: str
    answers: float | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """What was selected for a turn (or for the profile), and what was left out and why.

    Attributes:
        plan: The plan that asked.
        memories: Selected memories, in the order they are shown.
        left_out: Considered and not given, with the reason in ``why``.
        context: The block that goes before the model, or "" when nothing is given.
        tokens: Tokens in ``context`` (characters / 4).
        elapsed_ms: Milliseconds from plan to block.
        fallback: True when a deadline passed or a part failed.
        reason: "" or what failed.
    """

    plan: RecallPlan
    memories: tuple[RecalledMemory, ...] = ()
    left_out: tuple[RecalledMemory, ...] = ()
    context: str = ""
    tokens: int = 0
    elapsed_ms: float = 0.0
    fallback: bool = False
    reason: str = ""
