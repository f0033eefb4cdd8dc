"""Opens and closes what a command needs; what cannot be opened or found ends in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import typer

from bmo.cli.errors import CommandError
from bmo.ids import identity_of
from bmo.memory import MemoryService, MemoryUnavailable, ServiceNotice, open_index, open_ledger
from bmo.settings import Settings, load_settings
from bmo.telemetry import quiet_logs

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger, LoggedTurn, PendingErasure
    from bmo.recorder import Recorder
    from bmo.turn import StoredFact

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Row = TypeVar("_Row", "StoredFact", "LoggedTurn", "PendingErasure")

FLUSH_S = 60.0
"""Longest wait for the index after a change, in seconds."""


def settings_for(user_id: str | None) -> Settings:
    """Settings of this process, for one user; None is BMO_USER_ID."""
    return load_settings() if user_id is None else load_settings(bmo_user_id=user_id)


@contextmanager
def opened_ledger(settings: Settings, *, look: bool = False) -> Iterator[Ledger]:
    """The ledger alone: works beside a running BMO, which owns the embedded index.

    ``look``: it is counted only; whether it is damaged inside is ``bmo doctor``'s to say.
    """
    with _sentences_only(settings), closing(open_ledger(settings, check=not look)) as ledger:
        yield ledger


@dataclass(frozen=True, slots=True)
class Reader:
    """What a command that only reads works with.

    Attributes:
        ledger: The truth.
        index: Mem0 on Qdrant, or None while it cannot be reached or another process owns it.
        notices: Sentences for people about what is missing.
    """

    ledger: Ledger
    index: MemoryIndex | None
    notices: tuple[str, ...]

    def show_notices(self) -> None:
        """Says on standard error what is missing."""
        for notice in self.notices:
            typer.echo(f"bmo: {notice}", err=True)


@dataclass(frozen=True, slots=True)
class Stores(Reader):
    """What a command that changes memory works with: the one writer thread, too."""

    recorder: Recorder

    def write(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Has the recorder carry out a change, and waits for it and for the index."""
        done = self.recorder.call(call, *args, **kwargs).result()
        self.finish()
        return done

    def finish(self) -> None:
        """Waits for the index; says so when it cannot follow now."""
        done = self.recorder.flush(FLUSH_S)
        self.show_notices()
        if not done and not self.notices:
            problem = self.recorder.index_problem or "the index did not follow in time"
            typer.echo(f"bmo: {problem} It is brought up to date at the next start.", err=True)


@contextmanager
def opened_stores(settings: Settings) -> Iterator[Stores]:
    """Ledger, index and recorder, without gates: for commands that change memory."""
    from bmo.recorder import Recorder

    with (
        opened_reader(settings, owner=True) as reader,
        closing(Recorder(reader.ledger, reader.index, settings)) as recorder,
    ):
        yield Stores(reader.ledger, reader.index, reader.notices, recorder)


@contextmanager
def opened_reader(
    settings: Settings, *, owner: bool = False, take_over: bool = False, look: bool = False
) -> Iterator[Reader]:
    """Ledger and index without a recorder; beside a running BMO the ledger alone.

    Args:
        settings: Settings of this process.
        owner: The index is needed: another process that owns it is an error.
        take_over: Make the index this ledger's, whoever it belongs to.
        look: They are counted only: see ``opened_ledger``; the embedder stays closed.
    """
    from bmo.index import StoreInUse

    notices: list[ServiceNotice] = []
    with opened_ledger(settings, look=look) as ledger:
        index: MemoryIndex | None = None
        missing = ""
        try:
            index = open_index(settings, notices, ledger, take_over=take_over, look=look)
        except MemoryUnavailable as error:
            if owner or not isinstance(error.__cause__, StoreInUse):
                raise
            missing = f"{error} Until then the ledger answers without search by meaning."
        said = (*(notice.message for notice in notices), missing)
        with nullcontext() if index is None else closing(index):
            yield Reader(ledger, index, tuple(filter(None, said)))


@contextmanager
def opened_service(settings: Settings) -> Iterator[MemoryService]:
    """Everything, with gates and encoder: for commands that ask them."""
    with _sentences_only(settings):
        service = MemoryService.open_blocking(settings)
        known = len(service.notices)
        try:
            yield service
        finally:
            service.close_blocking()
        if wrong := service.notices[known:]:
            raise MemoryUnavailable(" ".join(notice.message for notice in wrong))


def the_fact(ledger: Ledger, user_id: str, prefix: str) -> StoredFact:
    """The one memory whose id begins with ``prefix``, live or ended."""
    found = ledger.find_facts(user_id, prefix.strip().lower())
    if not found and ledger.raw_turns(user_id):
        raise CommandError(
            f"no memory has an id that starts with {prefix[:40]!r}: what bmo recall shows under "
            "MEM0_SETTING=NORMAL are stored turns, which have no history; bmo memories wipe erases "
            "them all."
        )
    return the_only(found, prefix, user_id, "memory", "bmo memories list")


def the_only(rows: Iterable[_Row], prefix: str, user_id: str, called: str, shown_by: str) -> _Row:
    """The one row whose id begins with what was typed.

    In the sentence for none or several a row is ``called`` so, and ``shown_by`` that command.
    """
    wanted = prefix.strip().lower()
    found = [row for row in rows if wanted and row.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    starts = f"an id that starts with {prefix[:40]!r}"
    if not found:
        who = identity_of(user_id)
        raise CommandError(f"no {called} of {who!r} has {starts}; {shown_by} shows them.")
    several = f"{called[:-1]}ies" if called.endswith("y") else f"{called}s"
    raise CommandError(f"{len(found)} {several} have {starts}: add to it.")


def check_words(settings: Settings, *given: str | None) -> None:
    """Refuses words that would steer the assistant, or hold a secret or an identifier."""
    words_given = [words for words in given if words]
    if not words_given:
        return
    from bmo.gate import NotStorable, WriteGate
    from bmo.ledger import LONGEST_TEXT

    gate = WriteGate.from_settings(settings)
    for words in words_given:
        try:
            if len(words) > LONGEST_TEXT:
                raise NotStorable(f"the words are longer than {LONGEST_TEXT} characters; cut them.")
            gate.check_given(words)
        except NotStorable as error:
            raise CommandError(str(error)) from None


@contextmanager
def _sentences_only(settings: Settings) -> Iterator[None]:
    """Turns what the database raises into a sentence, and keeps log lines off the terminal."""
    from sqlalchemy.exc import DBAPIError

    from bmo.index import IndexUnavailable

    try:
        with quiet_logs():
            yield
    except IndexUnavailable as error:
        raise MemoryUnavailable(str(error)) from error
    except DBAPIError as error:
        first_line = (str(error.orig).strip() or repr(error.orig)).splitlines()[0]
        place = (settings.bmo_ledger_url and "of BMO_LEDGER_URL") or f"in {settings.bmo_home}"
        raise MemoryUnavailable(
            f"The ledger {place} failed ({first_line}); bmo doctor says what is wrong with it."
        ) from error
