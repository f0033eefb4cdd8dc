"""What a user orders memory to do: remember this, forget that, never bring it up, or do again.

Orders are said in so many words and are read by rules (``tables/orders.toml``). Off and on the
record concern the visit and are read there (``bmo/memory/wishes.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import re2

from bmo.gate.tables import read_table
from bmo.language import words
from bmo.turn import WITHHOLD_RULE, Fact, RetractScope, StoredFact

OrderKind = Literal[
    "remember", "forget", "forget_last", "forget_subject", "forget_all", "withhold", "lift"
]

_KINDS: tuple[OrderKind, ...] = (
    "remember",
    "forget_all",
    "forget_subject",
    "forget_last",
    "withhold",
    "lift",
    "forget",
)
"""In the order in which they are tried."""

MAX_AT_ONCE = 3
"""A request to forget that concerns more memories is asked back first."""

NAMED_COSINE = 0.55
"""From this similarity the nearest memory is what a request to forget means, if no word says it."""

_FUNCTION_WORDS = frozenset(
    "i im i'm ive i've me my mine we our us you your he his him she her they their them it "
    "its it's "
    "that this those these the a an and or of to in on at for from with about is are am "
    "was were be "
    "been has have had do does did not no dont don't didn't never ever all any some said told say "
    "tell thing stuff bit part who which what when where there here just still also too so now "
    "please again anymore more name named called really like "
    "ich mich mir mein meine meinen meinem meiner er sie es wir uns ist sind war bin hat "
    "habe haben "
    "der die das den dem des ein eine einen einem und oder dass mit von über zu im am auf "
    "nicht kein "
    "gesagt erzählt habe heißt "
    "je j'ai j me m mon ma mes il elle nous vous est suis sont était ai as a ont le la les "
    "l un une "
    "des du de d et ou que qu qui ce c sur avec dans en ne pas plus dit "
    "yo mi mis me él ella nosotros es soy son era tiene tengo tienen el los las lo un una unos del "
    "y o que con en sobre no más dije he dicho".split()
)


@dataclass(frozen=True, slots=True)
class Order:
    """An order to memory.

    Attributes:
        kind: What is to be done.
        what: With what, in the user's words; "" for the latest, or everything.
    """

    kind: OrderKind
    what: str = ""


def read_order(text: str) -> Order | None:
    """The order a turn is, or None for most turns.

    Args:
        text: The user's words, cleaned.
    """
    rules = _rules()
    plain = text.replace("’", "'").rstrip(" .!?,;")
    said = rules.opening.sub("", plain, count=1)
    if not rules.any.Match(said.lower().encode("utf-8", "replace")):
        return None
    for kind in _KINDS:
        if any(pattern.fullmatch(said) for pattern in rules.excluded.get(kind, ())):
            continue
        for pattern in rules.patterns[kind]:
            found = pattern.fullmatch(said)
            if found:
                what = found.groupdict().get("what") or ""
                if kind != "withhold" or content(what):
                    return Order(kind, what.strip(" .,!?;:"))
    return None


def is_standing_wish(text: str) -> bool:
    """Whether words are a wish about form and conduct ("always answer in celsius")."""
    rules = _rules()
    plain = text.replace("’", "'")
    said = rules.opening.sub("", plain, count=1)
    return any(pattern.fullmatch(said) for pattern in rules.standing)


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    return frozenset(word for word in words(text) if word not in _FUNCTION_WORDS)


def mentions(wanted: frozenset[str], text: str) -> bool:
    """Whether a text has all of some content words, endings aside ("sisters" for "sister")."""
    said = words(text)
    return all(any(_same(word, other) for other in said) for word in wanted)


def meant(
    order: Order,
    candidates: Sequence[StoredFact],
    near: Mapping[str, float],
    last: Sequence[Fact],
) -> tuple[RetractScope, tuple[str, ...]]:
    """Which memories a request to forget means, or which wish an order to lift it.

    Args:
        order: The request.
        candidates: Live memories, nearest first.
        near: Memory id -> similarity to the turn.
        last: What the latest allowed turn stored.

    Returns:
        How much is meant, and the ids of the memories.
    """
    if order.kind == "forget_all":
        return "all", tuple(memory.id for memory in candidates)
    if order.kind == "forget_last":
        return "memory", tuple(fact.id for fact in last if fact.op == "assert")
    wanted = content(order.what)
    if not wanted:
        return "memory", ()
    if order.kind == "lift":
        wishes = [memory for memory in candidates if memory.rule_id == WITHHOLD_RULE]
        return "memory", tuple(m.id for m in wishes if mentions(wanted, m.value))
    named = [m for m in candidates if mentions(wanted, f"{m.text} {m.said} {m.value}")]
    named = named or [m for m in candidates if mentions(wanted, f"{m.asked} {m.text} {m.said}")]
    if order.kind == "forget_subject":
        return "subject", tuple(memory.id for memory in named)
    if not named:
        ranked = sorted(near.items(), key=lambda item: -item[1])
        named_ids = [memory_id for memory_id, score in ranked[:1] if score >= NAMED_COSINE]
        return "memory", tuple(named_ids)
    ids = tuple(memory.id for memory in named)
    return ("memory" if len(ids) <= MAX_AT_ONCE else "subject"), ids


def may_ask_to_forget(text: str) -> bool:
    """Whether a turn is a request to forget so much that it may have to be asked back."""
    order = read_order(text)
    return order is not None and order.kind in ("forget", "forget_subject", "forget_all")


def _same(one: str, other: str) -> bool:
    one, other = _kin().get(one, one), _kin().get(other, other)
    if one == other:
        return True
    short, long = sorted((one.removesuffix("'s"), other.removesuffix("'s")), key=len)
    return len(short) >= 2 and long.startswith(short) and len(long) - len(short) <= 2


@cache
def _kin() -> Mapping[str, str]:
    """What a relation is called, by what people call it ("dad" -> "father")."""
    table = read_table("kin.toml")
    return {
        name: relation
        for language in table.values()
        for relation, names in language.items()
        for name in names
        if " " not in name
    }


@dataclass(frozen=True, slots=True)
class _Rules:
    opening: re.Pattern[str]
    patterns: dict[OrderKind, tuple[Any, ...]]
    excluded: dict[OrderKind, tuple[Any, ...]]
    standing: tuple[Any, ...]
    any: Any


@cache
def _rules() -> _Rules:
    table = read_table("orders.toml")
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    every = re2.Set.FullMatchSet(options)
    for kind in _KINDS:
        for pattern in table[kind]:
            every.Add(pattern)
    every.Compile()

    def compiled(patterns: Sequence[str]) -> tuple[Any, ...]:
        return tuple(re2.compile(pattern, options) for pattern in patterns)

    forget_not = compiled(table["forget_not"])
    return _Rules(
        opening=re.compile(f"^{table['opening']}", re.IGNORECASE),
        patterns={kind: compiled(table[kind]) for kind in _KINDS},
        excluded={
            "remember": compiled(table["remember_not"]),
            "forget": forget_not,
            "forget_last": forget_not,
            "forget_all": forget_not,
            "forget_subject": forget_not,
        },
        standing=compiled(table["standing_wish"]),
        any=every,
    )
