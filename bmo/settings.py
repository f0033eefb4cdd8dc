"""Settings: every environment variable BMO reads, with its default, in one place.

Values come from the environment and from a ``.env`` file in the working directory (the
environment wins). ``.env.example`` lists them all.
"""

from __future__ import annotations

import os
import re
import warnings
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bmo.ids import USER_ID_PATTERN, as_user_id
from bmo.turn import Depth, Visibility

MemorySetting = Literal["GATED", "NORMAL"]
GatekeeperMode = Literal["local", "pattern", "hybrid", "llm", "disabled"]
FailPolicy = Literal["closed", "open"]
SensitivePolicy = Literal["drop", "mask", "keep"]
InjectRole = Literal["system", "assistant"]
Models = Literal["auto", "google", "google-live", "inference"]
EmbedderName = Literal["local", "gemini"]
Guests = Literal["ignore", "separate"]
Prefer = Literal["balanced", "speed", "accuracy"]
Language = Literal["auto", "en", "de", "fr", "es"]
ModelSees = Literal["memories", "words"]
AskedWhen = Literal["pause", "end"]

_SQLITE = re.compile(r"sqlite(?:\+pysqlite)?://")
_LEDGER_URL = re.compile(_SQLITE.pattern + r"/(?!:memory:)[^?]|postgresql(?:\+psycopg)?://")
"""The drivers that BMO uses; SQLAlchemy knows them in small letters."""
_LIVEKIT_ADDRESS = re.compile(r"(?:wss?|https?)://[^\s/?#]+(?:[/?#]\S*)?", re.IGNORECASE)
_WEB_ADDRESS = re.compile(r"https?://[^\s/?#]+(?:[/?#]\S*)?", re.IGNORECASE)
_HOST = re.compile(r"(?:https?://)?[^\s/?#]+(?:[/?#]\S*)?", re.IGNORECASE)
_PASSWORD = re.compile(r"(?:(?<=://)|^(?!\w[\w+.-]*://))\S*@")
"""User and password of an address, which are shown nowhere."""

DEFAULT_GEMINI_MODEL = "gemini-3.1-flash-lite"
"""Google's model for high volumes of small tasks."""

CONNECTIONS = 2
"""Connections of a process to PostgreSQL: one writes while another reads."""

OLLAMA_PREFIX = "ollama/"
"""What a model of Ollama begins with in GATEKEEPER_LLM_MODEL."""

_MODEL_PREFIXES = ("gemini-", "gemma-", OLLAMA_PREFIX)
"""What the models begin with that BMO has a client for."""

_SECRETS = ("qdrant_api_key", "google_api_key", "livekit_api_key", "livekit_api_secret")


class SettingsError(ValueError):
    """A setting is wrong; the message is one sentence that names variable, value and fix."""


class MemorySettingWarning(UserWarning):
    """MEM0_SETTING was not understood and GATED is used."""


class Settings(BaseSettings):
    """All settings of one process. Field names are the lower-case variable names."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        case_sensitive=False,
        populate_by_name=True,
    )

    mem0_setting: MemorySetting = "GATED"
    """GATED: both gates. NORMAL: store every turn, search every turn."""

    gatekeeper_enabled: bool = True
    """False allows every turn raw, as GATEKEEPER_MODE=disabled does."""
    gatekeeper_mode: GatekeeperMode | None = None
    """local: rules, then the encoder on this machine. pattern: rules only. Unset: hybrid where a
    model of GATEKEEPER_LLM_MODEL can be asked, else local (see ``bmo.memory.opening``)."""
    gatekeeper_fail_policy: FailPolicy = "closed"
    """What happens to a turn nothing could vouch for: closed holds it, open allows it raw."""
    gatekeeper_short_user_threshold: int = Field(20, ge=0, le=2000)
    """A turn shorter than this (characters) may be a short exchange."""
    gatekeeper_short_assistant_threshold: int = Field(100, ge=0, le=20000)
    """... if the reply is shorter than this (characters)."""
    gatekeeper_greeting_length_limit: int = Field(50, ge=0, le=2000)
    """A greeting shorter than this (characters) is skipped; a longer one is held at least."""
    gatekeeper_custom_rules_path: Path | None = None
    """YAML file with skip and keep rules of your own."""
    gatekeeper_debug: bool = False
    """Log one line a decision."""
    gatekeeper_llm_model: str = DEFAULT_GEMINI_MODEL
    """Models for hybrid and llm mode, with commas between: Gemini models, ``ollama/<name>``."""
    gatekeeper_llm_budget: int = Field(100, ge=0)
    """Model calls allowed a day (UTC) and user."""
    gatekeeper_llm_token_budget: int = Field(200_000, ge=0)
    """Model tokens allowed a day (UTC) and user, both ways."""
    gatekeeper_llm_when: AskedWhen = "pause"
    """pause: a model is asked when a user has been silent for a while. end: at a visit's end."""
    gatekeeper_llm_idle_s: float = Field(5.0, ge=0.0, le=3600.0)
    """Seconds of a user's silence that are a pause."""
    gatekeeper_llm_batch: int = Field(8, ge=1, le=50)
    """Turns of a visit that share a model call."""
    bmo_model_sees: ModelSees = "words"
    """What a model behind the gate is sent. memories: only what was kept. words: also what is held,
    and the turns around."""
    bmo_sensitive: SensitivePolicy = "drop"
    """Personal identifiers (phone, e-mail, passport ...): drop, mask or keep. Secrets: never."""
    bmo_judge_allow: float | None = Field(None, ge=0.0, le=1.0)
    """Encoder's probability from which a turn is allowed; default from the model's file."""
    bmo_judge_discard: float | None = Field(None, ge=0.0, le=1.0)
    """Encoder's probability of discard from which a turn is discarded; default from the file."""
    bmo_judge_read: float | None = Field(None, ge=0.0, le=1.0)
    """Encoder's read-need from which memory is searched; default from the file."""
    bmo_language: Language = "auto"
    """Language of the speaker; auto leaves it to the recogniser to detect it."""

    bmo_home: Path = Path(platformdirs.user_data_dir("bmo", appauthor=False))
    """Where ledger, index and models of this user live."""
    bmo_user_id: str = "local"
    """Whose memory it is in terminal and console."""
    bmo_agent_id: str = Field("", max_length=128)
    """Which of a user's agents this is, where several share one memory."""
    bmo_visibility: Visibility = "shared"
    """Which agents are given what this one is told: shared (all), agent (it alone) or private
    (none; `bmo memories` shows it)."""
    bmo_ledger_url: str | None = None
    """SQLAlchemy URL; default is SQLite in BMO_HOME."""
    bmo_ledger_connections: int = Field(CONNECTIONS, ge=2, le=100)
    """Connections of one process to PostgreSQL, at most."""
    bmo_embedder: EmbedderName = "local"
    """local: the encoder on this machine. gemini: Gemini's embedder by GOOGLE_API_KEY."""
    qdrant_url: str | None = None
    """A Qdrant server; default is Qdrant Edge inside this process."""
    qdrant_api_key: SecretStr | None = None
    """Key of the Qdrant server."""
    qdrant_ca_file: Path | None = None
    """Certificates in PEM that the Qdrant server's may be signed by, beside the system's."""
    qdrant_vectors_on_disk: bool = False
    """The Qdrant server reads vectors from its disk: less memory there, slower searches."""
    google_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("google_api_key", "gemini_api_key")
    )
    """Gemini: replies, voices, embedder, extraction."""
    ollama_host: str = "http://127.0.0.1:11434"
    """Ollama's address for extraction."""
    livekit_url: str | None = None
    """LiveKit server, for ``bmo dev`` and ``bmo start``."""
    livekit_api_key: SecretStr | None = None
    """Key of the LiveKit server."""
    livekit_api_secret: SecretStr | None = None
    """Secret of the LiveKit server."""
    bmo_models: Models = "auto"
    """Models of the worker: google, google-live, or inference (LiveKit model strings)."""
    bmo_llm: str | None = None
    """Model of the replies; default depends on BMO_MODELS."""
    bmo_stt: str | None = None
    """Speech recogniser; default depends on BMO_MODELS."""
    bmo_tts: str | None = None
    """Voice; default depends on BMO_MODELS."""
    bmo_guests: Guests = "ignore"
    """Turns of other speakers: ignored, or stored under an id of their own."""
    bmo_trust_participant_attributes: bool = False
    """Take the user's id from the participant's attribute ``bmo.user_id``. A participant whose
    token allows ``canUpdateOwnMetadata`` sets it himself, and is given anybody's memory."""
    bmo_memory_required: bool = False
    """Refuse a call whose memory cannot be opened; else it goes on without."""
    bmo_metrics_port: int | None = Field(None, ge=0, le=65535)
    """Port of the worker's Prometheus metrics; none by default."""

    bmo_recall_deadline_ms: int = Field(150, ge=1, le=60000)
    """After this the reply goes out without memory."""
    bmo_recall_top_k: int = Field(10, ge=1, le=100)
    """Memories asked of the index per search."""
    bmo_context_depth: Depth = "auto"
    """auto, minimal (direct questions only, briefly) or full (everything that fits)."""
    bmo_prefer: Prefer = "balanced"
    """speed halves the budget, accuracy widens it."""
    bmo_profile_tokens: int = Field(400, ge=0, le=10000)
    """Ceiling for the once-per-session profile, in tokens, beside the reserve for hard rules."""
    bmo_inject_role: InjectRole = "system"
    """Role of the injected message."""
    bmo_keep_turns_days: int = Field(30, ge=0, le=36500)
    """Days after which the words of discarded turns are dropped (decisions stay)."""

    @field_validator("mem0_setting", mode="before")
    @classmethod
    def _gated_when_invalid(cls, value: object) -> object:
        upper = str(value).strip().upper()
        if upper in ("GATED", "NORMAL"):
            return upper
        if upper:
            warnings.warn(
                f"MEM0_SETTING={str(value)!r} is neither GATED nor NORMAL; using GATED.",
                MemorySettingWarning,
                stacklevel=2,
            )
        return "GATED"

    @field_validator(
        "gatekeeper_mode",
        "gatekeeper_fail_policy",
        "gatekeeper_llm_when",
        "bmo_model_sees",
        "bmo_sensitive",
        "bmo_language",
        "bmo_embedder",
        "bmo_models",
        "bmo_guests",
        "bmo_context_depth",
        "bmo_prefer",
        "bmo_inject_role",
        "bmo_visibility",
        mode="before",
    )
    @classmethod
    def _any_case(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("gatekeeper_llm_model")
    @classmethod
    def _known_model(cls, value: str) -> str:
        names = filter(None, re.split(r"\s*,\s*", value.strip()))
        foreign = next((one for one in names if not one.startswith(_MODEL_PREFIXES)), None)
        if foreign is not None:
            raise ValueError(
                f"BMO has no client for {foreign!r}: use a model of Google (gemini-..., gemma-..., "
                f"as {DEFAULT_GEMINI_MODEL}) or one of Ollama ({OLLAMA_PREFIX}<name>)"
            )
        return value

    @field_validator("bmo_user_id")
    @classmethod
    def _safe_user_id(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty: name somebody, or leave it out for 'local'")
        return as_user_id(value)

    @field_validator("bmo_ledger_url")
    @classmethod
    def _known_database(cls, value: str | None) -> str | None:
        if value is not None and not _LEDGER_URL.match(value):
            raise ValueError(
                "use sqlite:///<path> or postgresql+psycopg://user:password@host/database"
            )
        return value if value and _SQLITE.match(value) else _with_port(value)

    @field_validator("qdrant_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is not None and not _WEB_ADDRESS.fullmatch(value):
            raise ValueError("use http://<host>:6333 or https://<host>")
        return _with_port(value)

    @field_validator("livekit_url")
    @classmethod
    def _livekit_address(cls, value: str | None) -> str | None:
        if value is not None and not _LIVEKIT_ADDRESS.fullmatch(value):
            raise ValueError("use wss://<host>, or ws://<host>:7880 for a server of your own")
        return _with_port(value)

    @field_validator("ollama_host")
    @classmethod
    def _ollama_address(cls, value: str) -> str:
        if not _HOST.fullmatch(value):
            raise ValueError("use http://<host>:11434, or <host> alone")
        return _with_port(value) or value

    @field_validator(*_SECRETS)
    @classmethod
    def _sendable(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().isascii():
            raise ValueError("it has letters that no key has: copy it anew")
        return value

    @field_validator("bmo_home")
    @classmethod
    def _absolute_home(cls, value: Path) -> Path:
        if not str(value).strip():
            raise ValueError("it is empty: name a folder, or leave it out")
        try:
            home = value.expanduser().absolute()
        except RuntimeError:  # "~nouser/x"
            raise ValueError("nobody here has that name: write the path without '~'") from None
        there = next(place for place in (home, *home.parents) if place.exists())
        if not there.is_dir():
            raise ValueError(f"{str(there)!r} is a file: name a folder")
        return home

    @property
    def ledger_url(self) -> str:
        """SQLAlchemy URL of the ledger."""
        return self.bmo_ledger_url or f"sqlite:///{self.bmo_home / 'ledger.sqlite3'}"

    @property
    def model_names(self) -> tuple[str, ...]:
        """The models of GATEKEEPER_LLM_MODEL, each once, in the order they are written."""
        names = (name.strip() for name in self.gatekeeper_llm_model.split(","))
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def gemini_model(self) -> str:
        """The first Gemini model of GATEKEEPER_LLM_MODEL, or the default one."""
        found = (one for one in self.model_names if not one.startswith(OLLAMA_PREFIX))
        return next(found, DEFAULT_GEMINI_MODEL)

    @property
    def effective_mode(self) -> GatekeeperMode:
        """The gate's mode after GATEKEEPER_ENABLED; local while it is unset and nobody looked."""
        return (self.gatekeeper_mode or "local") if self.gatekeeper_enabled else "disabled"


def _with_port(value: str | None) -> str | None:
    """An address whose host and port can be read.

    Raises:
        ValueError: They cannot.
    """
    place = (value or "").rpartition("@")[2].rpartition("//")[2]
    try:
        urlsplit(f"//{place}").port  # noqa: B018 - it is read when it is asked for
    except ValueError:
        raise ValueError("its host and port cannot be read; a port is 1 to 65535") from None
    return value


def checked_user_id(value: str) -> str:
    """Returns ``value`` if it may be a user id.

    Raises:
        ValueError: It has characters outside ``[A-Za-z0-9._:@-]`` or is not 1-128 long.
    """
    if not USER_ID_PATTERN.fullmatch(value):
        raise ValueError(
            f"user id {value[:40]!r} is not allowed: use 1 to 128 of letters, digits and . _ : @ -"
        )
    return value


def load_settings(**overrides: Any) -> Settings:
    """Reads the settings of this process.

    Raises:
        SettingsError: One sentence per wrong variable, naming variable, value and what is allowed.
    """
    known = {*Settings.model_fields, "gemini_api_key"}
    if unknown := sorted(set(overrides) - known):
        near = get_close_matches(unknown[0], known, 1)
        meant = f": {near[0]}?" if near else ": Settings lists them."
        raise SettingsError(f"{unknown[0]!r} is no setting{meant}")
    try:
        return Settings(**overrides)
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"the file '.env' is not UTF-8 (byte {error.start}): save it as UTF-8."
        ) from None
    except ValidationError as error:
        raise SettingsError(" ".join(_sentence(item) for item in error.errors())) from None


class _Requirement(BaseSettings):
    """One variable alone, for when another one is wrong."""

    model_config = Settings.model_config
    bmo_memory_required: bool = False


def memory_required() -> bool:
    """Whether BMO_MEMORY_REQUIRED is set, whatever is wrong with other variables."""
    try:
        return _Requirement().bmo_memory_required
    except ValueError:  # it is what is wrong, or the file is
        return False


def _shown(value: object) -> str:
    """A value as a sentence shows it: an address without user and password."""
    return repr(_PASSWORD.sub("...@", value) if isinstance(value, str) else value)


def _sentence(item: Any) -> str:
    """Turns one pydantic error into a sentence for the person who set the variable."""
    name = str(item["loc"][0]).upper() if item["loc"] else "A setting"
    secret = any(word in name for word in ("KEY", "SECRET"))
    shown = "(hidden)" if secret else _shown(item["input"])
    context = item.get("ctx", {})
    kind = item["type"]
    if kind == "literal_error":
        allowed = f"allowed are {context['expected'].replace(' or ', ', ').replace(chr(39), '')}"
    elif kind.startswith("float") or str(item["input"]).lower().lstrip("+-") == "nan":
        allowed = "it must be a number"
    elif kind in ("greater_than_equal", "less_than_equal"):
        bound = context.get("ge", context.get("le"))
        allowed = f"it must be {'at least' if 'ge' in context else 'at most'} {bound}"
    elif kind.startswith("int"):
        allowed = "it must be a whole number"
    elif kind.startswith("bool"):
        allowed = "allowed are true, false"
    else:
        allowed = str(item["msg"]).removeprefix("Value error, ")
        # The fault names the value once more: "user id 'a b' is not allowed: use ...".
        allowed = allowed.partition(f"{item['input']!r} is not allowed: ")[2] or allowed
    return f"{name}={shown} is not allowed: {allowed}."


def quiet_third_parties(home: Path) -> None:
    """Sets what Mem0 reads at import: no telemetry, no files outside ``home``.

    Must run before ``import mem0``. With telemetry on, Mem0 starts PostHog threads and opens a
    second store with a lock of its own.
    """
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("MEM0_DIR", str(home / "mem0"))
