"""Opening what memory is made of; what cannot be had now is a notice, or one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bmo.settings import Settings, quiet_third_parties

if TYPE_CHECKING:
    from bmo.encoder import Encoder
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

UNTIL_THE_INDEX = (
    "Until then what is kept waits in the ledger, and recall finds it by its words, its slot or "
    "its person, not by meaning."
)
UNTIL_THE_ENCODER = (
    'Until then only orders and plain facts ("remember that ...", "my brother is sam") are kept, '
    "all else is held (bmo reprocess --held reads it later), and only plain questions "
    '("what is my brother\'s name") are answered.'
)


class MemoryUnavailable(RuntimeError):
    """Memory could not be opened; the message is one sentence that names the fix."""


@dataclass(frozen=True, slots=True)
class ServiceNotice:
    """Something a person should know about how memory was opened or closed.

    Attributes:
        part: "index", "judge", "embedder", "model", "rules", "mode" or "clock"; of what could not
            be closed its name ("ledger").
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
        return Ledger.open(
            settings.ledger_url,
            settings.bmo_ledger_connections,
            check=check,
            make_folder=settings.bmo_ledger_url is None,
        )
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
    if not (look or index.unavailable) and (anew := _made_anew(ledger, index)):
        notices.append(ServiceNotice("index", anew))
    return index


def _made_anew(ledger: Ledger, index: MemoryIndex) -> str:
    """A sentence about an index that is not whole yet, or ""."""
    from bmo.index import IndexUnavailable
    from bmo.recorder import made_anew

    try:
        anew = made_anew(ledger, index)
    except IndexUnavailable:  # whoever uses it next says why
        return ""
    return anew and f"The index is being made anew: {anew}, and are found by their words alone."


def open_encoder(settings: Settings, notices: list[ServiceNotice]) -> Encoder | None:
    """Opens the encoder where the mode has one; None, and a notice, when its model is missing."""
    if settings.effective_mode in ("pattern", "disabled") or settings.mem0_setting == "NORMAL":
        return None
    from bmo.encoder import Encoder, EncoderUnavailable

    try:
        return Encoder.open()
    except EncoderUnavailable as error:
        notices.append(ServiceNotice("judge", f"{error} {UNTIL_THE_ENCODER}"))
        return None
