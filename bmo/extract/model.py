"""What a model behind the gate is: a service that is asked in JSON and may fail."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from bmo.turn import Turn

_Library = TypeVar("_Library", bound="Closable")

TIMEOUT_S = 30.0
"""Longest a model is waited for; nothing waits on it, but a thread does."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked.

    Attributes:
        instructions: The system instruction.
        content: The conversation as JSON.
        numbered: Number in the content -> turn that is to be settled.
        memories: Number in the content -> id of an older memory.
    """

    instructions: str
    content: str
    numbered: Mapping[int, Turn]
    memories: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wrote (JSON, if it obeyed), the tokens of it, and the US dollars it cost."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class ModelClient(Protocol):
    """A service that answers one request in JSON, from any thread.

    Attributes:
        name: Service and model ("gemini:gemini-3.1-flash-lite"); the ledger's extraction method.
        cost: Expected US dollars a call; the cheapest is asked first.
    """

    name: str
    cost: float

    def is_available(self) -> bool:
        """Whether a call may succeed now (key present, server up)."""

    def warm_up(self) -> None:
        """Loads its libraries, so that no first call does; sends nothing."""

    def ask(self, request: Request, schema: Mapping[str, Any]) -> Answer:
        """One request, one answer, no retry.

        Raises:
            ExtractionFailed: No answer came, or the service refused.
        """

    def close(self) -> None:
        """Gives its connections back. Safe to call twice, and from another thread."""


class Budget(Protocol):
    """What may be asked of models for a user. Safe from any thread."""

    def take(self) -> bool:
        """Counts a call that is about to begin, if one is allowed; returns whether it is."""

    def spend(self, tokens: int) -> None:
        """Counts the tokens of a call, both ways."""


class ExtractionFailed(RuntimeError):
    """A model gave no usable answer; the message says why.

    Attributes:
        retry_after_s: Seconds the service asks to be left alone, or None.
        lasting: Asking again cannot help before somebody acts; the message then names the fix.
        content: What the service said is unusable: other turns, or fewer, may fare better.
        spent: Tokens and dollars that were spent all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        lasting: bool = False,
        content: bool = False,
        spent: Answer | None = None,
    ) -> None:
        """See the class."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.lasting = lasting
        self.content = content
        self.spent = spent


class Closable(Protocol):
    """What a library's own client must be."""

    def close(self) -> None:
        """Gives connections back."""


class LibraryClient(ABC, Generic[_Library]):
    """A model behind a library's own client, made at first use and never again after closing."""

    def __init__(self) -> None:
        """Nothing is made, nor sent, yet."""
        self.closed = False
        self._made: _Library | None = None
        self._lock = threading.Lock()

    @abstractmethod
    def _make(self) -> _Library:
        """Imports the library and makes its client."""

    def opened(self) -> _Library:
        """The library's client.

        Raises:
            ExtractionFailed: It is closed.
        """
        with self._lock:
            if self.closed:
                raise ExtractionFailed("the connection is closed")
            if self._made is None:
                self._made = self._make()
            return self._made

    def warm_up(self) -> None:
        """Imports the library (a second of work, for which a conversation should not wait)."""
        self.opened()

    def close(self) -> None:
        """Closes the connections; a request under way fails. Safe to call twice."""
        with self._lock:
            self.closed = True
            made, self._made = self._made, None
        if made is not None:
            made.close()


def seconds_of(header: str | None) -> float | None:
    """Seconds of a Retry-After header; None without one, or for a date (nobody here sends it)."""
    said = (header or "").strip()
    return float(said) if said.isascii() and said.isdigit() else None
