"""What leads into an answer and is no content: echoes, exclamations, replies left short.

"My husband Desmond? Heavens, no. He can't, he's away": the echo says whom the pronouns behind it
mean and tells nothing itself, "heavens, no" and "he can't" say nothing that would be understood
later.
"""

from __future__ import annotations

from bmo.gate.asked_question import last_question
from bmo.gate.clause_head import CALLED_BY_RELATION
from bmo.gate.discourse import Discourse, Person
from bmo.gate.person_names import is_name_at, proper
from bmo.language import Clause, Words

_OWNERS = frozenset({"my", "our", "the"})
_OWN = frozenset({"my", "our"})
_OPENS_ECHO = frozenset("oh ah what who you mean well um uh erm hm as for".split())
_MOST_RELATIONS = 3

_OPENS_EXCLAMATION = frozenset(
    (
        "blimey christ crikey god good goodness gosh heavens hell jesus lord oh dear not no my "
        "absolutely certainly"
    ).split()
)
_EXCLAMATIONS = frozenset(
    tuple(phrase.split())
    for front in (
        "heavens", "good heavens", "god", "good god", "my god", "lord", "good lord", "christ",
        "jesus", "hell", "goodness", "gosh", "blimey", "crikey", "dear god", "dear lord",
        "goodness me", "heavens above", "goodness gracious", "oh", "absolutely", "certainly",
    )
    for phrase in (f"{front} no", f"oh {front} no", f"{front} not", f"{front} never")
) | frozenset(
    tuple(phrase.split())
    for phrase in (
        "not at all", "no not at all", "oh not at all", "no no", "oh dear", "oh dear no",
        "dear me no", "no way", "not really", "no not really", "of course not", "no never",
        "good grief no", "good heavens", "heavens above", "goodness me", "oh my god", "oh god",
        "good god", "good lord", "my goodness", "heavens", "not a chance", "no chance",
    )
)  # fmt: skip
_LONGEST_EXCLAMATION = 4
_SUBJECTS = frozenset("he she they it i we my our his her their that".split())
_OF_OTHERS = frozenset({"he", "she", "they"})
CUES = _OPENS_EXCLAMATION | _OF_OTHERS
"""One of these stands in what ``without_leads`` takes off."""
_AUX = frozenset(
    "can could does do did is are was were has have had will would should might must".split()
)


def echoed(
    spoken: Words, clause: Clause, discourse: Discourse, stops: frozenset[str]
) -> Person | None:
    """Whom an echo question names ("the dog?", "my husband desmond?"); they are pointed at.

    Args:
        spoken: The turn's repaired words.
        clause: A question.
        discourse: Who is who.
        stops: Words that are no names.
    """
    if not clause.closed_by.startswith("?"):
        return None
    norm, at, end = spoken.norm, clause.start, clause.end
    while at < end and norm[at] in _OPENS_ECHO:
        at += 1
    if at >= end:
        return None
    own = norm[at] in _OWNERS
    if not own and norm[at] not in CALLED_BY_RELATION:
        known = discourse.by_name(norm[at]) if end - at == 1 else None
        if known is None:
            return _asked_about(spoken, at, end, discourse, stops)
        discourse.point_at(known)
        return known
    found = discourse.lexicon.relation_at(norm, at + 1 if own else at, end)
    if found is None:
        return None
    chain = [found[0]]
    behind = found[1]
    while norm[behind : behind + 1] == ["'s"] and len(chain) < _MOST_RELATIONS:
        more = discourse.lexicon.relation_at(norm, behind + 1, end)
        if more is None:
            return None
        chain.append(more[0])
        behind = more[1]
    size = 0
    if behind < end and not chain[-1].plural:
        size = is_name_at(spoken, behind, end, discourse.lexicon, stops, False)
    if behind + size != end:
        return None
    owner = "user"
    for relation in chain[:-1]:
        owner = discourse.introduce(relation, "", owner).subject
    name = proper(spoken.text[spoken.start[behind] : spoken.end[end - 1]]) if size else ""
    return discourse.introduce(chain[-1], name, owner)


def _asked_about(
    spoken: Words, first: int, end: int, discourse: Discourse, stops: frozenset[str]
) -> Person | None:
    """The one person of the user's in a whole question: "have i told you about my brother?"."""
    norm, people = spoken.norm, discourse.lexicon
    if _OWN.isdisjoint(norm[first:end]):
        return None
    found = [
        kin
        for at in range(first, end)
        if norm[at] in _OWN and (kin := people.relation_at(norm, at + 1, end)) is not None
    ]
    if len(found) != 1 or norm[found[0][1] : found[0][1] + 1] == ["'s"]:
        return None
    relation, behind = found[0]
    if relation.plural or relation.pet:
        return None
    size = is_name_at(spoken, behind, end, people, stops, True)
    name = proper(spoken.text[spoken.start[behind] : spoken.end[behind + size - 1]]) if size else ""
    return discourse.introduce(relation, name)


def without_leads(spoken: Words, clauses: list[Clause], assistant_before: str) -> list[Clause]:
    """The clauses without exclamations and replies left short in front; the last one stays.

    Args:
        spoken: The turn's repaired words.
        clauses: Its clauses.
        assistant_before: The assistant's words before the turn.
    """
    norm = spoken.norm
    kept: list[Clause] = []
    for clause in clauses:
        start = clause.start
        if norm[start] in _OPENS_EXCLAMATION:
            start = _behind_exclamation(spoken, clause)
        if start < clause.end and norm[start] in _OF_OTHERS:
            start = _behind_short_reply(spoken, start, clause.end, assistant_before)
        if start < clause.end:
            kept.append(clause if start == clause.start else clause._replace(start=start))
    return kept or clauses


def _behind_exclamation(spoken: Words, clause: Clause) -> int:
    """Index behind the exclamation that opens a clause, or of the clause's first word."""
    norm, first = spoken.norm, clause.start
    for size in range(min(_LONGEST_EXCLAMATION, clause.end - first), 0, -1):
        behind = first + size
        if tuple(norm[first:behind]) not in _EXCLAMATIONS:
            continue
        if behind == clause.end or spoken.after[behind - 1] or norm[behind] in _SUBJECTS:
            return behind
    return first


def _behind_short_reply(spoken: Words, first: int, end: int, assistant_before: str) -> int:
    """Index behind "he can't" or "she does" where more is told behind it, or ``first``."""
    norm = spoken.norm
    if first + 1 >= end or norm[first + 1] not in _AUX:
        return first
    behind = first + 2
    if norm[behind : behind + 1] == ["not"]:
        behind += 1
    tells_more = behind < end and norm[behind] in _SUBJECTS
    closed = behind <= end and spoken.after[behind - 1] != ""
    if not (tells_more or closed or behind == end):
        return first
    if tells_more and not closed and norm[behind] not in _OF_OTHERS:
        return first  # "he does my garden"
    question = last_question(assistant_before)
    # "does he drive", "no he doesn't": what is settled is told with the question.
    return first if question[1:2] in (["he"], ["she"], ["it"]) else behind
