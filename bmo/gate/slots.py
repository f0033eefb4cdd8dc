"""Slots: finds the rules a clause's head matches and turns the first that holds into facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bmo.gate.canonical_text import capture_text, fill, surface, verb_forms, with_subject
from bmo.gate.clause_head import Head
from bmo.gate.discourse import Person
from bmo.gate.glossary import translate
from bmo.gate.packs import Pack, Pattern, Rule, RuleData
from bmo.gate.people import PeopleLexicon, Relation, label_of, subject_of
from bmo.gate.validation import Capture, CaptureContext, strip_tail, validate
from bmo.language import Words, find_times, third_person
from bmo.turn import Fact, Polarity, Tense

_MAX_TAILS = 3
_NO_ITEM: tuple[str, Capture | None] = ("", None)
_THESE = frozenset({"that", "this", "these", "those", "the"})


def match_head(
    head: Head,
    words: Words,
    pack: Pack,
    people: PeopleLexicon,
    at: datetime,
    weak: bool = True,
) -> list[Fact]:
    """Facts of the first rule that matches a head, and of the rules that read its tail.

    Args:
        head: The clause's head.
        words: The turn's words.
        pack: Rules of the turn's language.
        people: Names and relations of that language.
        at: When the turn was said.
        weak: Whether rules of wide constructions may speak.
    """
    facts: list[Fact] = []
    pending = [head]
    seen = 0
    while pending and seen <= _MAX_TAILS:
        current = pending.pop(0)
        seen += 1
        found, tail = _first_match(current, words, pack, people, at, weak)
        facts += found
        if tail is not None:
            pending.append(tail)
    return facts


def _candidates(pack: Pack, tokens: list[str]) -> Sequence[tuple[int, int, Rule, Pattern]]:
    """Patterns whose first words a head has, by priority; merged lists are kept per pack."""
    index = pack.index
    keys = [key for size in (1, 2, 3) if (key := tuple(tokens[:size])) in index]
    if not keys:
        return ()
    if len(keys) == 1:
        return index[keys[0]]
    longest = keys[-1]
    merged = pack.merged.get(longest)
    if merged is None:
        merged = sorted((entry for key in keys for entry in index[key]), key=_by_priority)
        pack.merged[longest] = merged
    return merged


def _by_priority(entry: tuple[int, int, Rule, Pattern]) -> tuple[int, int]:
    return entry[0], entry[1]


def _first_match(
    head: Head, words: Words, pack: Pack, people: PeopleLexicon, at: datetime, weak: bool
) -> tuple[list[Fact], Head | None]:
    context: CaptureContext | None = None
    line = head.line
    for _, _, rule, pattern in _candidates(pack, head.tokens):
        match = pattern.regex.match(line)
        if match is None or (rule.data.weak and not weak) or not _subject_fits(rule, head):
            continue
        if not _group_fits(rule, head):
            continue
        if context is None:
            context = CaptureContext(
                head.tokens, head.source, words, pack.lexicons, people, pack.language, pack.stops
            )
        captures: dict[str, tuple[Capture, str]] = {}
        for name, kind in pattern.captures:
            begin = head.line.count(" ", 0, match.start(name))
            end = head.line.count(" ", 0, match.end(name))
            capture = validate(context, kind, begin, end)
            if capture is None:
                break
            captures[name] = (capture, kind)
        else:
            if rule.data.ends and not _ends_well(context, captures):
                continue
            facts = _facts(rule, head, context, captures, at, pack.proper)
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


def _subject_fits(rule: Rule, head: Head) -> bool:
    who = head.who
    on = rule.data.on
    if isinstance(who, Person):
        if who.gender == "thing" and not who.pet:
            return "thing" in on
        return ("pet" if who.pet else "person") in on
    if who == "user" and head.subject_word in ("we", "our") and "team" in on:
        return True
    return who in on


def _group_fits(rule: Rule, head: Head) -> bool:
    """Whether the rule has a template for what the verb group says."""
    group = head.group
    data = rule.data
    if group is None:
        return True
    if group.modal not in ("", "can", "will", "going_to") and group.modal not in data.allows:
        return False
    if group.modal in ("will", "going_to") and "future" not in data.allows:
        return False
    for need in data.needs:
        if need == "negative" and group.polarity != "negative":
            return False
        if need == "positive" and group.polarity == "negative":
            return False
        if need == "progressive" and group.aspect != "progressive":
            return False
        if need == "perfect" and group.aspect != "perfect":
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
        if need == "perfect_or_visit" and not (group.aspect == "perfect" or group.lemma != "be"):
            return False
        if need == "plural" and not head.plural:
            return False
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
        if "past_events" in data.allows and group.lemma in ("have", "own", "keep", "raise"):
            return bool(data.past)
    return not (
        group.aspect == "perfect" and group.tense == "present" and "no_perfect" in data.needs
    )


def _facts(
    rule: Rule,
    head: Head,
    context: CaptureContext,
    captures: dict[str, tuple[Capture, str]],
    at: datetime,
    flat: frozenset[str],
) -> list[Fact]:
    data = rule.data
    values: dict[str, str] = {}
    for name, (capture, kind) in captures.items():
        shown = capture_text(context, capture, kind, False, flat)
        values[name] = translate(shown, context.language)
        if capture.long_end > capture.end:
            shown = capture_text(context, capture, kind, True, flat)
            values[name + "+"] = translate(shown, context.language)
    if head.group is not None:
        values.update(verb_forms(head.group.lemma))
        values["habit"] = " ".join(h for h in head.group.habits if h != "never")
    template, polarity, tense = _template(rule, head)
    if not template:
        return []
    if "PRED}" in template or "PRED}" in data.value:
        values.update(_predicate(head, context, captures, flat))
    single: list[tuple[str, Capture | None]] = [*_items(data.list, captures, context)]
    if data.scan and captures:
        single = [*_scanned(data.scan, captures, context)]
    facts: list[Fact] = []
    for name, item in single or [_NO_ITEM]:
        local = dict(values)
        if item is not None:
            shown = surface(context, item.start, item.end, flat)
            local[name] = translate(shown, context.language)
            shown = surface(context, item.start, item.long_end, flat)
            local[name + "+"] = translate(shown, context.language)
            kind = captures[name][1]
            if kind in ("NAME", "NAMES", "SURENAME", "PLACE", "LANG"):
                local[name] = local[name + "+"] = capture_text(context, item, kind, False, flat)
        local["an"] = "an" if local.get("v", "")[:1].lower() in "aeiou" else "a"
        value = fill_value(data.value, local)
        subject = head.who.subject if isinstance(head.who, Person) else _plain_subject(rule, head)
        if data.subject:
            subject = data.subject.format(
                **{k: v.lower() for k, v in local.items() if "+" not in k}
            )
        text = fill(template, local)
        if data.names and name_relation(head, local, context) is not None:
            relation, owner = name_relation(head, local, context)  # type: ignore[misc]
            facts.append(
                replace(
                    name_fact(relation, value, owner, _span(context), rule.confidence),
                    rule_id=data.id,
                    extraction_method=f"pattern:{data.id}",
                )
            )
            continue
        if data.names:
            return []
        if not data.subject:
            who: Person | str = head.who
            if subject == "team":
                who = "team"
            text = with_subject(
                text, who, head.plural and isinstance(head.who, Person), data.noun_text
            )
        over = (
            head.group is not None
            and head.group.change in ("any_more", "stopped")
            and data.category == "goals"
        )
        if over:
            deictic = context.tokens[max(c.start for c, _ in captures.values()) - 1] in _THESE
            facts.append(
                Fact(
                    text=text,
                    category=data.category,
                    slot=data.slot,
                    value="" if deictic else value,
                    subject=subject,
                    op="retract",
                    scope="slot" if deictic else "value",
                    confidence=rule.confidence,
                    rule_id=data.id,
                    extraction_method=f"pattern:{data.id}",
                    span=_span(context),
                )
            )
            continue
        facts.append(
            Fact(
                text=text,
                category="relationships"
                if isinstance(head.who, Person) and subject != "user"
                else data.category,
                slot=data.slot,
                value=value,
                subject=subject,
                cardinality=data.cardinality,
                polarity=polarity,
                tense=tense,
                kind=data.kind,
                when=_when(data, captures, context, at),
                confidence=rule.confidence,
                rule_id=data.id,
                extraction_method=f"pattern:{data.id}",
                span=_span(context),
                entities=_entities(local, captures),
                domain=data.domain,
                sensitive=data.sensitive,
            )
        )
        if data.replaced and fill_value(data.replaced, local):
            # "we switched from mysql to postgres": what was replaced is over.
            facts.append(_replaced(facts[-1], data, local))
    return facts


def _replaced(fact: Fact, data: RuleData, values: dict[str, str]) -> Fact:
    """The past fact of what a switch has replaced."""
    text = fill(data.past, values)
    return replace(
        fact,
        text=with_subject(text, "team", False, False) if fact.subject == "team" else text,
        value=fill_value(data.replaced, values),
        tense="past",
    )


def name_relation(
    head: Head, values: dict[str, str], context: CaptureContext
) -> tuple[Relation, str] | None:
    """Whose name a ``names`` rule states: the relation in k, one found in x, or the subject."""
    if "k" in values:
        found = context.people.relation_at(values["k"].lower().split(), 0, len(values["k"].split()))
        relation = found[0] if found else None
    elif "x" in values:
        relation = None
        words = values["x"].lower().split()
        for i in range(len(words)):
            found = context.people.relation_at(words, i, len(words))
            if found is not None:
                relation = found[0]
    elif isinstance(head.who, Person):
        relation = context.people.forms.get(tuple(head.who.relation.split()))
        owner = head.who.subject.partition(":")[0].rpartition(".")[0]
        return (relation, owner) if relation is not None else None
    else:
        return None
    if relation is None:
        return None
    owner = head.who.subject if isinstance(head.who, Person) else "user"
    return relation, owner


def name_fact(
    relation: Relation,
    name: str,
    owner: str,
    span: tuple[int, int] | None,
    confidence: float = 0.95,
) -> Fact:
    """Reads "Has a brother named Sam"."""
    article = "an" if relation.name[0] in "aeiou" else "a"
    text = f"Has {article} {relation.name} named {name}"
    if owner != "user":
        text = f"{label_of(owner)} has {article} {relation.name} named {name}"
    return Fact(
        text=text,
        category="relationships",
        slot="name",
        value=name,
        subject=subject_of(relation, name, owner),
        cardinality="one",
        confidence=confidence,
        rule_id="person_named",
        extraction_method="pattern:person_named",
        span=span,
        entities=(name.lower(),),
    )


def _predicate(
    head: Head,
    context: CaptureContext,
    captures: dict[str, tuple[Capture, str]],
    proper_words: frozenset[str],
) -> dict[str, str]:
    """The words between subject and value, for templates: present, negated, past."""
    first = min((c.start for c, _ in captures.values()), default=len(head.tokens))
    group = head.group
    if head.tokens[0] == "P":
        words = head.tokens[1:first]
        lemma = group.lemma if group is not None else ""
        shown = " ".join(_be_form(head, words) if w == lemma == "be" else w for w in words)
        return {"PRED": shown}
    if head.tokens[0] != "S" or group is None:
        return {"PRED": surface(context, 0, first, proper_words)}
    at = 2 if len(head.tokens) > 1 and head.tokens[1] == "can" else 1
    rest = surface(context, at + 1, first, proper_words) if first > at + 1 else ""
    lemma = head.tokens[at]
    never = "never" in group.habits
    if at == 2:
        positive, negated, used = f"can {lemma}", f"cannot {lemma}", f"could {lemma}"
    elif lemma == "be":
        positive, negated, used = "is", "is not", "used to be"
    else:
        third = third_person(lemma)
        positive = third
        negated = f"never {third}" if never else f"does not {lemma}"
        used = f"used to {lemma}"
    said = (
        context.words.norm[group.verb_at] if 0 <= group.verb_at < len(context.words.norm) else lemma
    )
    past = said if group.tense == "past" and lemma != "be" else positive
    if lemma == "be" and group.tense == "past":
        past = "was"
    if group.aspect == "perfect" and group.tense == "present":
        past = f"has {said}" if lemma != "be" else "has been"
    has = (
        "has"
        if lemma in ("have", "get", "buy", "adopt", "rescue", "inherit", "purchase")
        else positive
    )
    return {
        "PRED": f"{positive} {rest}".strip(),
        "NOTPRED": f"{negated} {rest}".strip(),
        "USEDPRED": f"{used} {rest}".strip(),
        "EDPRED": f"{past} {rest}".strip(),
        "HASPRED": f"{has} {rest}".strip(),
    }


def _be_form(head: Head, words: list[str]) -> str:
    plural = words and words[0].endswith("s") and not words[0].endswith("ss")
    past = head.group is not None and head.group.tense == "past"
    if past:
        return "were" if plural else "was"
    return "are" if plural else "is"


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
        return data.past, polarity, "past"
    if negative and group.change in ("any_more", "stopped"):
        if data.negative:
            return data.negative, _flip(polarity), "present"
        return data.past, polarity, "past"
    if negative:
        return data.negative, _flip(polarity), "present"
    return data.text, polarity, "present"


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
    parts: list[Capture] = []
    begin = capture.start
    for i in range(capture.start, capture.end + 1):
        joint = i < capture.end and tokens[i] in ("and", "or", "und", "et", "y")
        comma = i > begin and i < capture.end and context.mark(i - 1)[:1] == ","
        if i == capture.end or joint or comma:
            if i > begin:
                last = i == capture.end
                parts.append(Capture(begin, i, capture.long_end if last else i))
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


def fill_value(template: str, values: dict[str, str]) -> str:
    """The slot's value, without an article in front."""
    value = template
    for name, text in values.items():
        value = value.replace("{" + name + "}", text)
    return value.strip()


def _when(
    data: object, captures: dict[str, tuple[Capture, str]], context: CaptureContext, at: datetime
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
    return context.words.start[min(used)], context.words.end[max(used)]


def _entities(values: dict[str, str], captures: dict[str, tuple[Capture, str]]) -> tuple[str, ...]:
    return tuple(values[name].lower() for name in captures if values.get(name))


def _tail(rule: Rule, head: Head, captures: dict[str, tuple[Capture, str]]) -> Head | None:
    """What follows the captures, as a clause of its own ("at the co-op": "S work at the co-op")."""
    tails = rule.data.tail
    if not tails or not captures:
        return None
    end = max(capture.end for capture, _ in captures.values())
    while end < len(head.tokens):
        lead = tails.get(head.tokens[end])
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
            )
        end += 1
        if end - max(capture.end for capture, _ in captures.values()) > 6:
            break
    return None
