"""The index's side for turns as they are said (MEM0_SETTING=NORMAL): no gate, no facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bmo.index.connection import IndexAccess
from bmo.index.errors import InferenceFailed
from bmo.settings import checked_user_id
from bmo.turn import Turn, storable


class RawTurns(IndexAccess):
    """Writes the words of turns, or what Mem0 itself extracts from them."""

    def add_raw(self, turn: Turn, text: str) -> str:
        """Writes a turn's words as they are (MEM0_SETTING=NORMAL), once.

        Args:
            turn: The turn.
            text: Its words as they may be written down.

        Returns:
            Mem0's id, or "" when there are no words.

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        user_id = checked_user_id(turn.user_id)
        if not text.strip():
            return ""
        with self._writing() as store:
            found, _ = store.page(_of_turn(turn), 1)
            if found:
                return found[0].id
            # One message: of a list Mem0 makes one memory each, and only the first id is known.
            made = self.memory().add(
                storable(text), user_id=user_id, metadata=_raw_entry(turn), infer=False
            )
            return str(made["results"][0]["id"])

    def add_inferred(self, turn: Turn, text: str, before: Sequence[str] = ()) -> list[str]:
        """Lets Mem0 extract memories from a turn's words (MEM0_SETTING=NORMAL with a key), once.

        It takes as long as the model does; other writes and reads go on meanwhile.

        Args:
            turn: The turn.
            text: Its words as they may be written down.
            before: The user's words before it, oldest first, for the model to understand it.

        Returns:
            Mem0's ids; none when the model found nothing.

        Raises:
            InferenceFailed: The model gave no usable answer; nothing of the turn is stored.
            IndexUnavailable: The store cannot be reached.
            EmbedderUnavailable: A memory could not be embedded; nothing of the turn is stored.
        """
        from mem0.exceptions import LLMError

        user_id = checked_user_id(turn.user_id)
        if not text.strip():
            return []
        entry = {**_raw_entry(turn), "extraction_method": f"mem0:{self._model}"}
        with self._reading() as store:
            found, _ = store.page(_of_turn(turn), 100)
            if found:
                return [one.id for one in found]
            memory = self.memory()
            memory.embedding_model.take_failure()
            try:
                with memory.db.said_before([storable(words) for words in before]):
                    result = memory.add(storable(text), user_id=user_id, metadata=entry, infer=True)
            except LLMError as error:
                raise InferenceFailed(_cause(error)) from error
            failure = memory.embedding_model.take_failure()
            if failure is not None:
                self.remove_turn(turn)
                raise failure
        return [str(one["id"]) for one in result["results"]]

    def remove_turn(self, turn: Turn) -> int:
        """Removes what was stored of a turn's words; returns how many entries there were."""
        checked_user_id(turn.user_id)
        return self._remove(_of_turn(turn))

    @property
    def _model(self) -> str:
        return self.inference.model if self.inference is not None else "none"


def _of_turn(turn: Turn) -> dict[str, Any]:
    return {"user_id": turn.user_id, "turn_id": turn.id, "mode": "normal"}


def _raw_entry(turn: Turn) -> dict[str, Any]:
    """What is written beside the words of a turn, or what Mem0 extracts from them."""
    return {
        "mode": "normal",
        "turn_id": turn.id,
        "fact_id": "",
        "write_verdict": "allow",
        "category": "",
        "valid_from": turn.at.isoformat(),
    }


def _cause(error: Exception) -> str:
    """The kind of failure, without the words of a request or an answer."""
    cause = error.__cause__ or error
    code = getattr(cause, "code", "")
    return f"Mem0's extraction failed ({type(cause).__name__} {code}".rstrip() + ")"
