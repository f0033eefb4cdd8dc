"""Retractions: "forget that", "delete everything you have about devon", "forget i like blues"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.discourse import Discourse
from bmo.gate.pack_tables import read_table
from bmo.language import Clause, Words
from bmo.language.lexicon import Phrases, match_phrase, phrase_table
from bmo.turn import DialogueContext, Fact, RetractScope, Turn


@dataclass(frozen=True, slots=True)
class RetractionWords:
    """``packs/en/retraction.toml``.

    Attributes:
        verbs: Words that ask for something to be forgotten.
        sure_verbs: Those of them that are said of memories only.
        everything: Phrases for all memories of the user.
        last: Phrases that point at what was just said.
        of_memory: Words of which one must stand beside the other verbs ("drop what i said").
        not_memory: Things an assistant has that are no memory.
        own: What of oneself may be deleted or removed ("my birthday").
        filler: Words around what is meant.
        rather: What is proposed in its place.
        joins: Words between two things to be forgotten.
        again: Words with which the second of them begins.
        attributes: Words for what of a thing is meant, which its memory need not have ("date").
        of_files: Verbs that are said of files and things as well.
        qualifiers: Words before what is one's own ("my old address").
        places: Where an assistant keeps what it knows ("from your memory").
    """

    verbs: frozenset[str]
    sure_verbs: frozenset[str]
    everything: frozenset[tuple[str, ...]]
    last: frozenset[tuple[str, ...]]
    of_memory: frozenset[str]
    not_memory: frozenset[str]
    own: frozenset[str]
    filler: frozenset[str]
    rather: Phrases
    joins: frozenset[str]
    again: frozenset[str]
    attributes: frozenset[str]
    of_files: frozenset[str]
    qualifiers: frozenset[str]
    places: frozenset[str]

    def names_memory(self, verb: str, rest: Sequence[str]) -> bool:
        """Whether what is to be deleted is a memory: "delete my birthday", but not "my photos"."""
        if verb not in self.sure_verbs and self.of_memory.isdisjoint(rest):
            return False  # "drop the volume", "erase the second paragraph"
        if verb not in self.of_files or tuple(rest) in self.everything or len(rest) < 2:
            return True
        if rest[0] == "my":
            return " ".join(w for w in rest[1:] if w not in self.qualifiers) in self.own
        if rest[0] in ("me", "us"):
            return False  # "do not log me out"
        return rest[0] not in ("that", "this") or rest[1] in self.filler

    def without_place(self, rest: list[str]) -> list[str]:
        """What is meant, without where it is kept: "my birthday (from your memory)"."""
        if not rest or rest[-1] not in self.places:
            return rest
        at = next((i for i, w in enumerate(rest) if i and w in ("from", "out", "off")), len(rest))
        return rest[:at]


@lru_cache(maxsize=1)
def retraction_words() -> RetractionWords:
    """The English words, read from the package on first use."""
    raw = read_table("en", "retraction.toml")
    return RetractionWords(
        verbs=frozenset(raw["verbs"]),
        sure_verbs=frozenset(raw["sure_verbs"]),
        everything=frozenset(tuple(phrase.split()) for phrase in raw["everything"]),
        last=frozenset(tuple(phrase.split()) for phrase in raw["last"]),
        of_memory=frozenset(raw["of_memory"]),
        not_memory=frozenset(raw["not_memory"]),
        own=frozenset(raw["own"]),
        filler=frozenset(raw["filler"]),
        rather=phrase_table(raw["rather"]),
        joins=frozenset(raw["joins"]),
        again=frozenset(raw["again"]),
        attributes=frozenset(raw["attributes"]),
        of_files=frozenset(raw["of_files"]),
        qualifiers=frozenset(raw["qualifiers"]),
        places=frozenset(raw["places"]),
    )


def retraction(
    spoken: Words,
    clause: Clause,
    behind: int,
    discourse: Discourse,
    context: DialogueContext,
    turn: Turn,
) -> tuple[Fact, ...]:
    """What a forget request asks for, each thing by itself; nothing where it is none ("forget it").

    Args:
        spoken: The turn's words.
        clause: The clause that asks.
        behind: Index behind the words that ask.
        discourse: Who is known.
        context: The user's live memories: what one of them names whole is one thing.
        turn: What was said.
    """
    norm = spoken.norm
    words = norm[clause.start : clause.end]
    verb = _verb_size(words)
    rest = [w for w in words[verb:] if w not in ("please", "bmo")]

    def fact(scope: RetractScope, value: str = "", subject: str = "user") -> Fact:
        return retraction_fact(spoken, clause, scope, value, subject)

    if rest == ["it"] and words[verb - 1] == "forget":
        return ()  # "forget it": never mind
    known = retraction_words()
    rest = known.without_place(rest)
    if not known.names_memory(words[verb - 1], rest) or rest[:1] == ["to"]:
        return ()  # "drop the volume", "delete my photos", "no need to remember to buy milk"
    if not rest or not known.not_memory.isdisjoint(rest):
        return ()
    if proposes_another(norm, clause.start + verb, clause, known.rather):
        return ()
    if tuple(rest) in known.everything:
        return (fact("all"),)
    if tuple(rest) in known.last or (
        rest[0] == "that"
        and len(rest) > 1
        and rest[1] in ("i", "we")
        and len(rest) > 2
        and rest[2] == "do"
    ):
        return (fact("last"),)
    things = things_named(rest, known.joins, known.again)
    if len(things) > 1 and _is_one(rest, context):
        things = [rest]
    asked = [_meant(thing, discourse) for thing in things]
    if len(asked) > 1:
        asked = [found for found in asked if found[0] != "last"]
    return tuple(
        fact(scope, _named(value, known.attributes, context), subject)
        for scope, value, subject in asked
    )


def things_named(
    rest: Sequence[str], joins: frozenset[str], again: frozenset[str]
) -> list[list[str]]:
    """What is named one by one ("the squash | my brother"), each with its own words.

    Args:
        rest: The words behind those that ask.
        joins: Words between two things.
        again: Words with which another thing begins behind one.
    """
    things: list[list[str]] = [[]]
    for place, word in enumerate(rest):
        if things[-1] and word in joins and not again.isdisjoint(rest[place + 1 : place + 2]):
            things.append([])
        else:
            things[-1].append(word)
    return things


def _is_one(rest: Sequence[str], context: DialogueContext) -> bool:
    """Whether a live memory names all of it: "the gin and the tonic"."""
    filler = retraction_words().filler | {"and", "my", "our", "the"}
    core = {word for word in rest if word not in filler}
    return any(core.issubset(_WORD.findall(fact.text.lower())) for fact in context.known)


def _named(value: str, attributes: frozenset[str], context: DialogueContext) -> str:
    """What is named, without the word for what of it, where no memory has that: "release date"."""
    words = value.split()
    if len(words) < 2 or words[-1] not in attributes:
        return value
    if any(words[-1] in _WORD.findall(fact.text.lower()) for fact in context.known):
        return value
    return " ".join(words[:-1])


_WORD = re.compile(r"\w+")


def proposes_another(norm: list[str], begin: int, clause: Clause, rather: Phrases) -> bool:
    """Whether something else is proposed in the place of what to "forget".

    Args:
        norm: The turn's words.
        begin: Index behind the words that ask.
        clause: The clause that asks.
        rather: What leads to the proposal.
    """
    stop = min(clause.end + _BEFORE_PROPOSAL, len(norm))
    return any(match_phrase(rather, norm, place) for place in range(begin, stop))


_BEFORE_PROPOSAL = 2
"""Words behind the clause that asks at which what is proposed may begin ("ach, lass uns ...")."""


def retraction_fact(
    spoken: Words, clause: Clause, scope: RetractScope, value: str, subject: str
) -> Fact:
    """What a clause asks to be forgotten, as the ledger takes it."""
    first, last = spoken.start[clause.start], spoken.end[clause.end - 1]
    return Fact(
        text=spoken.text[first:last],
        category="personal_facts",
        op="retract",
        scope=scope,
        value=value,
        subject=subject,
        rule_id="retraction",
        extraction_method="pattern:retraction",
        span=(first, last),
    )


def _meant(rest: list[str], discourse: Discourse) -> tuple[RetractScope, str, str]:
    """Scope, value and subject of what is to be forgotten."""
    wide = any(w in ("everything", "all", "anything") for w in rest)
    filler = retraction_words().filler
    core = [w for w in rest if w not in filler]
    if core and core[0] in ("my", "our"):
        found = discourse.lexicon.relation_at(core, 1, len(core))
        if found is not None and (wide or found[1] == len(core)):
            person = discourse.introduce(found[0])
            name = core[found[1]] if found[1] < len(core) else ""
            known = discourse.names.get(name)
            if wide:
                return "subject", name or found[0].name, known or person.subject
        core = core[1:]
    if not core or core == ["me"]:
        return ("all" if core == ["me"] else "last"), "", "user"
    if len(core) == 1 and core[0] in discourse.names and wide:
        return "subject", core[0], discourse.names[core[0]]
    if wide and len(core) == 1:
        return "subject", core[0], "user"
    return "value", " ".join(core), "user"


def _verb_size(words: list[str]) -> int:
    """Words before what is to be forgotten ("you can scrap")."""
    verbs = retraction_words().verbs
    for i, word in enumerate(words):
        if word in verbs:
            return i + 1
    return 0
