"""Opens and closes what a command needs; what cannot be opened ends in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

import typer

from bmo.cli.errors import CommandError
from bmo.ids import as_user_id, identity_of
from bmo.memory import MemoryService, MemoryUnavailable, ServiceNotice, open_index, open_ledger
from bmo.settings import Settings, load_settings
from bmo.telemetry import quiet_logs
from bmo.turn import CATEGORIES, Category, Visibility

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger
    from bmo.recorder import Recorder
    from bmo.turn import StoredFact

_Row = TypeVar("_Row")

NEAR_TOP_K = 5
NEAR_THRESHOLD = 0.4
"""How many similar memories an import is compared with, and from which cosine similarity."""

FLUSH_S = 60.0
"""Longest wait for the index after a change, in seconds."""

UserOption = Annotated[
    str | None, typer.Option("--user", help="Whose memory; default BMO_USER_ID.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
ObjectOption = Annotated[bool, typer.Option("--json", help="One JSON object.")]
VisibilityOption = Annotated[
    str | None, typer.Option("--visibility", help="shared, agent or private.")
]
IdArgument = Annotated[str, typer.Argument(help="The memory's id, or the start of it.")]


def settings_for(user: str | None) -> Settings:
    """Settings of this process, for one user.

    Args:
        user: Whose memory; None is BMO_USER_ID.

    Raises:
        SettingsError: A variable is wrong.
        CommandError: The user id is empty.
    """
    if user is None:
        return load_settings()
    try:
        user_id = as_user_id(user)
    except ValueError as error:
        raise CommandError(f"--user: {error}.") from None
    return load_settings(bmo_user_id=user_id)


@contextmanager
def opened_ledger(settings: Settings) -> Iterator[Ledger]:
    """The ledger alone: works beside a running BMO, which owns the embedded index.

    Raises:
        MemoryUnavailable: The ledger cannot be opened, or turns out to be damaged.
    """
    with _sentences_only(settings), closing(open_ledger(settings)) as ledger:
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
    """What a command that changes memory works with.

    Attributes:
        recorder: The one writer thread.
    """

    recorder: Recorder

    def near(self, user_id: str, text: str) -> list[tuple[str, float]]:
        """Similar facts, for reconciliation; none while the index cannot be reached."""
        if self.index is None or self.index.unavailable:
            return []
        hits = self.index.search(user_id, text, top_k=NEAR_TOP_K, threshold=NEAR_THRESHOLD)
        return [(hit.fact_id, hit.score) for hit in hits]

    def finish(self) -> None:
        """Waits for the index; says so when it cannot follow now."""
        done = self.recorder.flush(FLUSH_S)
        self.show_notices()
        if not done and not self.notices:
            problem = self.recorder.stats().index_problem or "the index did not follow in time"
            said = f"bmo: {problem} It is brought up to date at the next start."
            typer.echo(said, err=True)


@contextmanager
def opened_stores(settings: Settings) -> Iterator[Stores]:
    """Ledger, index and recorder, without gates: for commands that change memory.

    Raises:
        MemoryUnavailable: The ledger cannot be opened, or another process owns the store.
    """
    from bmo.recorder import Recorder

    with opened_reader(settings, owner=True) as reader:
        recorder = Recorder.open(reader.ledger, reader.index, settings)
        with closing(recorder):
            yield Stores(reader.ledger, reader.index, reader.notices, recorder)


@contextmanager
def opened_reader(
    settings: Settings, *, owner: bool = False, take_over: bool = False
) -> Iterator[Reader]:
    """Ledger and index without a recorder; beside a running BMO the ledger alone.

    Args:
        settings: Settings of this process.
        owner: The index is needed: another process that owns it is an error.
        take_over: Make the index this ledger's, whoever it belongs to.

    Raises:
        MemoryUnavailable: The ledger cannot be opened, or another process owns the store.
    """
    from bmo.index import StoreInUse

    notices: list[ServiceNotice] = []
    with opened_ledger(settings) as ledger:
        index = None
        extra: tuple[str, ...] = ()
        try:
            index = open_index(settings, notices, ledger, take_over=take_over)
        except MemoryUnavailable as error:
            if owner or not isinstance(error.__cause__, StoreInUse):
                raise
            extra = (f"{error} Until then the ledger answers without search by meaning.",)
        try:
            yield Reader(ledger, index, (*(notice.message for notice in notices), *extra))
        finally:
            if index is not None:
                index.close()


@contextmanager
def opened_service(settings: Settings) -> Iterator[MemoryService]:
    """Everything, with gates and encoder: for commands that ask them.

    Raises:
        MemoryUnavailable: The ledger cannot be opened, or another process owns the store.
    """
    with _sentences_only(settings):
        service = MemoryService.open_blocking(settings)
        try:
            yield service
        finally:
            service.close_blocking()


def the_fact(ledger: Ledger, user_id: str, prefix: str) -> StoredFact:
    """The one memory whose id begins with ``prefix``, live or ended.

    Raises:
        CommandError: There is none, or there are several.
    """
    wanted = prefix.strip().lower()
    found = ledger.find_facts(user_id, wanted) if wanted else []
    who = identity_of(user_id)
    return the_only(found, prefix, f"memory of {who!r}", "memories", "bmo memories list")


def the_only(found: Sequence[_Row], prefix: str, one: str, several: str, shown_by: str) -> _Row:
    """The one row whose id begins with what was typed.

    Args:
        found: The rows that do.
        prefix: What was typed.
        one: What such a row is, and whose ("memory of 'ana'").
        several: The same of several ("memories").
        shown_by: The command that shows them all.

    Raises:
        CommandError: There is none, or there are several.
    """
    if len(found) == 1:
        return found[0]
    if not found:
        raise CommandError(
            f"no {one} has an id that starts with {prefix[:40]!r}; {shown_by} shows them."
        )
    raise CommandError(f"{len(found)} {several} have an id that starts with {prefix!r}: add to it.")


def category_option(value: str | None) -> Category | None:
    """Reads ``--category``.

    Raises:
        CommandError: There is no such category.
    """
    known = next((category for category in CATEGORIES if category == value), None)
    if known is None and value is not None:
        listed = ", ".join(CATEGORIES)
        raise CommandError(f"--category {value[:40]!r} is unknown: use one of {listed}.")
    return known


def check_words(settings: Settings, *given: str | None) -> None:
    """Refuses words for a memory that no memory may hold.

    Raises:
        CommandError: They would steer the assistant, or hold a secret or an identifier.
    """
    from bmo.gate import NotStorable, check_given
    from bmo.ledger import LONGEST_TEXT

    for words in filter(None, given):
        try:
            if len(words) > LONGEST_TEXT:
                raise NotStorable(f"the words are longer than {LONGEST_TEXT} characters; cut them.")
            check_given(words, settings.bmo_sensitive)
        except NotStorable as error:
            raise CommandError(str(error)) from None


def visibility_option(value: str | None) -> Visibility | None:
    """Reads ``--visibility``.

    Raises:
        CommandError: There is no such visibility.
    """
    known = next((one for one in get_args(Visibility) if one == value), None)
    if known is None and value is not None:
        listed = ", ".join(get_args(Visibility))
        raise CommandError(f"--visibility {value[:40]!r} is unknown: use one of {listed}.")
    return known


def moment_option(name: str, text: str | None) -> datetime | None:
    """Reads the moment that an option names; one without a zone is read as UTC.

    Args:
        name: The option ("--as-of").
        text: ISO 8601, or None.

    Raises:
        CommandError: It is no such moment.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(
            f"{name} {text[:40]!r} must be ISO 8601 such as 2026-03-01 or 2026-03-01T09:00:00Z."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@contextmanager
def _sentences_only(settings: Settings) -> Iterator[None]:
    """Turns what the database raises into a sentence, and keeps log lines off the terminal."""
    from sqlalchemy.exc import DBAPIError

    try:
        with quiet_logs():
            yield
    except DBAPIError as error:
        first_line = (str(error.orig).strip() or repr(error.orig)).splitlines()[0]
        place = (settings.bmo_ledger_url and "of BMO_LEDGER_URL") or f"in {settings.bmo_home}"
        raise MemoryUnavailable(
            f"The ledger {place} failed ({first_line}); bmo doctor says what is wrong with it."
        ) from error
