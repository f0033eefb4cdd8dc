"""What a user orders memory to do: remember this, forget that, never bring it up, or do again.

Orders are said in so many words and are read by rules (``tables/orders.toml``). Off and on the
record concern the visit and are read there (``bmo/memory/wishes.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, get_args

import re2

from bmo.gate.mentions import concerns, content, mentions, names_of, person_in
from bmo.gate.small_talk import small_talk
from bmo.gate.tables import read_table
from bmo.language import words
from bmo.quotation import answered
from bmo.turn import WITHHOLD_RULE, DialogueContext, RetractScope, StoredFact

_Whole = Literal[
    "show",
    "remember",
    "forget_told",
    "forget_all",
    "forget_subject",
    "withhold",
    "lift",
    "forget",
]
"""Orders that a turn is as a whole, in the order in which they are tried."""

OrderKind = Literal[_Whole, "forget_last", "unkept"]

WIDE: tuple[OrderKind, ...] = ("forget", "forget_told", "forget_all", "forget_subject")
"""Requests to forget that may mean any memory, and may have to be asked back."""

MAX_AT_ONCE = 1
"""A request to forget that concerns what was told in more turns is asked back first: a word that is
said of several things ("my back", "back in Leeds") erases none of them unasked."""

_LATEST = 32
"""Turns whose orders that refer back are kept: each is asked about by every reader of orders."""

NAMED_COSINE = 0.55
"""From this similarity the nearest memory may be what a request to forget means, if no word says
it: it is asked back."""

_OWN = r"(?:my|me|our|mein\w*|unser\w*|mon|ma|mes|notre|nos|mi|mis|nuestr\w*)"

_PRONOUN = re.compile(
    "him|her|them|it|that|this|ihn|ihm|sie|ihr|ihnen|es|das|lui|elles?|eux|leur|ça|cela|él|ellas?"
    "|ellos|eso|ello",
    re.IGNORECASE,
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


class TakenBack(NamedTuple):
    """A turn with an order that takes back what was said before it.

    Attributes:
        before: What the turn said before the order; "" where the turn before it is meant.
        after: What it says behind the order, which stands ("i live in oslo, scratch that, bergen").
    """

    before: str
    after: str


@lru_cache(maxsize=_LATEST)
def taken_back(text: str) -> TakenBack | None:
    """What a turn takes back by an order in it, or None for most turns.

    Args:
        text: The user's words, cleaned.
    """
    rules = _rules()
    plain = text.replace("’", "'").encode("utf-8", "replace").decode()
    found = rules.back.search(plain)
    if found is None:
        return None
    before, after = plain[: found.start()].strip(" ,"), plain[found.end() :].strip()
    before = "" if small_talk(before) else before
    if found["corrects"]:
        after = rules.instead.sub("", after)
    elif after and not before and rules.reason.match(f", {after}"):
        after = ""  # "forget that, it's better now"
    elif (after and not before) or (found["unkept"] and (after or not before)):
        return None
    more = taken_back(after) if after else None
    if more is not None:
        before, after = f"{before} {more.before}".strip(), more.after
    return TakenBack(before, after)


def put_right(text: str, context: DialogueContext) -> str:
    """The words of the turn before with the value that a turn puts right, "" for most turns.

    Only a value that a plain slot read there is put right: "i'm allergic to hazelnuts" becomes
    "i'm allergic to almonds" by "almonds, not hazelnuts".

    Args:
        text: The user's words, cleaned.
        context: Has the turn before and what it stored.
    """
    rules = _rules()
    found = rules.swaps.fullmatch(rules.lead.sub("", text))
    if found is None or not context.recent_turns:
        return ""
    right, wrong = found["right"], found["wrong"].casefold()
    before, _ = context.recent_turns[0]
    slotted = any(fact.slot and fact.value.casefold() == wrong for fact in context.last_facts)
    place = before.casefold().find(wrong)
    if not slotted or place < 0 or content(right) != frozenset(words(right)):
        return ""
    return f"{before[:place]}{right}{before[place + len(wrong) :]}"


def read_order(text: str) -> Order | None:
    """The order a turn is, or None for most turns.

    Args:
        text: The user's words, cleaned.
    """
    back = taken_back(text)
    if back is not None and not back.after:
        return Order("unkept" if back.before else "forget_last")
    rules = _rules()
    readable = text.encode("utf-8", "replace").decode("utf-8")  # RE2 takes no lone surrogates
    plain = readable.replace("’", "'").rstrip(" .!?,;")
    asks = "?" if text.rstrip().endswith("?") else ""
    said = rules.opening.sub("", plain, count=1)
    reason = rules.reason.search(said)
    order = said[: reason.start()] if reason else said
    wish = next(filter(None, map(_withheld, dict.fromkeys((said, order)))), None)
    if wish is None and not any(map(_may_be_order, {said, order})):
        return None
    for kind in get_args(_Whole):
        if any(pattern.fullmatch(said) for pattern in rules.excluded.get(kind, ())):
            continue
        if kind in WIDE and order != said and not rules.named.fullmatch(order):
            continue
        if kind == "withhold":
            if wish is not None:
                return wish
            continue
        told = order if kind in WIDE else f"{said}{asks}" if kind == "show" else said
        for pattern in rules.patterns[kind]:
            found = pattern.fullmatch(told)
            if found:
                what = found.groupdict().get("what") or ""
                what = rules.closing.sub("", what) if kind in WIDE else what
                return Order(kind, what.strip(" .,!?;:"))
    return None


def _may_be_order(text: str) -> bool:
    return bool(_rules().any.Match(text.lower().encode()))


def _withheld(text: str) -> Order | None:
    """A wish never to bring something up, as the whole turn or at its end.

    At the end it asks politely, or says a pronoun for the person named before it ("dave and i split
    up so please never bring him up"): "our rule at table is, never talk about work" is none.
    """
    rules = _rules()
    begins = [0, *(border.end() for border in rules.wish.finditer(text))]
    for begin in begins:
        said = rules.opening.sub("", text[begin:], count=1)
        if not _may_be_order(said):
            continue
        for pattern in rules.patterns["withhold"]:
            found = pattern.fullmatch(said)
            if found is None:
                continue
            what = found["what"]
            if begin and _PRONOUN.fullmatch(what):
                what = person_in(text[:begin])
            elif begin and said == text[begin:]:
                continue
            if content(what):
                return Order("withhold", what.strip(" .,!?;:"))
    return None


def is_standing_wish(text: str) -> bool:
    """Whether words are a wish about form and conduct ("always answer in celsius")."""
    rules = _rules()
    plain = text.replace("’", "'")
    said = rules.opening.sub("", plain, count=1)
    return any(pattern.fullmatch(said) for pattern in rules.standing)


def meant(order: Order, context: DialogueContext) -> tuple[RetractScope, tuple[str, ...]]:
    """Which memories a request to forget means, or which wish an order to lift it.

    Args:
        order: The request.
        context: Has the memories that may be meant, nearest first.

    Returns:
        How much is meant, and the ids of the memories; of days (``days_of``) the ledger has them.
    """
    candidates, wanted = context.candidates, content(order.what)
    if order.kind == "forget_all":
        return "all", tuple(memory.id for memory in candidates)
    if order.kind == "forget_last":
        return "memory", tuple(fact.id for fact in context.last_facts if fact.op == "assert")
    if order.kind == "forget_told":
        return "period", ()
    live = [memory for memory in candidates if memory.valid_until is None]
    if order.kind == "lift":
        wishes = [memory for memory in live if memory.rule_id == WITHHOLD_RULE]
        return "memory", tuple(m.id for m in wishes if wanted and mentions(wanted, m.value))
    ids = tuple(memory.id for memory in _named(order.what, wanted, live))
    if order.kind == "forget_subject":
        return "subject", ids
    if not ids and wanted:
        ranked = sorted(context.near.items(), key=lambda item: -item[1])
        # "I play the violin" is as near to "i play the piano" as a paraphrase: it is asked.
        near = tuple(memory_id for memory_id, score in ranked[:1] if score >= NAMED_COSINE)
        return ("subject" if near else "memory"), near
    turns = {memory.turn_id or memory.id for memory in live if memory.id in ids}
    return ("memory" if len(turns) <= MAX_AT_ONCE else "subject"), ids


def _named(what: str, wanted: frozenset[str], live: Sequence[StoredFact]) -> Sequence[StoredFact]:
    """The memories that somebody's or something's words name: by slot, by word, or by name."""
    slots = next((slots for called, slots in _rules().called if called.fullmatch(what)), ())
    told = [(memory, f"{memory.text} {memory.said} {memory.value}") for memory in live]
    own = [memory for memory in live if memory.subject == "user" and memory.slot]
    slotted = [m for m in own if slots and str(m.slot).startswith(slots)]
    # The words of the same turn tell it too.
    of_slot = {m.id for m in slotted} | {
        m.id
        for m, text in told
        for known in slotted
        if m.turn_id and m.turn_id == known.turn_id and {*words(known.value)} <= {*words(text)}
    }
    names = names_of(wanted, live)
    found = of_slot | {m.id for m, text in told if concerns(wanted, names, text)}
    if not found:
        found = {m.id for m, text in told if concerns(wanted, names, f"{answered(m)} {text}")}
    return [memory for memory in live if memory.id in found]


def days_of(order: Order, now: datetime) -> tuple[datetime, datetime] | None:
    """The beginning and the end of the days that an order means ("yesterday"), or None."""
    if order.kind != "forget_told":
        return None
    named = (days for pattern, days in _rules().periods if pattern.fullmatch(order.what))
    days, back = next(named)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    start = today - timedelta(days=days * back + (today.weekday() if days > 1 else 0))
    return start, start + timedelta(days=days)


def may_ask_to_forget(text: str) -> bool:
    """Whether a turn is a request to forget so much that it may have to be asked back."""
    order = read_order(text)
    return order is not None and order.kind in WIDE


@dataclass(frozen=True, slots=True)
class _Rules:
    opening: re.Pattern[str]
    reason: Any
    wish: Any
    named: Any
    closing: re.Pattern[str]
    patterns: dict[OrderKind, tuple[Any, ...]]
    excluded: dict[OrderKind, tuple[Any, ...]]
    standing: tuple[Any, ...]
    any: Any
    back: Any
    instead: Any
    lead: Any
    swaps: Any
    periods: tuple[tuple[Any, tuple[int, int]], ...]
    called: tuple[tuple[Any, tuple[str, ...]], ...]


@cache
def _rules() -> _Rules:
    table = read_table("orders.toml")
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    every = re2.Set.FullMatchSet(options)
    period = f"(?:{'|'.join(table['period'])})"

    def compiled(patterns: Sequence[str]) -> tuple[Any, ...]:
        return tuple(re2.compile(p.replace("{period}", period), options) for p in patterns)

    for kind in get_args(_Whole):
        for pattern in table[kind]:
            every.Add(pattern.replace("{period}", period))
    every.Compile()
    forget_not, behind = compiled(table["forget_not"]), table["behind"]
    opening = rf"(?:{table['opening']})*"
    return _Rules(
        opening=re.compile(f"^{opening}", re.IGNORECASE),
        reason=re2.compile(table["reason"], options),
        wish=re2.compile(r"[.!?;:,…–-]+\s+|\s(?:so|also|und|et|donc|alors|y|así que)\s+", options),
        named=re2.compile(table["named"], options),
        closing=re.compile(table["closing"], re.IGNORECASE),
        patterns={kind: compiled(table[kind]) for kind in get_args(_Whole)},
        excluded={
            "remember": compiled(table["remember_not"]),
            **dict.fromkeys(WIDE, forget_not),
        },
        standing=compiled(table["standing_wish"]),
        any=every,
        back=re2.compile(
            rf"(?:^|[.!?;:,…–-]+\s+|\s(?:{behind['joints']})[, ]+){opening}"
            rf"(?:(?P<corrects>{behind['corrects']})|(?:{'|'.join(table['forget_last'])})"
            rf"|(?P<unkept>{'|'.join(table['unkept'])})){behind['tail']}(?:[.!?;:,…–-]+(?:\s|$)|$)",
            options,
        ),
        instead=re2.compile(f"^{behind['instead']}", options),
        lead=re2.compile(rf"^(?:(?:{behind['joints']})[, ]+)*{behind['instead']}", options),
        swaps=re2.compile(behind["swaps"], options),
        periods=tuple((re2.compile(p, options), tuple(d)) for p, d in table["period"].items()),
        called=tuple(
            (re2.compile(rf"(?:{_OWN} )?(?:{called})", options), tuple(slots))
            for called, slots in table["called"].items()
        ),
    )
