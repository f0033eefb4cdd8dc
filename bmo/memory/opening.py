"""Opening what memory is made of; what cannot be had now is a notice, or one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bmo.settings import Settings, quiet_third_parties

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.judge import Judge
    from bmo.ledger import Ledger

UNTIL_THE_INDEX = "Until then recall reads the ledger, and nothing is lost."


class MemoryUnavailable(RuntimeError):
    """Memory could not be opened; the message is one sentence that names the fix."""


@dataclass(frozen=True, slots=True)
class ServiceNotice:
    """Something a person should know about how memory was opened.

    Attributes:
        part: "index", "judge", "embedder", "model", "rules", "mode" or "clock".
        message: One sentence.
    """

    part: str
    message: str


def open_ledger(settings: Settings, *, check: bool = True) -> Ledger:
    """Opens the ledger alone: works beside a running BMO, which owns the embedded index.

    Args:
        settings: Settings of this process.
        check: Look for damage inside of it first.

    Raises:
        MemoryUnavailable: One sentence that names the path and the fix.
    """
    from bmo.ledger import Ledger, LedgerUnavailable

    try:
        settings.bmo_home.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_not_emptied(settings)
        return Ledger.open(settings.ledger_url, settings.bmo_ledger_connections, check=check)
    except LedgerUnavailable as error:
        raise MemoryUnavailable(str(error)) from error
    except OSError as error:
        raise MemoryUnavailable(
            f"BMO_HOME={str(settings.bmo_home)!r} cannot be written ({error.strerror}): "
            "make it writable or point BMO_HOME to another directory."
        ) from error


def _check_not_emptied(settings: Settings) -> None:
    """An empty ledger file beside an index is no new ledger: something emptied it."""
    ledger = settings.bmo_home / "ledger.sqlite3"
    if settings.bmo_ledger_url is not None or not ledger.is_file() or ledger.stat().st_size:
        return
    index = next((path for path in settings.bmo_home.glob("qdrant-*/*") if path.is_dir()), None)
    if index is not None:
        raise MemoryUnavailable(
            f"The ledger {str(ledger)!r} is empty, but its index is not: put a backup in its "
            f"place, or remove it and {str(index.parent)!r} to begin anew."
        )


def open_index(
    settings: Settings,
    notices: list[ServiceNotice],
    ledger: Ledger,
    *,
    take_over: bool = False,
    look: bool = False,
) -> MemoryIndex | None:
    """Opens the index alone, with its embedder; None, and a notice, when it cannot be had now.

    An index of another ledger is made this one's only by ``take_over``; to be looked at only, it
    needs no embedder.

    Raises:
        MemoryUnavailable: Another process owns the embedded store.
    """
    quiet_third_parties(settings.bmo_home)
    from bmo.index import (
        EmbedderUnavailable,
        IndexOwner,
        IndexUnavailable,
        MemoryIndex,
        StoreInUse,
        UnopenedEmbedder,
    )

    try:
        owner = IndexOwner(ledger.identity(), ledger.knows, take_over)
        embedder = UnopenedEmbedder(settings) if look else None
        index = MemoryIndex.open(settings, embedder, owner=owner)
    except StoreInUse as error:
        raise MemoryUnavailable(str(error)) from error
    except (IndexUnavailable, EmbedderUnavailable) as error:
        notices.append(ServiceNotice("index", f"{error} {UNTIL_THE_INDEX}"))
        return None
    if index.unavailable:
        notices.append(ServiceNotice("index", f"{index.unavailable} {UNTIL_THE_INDEX}"))
    elif index.notice:
        notices.append(ServiceNotice("index", index.notice))
    return index


def open_judge(settings: Settings, notices: list[ServiceNotice]) -> Judge | None:
    """Opens the judge where the mode has one; None, and a notice, when its model is missing."""
    if settings.effective_mode in ("pattern", "disabled") or settings.mem0_setting == "NORMAL":
        return None
    from bmo.judge import Judge, JudgeUnavailable

    try:
        return Judge.open()
    except JudgeUnavailable as error:
        notices.append(ServiceNotice("judge", f"{error} Until then the rules decide alone."))
        return None
