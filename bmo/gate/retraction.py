"""Retractions: "forget that", "delete everything you have about devon", "forget i like blues"."""

from __future__ import annotations

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


_OF_FILES = frozenset({"delete", "remove"})


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
    )


def retraction(
    spoken: Words,
    clause: Clause,
    behind: int,
    discourse: Discourse,
    context: DialogueContext,
    turn: Turn,
) -> Fact | None:
    """The retraction a forget request asks for, or None when it is none ("forget it")."""
    norm = spoken.norm
    words = norm[clause.start : clause.end]
    verb = _verb_size(words)
    rest = [w for w in words[verb:] if w not in ("please", "bmo")]

    def fact(scope: RetractScope, value: str = "", subject: str = "user") -> Fact:
        return retraction_fact(spoken, clause, scope, value, subject)

    if rest == ["it"] and words[verb - 1] == "forget":
        return None  # "forget it": never mind
    known = retraction_words()
    if words[verb - 1] not in known.sure_verbs and known.of_memory.isdisjoint(rest):
        return None  # "drop the volume", "erase the second paragraph"
    if words[verb - 1] in _OF_FILES and rest[:1] == ["my"] and " ".join(rest[1:]) not in known.own:
        if tuple(rest) not in known.everything:
            return None  # "delete my photos"
    if not rest or not known.not_memory.isdisjoint(rest):
        return None
    if proposes_another(norm, clause.start + verb, clause, known.rather):
        return None
    if tuple(rest) in known.everything:
        return fact("all")
    if tuple(rest) in known.last or (
        rest[0] == "that"
        and len(rest) > 1
        and rest[1] in ("i", "we")
        and len(rest) > 2
        and rest[2] == "do"
    ):
        return fact("last")
    scope, value, subject = _meant(rest, discourse)
    return fact(scope, value, subject)


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
