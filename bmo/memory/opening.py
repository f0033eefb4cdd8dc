"""Opening what memory is made of; what cannot be had now is a notice, or one sentence."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bmo.settings import OLLAMA_PREFIX, GatekeeperMode, Settings, quiet_third_parties

if TYPE_CHECKING:
    from bmo.encoder import Encoder
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

LONGEST_LOOK_S = 1.5
"""Longest an Ollama is waited for, whatever it does, in seconds."""

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
        name, value = "BMO_HOME", str(settings.bmo_home)
        own = settings.bmo_ledger_url or ""
        if own.startswith("sqlite") and error.filename != value:  # other URLs hold passwords
            name, value = "BMO_LEDGER_URL", own
        raise MemoryUnavailable(
            f"{name}={value!r} cannot be written ({error.strerror}): "
            f"make it writable or point {name} to another place."
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


@dataclass(frozen=True, slots=True)
class ModeChoice:
    """A mode, and why it is that one in words for people; "" where somebody set it."""

    mode: GatekeeperMode
    why: str


def choose_mode(settings: Settings) -> ModeChoice:
    """The mode of these settings: ``hybrid`` where a model behind the gate can be asked.

    A Gemini model can be with a key, which is not tried; an Ollama model when its server answers
    and has it. Blocking, ``LONGEST_LOOK_S`` at most; never call it on an event loop.
    """
    gated = settings.gatekeeper_enabled and settings.mem0_setting == "GATED"
    if settings.gatekeeper_mode is not None or not gated:
        return ModeChoice(settings.effective_mode, "")
    problems: dict[str, None] = {}
    for name in settings.model_names:
        problem = _problem(settings, name)
        if not problem:
            return ModeChoice("hybrid", f"{name} can be asked")
        problems[problem] = None
    return ModeChoice("local", "; ".join(problems) or "GATEKEEPER_LLM_MODEL names no model")


def _problem(settings: Settings, name: str) -> str:
    """Why a model cannot be asked, or ""."""
    if not name.startswith(OLLAMA_PREFIX):
        return "" if settings.google_api_key is not None else "no GOOGLE_API_KEY"
    from bmo.extract import OllamaClient

    client = OllamaClient(name.removeprefix(OLLAMA_PREFIX), settings.ollama_host)
    # A thread beside: a server that sends a byte now and then never exceeds httpx's own time limit.
    looking = threading.Thread(target=client.is_available, name="bmo-ollama-probe", daemon=True)
    looking.start()
    looking.join(LONGEST_LOOK_S)
    if looking.is_alive():
        return f"Ollama does not answer within {LONGEST_LOOK_S:g} s"
    problem = client.problem
    client.close()
    return problem.rstrip(".")


def with_mode(settings: Settings) -> tuple[Settings, list[ServiceNotice]]:
    """The settings with the gate's mode; a notice where a named Ollama cannot be asked now."""
    chosen = choose_mode(settings)
    if settings.gatekeeper_mode is None:
        settings = settings.model_copy(update={"gatekeeper_mode": chosen.mode})
    named = any(name.startswith(OLLAMA_PREFIX) for name in settings.model_names)
    if chosen.mode == "hybrid" or not chosen.why or not named:
        return settings, []
    sentence = f"{chosen.why}. Until the next start GATEKEEPER_MODE is local."
    return settings, [ServiceNotice("mode", sentence)]


def normal_notices(settings: Settings) -> list[ServiceNotice]:
    """What MEM0_SETTING=NORMAL does with turns, said at start; nothing behind the gates."""
    if settings.mem0_setting != "NORMAL":
        return []
    what = (
        f"Mem0 extracts memories from every turn with {settings.gemini_model}"
        if settings.google_api_key is not None
        else "every turn is stored as it was said (with GOOGLE_API_KEY Mem0 would extract memories)"
    )
    sentence = f"MEM0_SETTING=NORMAL: no gates; {what}, and every turn searches them all."
    return [ServiceNotice("mode", sentence)]
