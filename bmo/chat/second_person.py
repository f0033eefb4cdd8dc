"""A canonical memory as a sentence for the person it is about. Pure."""

from __future__ import annotations

import re

from bmo.chat.memory_clauses import (
    begins_with_relation,
    is_about_the_person,
    is_known_verb,
    is_name,
    kind_of,
    leans,
    phrase_set,
    phrases,
    verb_place,
)

UNTIL = re.compile(r"^(?P<text>.+?) \(until (?P<day>[\d-]+), no longer true\)$")
"""A memory that has ended, as it stands in a block."""
NAMED = re.compile(r"^Has an? (?P<who>[\w' -]+?) (?:named|called) (?P<name>[^,;]{1,40})$")
"""Somebody's name."""
OWN_NAME = re.compile(
    r"^(?:is (?:named|called)|name is|goes by)\s+(?P<name>\w[\w' -]{0,30})$", re.IGNORECASE
)
"""The person's own name."""
QUOTED = "I noted: "
"""Before a memory that is no sentence."""

_SPELT_OUT = re.compile(r"(?<=\d) \([^\W\d_][\w-]*\)")
"""A number as it was said behind its figures: "78 (seventy-eight)"."""
_AS_SAID = re.compile(r'^Said (?:in \w+|")')
_ASSISTANT = re.compile(r"\bthe assistant\b(?!'s)")
_ASSISTANT_ACTS = re.compile(r"\bthe assistant (?=(?:should|can|must|will|may|is to)\b)", re.I)
_OF_A_WISH = re.compile(r"^(?:wants|does not want|would like|prefers|likes)\b", re.IGNORECASE)
_YOU_ACT = re.compile(
    r"\byou(?= (?:\w+$|(?:are|have|can|could|do|will|should|start|draft|write|say|tell|give|show"
    r"|send|read|answer|reply|speak|talk|call|ring|remind|make|use|put|go)\b))"
)
_IT_ACTS = re.compile(
    r"\b(?P<when>when|whenever|if|while|before|after|until|unless|anything|everything|what)"
    r" it (?P<verb>[a-z]+s)\b"
)
_THEM = re.compile(r"(?<!ask for )\bthem\b")
_THEY = re.compile(
    r"\b(?P<when>because|when|whenever|while|if|unless|since|until|as|why|that|what|where|and|but)"
    r" they\b"
)
_QUOTE_MARKS = re.compile(r"([\"“”])")
_MANY = re.compile(r"^(?:two|three|four|five|six|both|all|half|people|kids|children|\w+s)$")
_THE_PAIR = re.compile(r"^They and(?= \w)")
_NO_PLURAL = ("'s", "’s", "ss")
_OTHERS_JOB = re.compile(r"\b(?:lost|left|quit) their job\b")
_OWN = (
    (re.compile(r"\btheirs\b"), "yours"),
    (re.compile(r"\btheir\b"), "your"),
    (re.compile(r"\bthemselves\b"), "yourself"),
)


def second_person(memory: str) -> str:
    """A canonical memory as a sentence for the person it is about.

    What is no sentence ("First time living alone"), and what begins with a pronoun nobody can
    read ("His name's Biscuit"), is quoted whole.

    Args:
        memory: Third person without a subject word for the user ("Is allergic to nuts").

    Returns:
        A sentence ("You are allergic to nuts.").
    """
    ended = UNTIL.match(memory.strip())
    if ended:
        return f"Until {ended['day']}: {second_person(ended['text'])}"
    if memory[:1].islower():
        # No canonical memory but the person's own words, as MEM0_SETTING=NORMAL keeps them.
        return f"You said: {memory.strip()!r}."
    text = _SPELT_OUT.sub("", memory.strip().rstrip("."))
    if not text.strip(" ,;"):
        return ""
    if _AS_SAID.match(text):
        return f"You said{_around_quotes(text.removeprefix('Said'))}."
    clauses = [clause for clause in text.split("; ") if clause.strip(" ,;")]
    text = _THE_PAIR.sub("You and", text)
    clauses[0] = _THE_PAIR.sub("You and", clauses[0])
    if leans(clauses[0]) or kind_of(clauses[0]) == "fragment":
        return f'{QUOTED}"{_owned(text).replace(chr(34), chr(39))}".'
    own = kind_of(clauses[0]) in ("own", "theirs") or clauses[0].startswith("You and")
    name = OWN_NAME.match(clauses[0])
    front = f"Your name is {name['name'].strip()}" if name else _clause(clauses[0], own=own)
    behind = [c if OWN_NAME.match(c) else _continued(_clause(c, own=own)) for c in clauses[1:]]
    return f"{'; '.join([front, *behind])}."


def _clause(clause: str, *, own: bool) -> str:
    """One clause of a memory; ``own``: the memory is about the person or theirs."""
    named = NAMED.match(clause)
    if named and " " not in named["name"].strip():
        return f"Your {named['who']} is named {named['name'].strip()}"
    kind = kind_of(clause)
    text = _of_the_assistant(clause)
    if _OTHERS_JOB.search(text) is None or not begins_with_relation(clause):
        text = _owned(text)
    if own or kind in ("own", "theirs"):
        text = _THEY.sub(r"\g<when> you", text)
    if kind == "own":
        return _of_the_person(text)
    given = _given_to_the_person(text, kind == "theirs")
    text = _THEY.sub(r"\g<when> you", given) if given != text else text
    return f"Your {text[0].lower()}{text[1:]}" if kind == "theirs" else text


def _of_the_assistant(text: str) -> str:
    """What a wish says of the assistant, as the assistant says it: "me", "my", "I"."""
    if _ASSISTANT.search(text) is None and _OF_A_WISH.match(text) is None:
        return text
    told = _ASSISTANT.search(text) is not None or _IT_ACTS.search(text) is not None
    text = _YOU_ACT.sub("I", text)
    text = re.sub(r"\byour\b", "my", re.sub(r"\byou\b(?! people)", "me", text))
    text = re.sub(r"\bthe assistant's\b", "my", text)
    text = _ASSISTANT_ACTS.sub("I ", text)
    text = _ASSISTANT.sub("me", text)
    text = _IT_ACTS.sub(lambda m: f"{m['when']} I {_second_person_verb(m['verb'])}", text)
    if not told:
        return text
    text = re.sub(r"\bits\b", "my", re.sub(r"\bask it\b", "ask me", text))
    return re.sub(r"\bthey\b", "you", _THEM.sub("you", text))


def _owned(text: str) -> str:
    for pattern, own in _OWN:
        text = pattern.sub(own, text)
    return text


def _given_to_the_person(text: str, theirs: bool) -> str:
    """A sentence about others with "them" as the person, where nobody else can be meant."""
    words = text.split()
    for at, word in enumerate(words):
        if word.strip(",.") != "them":
            continue
        # The verb before it ("helps them") is no noun in -s.
        others = [
            word.strip(",").casefold()
            for word in words[1 : at - 1]
            if not word.endswith(_NO_PLURAL) and not is_name(word)
        ]
        many = any(_MANY.match(word) and not is_known_verb(word) for word in others)
        if not many and (theirs or words[at - 1] != "of"):
            words[at] = word.replace("them", "you")
    return " ".join(words)


def _around_quotes(text: str) -> str:
    """Text with the assistant and the user as speaker and hearer, quotations left alone."""
    parts = _QUOTE_MARKS.split(text)
    for place in range(0, len(parts), 4):
        outside = _ASSISTANT.sub("me", _ASSISTANT_ACTS.sub("I ", parts[place]))
        parts[place] = re.sub(r"\bthe user\b", "you", outside)
    return "".join(parts)


def _continued(clause: str) -> str:
    """A clause behind another one: "you" and "your" in small letters."""
    opens = clause.split(" ", 1)[0]
    return clause[:1].lower() + clause[1:] if opens in ("You", "Your") else clause


def _of_the_person(text: str) -> str:
    words = text.split()
    at = verb_place(words) or 0
    front = [word if i else word.casefold() for i, word in enumerate(words[:at])]
    verb = _second_person_verb(words[at].casefold())
    return f"You {' '.join([*front, verb, *_carried_on(words[at + 1 :])])}"


def _carried_on(words: list[str]) -> list[str]:
    """Verbs that "and" or "but" hangs on the same subject, in the second person too."""
    found = list(words)
    for at in range(1, len(found)):
        if found[at - 1] not in ("and", "but", "then"):
            if found[at].casefold() in phrase_set("clause_openers"):
                break  # "has a dog who barks and bites"
            continue
        place = at + (verb_place(found[at:]) or 0)
        if found[place] in phrases()["verbs"] or is_known_verb(found[place]):
            found[place] = _second_person_verb(found[place])
    return found


def _second_person_verb(verb: str) -> str:
    irregular: dict[str, str] = phrases()["verbs"]
    if verb in irregular:
        return irregular[verb]
    if not verb.endswith("s") or verb.endswith("ss"):
        return verb
    if verb.endswith("ies"):
        return verb[:-1] if len(verb) <= 4 else f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]


__all__ = [
    "NAMED",
    "OWN_NAME",
    "QUOTED",
    "UNTIL",
    "is_about_the_person",
    "is_name",
    "phrase_set",
    "phrases",
    "second_person",
]
