"""Where a memory comes from, in a sentence: "You live in Leeds: you said '...' on ..."."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from bmo.agent import ConversationMemory, HeardTurn
from bmo.chat.second_person import second_person
from bmo.ledger import Ledger
from bmo.turn import StoredFact

MOST_EXPLAINED = 2
"""Memories whose source one answer tells."""


LEAST_SHARE = 0.3
"""Share of the asked words' weight a memory must have to be meant."""


class Provenance:
    """Answers "how do you know that" and "when did i tell you about my car"."""

    def __init__(self, conversation: ConversationMemory) -> None:
        """Tells of the memories of one conversation's person.

        Args:
            conversation: Whose; its latest turn is the one that asks.
        """
        self._conversation = conversation

    async def __call__(self, named: str) -> str:
        """The sources of some memories.

        Args:
            named: Words that name them; "" means those of the latest answer.

        Returns:
            A sentence for each, or "" when nothing fits.
        """
        memory = self._conversation.memory
        ledger, user_id = memory.service.ledger, memory.user_id
        answered = None if named else self._answered()
        if answered is not None:
            facts = _said_again(answered)
            if facts:
                return await asyncio.to_thread(_sources, ledger, user_id, facts)
            named = answered.said
        return await asyncio.to_thread(_found, ledger, user_id, named) if named else ""

    def _answered(self) -> HeardTurn | None:
        """The latest turn before this one that was answered."""
        before = list(self._conversation.turns)[:-1]
        return next((heard for heard in reversed(before) if heard.reply), None)


def _said_again(heard: HeardTurn) -> list[StoredFact]:
    """The memories given for a turn that its answer says, or all that were given."""
    given = [memory.fact for memory in heard.given.memories] if heard.given is not None else []
    return [fact for fact in given if second_person(fact.text) in heard.reply] or given


def _found(ledger: Ledger, user_id: str, words: str) -> str:
    found = ledger.search_words(user_id, words, MOST_EXPLAINED)
    return _sources(ledger, user_id, [fact for fact, share in found if share >= LEAST_SHARE])


def _sources(ledger: Ledger, user_id: str, facts: Sequence[StoredFact]) -> str:
    told: list[str] = []
    shown: set[str] = set()
    for fact in facts:
        if len(told) == MOST_EXPLAINED:
            break
        why = ledger.why(user_id, fact.id)
        if why is None:
            continue
        known = second_person(fact.text).rstrip(".")
        said = next((turn for turn in reversed(why.said) if turn.text), None)
        if said is not None and said.id in shown:
            continue  # one turn told both
        if said is not None:
            shown.add(said.id)
            told.append(f"{known}: you said {said.text!r} on {_day(said.at)}.")
        else:
            told.append(f"{known}: known since {_day(fact.valid_from)} ({fact.source_type}).")
    return " ".join(told)


def _day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"
