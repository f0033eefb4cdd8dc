"""``bmo eval modes`` as people run it: a process of its own, conversations from a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import bmo
from tests.fakes.model_server import OLLAMA_MODEL, FakeModelServer

pytestmark = pytest.mark.integration

TALK = """
id: eval-talk
about: what eval modes is tried on
style: asr
language: en
user: ana
sessions:
  - at: 2026-03-01T09:00:00Z
    turns:
      - user: my brother is sam
        verdict: allow
        facts:
          - {category: relationships, contains: [brother, sam]}
        assistant: Noted.
      - user: the vicarage roof is what keeps me busy these days
        verdict: allow
        facts:
          - {category: personal_facts, contains: [vicarage roof]}
        assistant: I see.
      - user: thanks
        verdict: discard
        assistant: You are welcome.
"""


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    folder = tmp_path / "talks"
    folder.mkdir()
    (folder / "talk.turns.yaml").write_text(TALK, "utf-8")
    return folder


def test_a_model_recovers_what_was_held_and_is_named(talks: Path, tmp_path: Path) -> None:
    roof = {
        "quote": "the vicarage roof is what keeps me busy",
        "statement": "Is kept busy by the vicarage roof",
        "category": "personal_facts",
        "confidence": 0.9,
    }
    script = {"the vicarage roof is what keeps me busy these days": [roof]}
    with FakeModelServer(script=script) as server:
        env = {
            "BMO_JUDGE_ALLOW": "1.0",
            "BMO_JUDGE_DISCARD": "1.0",
            "GATEKEEPER_LLM_MODEL": f"ollama/{OLLAMA_MODEL}",
            "OLLAMA_HOST": server.ollama_url,
        }
        common = ("eval", "modes", "--conversations", str(talks), "--ask-model")
        ran = bmo(tmp_path, *common, "--mode", "hybrid", "--json", **env)
        again = bmo(tmp_path, *common, "--mode", "local", "--mode", "hybrid", columns=90, **env)
    assert ran.code == 0, ran.err
    (report,) = ran.rows
    (figures,) = report["modes"]
    assert figures["model"] == f"ollama/{OLLAMA_MODEL}"
    assert figures["scores"]["all"]["recall"]["total"] == 2
    assert figures["scores"]["all"]["recall"]["hits"] == 2
    recovered = figures["shares"]["recovered by the model"]
    assert (recovered["hits"], recovered["total"]) == (1, 1)
    assert figures["shares"]["held in the end"]["hits"] == 0
    assert figures["targets"]["recall"]["met"]
    assert again.code == 0, again.err
    assert f"behind the gate: ollama/{OLLAMA_MODEL}" in again.out
    assert "recall > 60%" in again.out


def test_what_is_wrong_is_one_sentence(talks: Path, tmp_path: Path) -> None:
    folder = ("--conversations", str(talks))
    for arguments, says in (
        (("--mode", "dreamy"), "dreamy"),
        (("--mode", "llm"), "--ask-model"),
    ):
        ran = bmo(tmp_path, "eval", "modes", *folder, *arguments)
        assert ran.code != 0
        assert says in ran.sentence
    (tmp_path / "none").mkdir()
    ran = bmo(tmp_path, "eval", "modes", "--conversations", str(tmp_path / "none"))
    assert "has no *.turns.yaml files" in ran.sentence
