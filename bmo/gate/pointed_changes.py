"""Ends that only point: "i don't do that any more", "i gave that up", "not any more".

What they point at is what the assistant has just spoken of (or the user, the turn before): the one
live memory whose words stand there. Patterns are data (``[pointing]`` in ``known_changes.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bmo.gate.known_change_data import KnownChanges, known_changes
from bmo.gate.memory_core import core_of
from bmo.language import LanguageCode
from bmo.turn import DialogueContext, Fact

_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_WORD = re.compile(r"\w+")
_LONGEST = 14


def pointed_at(
    norm: Sequence[str],
    assistant_before: str,
    context: DialogueContext,
    language: LanguageCode,
    before: Sequence[str] = (),
) -> Fact | None:
    """The live memory that a clause ends without naming it.

    What the turn itself has named is meant before all that was spoken of earlier, and nothing else
    then: "i used to keep pigeons but i gave them up" ends no job that the assistant mentioned.

    Args:
        norm: The clause's words in normal form.
        assistant_before: What the assistant said last.
        context: The user's live memories and the latest turns.
        language: Whose patterns apply.
        before: The words of the turn before the clause.

    Returns:
        None when the clause ends nothing, or it is not clear what.
    """
    table = known_changes(language)
    if table.pointing is None or len(norm) > _LONGEST:
        return None
    line = " ".join(norm)
    asked = _SENTENCE.findall(assistant_before)
    last = asked[-1].lower() if asked else ""
    bare = table.no_longer is not None and table.no_longer.search(line) is not None
    if bare and not ("?" in last and table.still.intersection(_WORD.findall(last))):
        return None
    said_before = [said for said, _ in context.recent_turns[:1]]
    named = " ".join(before)
    if table.words_of(named):
        pointing = table.pointing.search(line) is not None
        return _meant(named, context, table) if pointing else None
    if not bare and table.pointing.search(line) is None:
        if table.bare is None or table.bare.search(line) is None:
            return None
        # "i quit" alone: of what was just asked about, or told
        for heard in (last if "?" in last else "", *said_before):
            meant = _meant(heard.lower(), context, table, table.doings)
            if meant is not None:
                return meant
        return None
    for heard in (last, assistant_before, *said_before):
        meant = _meant(heard.lower(), context, table)
        if meant is not None:
            return meant
    return None


def _meant(
    heard: str, context: DialogueContext, table: KnownChanges, opens: tuple[str, ...] = ()
) -> Fact | None:
    """The one memory whose words were heard, or None; of those that begin with ``opens``."""
    stems = {table.stem(word) for word in table.words_of(heard)}
    if not stems:
        return None
    best: list[Fact] = []
    most = 0
    for old in {(f.subject, f.text): f for f in (*context.known, *context.recent_facts)}.values():
        if old.op == "retract" or old.subject not in ("user", "team") or old.slot in _NEVER:
            continue
        if opens and not old.text.lower().startswith((*opens, "said in ")):
            continue
        core = core_of(old.text, table, old.subject)
        if not any(part and part[-1] in stems for part in core.parts):
            continue
        shared = len(stems & core.words)
        if shared > most:
            best, most = [old], shared
        elif shared == most:
            best.append(old)
    return best[0] if len(best) == 1 else None


_NEVER = frozenset(
    "name birthday born_in grew_up_in age from nationality given_up history preferred_name".split()
)
"""Slots of what no "not any more" ends."""
