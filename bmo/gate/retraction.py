"""Retractions: "forget that", "delete everything you have about devon", "forget i like blues"."""

from __future__ import annotations

from bmo.gate.discourse import Discourse
from bmo.language import Clause, Words
from bmo.turn import DialogueContext, Fact, RetractScope, Turn

_ALL = (
    ("everything",),
    ("it", "all"),
    ("all",),
    ("all", "of", "it"),
    ("everything", "about", "me"),
    ("me",),
    ("my", "data"),
    ("all", "my", "data"),
)
_LAST = (
    ("that",),
    ("it",),
    ("this",),
    ("what", "i", "just", "said"),
    ("what", "i", "said"),
    ("the", "last", "thing"),
    ("the", "last", "bit"),
    ("that", "last", "bit"),
    ("that", "last", "thing"),
)
_OF_MEMORY = frozenset(
    (
        "about told said know knew remember my our everything i we have that it me fact memory "
        "memories rule rules thing things stuff saved stored noted"
    ).split()
)
_NOT_MEMORY = frozenset(
    (
        "alarm alarms appointment assignments booking calendar call calls email emails event "
        "events file files instructions item items list lists meeting message messages note "
        "notes order photo photos playlist prompt reservation reservations rules song songs "
        "tasks timer timers to-do todo weather"
    ).split()
)
_FILLER = frozenset(
    (
        "a about again all any anything before bit concerning do earlier ever everything fact "
        "for had have i info information is it just know memories memory mentioned more note "
        "notes now of on part please regarding remember rule said saved stored stuff that the "
        "thing things to told too was we what with you"
    ).split()
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
    text = spoken.text[spoken.start[clause.start] : spoken.end[clause.end - 1]]

    def fact(scope: RetractScope, value: str = "", subject: str = "user") -> Fact:
        return Fact(
            text=text,
            category="personal_facts",
            op="retract",
            scope=scope,
            value=value,
            subject=subject,
            rule_id="retraction",
            extraction_method="pattern:retraction",
            span=(spoken.start[clause.start], spoken.end[clause.end - 1]),
        )

    if rest == ["it"] and words[verb - 1] == "forget":
        return None  # "forget it": never mind
    if words[verb - 1] not in ("forget", "unlearn", "remember", "remembering", "ignore"):
        if _OF_MEMORY.isdisjoint(rest):
            return None  # "drop the volume", "erase the second paragraph"
    if not rest or not _NOT_MEMORY.isdisjoint(rest):
        return None
    if tuple(rest) in _ALL or (
        rest[:4] == ["everything", "you", "know", "about"] and rest[4:] == ["me"]
    ):
        return fact("all")
    if tuple(rest) in _LAST or (
        rest[0] == "that"
        and len(rest) > 1
        and rest[1] in ("i", "we")
        and len(rest) > 2
        and rest[2] == "do"
    ):
        return fact("last")
    scope, value, subject = _meant(rest, discourse)
    return fact(scope, value, subject)


def _meant(rest: list[str], discourse: Discourse) -> tuple[RetractScope, str, str]:
    """Scope, value and subject of what is to be forgotten."""
    wide = any(w in ("everything", "all", "anything") for w in rest)
    core = [w for w in rest if w not in _FILLER]
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
    for i, word in enumerate(words):
        if word in (
            "forget",
            "delete",
            "erase",
            "remove",
            "wipe",
            "scrap",
            "lose",
            "drop",
            "unlearn",
            "ignore",
            "strike",
            "remembering",
            "keep",
            "store",
            "remember",
        ):
            return i + 1
    return 0
