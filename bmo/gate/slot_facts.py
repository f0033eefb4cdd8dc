"""Facts of a rule that matched: values, templates, lists, and what a change has ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bmo.frozen import maker
from bmo.gate.canonical_text import capture_text, fill, surface, with_subject
from bmo.gate.capture_names import end_of_first, end_of_last
from bmo.gate.captures import Capture, CaptureContext, lex, trim_rest
from bmo.gate.clause_head import Head
from bmo.gate.discourse import Person
from bmo.gate.glossary import translate
from bmo.gate.month_names import with_months
from bmo.gate.named_people import name_fact, name_relation
from bmo.gate.open_other_languages import quoted
from bmo.gate.other_retraction import topic_words
from bmo.gate.packs import Rule, RuleData
from bmo.gate.predicates import be_form, predicate
from bmo.language import find_times, third_person
from bmo.language.verb_group import VerbGroup
from bmo.turn import Fact, Polarity, Tense

_new_fact = maker(Fact)
_OWN = {"male": "his", "female": "her"}
"""Before what is somebody else's own: "their" would be the user's."""
_ALL_OF_IT: tuple[tuple[str, Capture | None], ...] = (("", None),)
_THESE = frozenset({"that", "this", "these", "those", "the"})


@dataclass(slots=True)
class RuleMatch:
    """A rule that matched a head, with everything its facts are made of.

    Attributes:
        rule: Whose patterns matched.
        head: The clause's head.
        context: What validators looked at.
        captures: Name -> (value, type).
        at: When the turn was said.
        flat: Words that are always written with a capital.
    """

    rule: Rule
    head: Head
    context: CaptureContext
    captures: dict[str, tuple[Capture, str]]
    at: datetime
    flat: frozenset[str]


def facts_of(match: RuleMatch) -> list[Fact]:
    """The facts of a rule whose captures hold; none when it has no template for what is said."""
    rule, head = match.rule, match.head
    data = rule.data
    template, polarity, tense = _template(rule, head)
    if not template:
        return []
    values = _values(match, template)
    facts: list[Fact] = []
    for name, item in _single(match) or _ALL_OF_IT:
        local = values if item is None else _with_item(match, values, name, item)
        local["an"] = "an" if local.get("v", "")[:1].lower() in "aeiou" else "a"
        if data.names:
            named = _naming(match, local)
            if named is None:
                return []
            facts.append(named)
            continue
        fact = _fact(match, local, template, polarity, tense)
        if data.about and data.retracts:
            facts += _ended(match, fact)  # first, so that it does not end what is told with it
        if data.replaced and fact.op == "assert" and _fill_value(data.replaced, local):
            # "we switched from mysql to postgres": what was replaced is over. First, as above.
            facts.append(_replaced(fact, data, local))
        facts.append(fact)
    return facts


def _values(match: RuleMatch, template: str) -> dict[str, str]:
    """What the template's names stand for."""
    context, flat, head = match.context, match.flat, match.head
    values: dict[str, str] = {}
    for name, (capture, kind) in match.captures.items():
        shown = capture_text(context, capture, kind, False, flat)
        values[name] = shown
        if context.language != "en" and (known := translate(shown, context.language)) != shown:
            values[name], values[name + "*"] = known, shown
        if kind == "AGE":
            said = surface(context, capture.start, capture.end, flat)
            values[name + "+"] = shown if said == shown else f"{shown} ({said})"
        elif capture.long_end > capture.end:
            shown = capture_text(context, capture, kind, True, flat)
            values[name + "+"] = translate(shown, context.language)
    if head.group is not None:
        values["V"], values["V3"] = head.group.lemma, third_person(head.group.lemma)
        habits = head.group.habits
        values["habit"] = " ".join([h for h in habits if h != "never"]) if habits else ""
    if "{their}" in template:
        values["their"] = _OWN.get(head.who.gender if isinstance(head.who, Person) else "", "their")
    if "{BE}" in template and "k" in values:
        values["BE"] = be_form(head, values["k"].split())
    if "PRED}" in template or "PRED}" in match.rule.data.value:
        values.update(predicate(head, context, match.captures, flat))
    return values


def _single(match: RuleMatch) -> list[tuple[str, Capture | None]]:
    """The parts of the value that are facts of their own, or nothing."""
    data = match.rule.data
    if data.scan and match.captures:
        return [*_scanned(data.scan, match.captures, match.context)]
    return [*_items(data.list, match.captures, match.context)] if data.list else []


def _with_item(
    match: RuleMatch, values: dict[str, str], name: str, item: Capture
) -> dict[str, str]:
    """The values with one part of a list in the place of the whole."""
    context, flat = match.context, match.flat
    local = dict(values)
    spoken = surface(context, item.start, item.end, flat)
    local[name] = translate(spoken, context.language)
    local.pop(name + "*", None)
    if local[name] != spoken:
        local[name + "*"] = spoken
    shown = surface(context, item.start, item.long_end, flat)
    local[name + "+"] = translate(shown, context.language)
    kind = match.captures[name][1]
    if kind in ("NAME", "NAMES", "SURENAME", "SURENAMES", "PLACE", "LANG"):
        local[name] = local[name + "+"] = capture_text(context, item, kind, False, flat)
    return local


def _naming(match: RuleMatch, values: dict[str, str]) -> Fact | None:
    """Reads "Has a brother named Sam"; None when nothing says whose name it is."""
    whose = name_relation(match.head, values, match.context)
    if whose is None:
        return None
    relation, owner = whose
    rule = match.rule
    value = _fill_value(rule.data.value, values)
    who = match.head.who
    if isinstance(who, Person) and ":" in who.subject and match.head.tokens[1:3] == ["go", "by"]:
        return _second_name(who, value, rule.data.id, match)
    found = name_fact(relation, value, owner, _span(match.context), rule.confidence)
    return replace(found, rule_id=rule.data.id, extraction_method=f"pattern:{rule.data.id}")


def _second_name(who: Person, name: str, rule_id: str, match: RuleMatch) -> Fact | None:
    """Reads "Son Alexander goes by Sasha": another name of somebody, and nobody else."""
    if who.subject.endswith(f":{name.lower()}"):
        return None
    return Fact(
        text=f"{who.label} goes by {name}",
        category="relationships",
        value=name,
        subject=who.subject,
        confidence=match.rule.confidence,
        rule_id=rule_id,
        extraction_method=f"pattern:{rule_id}",
        span=_span(match.context),
        entities=(name.lower(),),
    )


def _fact(
    match: RuleMatch, values: dict[str, str], template: str, polarity: Polarity, tense: Tense
) -> Fact:
    """One fact of the rule; a goal that is given up is a retraction."""
    rule, head, context, captures = match.rule, match.head, match.context, match.captures
    data, group, who = rule.data, head.group, head.who
    value = _fill_value(data.value, values)
    subject = who.subject if isinstance(who, Person) else _plain_subject(rule, head)
    if data.about:
        text = _as_said(match)
        value = value if "v" in values or data.value != "{v}" else text
    else:
        text = fill(template, _with_spoken(values) if context.language != "en" else values)
        if data.rest:
            text = f"{text} {_rest_of_clause(match)}".strip()
    if data.subject:
        subject = data.subject.format(**{k: v.lower() for k, v in values.items() if k.isalnum()})
    elif not data.about:
        plural = head.plural and isinstance(who, Person)
        text = with_subject(text, "team" if subject == "team" else who, plural, data.noun_text)
    scope = None if data.about else data.retracts
    given_up = group is not None and group.change in ("any_more", "stopped")
    if given_up and data.category == "goals" and not data.about:
        deictic = context.tokens[max(c.start for c, _ in captures.values()) - 1] in _THESE
        scope = "slot" if deictic else "value"
    if context.language == "en":
        text, value = with_months(text), with_months(value)
    if scope is not None:
        return Fact(
            text=text,
            category=data.category,
            slot=data.slot,
            value="" if scope == "slot" else value,
            subject=subject,
            op="retract",
            scope=scope,
            confidence=rule.confidence,
            rule_id=data.id,
            extraction_method=f"pattern:{data.id}",
            span=_span(context),
        )
    about_other = isinstance(who, Person) and subject != "user"
    return _new_fact(
        text=text,
        category="relationships" if about_other else data.category,
        slot=data.slot,
        value=value,
        subject=subject,
        cardinality=data.cardinality,
        polarity=polarity,
        tense=tense,
        kind=data.kind,
        when=_when(captures, context, match.at),
        confidence=rule.confidence,
        rule_id=data.id,
        extraction_method=f"pattern:{data.id}",
        span=_span(context),
        entities=_entities(values, captures),
        domain=data.domain,
        sensitive=data.sensitive,
    )


def _rest_of_clause(match: RuleMatch) -> str:
    """What follows the value and makes it true: "a bakery | in york", "nights | at work"."""
    context, tokens = match.context, match.context.tokens
    start = max((capture.long_end for capture, _ in match.captures.values()), default=0)
    while start < len(tokens) and tokens[start] in _NO_WORDS:
        start += 1
    end = trim_rest(context, start)
    if not start < end <= start + _REST_WORDS or tokens[start] not in _REST_OPENS:
        return ""
    if context.mark(start - 1) or any(
        lex(context, "transient", word) for word in tokens[start:end]
    ):
        return ""
    return surface(context, start, end, match.flat).replace("they was", "they were")


_REST_OPENS = frozenset(
    "at by daily every for from in near next nightly on once opposite outside since three times "
    "twice weekly when with without".split()
)
_REST_WORDS = 9
_NO_WORDS = frozenset({"too", "also", "now", "currently"})


def _with_spoken(values: dict[str, str]) -> dict[str, str]:
    """Values with the spoken words behind what was translated ("hazelnuts (haselnüsse)")."""
    shown = dict(values)
    for name, spoken in values.items():
        if name.endswith("*") and name[:-1] in _WITH_SPOKEN:
            english = values[name[:-1]]
            spoken = _without_article(spoken, english)
            if not _alike(english.lower(), spoken.lower()):
                shown[name[:-1]] = f"{english} ({spoken})"
                longer = shown.get(name[:-1] + "+")
                if longer is not None:
                    shown[name[:-1] + "+"] = f"{longer} ({spoken})"
    return shown


def _without_article(spoken: str, english: str) -> str:
    """A value as it was said, without the article that its translation lost too."""
    first, _, rest = spoken.partition(" ")
    return rest if rest and first.lower() in _ARTICLES and first not in english else spoken


_ARTICLES = frozenset(
    "der die das den dem ein eine einen le la les un une des du de el los las una unos unas".split()
)
_WITH_SPOKEN = frozenset({"v", "o", "w", "x"})
_ALIKE = 4
"""Words that begin with so many letters alike are understood in either language."""


def _alike(english: str, spoken: str) -> bool:
    """Whether two words are one in both languages ("vegan", "veganerin")."""
    return english.startswith(spoken) or (len(english) >= _ALIKE and spoken.startswith(english))


def _as_said(match: RuleMatch) -> str:
    """The clause in the user's own words, with whom and what it is about in English."""
    head, data = match.head, match.rule.data
    about = data.about
    if isinstance(head.who, Person):
        label = head.who.label[:1].lower() + head.who.label[1:]
        about = label if about == "people" else f"{label} ({about})"
    first, last = head.said
    return quoted(match.context.words, first, last, match.context.language, about)


_CHANGE = "change"
"""Slot of what is told as over; ``[gone_with]`` of the ledger says where it may end something."""


def _ended(match: RuleMatch, fact: Fact) -> list[Fact]:
    """The retraction beside "das mit der gitarre hab ich aufgegeben": what it names is over."""
    captured = match.captures.get("v") or next(iter(match.captures.values()), None)
    if captured is None:
        return []
    tokens = match.context.tokens[captured[0].start : captured[0].end]
    verb = match.head.group.lemma if match.head.group is not None else ""
    topic = topic_words([word for word in tokens if word != verb], match.context.language)
    people = match.context.people
    somebody = any(
        word in people.names or people.relation_at(topic, place, len(topic)) is not None
        for place, word in enumerate(topic)
    )
    if not topic or somebody:
        return []
    return [replace(fact, op="retract", scope="value", value=" ".join(topic), slot=_CHANGE)]


def _replaced(fact: Fact, data: RuleData, values: dict[str, str]) -> Fact:
    """What a switch has replaced is over; the fact of the switch itself tells what it was."""
    text = fill(data.past, values)
    return replace(
        fact,
        text=with_subject(text, "team", False, False) if fact.subject == "team" else text,
        value=_fill_value(data.replaced, values),
        op="retract",
        scope="value",
        tense="past",
    )


def _plain_subject(rule: Rule, head: Head) -> str:
    on = rule.data.on
    if head.who == "team":
        return "team"
    if head.who == "user" and "user" not in on and "team" in on:
        return "team"
    return "user" if head.who in ("user", "thing") else str(head.who)


def _template(rule: Rule, head: Head) -> tuple[str, Polarity, Tense]:
    data = rule.data
    group = head.group
    polarity: Polarity = data.polarity or "positive"
    if data.about:
        negated = group is not None and group.polarity == "negative"
        flipped = negated and "negative" not in data.needs
        past = group is not None and group.change == "used_to"
        return "{said}", _flip(polarity) if flipped else polarity, "past" if past else "present"
    if group is None:
        return data.text, polarity, "present"
    negative = group.polarity == "negative" and "negative" not in data.needs
    ended = group.change == "used_to" or (
        group.tense == "past"
        and "past" not in data.needs
        and "past" not in data.allows
        and not (
            "past_events" in data.allows and group.lemma not in ("have", "own", "keep", "raise")
        )
    )
    if ended:
        if negative:
            return "", polarity, "past"
        return _ended_text(data.past, group), polarity, "past"
    if negative and group.change in ("any_more", "stopped"):
        if data.negative:
            return data.negative, _flip(polarity), "present"
        return data.past, polarity, "past"
    if negative:
        return data.negative, _flip(polarity), "present"
    return data.text, polarity, "present"


def _ended_text(past: str, group: VerbGroup) -> str:
    """The template of what is over: "i have been a nurse" does not say that it is so no more."""
    if group.lemma == "be" and group.aspect == "perfect" and not group.had:
        return past.replace("Used to be", "Has been")
    return past


def _flip(polarity: Polarity) -> Polarity:
    return "negative" if polarity == "positive" else "positive"


def _items(
    listed: bool, captures: dict[str, tuple[Capture, str]], context: CaptureContext
) -> list[tuple[str, Capture]]:
    """The parts of a listed value ("polish, english and russian"), each as its own capture."""
    if not listed or not captures:
        return []
    name = "v" if "v" in captures else next(iter(captures))
    capture, kind = captures[name]
    tokens = context.tokens
    joined = not _JOINTS.isdisjoint(tokens[capture.start : capture.end])
    if not joined and "," not in context.words.text and kind not in _LISTS:
        return []  # most values
    parts: list[Capture] = []
    begin = capture.start
    for i in range(capture.start, capture.end + 1):
        joint = i < capture.end and tokens[i] in _JOINTS
        comma = i > begin and i < capture.end and context.mark(i - 1)[:1] == ","
        parted = kind in _LISTS and begin < i < capture.end  # an "and" that was taken off
        parted = parted and context.source[i] > context.source[i - 1] + 1
        if i == capture.end or joint or comma or parted:
            if i > begin:
                last = i == capture.end
                first = end_of_first(context, begin, i) if kind in _LISTS and not comma else i
                if first < i:
                    parts.append(Capture(begin, first, first))
                    begin = first
                end = end_of_last(context, begin, i) if last and parts and kind in _LISTS else i
                parts.append(Capture(begin, end, capture.long_end if last and end == i else end))
            begin = i + 1 if joint else i
    if context.longest("pairs", capture.start, capture.end):
        return []
    if len(parts) < 2 or any(p.end - p.start > 4 for p in parts):
        return []
    if kind in ("PREFNP", "NP") and (
        tokens[parts[0].start].endswith("ing")
        or tokens[parts[0].start] == "to"
        or parts[-1].long_end > parts[-1].end
    ):
        return []
    return [(name, p) for p in parts]


_LISTS = ("NAMES", "SURENAMES")
_JOINTS = frozenset({"and", "or", "und", "et", "y"})


def _scanned(
    lexicon: str, captures: dict[str, tuple[Capture, str]], context: CaptureContext
) -> list[tuple[str, Capture]]:
    """Every entry of a lexicon from the captured value to the end of the clause."""
    name = "v" if "v" in captures else next(iter(captures))
    found: list[tuple[str, Capture]] = []
    i = captures[name][0].start
    while i < len(context.tokens):
        size = context.longest(lexicon, i, len(context.tokens))
        if size:
            found.append((name, Capture(i, i + size, i + size)))
        i += size or 1
    return found


def _fill_value(template: str, values: dict[str, str]) -> str:
    """The slot's value, without an article in front."""
    if template == "{v}" and "v" in values:
        return values["v"].strip()
    value = template
    if "{" not in template:
        return value.strip()
    for name, text in values.items():
        value = value.replace("{" + name + "}", text)
    return value.strip()


def _when(
    captures: dict[str, tuple[Capture, str]], context: CaptureContext, at: datetime
) -> str | None:
    for capture, kind in captures.values():
        if kind == "DATE":
            for found in find_times(context.tokens[capture.start : capture.end], at):
                if found.iso:
                    return found.iso
    return None


def _span(context: CaptureContext) -> tuple[int, int] | None:
    used = [s for s in context.source if s >= 0]
    if not used:
        return None
    start, end = context.words.start, context.words.end
    # A clause that was written out has its words in another order than the turn.
    return min(map(start.__getitem__, used)), max(map(end.__getitem__, used))


def _entities(values: dict[str, str], captures: dict[str, tuple[Capture, str]]) -> tuple[str, ...]:
    return tuple([values[name].lower() for name in captures if values.get(name)])
