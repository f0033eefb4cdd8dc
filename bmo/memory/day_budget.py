"""What may be asked of models for one user in a day, counted in the ledger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bmo.turn import utc_now

if TYPE_CHECKING:
    from bmo.ledger import Ledger
    from bmo.recorder import Recorder
    from bmo.settings import Settings

WRITE_S = 60.0
"""Longest wait for the recorder, in seconds."""


class DayBudget:
    """A user's calls and tokens of a day (UTC); see ``bmo.extract.Budget``.

    It is in the ledger: a start anew does not fill it, and workers that share a ledger share it.
    """

    def __init__(
        self, settings: Settings, ledger: Ledger, recorder: Recorder, user_id: str
    ) -> None:
        """The budget of a user by GATEKEEPER_LLM_BUDGET and GATEKEEPER_LLM_TOKEN_BUDGET."""
        self._calls = settings.gatekeeper_llm_budget
        self._tokens = settings.gatekeeper_llm_token_budget
        self._ledger = ledger
        self._recorder = recorder
        self._user_id = user_id

    def is_spent(self) -> bool:
        """Whether no further call is allowed today."""
        calls, tokens = self._ledger.model_day(self._user_id, utc_now())
        return calls >= self._calls or tokens >= self._tokens

    @property
    def renewed_at(self) -> datetime:
        """When the next day begins."""
        return datetime.combine(utc_now().date() + timedelta(days=1), datetime.min.time(), UTC)

    def take(self) -> bool:
        """Counts a call that is about to begin, if one is allowed; returns whether it is."""
        asked = (self._user_id, utc_now(), self._calls, self._tokens)
        return self._recorder.call(self._ledger.take_model_call, *asked).result(WRITE_S)

    def spend(self, tokens: int) -> None:
        """Counts the tokens of a call, both ways."""
        noted = (self._user_id, utc_now(), tokens)
        self._recorder.call(self._ledger.note_model_tokens, *noted).result(WRITE_S)
