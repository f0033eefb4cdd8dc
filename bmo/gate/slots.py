"""Slots: finds the rules a clause's head matches and turns the first that holds into facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bmo.gate.captures import Capture, CaptureContext, strip_tail
from bmo.gate.clause_head import Head
from bmo.gate.discourse import Person
from bmo.gate.packs import Pack, Rule, SaidHow
from bmo.gate.people import PeopleLexicon
from bmo.gate.rule_patterns import SKIPPED_BEFORE_ENTRY, Pattern
from bmo.gate.slot_facts import RuleMatch, facts_of
from bmo.gate.validation import validate
from bmo.language import Words, past_lemma
from bmo.language.lexicon import surface_lexicon
from bmo.turn import Fact

_MAX_TAILS = 3
_KNOWN_GROUPS = 512
"""Ways to say something are fewer; a bound on memory all the same."""


def match_head(
    head: Head,
    words: Words,
    pack: Pack,
    people: PeopleLexicon,
    at: datetime,
    weak: bool = True,
    is_news: Callable[[Fact], bool] | None = None,
) -> list[Fact]:
    """Facts of the first rule that matches a head, and of the rules that read its tail.

    Args:
        head: The clause's head.
        words: The turn's words.
        pack: Rules of the turn's language.
        people: Names and relations of that language.
        at: When the turn was said.
        weak: Whether rules of wide constructions may speak.
        is_news: Whether live facts have what a ``known`` rule names; without it none has.
    """
    facts, tail = _first_match(head, words, pack, people, at, weak, is_news)
    seen = 1
    while tail is not None and seen <= _MAX_TAILS:
        seen += 1
        found, tail = _first_match(tail, words, pack, people, at, weak, is_news)
        facts += found
    return facts


def _candidates(
    pack: Pack,
    longest: tuple[str, ...],
    kinds: frozenset[str],
    weak: bool,
    said: SaidHow | None,
) -> Sequence[tuple[Rule, Pattern]]:
    """Patterns that may match, by priority: first words, subject, width and verb group agree.

    The lists are kept per pack; the longest known front of a head tells all shorter ones.
    """
    index = pack.index
    merged = pack.merged.get(said)
    if merged is None:
        if len(pack.merged) >= _KNOWN_GROUPS:
            pack.merged.clear()
        merged = pack.merged.setdefault(said, {})
    kept = merged.get((kinds, weak, longest))
    if kept is None:
        fronts = {longest[:size] for size in (1, 2, 3)}
        entries = [entry for front in fronts for entry in index.get(front, ())]
        fitting = [
            (order, place, rule, pattern)
            for order, place, rule, pattern in entries
            if not kinds.isdisjoint(rule.on) and (weak or not rule.weak) and _group_fits(rule, said)
        ]
        kept = [(rule, pattern) for _, _, rule, pattern in sorted(fitting, key=_by_priority)]
        merged[kinds, weak, longest] = kept
    return kept


def _longest_front(pack: Pack, tokens: list[str]) -> tuple[str, ...]:
    """The first words of a head, as many as a pattern begins with; () where none does."""
    for size in (3, 2, 1):
        front = tuple(tokens[:size])
        if front in pack.index:
            return front
    return ()


def _by_priority(entry: tuple[int, int, Rule, Pattern]) -> tuple[int, int]:
    return entry[0], entry[1]


def _first_match(
    head: Head,
    words: Words,
    pack: Pack,
    people: PeopleLexicon,
    at: datetime,
    weak: bool,
    is_news: Callable[[Fact], bool] | None,
) -> tuple[list[Fact], Head | None]:
    context: CaptureContext | None = None
    line, tokens = head.line, head.tokens
    front = _longest_front(pack, tokens)
    if not front:
        return [], None
    kinds, said = _subject_kinds(head), _said_how(head)
    told = set(tokens)  # of two sets the smaller one is gone through, which is the needed words
    for rule, pattern in _candidates(pack, front, kinds, weak, said):
        if pattern.needed and pattern.needed.isdisjoint(told):
            continue
        if pattern.entry_at and not _may_be_entry(pattern, tokens):
            continue
        match = pattern.regex.match(line)
        if match is None:
            continue
        if context is None:
            context = CaptureContext(
                head.tokens, head.source, words, pack.lexicons, people, pack.language, pack.stops
            )
        captures: dict[str, tuple[Capture, str]] = {}
        for name, kind in pattern.captures:
            first, last = match.span(name)
            begin = line.count(" ", 0, first)
            end = begin + line.count(" ", first, last)
            capture = validate(context, kind, begin, end)
            if capture is None:
                break
            captures[name] = (capture, kind)
        else:
            if rule.data.ends and not _ends_well(context, captures):
                continue
            facts = facts_of(RuleMatch(rule, head, context, captures, at, pack.proper))
            if rule.data.known and is_news is not None and facts:
                facts = [fact for fact in facts if is_news(fact)]
            elif rule.data.known:
                facts = []
            if facts:
                return facts, _tail(rule, head, captures)
    return [], None


def _ends_well(context: CaptureContext, captures: dict[str, tuple[Capture, str]]) -> bool:
    """Whether nothing follows the value that would make it part of a longer name or noun."""
    end = max((capture.end for capture, _ in captures.values()), default=0)
    if end >= len(context.tokens) or (end and context.mark(end - 1)):
        return True
    return (context.tokens[end],) in context.lexicons.get("ends_ok", frozenset()) or (
        strip_tail(context, end, len(context.tokens)) == end
    )


def _may_be_entry(pattern: Pattern, tokens: list[str]) -> bool:
    """Whether an entry of the captured lexicon may begin where the capture does."""
    words, size = pattern.entry_words, len(tokens)
    for at in pattern.entry_at:
        if at >= size:
            return False
        token = tokens[at]
        if token in words and _opens_entry(words, tokens, at):
            return True
        if token in SKIPPED_BEFORE_ENTRY and at + 1 < size:
            if _opens_entry(words, tokens, at + 1):
                return True
    return False


def _opens_entry(words: Mapping[str, frozenset[str]], tokens: list[str], at: int) -> bool:
    """Whether an entry with these first words may begin at ``at``."""
    follow = words.get(tokens[at])
    if not follow:
        return follow is not None
    return at + 1 < len(tokens) and tokens[at + 1] in follow


_WE = frozenset({"user", "team"})
_KINDS = {kind: frozenset({kind}) for kind in ("user", "team", "thing", "pet", "person")}


def _subject_kinds(head: Head) -> frozenset[str]:
    """What a rule may be ``on`` to speak of this head's subject."""
    who = head.who
    if isinstance(who, Person):
        if who.gender == "thing" and not who.pet:
            return _KINDS["thing"]
        return _KINDS["pet" if who.pet else "person"]
    if who == "user" and head.subject_word in ("we", "our"):
        return _WE
    return _KINDS[who]


_HARDLY = frozenset({"barely", "hardly"})
_KEEPING = frozenset({"have", "own", "keep", "raise"})


def _said_how(head: Head) -> SaidHow | None:
    """All that decides whether a rule has a template for a head's verb group."""
    group = head.group
    if group is None:
        return None
    return _made(
        SaidHow,
        (
            group.polarity,
            group.tense,
            group.aspect,
            group.modal,
            group.change,
            group.lemma == "be",
            group.lemma in _KEEPING,
            bool(group.habits),
            bool(group.habits) and not _HARDLY.isdisjoint(group.habits),
            head.plural,
        ),
    )


_made = tuple.__new__
"""Makes a named tuple of all its fields in a third of the time."""


def _group_fits(rule: Rule, group: SaidHow | None) -> bool:
    """Whether the rule has a template for what the verb group says."""
    data = rule.data
    if group is None:
        return True
    if group.hardly and "habit}" not in data.text:
        return False  # "i can barely eat" does not say that one can eat
    if group.modal not in ("", "can", "will", "going_to") and group.modal not in data.allows:
        return False
    if group.modal in ("will", "going_to") and "future" not in data.allows:
        return False
    for need in data.needs:
        if need == "negative" and group.polarity != "negative":
            return False
        if need == "positive" and group.polarity == "negative":
            return False
        if need == "any_more" and group.change != "any_more":
            return False
        if need == "started" and group.change != "started":
            return False
        if need == "progressive" and group.aspect != "progressive":
            return False
        if need == "perfect" and group.aspect != "perfect":
            return False
        if need == "done" and group.tense != "past" and group.aspect != "perfect":
            return False
        if need == "past" and group.tense != "past":
            return False
        if need == "habit" and not group.habits:
            return False
        if need == "future" and group.tense != "future":
            return False
        if need == "habit_or_modal" and not (
            group.habits or group.modal in ("should", "must", "shall")
        ):
            return False
        if need == "perfect_or_visit" and not (group.aspect == "perfect" or not group.is_be):
            return False
        if need == "plural" and not group.plural:
            return False
    if data.about:
        return _said_fits(rule, group)
    if group.polarity == "negative" and "negative" not in data.needs:
        if group.change in ("any_more", "stopped"):
            return bool(data.past or data.negative)
        if not data.negative:
            return False
    if group.tense == "past" and group.change == "used_to" and not data.past:
        return False
    if group.tense == "past" and group.change != "used_to":
        simple = ("past" in data.needs) or not {"past", "past_ended", "past_events"}.isdisjoint(
            data.allows
        )
        if not simple:
            return False
        if "past_events" in data.allows and group.is_keeping:
            return bool(data.past)
    return not (
        group.aspect == "perfect" and group.tense == "present" and "no_perfect" in data.needs
    )


def _said_fits(rule: Rule, group: SaidHow) -> bool:
    """Whether a rule that keeps the user's own words holds beside negation and past."""
    data = rule.data
    allowed = {*data.allows, *data.needs}
    if "any_more" in data.needs and group.change not in ("any_more", "stopped"):
        return False
    return not (
        (group.polarity == "negative" and "negative" not in allowed)
        or (group.tense == "past" and "past" not in allowed)
    )


def _tail(rule: Rule, head: Head, captures: dict[str, tuple[Capture, str]]) -> Head | None:
    """What follows the captures, as a clause of its own ("at the co-op": "S work at the co-op")."""
    tails = rule.data.tail
    if not tails or not captures:
        return None
    end = max(capture.end for capture, _ in captures.values())
    first = end
    while end < len(head.tokens):
        lead = tails.get(head.tokens[end])
        if lead is not None and _is_governed(head.tokens, first, end):
            lead = None
        if lead is not None:
            front = lead.split()
            tokens = [*front, *head.tokens[end:]]
            source = [*([-1] * len(front)), *head.source[end:]]
            group = replace(head.group, aspect="simple") if head.group is not None else None
            return Head(
                " ".join(tokens) + " ",
                tokens,
                source,
                head.who,
                group,
                head.plural,
                head.subject_word,
                said=head.said,
            )
        end += 1
        if end - max(capture.end for capture, _ in captures.values()) > 6:
            break
    return None


def _is_governed(tokens: Sequence[str], first: int, at: int) -> bool:
    """Whether the noun phrase at ``at`` belongs to a verb or a preposition behind the capture.

    "I am ngozi, just moved here for a job" does not say that she is a job.
    """
    if at == first or tokens[at] not in ("a", "an"):
        return False
    before = tokens[at - 1]
    if before.endswith("ing") or past_lemma(before):
        return True
    return surface_lexicon("en").classes.get(before, "") in ("preposition", "be")
