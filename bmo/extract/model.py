"""What a model behind the gate is: a service that is asked in JSON and may fail."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from bmo.turn import Turn

_Library = TypeVar("_Library", bound="Closable")
_T = TypeVar("_T")

CLOSED = "the connection is closed"
"""Why a call fails that nobody waits for any more."""

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
        spent: Tokens and dollars that were spent all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        lasting: bool = False,
        spent: Answer | None = None,
    ) -> None:
        """See the class."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.lasting = lasting
        self.spent = spent


class Closable(Protocol):
    """What a library's own client must be."""

    def close(self) -> None:
        """Gives connections back."""


class LibraryClient(ABC, Generic[_Library]):
    """A model behind a library's own client, made at first use and never again after closing."""

    def __init__(self) -> None:
        """Nothing is made, nor sent, yet."""
        self._closed: Future[None] = Future()
        self._made: _Library | None = None
        self._lock = threading.Lock()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed.done()

    @abstractmethod
    def _make(self) -> _Library:
        """Imports the library and makes its client."""

    def opened(self) -> _Library:
        """The library's client; ``ExtractionFailed`` once it is closed."""
        with self._lock:
            if self.closed:
                raise ExtractionFailed(CLOSED)
            if self._made is None:
                self._made = self._make()
            return self._made

    def call(self, ask: Callable[[_Library], _T]) -> _T:
        """Calls the library's client, and gives a call up when this is closed.

        Closing its connections wakes no thread that reads from one. So it waits on a thread of its
        own, which nobody waits for and which ends at the library's own timeout.

        Raises:
            ExtractionFailed: It is closed, or was meanwhile.
        """
        made, done = self.opened(), Future[_T]()

        def answer() -> None:
            try:
                done.set_result(ask(made))
            except BaseException as error:  # whoever waits gets it
                done.set_exception(error)

        threading.Thread(target=answer, name="bmo-model-call", daemon=True).start()
        either: list[Future[Any]] = [done, self._closed]
        wait(either, return_when=FIRST_COMPLETED)
        if not done.done():
            raise ExtractionFailed(CLOSED)
        return done.result()

    def warm_up(self) -> None:
        """Imports the library (a second of work, for which a conversation should not wait)."""
        self.opened()

    def close(self) -> None:
        """Closes the connections; a request under way fails at once. Safe to call twice."""
        with self._lock:
            if not self.closed:
                self._closed.set_result(None)
            made, self._made = self._made, None
        if made is not None:
            made.close()


def seconds_of(header: str | None) -> float | None:
    """Seconds of a Retry-After header; None without one, or for a date (nobody here sends it)."""
    said = (header or "").strip()
    return float(said) if said.isascii() and said.isdigit() else None
