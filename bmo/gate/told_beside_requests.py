"""What is told beside a request in speech without punctuation, and what belongs to the request.

"set an alarm for four would you im on earlies now" asks and then tells; "tell my sister i will be
late" only asks, although its second half has a subject and a verb of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bmo.gate.clause_reader import ClauseAnalysis
from bmo.gate.speech_act import SpeechAct
from bmo.gate.word_tables import word_table
from bmo.language import Clause, Words


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``told_beside_requests.toml``; what each is for stands there."""

    passing_on: frozenset[str]
    carrying_words: frozenset[str]
    ends: frozenset[str]
    courtesies: frozenset[str]
    states: frozenset[str]
    own: frozenset[str]
    subjects: frozenset[str]
    asked: frozenset[str]
    nobody: frozenset[str]
    tells_why: frozenset[str]


_words = word_table(_Words, "told_beside_requests.toml")


_LONGEST_END = 2


_TELLING_WORDS = 5
"""Least words of what is told beside a request that nothing ends."""
_BEHIND_END = 4
"""The same behind an end."""


def tells_beside(spoken: Words, request: Clause, act: SpeechAct, clause: Clause) -> bool:
    """Whether a clause that runs on from a request or a question tells something beside it.

    Args:
        spoken: The turn's words.
        request: The clause before, which nothing closes.
        act: What that one does: "directive" or "question".
        clause: The clause in question, a statement by itself.
    """
    said = spoken.norm[clause.start : clause.end]
    asked = spoken.norm[request.start : request.end]
    behind = spoken.norm[clause.end] if clause.end < len(spoken.norm) else ""
    if _needs_without(said, behind):
        return act == "directive"
    if _is_ended(asked):
        return _requests(asked, act) and _tells_behind_end(asked, said)
    if act != "directive":
        return False
    if asked[:2] == ["remind", "me"] and asked[2:3] == ["to"]:
        return _gives_reason(asked, said)
    return _tells_of_self(asked, said)


def _requests(asked: list[str], act: SpeechAct) -> bool:
    """Whether the words ask for something to be done, and not for an answer."""
    return act == "directive" or (
        asked[0] in _words().asked and asked[1:2] == ["you"] and len(asked) > 3
    )


def _is_ended(asked: list[str]) -> bool:
    """Whether "would you", "please", "for me" or thanks end a request."""
    lists = _words()
    end = len(asked)
    if (
        end > 1
        and asked[-1] in lists.courtesies
        and " ".join(asked[end - 3 : end - 1]) in lists.ends
    ):
        return True
    sizes = range(1, min(_LONGEST_END, end - 1) + 1)
    return any(" ".join(asked[end - size :]) in lists.ends for size in sizes)


def _tells_behind_end(asked: list[str], said: list[str]) -> bool:
    """As in "turn it down would you | we have a newborn in the house"."""
    if len(said) < _BEHIND_END or not _words().carrying_words.isdisjoint(asked):
        return False
    if asked[:2] == ["remind", "me"] and asked[2:3] != ["to"]:
        return False
    return True


def _gives_reason(asked: list[str], said: list[str]) -> bool:
    """As in "remind me to ring the vet at nine | the dog has his jabs tomorrow"."""
    lists = _words()
    if len(said) < _TELLING_WORDS or not lists.carrying_words.isdisjoint(asked[3:]):
        return False
    return said[0] in lists.subjects


def _needs_without(said: list[str], behind: str) -> bool:
    """As in "find us a soup | nothing with cream for ravi | it brings on his asthma"."""
    lists = _words()
    whom = said.index("for") + 1 if said[0] == "nothing" and "for" in said else len(said)
    return whom < len(said) and said[whom] not in lists.nobody and behind in lists.tells_why


def _tells_of_self(asked: list[str], said: list[str]) -> bool:
    """Whether a clause behind a request is told beside it ("speak up | i am deaf in one ear")."""
    lists = _words()
    if said[0] not in lists.own or len(said) < _TELLING_WORDS:
        return False
    if not lists.passing_on.isdisjoint(asked[:3]):
        return False
    return said[0] == "my" or said[1] in lists.states


def told_part(text: str, clauses: Sequence[ClauseAnalysis]) -> str:
    """A turn's text without the request that it opens with and runs on from.

    Args:
        text: What was said.
        clauses: What the rules made of its clauses.

    Returns:
        The text from the first statement on; all of it where nothing but that statement shows that
        a request has ended, where anything behind asks, or where a statement is not to be stored.
    """
    first = next((i for i, c in enumerate(clauses) if c.speech_act != "directive"), 0)
    if not first or any(c.speech_act != "statement" or c.vetoes for c in clauses[first:]):
        return text
    start = clauses[first].span[0]
    before = text[:start].rstrip()
    if not before or not (before[-1].isalnum() or before[-1] == "'"):
        return text
    request, told = list(clauses[first - 1].norm), list(clauses[first].norm)
    behind = clauses[first + 1].norm[0] if first + 1 < len(clauses) else ""
    return text[start:] if _is_ended(request) or _needs_without(told, behind) else text
