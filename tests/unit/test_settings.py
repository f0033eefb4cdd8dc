"""Settings: defaults, bad values in one sentence, and .env.example in step with the code."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from bmo.settings import (
    MemorySettingWarning,
    Settings,
    SettingsError,
    checked_user_id,
    load_settings,
)

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


def test_gated_and_local_by_default() -> None:
    settings = load_settings()
    assert settings.mem0_setting == "GATED"
    assert (settings.gatekeeper_mode, settings.effective_mode) == (None, "local")
    assert settings.gatekeeper_fail_policy == "closed"
    assert settings.ledger_url == f"sqlite:///{settings.bmo_home / 'ledger.sqlite3'}"


@pytest.mark.parametrize("value", ["NORMAL", "normal", " Normal "])
def test_normal_in_any_case(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MEM0_SETTING", value)
    assert load_settings().mem0_setting == "NORMAL"


def test_invalid_memory_setting_means_gated_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_SETTING", "SOMETIMES")
    with pytest.warns(MemorySettingWarning, match="'SOMETIMES'"):
        assert load_settings().mem0_setting == "GATED"


def test_empty_memory_setting_means_gated_without_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEM0_SETTING", "")
    assert load_settings().mem0_setting == "GATED"


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("GATEKEEPER_MODE", "psychic", "local, pattern, hybrid, llm, disabled"),
        ("GATEKEEPER_FAIL_POLICY", "ajar", "closed, open"),
        ("BMO_RECALL_TOP_K", "many", "whole number"),
        ("BMO_RECALL_TOP_K", "0", "at least 1"),
        ("BMO_JUDGE_READ", "1.5", "at most 1"),
        ("BMO_JUDGE_READ", "nan", "it must be a number"),
        ("BMO_MODEL_SEES", "all", "memories, words"),
        ("GATEKEEPER_LLM_WHEN", "never", "pause, end"),
        ("GATEKEEPER_LLM_BATCH", "0", "at least 1"),
        ("BMO_CONTEXT_DEPTH", "deep", "auto, minimal, full"),
        ("GATEKEEPER_ENABLED", "perhaps", "true, false"),
        ("BMO_LEDGER_URL", "mysql://localhost/x", "sqlite:///<path> or postgresql+psycopg://"),
        ("BMO_LEDGER_URL", "sqlite:///", "use sqlite:///<path>"),
        ("BMO_LEDGER_URL", "sqlite:///:memory:", "use sqlite:///<path>"),
        ("QDRANT_URL", "localhost:6333", "http://<host>:6333"),
        ("LIVEKIT_URL", "htp:/nowhere", "use wss://<host>"),
        ("LIVEKIT_URL", "my.livekit.cloud", "use wss://<host>"),
        ("LIVEKIT_URL", "wss://", "use wss://<host>"),
        ("LIVEKIT_URL", "7880", "use wss://<host>"),
        ("QDRANT_URL", "http://a b", "http://<host>:6333"),
        ("QDRANT_URL", "http://db:99999", "a port is 1 to 65535"),
        ("QDRANT_URL", "http://[::1", "its host and port cannot be read"),
        ("BMO_LEDGER_URL", "postgresql+psycopg://db:abc/x", "a port is 1 to 65535"),
        ("LIVEKIT_URL", "ws://h:-1", "a port is 1 to 65535"),
        ("OLLAMA_HOST", "http://h:abc", "a port is 1 to 65535"),
        ("OLLAMA_HOST", "hello world", "use http://<host>:11434"),
        ("BMO_LEDGER_URL", "sqlite+aiosqlite:////tmp/x", "use sqlite:///<path>"),
        ("BMO_LEDGER_URL", "postgresql+asyncpg://db/x", "postgresql+psycopg://"),
        ("BMO_LEDGER_URL", "POSTGRESQL://db/x", "postgresql+psycopg://"),
        ("BMO_HOME", "~nouser/x", "write the path without '~'"),
        ("GATEKEEPER_LLM_MODEL", "openai/gpt-4o", "gemini-..., gemma-..."),
        ("GATEKEEPER_LLM_MODEL", "gemini-3.1-flash-lite, gpt-4o", "ollama/<name>"),
    ],
)
def test_bad_value_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, allowed: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    sentence = str(caught.value)
    assert name in sentence
    assert value in sentence
    assert allowed in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("name", ["QDRANT_API_KEY", "GOOGLE_API_KEY", "LIVEKIT_API_SECRET"])
def test_a_key_that_no_request_can_carry_is_refused_unshown(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "schlüssel")
    with pytest.raises(SettingsError, match=rf"{name}=\(hidden\) .*copy it anew") as caught:
        load_settings()
    assert "schl" not in str(caught.value)


def test_a_name_that_is_no_setting_is_refused() -> None:
    with pytest.raises(SettingsError, match="is no setting: gatekeeper_mode"):
        load_settings(gatekeeper_mod="x")


def test_a_password_in_an_address_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("mysql://bmo:hunter2@db/x", "postgresql://bmo:hunter2/s@db:x/y"):
        monkeypatch.setenv("BMO_LEDGER_URL", url)
        with pytest.raises(SettingsError, match="BMO_LEDGER_URL") as caught:
            load_settings()
        assert "hunter2" not in str(caught.value)


def test_environment_wins_over_dotenv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("BMO_USER_ID=from-file\nBMO_PREFER=speed\n")
    monkeypatch.setenv("BMO_USER_ID", "from-environment")
    settings = load_settings()
    assert settings.bmo_user_id == "from-environment"
    assert settings.bmo_prefer == "speed"


def test_keys_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "very-secret")
    assert "very-secret" not in repr(load_settings())


@pytest.mark.parametrize("hostile", ["", "*", "a b", "a'b", "ａdmin", "x" * 129, "a\n", "../x"])
def test_hostile_user_ids_are_refused(hostile: str) -> None:
    with pytest.raises(ValueError, match="not allowed"):
        checked_user_id(hostile)


def test_env_example_lists_every_setting_and_nothing_else() -> None:
    listed = re.findall(r"^#?([A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {name.upper() for name in Settings.model_fields}


def test_env_example_explains_each_setting() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    unexplained = [
        line
        for before, line in itertools.pairwise(lines)
        if re.match(r"#?[A-Z0-9_]+=", line) and not before.startswith("#")
    ]
    assert unexplained == []


def test_a_dotenv_that_is_not_utf8_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"BMO_USER_ID=zo\xeb\n")
    with pytest.raises(SettingsError, match=r"'\.env' is not UTF-8"):
        load_settings()
