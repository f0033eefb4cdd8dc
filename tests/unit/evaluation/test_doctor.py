"""Checks of ``bmo doctor`` whose faults cannot be made from outside the process."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from pydantic import SecretStr

from bmo.encoder import MODEL
from bmo.evaluation.doctor import REINSTALL, check_encoder, check_models
from bmo.evaluation.doctor_services import check_keys, check_models_behind
from bmo.settings import Settings, SettingsError, load_settings

pytestmark = pytest.mark.unit


def settings(**values: object) -> Settings:
    return load_settings(**values)


def test_a_model_of_other_bytes_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(MODEL, tmp_path / "model")
    monkeypatch.setattr("bmo.encoder.MODEL", tmp_path / "model")
    assert {check.status for check in check_models()} == {"ok"}
    with (tmp_path / "model" / "model.onnx").open("ab") as file:
        file.write(b"one byte more")
    (damaged,) = check_models()
    assert (damaged.name, damaged.status) == ("model", "fail")
    assert "sha256" in damaged.found
    (tmp_path / "model" / "model.json").unlink()
    (missing,) = check_models()
    assert (missing.name, missing.status) == ("model", "fail")
    monkeypatch.setattr("bmo.encoder.encoder.MODEL", tmp_path / "model")
    found = list(check_encoder(settings(gatekeeper_mode="local", bmo_home=tmp_path)))
    assert [(one.name, one.status, one.fix) for one in found] == [
        ("embedder", "fail", REINSTALL),
        ("judge", "fail", REINSTALL),
    ]


@pytest.mark.parametrize(
    ("key", "status"),
    [
        ("AIzaSyD-9tSrke72PouQMnMX", "ok"),
        ("your-key-here", "fail"),
        ("<key>", "fail"),
        (' AIzaSy"', "fail"),
        (None, "ok"),
    ],
)
def test_a_key_is_judged_and_never_shown(key: str | None, status: str) -> None:
    given = None if key is None else SecretStr(key)
    (found,) = check_keys(settings(google_api_key=given, bmo_models="auto"))
    assert found.status == status
    assert key is None or key not in found.found + found.fix


def test_a_missing_key_fails_where_it_is_needed() -> None:
    (found,) = check_keys(settings(google_api_key=None, bmo_models="google"))
    assert found.status == "fail"
    assert "BMO_MODELS" in found.fix


def test_a_model_behind_the_gate_needs_its_key() -> None:
    gemini = load_settings(gatekeeper_mode="hybrid", google_api_key=None)
    found = list(check_models_behind(gemini))
    assert [check.status for check in found] == ["fail"]
    assert "GOOGLE_API_KEY" in found[0].fix
    keyed = load_settings(gatekeeper_mode="hybrid", google_api_key=SecretStr("abc"))
    assert [check.status for check in check_models_behind(keyed)] == ["ok"]
    assert list(check_models_behind(load_settings(gatekeeper_mode="local"))) == []


def test_an_ollama_that_is_away_is_named() -> None:
    settings = load_settings(
        gatekeeper_mode="llm", gatekeeper_llm_model="ollama/qwen3:4b", ollama_host="127.0.0.1:9"
    )
    (check,) = check_models_behind(settings)
    assert (check.name, check.status) == ("gate model", "fail")
    assert check.found.startswith("ollama/qwen3:4b: ")
    assert "OLLAMA_HOST" in check.fix


@pytest.mark.parametrize("url", ["wss://host:99999", "wss://[::1"])
def test_a_livekit_url_that_is_none_is_named(url: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(url)):
        settings(livekit_url=url)


def test_a_password_in_an_unreadable_url_is_not_shown() -> None:
    with pytest.raises(SettingsError) as refused:
        settings(livekit_url="wss://me:hunter2@host:99999")
    assert "hunter2" not in str(refused.value)
