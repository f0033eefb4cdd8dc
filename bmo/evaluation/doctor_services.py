"""What ``bmo doctor`` looks at outside this machine: keys, models behind the gate, LiveKit.

No key is printed, and no model is asked anything.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bmo.evaluation.checks import Check, Status
from bmo.settings import OLLAMA_PREFIX, Settings

if TYPE_CHECKING:
    from pydantic import SecretStr

CONNECT_TIMEOUT_S = 3.0
"""Longest wait for a server, in seconds."""

_PLACEHOLDERS = ("your", "changeme", "xxx", "<", "...", "example")


def check_keys(settings: Settings) -> Iterator[Check]:
    """Which keys are there. They are never printed."""
    wanting = [
        name
        for name, wants in (
            (f"BMO_MODELS={settings.bmo_models}", settings.bmo_models in ("google", "google-live")),
            ("BMO_EMBEDDER=gemini", settings.bmo_embedder == "gemini"),
        )
        if wants
    ]
    fix, absent = "", "absent: replies come from the offline responder"
    if wanting:
        fix = f"set it, or unset {' and '.join(one.partition('=')[0] for one in wanting)}."
        absent = f"absent, and {' and '.join(wanting)} cannot work without it"
    yield _key("GOOGLE_API_KEY", settings.google_api_key, fix, absent)
    if settings.qdrant_url is not None:
        yield _key(
            "QDRANT_API_KEY", settings.qdrant_api_key, "", "absent: for a server without key"
        )


def check_models_behind(settings: Settings) -> Iterator[Check]:
    """Whether the models of hybrid and llm mode can be asked."""
    if settings.mem0_setting == "NORMAL" or settings.effective_mode not in ("hybrid", "llm"):
        return
    from bmo.extract import OllamaClient

    mode = settings.effective_mode
    for name in settings.model_names:
        if name.startswith(OLLAMA_PREFIX):
            client = OllamaClient(name.removeprefix(OLLAMA_PREFIX), settings.ollama_host)
            with closing(client):
                there = client.is_available()
            found = f"{settings.ollama_host} has it" if there else client.problem
            fix = "start Ollama and pull the model, or correct OLLAMA_HOST."
        else:
            there = settings.google_api_key is not None
            found = "a key is there; asked in the background" if there else "no key"
            fix = f"set GOOGLE_API_KEY, or GATEKEEPER_MODE=local instead of {mode}."
        status: Status = "ok" if there else "fail"
        yield Check("gate model", status, f"{name}: {found}", "" if there else fix)


def check_livekit(settings: Settings) -> Iterator[Check]:
    """Whether the LiveKit server is named, and answers."""
    if settings.livekit_url is None:
        yield Check("livekit", "ok", "LIVEKIT_URL is not set: only bmo dev and bmo start need it")
        return
    shown = without_password(settings.livekit_url)
    for name, key in (
        ("LIVEKIT_API_KEY", settings.livekit_api_key),
        ("LIVEKIT_API_SECRET", settings.livekit_api_secret),
    ):
        yield _key(name, key, "set it to the server's.", "absent")
    try:
        with socket.create_connection(_livekit_address(settings.livekit_url), CONNECT_TIMEOUT_S):
            yield Check("livekit", "ok", f"{shown} answers")
    except OSError as error:
        reason = error.strerror or str(error)
        found = f"{shown} does not answer ({reason})"
        yield Check("livekit", "fail", found, "start it or correct LIVEKIT_URL.")


def _livekit_address(url: str) -> tuple[str, int]:
    """Host and port of a LiveKit URL; the settings take no other."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme in ("wss", "https") else 80)


def _key(name: str, key: SecretStr | None, needed: str, absent: str) -> Check:
    if key is None:
        return Check(name, "fail" if needed else "ok", absent, needed)
    value = key.get_secret_value()
    if value != value.strip() or any(c.isspace() or c in "\"'" for c in value):
        return Check(name, "fail", "present, with spaces or quotes in it", "write it without them.")
    if any(part in value.lower() for part in _PLACEHOLDERS):
        return Check(name, "fail", "present, but a placeholder", "put the real key there.")
    return Check(name, "ok", "present")


def without_password(url: str) -> str:
    """A server's address as it may be shown; the settings take none without a host."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
