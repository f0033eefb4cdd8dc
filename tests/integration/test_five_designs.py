"""The five published designs, point by point, in the default mode (docs/five-designs.md).

Each test names the design and its point. Published examples of the gatekeeper that are single turns
stand in ``tests/unit/gate/test_published_gatekeeper.py``.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bmo.agent.models import voice_models
from bmo.evaluation.false_negatives import false_negatives
from bmo.evaluation.health import statistics_of
from bmo.gate import WriteGate
from bmo.index import open_embedder
from bmo.ledger import Ledger
from bmo.ledger.schema import decisions
from bmo.memory import MemoryService, MemorySession
from bmo.memory.reprocess import reprocess
from bmo.quotation import CONTRADICTED
from bmo.recall import ReadGate
from bmo.recall.assembly import cost
from bmo.recall.budget import RULES_RESERVE
from bmo.settings import Settings, SettingsError, load_settings
from bmo.turn import Decision, Fact, Recall, Turn, Verdict, Visibility
from tests.cli import bmo
from tests.fakes.model_server import OLLAMA_MODEL, FakeModelServer

pytestmark = pytest.mark.integration

DAY = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
PAGE = Path(__file__).parents[2] / "docs" / "five-designs.md"

PUBLISHED_RULES = r"""
skip_patterns:
  - pattern: "^(brb|afk|gtg)\b"
    reason: "Common chat abbreviations"
  - pattern: "^(lol|lmao|haha)\b"
    reason: "Laughter"

keep_patterns:
  - pattern: "\\b(critical|urgent|important)\\b"
    category: "high_priority"
  - pattern: "\\bblocked by\\b"
    category: "blocker"
"""
"""The example file of the gatekeeper's documentation, as it is written there."""


def settings(home: Path, **chosen: object) -> Settings:
    # Deadlines have tests of their own; here a busy machine must not blur what is tested.
    long = {"bmo_recall_deadline_ms": 20_000}
    return load_settings(bmo_home=home, **{**long, **chosen})


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    opened = await MemoryService.open(settings(tmp_path))
    assert opened.settings.effective_mode == "local"
    yield opened
    await opened.aclose()


async def say(session: MemorySession, *texts: str, **more: object) -> list[str]:
    """Says turns one after the other; what the last one stored."""
    added: list[str] = []
    for text in texts:
        turn = Turn(text=text, **more)  # type: ignore[arg-type]  # keyword shorthand
        await session.on_turn(turn)
        recorded = await session.recorded(turn.id)
        added = [fact.text for fact in recorded.added] if recorded else []
    return added


async def asked(session: MemorySession, text: str) -> Recall:
    recall = await session.recall(Turn(text=text))
    assert not recall.fallback, recall.reason
    return recall


def texts(recall: Recall) -> list[str]:
    return [memory.fact.text for memory in recall.memories]


def live(service: MemoryService, user_id: str = "ana") -> list[str]:
    return [fact.text for fact in service.ledger.live_facts(user_id)]


# -- gatekeeper (galatea-gatekeeper.md) -----------------------------------------------------------


def test_gatekeeper_the_documentations_rules_file_works_as_written(tmp_path: Path) -> None:
    """Improvement 5: its "\\b" is a backspace in YAML; it works, and the fix is named."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(PUBLISHED_RULES)
    gate = WriteGate.from_settings(settings(tmp_path, gatekeeper_custom_rules_path=rules))
    skipped = gate.decide(Turn("brb getting coffee"))
    assert (skipped.verdict, skipped.reason) == ("discard", "Common chat abbreviations")
    assert gate.decide(Turn("lol")).verdict == "discard"
    kept = gate.decide(Turn("we are blocked by the legal review"))
    assert (kept.verdict, [fact.domain for fact in kept.facts]) == ("allow", ["blocker"])
    assert [problem.line for problem in gate.custom_rules.problems] == [3, 5]
    assert all("single quotes" in problem.message for problem in gate.custom_rules.problems)


def test_gatekeeper_other_control_characters_are_refused_with_the_fix(tmp_path: Path) -> None:
    """Improvement 5, "User error (invalid regex)"."""
    rules = tmp_path / "rules.yaml"
    rules.write_text('keep_patterns:\n  - pattern: "order\\tnumber"\n')
    gate = WriteGate.from_settings(settings(tmp_path, gatekeeper_custom_rules_path=rules))
    assert gate.custom_rules.keep == ()
    (problem,) = gate.custom_rules.problems
    assert "two backslashes" in problem.message


def test_gatekeeper_own_categories_are_kept_and_shown(tmp_path: Path) -> None:
    """Improvement 5: categories of the deployment's own."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(PUBLISHED_RULES)
    home = tmp_path / "home"
    env = {"GATEKEEPER_CUSTOM_RULES_PATH": str(rules), "GATEKEEPER_MODE": "local"}
    bmo(home, "chat", stdin="the login bug is urgent\n", **env)
    listed = bmo(home, "memories", "list", "--domain", "high_priority", "--json", **env)
    assert [row["text"] for row in listed.rows] == ["the login bug is urgent"]
    assert "high_priority" in bmo(home, "gate", "the login bug is urgent", **env).out


async def test_gatekeeper_fail_open_keeps_what_the_encoder_leaves_open(tmp_path: Path) -> None:
    """Rule 8, fail-OPEN, and "failure semantics" of the three-state gate: in doubt it is kept."""
    words = "Use Prettier for formatting"
    assert WriteGate.from_settings(settings(tmp_path)).decide(Turn(words)).verdict == "hold"
    service = await MemoryService.open(settings(tmp_path, gatekeeper_fail_policy="open"))
    session = service.session(user_id="ana")
    assert await say(session, words) == [words]
    assert await say(session, "We should add tests") == ["We should add tests"]
    assert await say(session, "Ok I understand") == []
    await service.aclose()


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Incorrect, we use PostgreSQL", ["Uses PostgreSQL"]),
        ("No, that's wrong, we use PostgreSQL", ["Uses PostgreSQL"]),
        ("No, I prefer PostgreSQL", ["Prefers PostgreSQL"]),
        ("I like using Vim keybindings", ["Likes using Vim keybindings"]),
        ("Avoid using Realm", ["Never use Realm"]),
        ("We always use Prettier", ["Always use Prettier"]),
        ("I prefer NOT using jQuery", ["I prefer NOT using jQuery"]),
    ],
)
async def test_gatekeeper_texts_of_its_examples_are_as_one_would_write_them(
    service: MemoryService, text: str, stored: list[str]
) -> None:
    """Rules 3 to 6: each example once, without the words around it."""
    assert await say(service.session(user_id="ana"), text) == stored


@pytest.mark.parametrize("model", ["haiku", "sonnet", "gemini-3.1-flash-lite, haiku"])
def test_gatekeeper_its_model_names_are_answered_with_a_sentence(model: str) -> None:
    """Configuration options: GATEKEEPER_LLM_MODEL=haiku."""
    with pytest.raises(SettingsError, match=r"no client for '(haiku|sonnet)': use a model of"):
        load_settings(gatekeeper_llm_model=model)


@pytest.mark.parametrize("mode", ["hybrid", "llm"])
def test_gatekeeper_gate_asks_the_model_by_mode(tmp_path: Path, mode: str) -> None:
    """Optional LLM-based gatekeeper: patterns first, a model for what is open."""
    words = "its the ferry company that pays me these days i suppose"
    fact = {
        "quote": "its the ferry company that pays me",
        "statement": "Works at the ferry company",
        "category": "personal_facts",
        "confidence": 0.8,
    }
    with FakeModelServer(script={words: [fact]}) as server:
        env = {"GATEKEEPER_LLM_MODEL": f"ollama/{OLLAMA_MODEL}", "OLLAMA_HOST": server.ollama_url}
        row = bmo(tmp_path, "gate", words, "--mode", mode, "--json", **env).rows[0]
    assert [fact["text"] for fact in row["facts"]] == ["Works at the ferry company"]
    assert row["extraction_method"] == f"ollama:{OLLAMA_MODEL}"
    without = bmo(tmp_path, "gate", words, "--mode", mode, "--json", GATEKEEPER_LLM_MODEL="")
    assert without.rows[0]["extraction_method"].startswith("encoder:")


async def test_gatekeeper_false_negative_candidates_are_listed(service: MemoryService) -> None:
    """Dashboard queries: turns to review; here those that were skipped."""
    session = service.session(user_id="ana")
    await say(session, "my brother sam is a nurse in leeds")
    question = Turn("who is my brother sam", user_id="ana")
    await session.on_turn(question)
    assert (await session.recall(question)).memories, "a question is near what answers it"
    skipped = Turn("what a lovely day it is", user_id="ana")
    await session.on_turn(skipped)
    await say(session, "no, that's wrong, i meant the weather in leeds")
    await session.aclose()
    embedder = open_embedder(service.settings)
    found = false_negatives(service.ledger, embedder, since=DAY, user_id="ana", limit=5)
    embedder.close()
    assert [(one.turn.id, one.why) for one in found] == [(skipped.id, "corrected later")]
    shown = bmo(service.settings.bmo_home, "stats", "--false-negatives", "--user", "ana", "--json")
    assert [row["turn_id"] for row in shown.rows[0]["false_negatives"]] == [skipped.id]


def test_gatekeeper_auto_leaves_the_recognisers_detection_on(tmp_path: Path) -> None:
    """Improvement 2, languages: BMO_LANGUAGE=auto is no English."""
    keys = {"livekit_api_key": "k", "livekit_api_secret": "s"}
    assert voice_models(settings(tmp_path, **keys)).stt == "deepgram/nova-3:multi"
    german = voice_models(settings(tmp_path, bmo_language="de", **keys))
    assert german.stt == "deepgram/nova-3:de"
    ears = voice_models(settings(tmp_path, google_api_key="k")).stt
    assert vars(ears)["_opts"].language is None


# -- three-state gate (three-state-write-gate.md) -------------------------------------------------


async def test_three_state_every_row_has_version_and_reason_also_when_rules_fail(
    service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failure semantics: nothing is dropped, the fallback is explicit."""
    session = service.session(user_id="ana")
    await say(session, "hello", "my brother is sam", "off the record", "back on the record")
    await say(session, "we should go to lunch", "forget that my brother is sam", "yes")

    def broken(*_: object) -> None:
        raise RuntimeError("a rule is broken")

    monkeypatch.setattr(service.write_gate, "rule", broken)
    await say(session, "i live in leeds")
    await session.aclose()
    with service.ledger.reading() as connection:
        rows = connection.execute(sa.select(decisions)).all()
    assert len(rows) >= 6
    assert all(row.gate_version and row.reason for row in rows)
    assert (rows[-1].verdict, rows[-1].fallback) == ("hold", True)


async def test_three_state_recall_diagnostics_count_the_held(service: MemoryService) -> None:
    """Validation snapshot: held_by_write_gate among what was dropped."""
    turn = Turn("my parrot biscotti", user_id="ana")
    held = Decision("hold", ("other",), "may be durable", 0.5, gate_version="v", text=turn.text)
    service.ledger.record(turn, held)
    await service.aclose()
    row = bmo(service.settings.bmo_home, "recall", "who is biscotti", "--user", "ana", "--json")
    assert (row.rows[0]["held_by_write_gate"], row.rows[0]["memories"]) == (1, [])
    shown = bmo(service.settings.bmo_home, "recall", "who is biscotti", "--user", "ana").out
    assert "1 left out because the write gate holds them" in " ".join(shown.split())


def test_three_state_drift_is_a_metric(tmp_path: Path) -> None:
    """Consequences: classification can drift, telemetry must show it."""
    from prometheus_client import REGISTRY

    from bmo.recorder import Recorder

    ledger = Ledger.open(settings(tmp_path).ledger_url)
    now = datetime.now(UTC)
    for number in range(120):
        old = number < 60
        turn = Turn(f"turn {number}", at=now - timedelta(days=20 if old else 1))
        verdict: Verdict = "discard" if old else "hold"
        decision = Decision(verdict, ("other",), "test", 0.5, gate_version="v", text=turn.text)
        ledger.record(turn, decision)
    recorder = Recorder(ledger, None, settings(tmp_path))
    recorder.flush(30.0)
    recorder.close()
    ledger.close()
    assert (REGISTRY.get_sample_value("bmo_verdict_drift") or 0.0) > 0.25


# -- gated Mem0 (bmo-gated-mem0.md) ---------------------------------------------------------------


@pytest.mark.parametrize(
    "trigger",
    [
        *("do you remember my brother", "remember when i told you about my brother"),
        *("what do you know about me", "what do i like", "who is my brother", "my preferences"),
        *("my preferences please", "what are my preferences", "remember my brother?"),
    ],
)
async def test_gated_mem0_every_trigger_searches(service: MemoryService, trigger: str) -> None:
    """D4: retrieval where a message asks for it."""
    session = service.session(user_id="ana")
    await say(session, "my brother is sam", "i like rowing")
    recall = await asked(session, trigger)
    assert recall.plan.recall
    assert recall.memories
    assert await say(session, trigger) == []


async def test_gated_mem0_normals_search_does_not_find_the_turn_that_asks(tmp_path: Path) -> None:
    """D1: NORMAL stores every turn and searches every turn."""
    service = await MemoryService.open(settings(tmp_path, mem0_setting="NORMAL"))
    session = service.session(user_id="ana")
    await say(session, "my brother is sam")
    question = Turn("who is my brother sam")
    await session.on_turn(question)
    await session.flush()
    assert texts(await session.recall(question)) == ["my brother is sam"]
    await service.aclose()


def test_gated_mem0_the_server_of_the_compose_file_fits_the_client() -> None:
    """Context: self-hosted Mem0 on Qdrant."""
    from importlib.metadata import version

    compose = (PAGE.parents[1] / "docker-compose.qdrant.yml").read_text()
    found = re.search(r"qdrant/qdrant:v(\d+)\.(\d+)", compose)
    assert found is not None
    client = version("qdrant-client").split(".")
    # Qdrant's client works with servers of its own minor version and the ones beside it.
    assert found[1] == client[0] and abs(int(found[2]) - int(client[1])) <= 1
    assert "healthcheck:" in compose and "/readyz" in compose


def test_gated_mem0_and_relevance_their_open_questions_are_answered() -> None:
    """Open questions of both designs."""
    notes = (PAGE.parent / "design-notes.md").read_text()
    table = notes.partition("## Open questions of the published designs, answered")[2]
    assert len([line for line in table.splitlines() if line.startswith("| ") and "?" in line]) == 7


# -- relevance gating (chorum-relevance-gating.md) ------------------------------------------------


def test_relevance_plans_that_decline_say_what_the_turn_is(tmp_path: Path) -> None:
    """Component 1: class, domains and depth, whether memory is asked for or not."""
    gate = ReadGate.from_settings(settings(tmp_path))
    declined = gate.plan(Turn("compare postgres and mysql for a small api, keep it short"))
    assert not declined.recall
    assert (declined.complexity, declined.intent) == ("complex", "analysis")
    assert (declined.domains, declined.depth) == (("tech",), "minimal")


def test_relevance_depth_by_voice_and_minimal_answers_direct_questions(tmp_path: Path) -> None:
    """User override: full, minimal, none."""
    gate = ReadGate.from_settings(settings(tmp_path))
    full = gate.plan(Turn("give me the full picture of my diet"))
    assert (full.recall, full.depth, full.include_all) == (True, "full", True)
    short = gate.plan(Turn("keep it short, where do i live"))
    assert (short.recall, short.depth) == (True, "minimal")
    assert gate.plan(Turn("don't use my memories, where do i live")).trigger == "minimal_depth"
    minimal = ReadGate.from_settings(settings(tmp_path, bmo_context_depth="minimal"))
    direct = minimal.plan(Turn("where do i live"))
    assert (direct.recall, direct.budget_tokens) == (True, short.budget_tokens)
    assert not minimal.plan(Turn("suggest something for dinner")).recall


def _stored(ledger: Ledger, facts: Sequence[Fact]) -> None:
    turn = Turn("told", user_id="ana", at=DAY)
    decided = Decision("allow", ("other",), "test", 1.0, facts=tuple(facts), gate_version="v")
    ledger.record(turn, decided)


def _rule(number: int) -> Fact:
    text = f"never do thing number {number} unless somebody of the team has agreed to it before"
    return Fact(text, "policies", said=text, kind="hard_rule")


async def test_relevance_hard_rules_fill_their_reserve_apart_from_the_profile(
    service: MemoryService,
) -> None:
    """Components 3 and 4: invariants prevent mistakes; 500 tokens are kept for them."""
    likes = [Fact(f"likes dish number {n}, the one with rice", "preferences") for n in range(60)]
    _stored(service.ledger, [*map(_rule, range(30)), *likes])
    session = service.session(user_id="ana")
    recall = await asked(session, "where do i live")
    profile = await session.profile()
    for block in (recall, profile):
        rules = [m.fact for m in block.memories if m.fact.kind == "hard_rule"]
        assert sum(map(cost, rules)) > RULES_RESERVE * 0.9
    assert sum(map(cost, rules)) <= RULES_RESERVE
    others = [m for m in profile.memories if m.fact.kind != "hard_rule"]
    assert others, "the rules take nothing of the profile's own budget"


async def test_relevance_rationale_and_severity_are_given_as_told(service: MemoryService) -> None:
    """Memory items: decision.rationale, invariant.severity."""
    session = service.session(user_id="ana")
    await say(session, "we chose postgres over sqlite because we need multi-user support")
    await say(session, "we must review every change before it is merged")
    context = (await asked(session, "what do you know about me")).context
    assert "because we need multi-user support" in context
    assert "we must review every change" in context


async def test_relevance_more_than_a_thousand_memories_are_filtered_by_domain(
    service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory overload: filtered by domain before anything is scored."""
    index = service.index
    assert index is not None
    asked_for: list[Sequence[str]] = []
    near = index.near

    def noted(user_id: str, query: str, *, domains: Sequence[str] = (), **more: Any) -> Any:
        asked_for.append(domains)
        return near(user_id, query, domains=domains, **more)

    monkeypatch.setattr(index, "near", noted)
    plan = service.read_gate.plan(Turn("do you remember what i cook in the evening"))
    assert plan.domains == ("food",)
    dinner = Fact("cooks lentils in the evening", "personal_facts", domain="food")
    for first, last, wanted in ((0, 400, ()), (400, 1050, ("food",))):
        parrots = [
            Fact(f"keeps parrot number {n} in the evening cage", "personal_facts", domain="pets")
            for n in range(first, last)
        ]
        _stored(service.ledger, [*parrots, dinner])
        found = service.recaller.recall(plan, "ana", datetime.now(UTC))
        assert asked_for.pop() == wanted
        assert dinner.text in texts(found)


async def test_relevance_canonical_memories_have_their_topic(service: MemoryService) -> None:
    """Component 3: a domain on every item, which the score and the filter of thousands look at."""
    session = service.session(user_id="ana")
    await say(session, "my brother is sam", "We use Postgres and Redis")
    topics = {fact.text: fact.domain for fact in service.ledger.live_facts("ana")}
    assert topics["Has a brother named Sam"] == "family"
    assert topics["Uses PostgreSQL"] == topics["Uses Redis"] == "tech"
    (sam,) = (await asked(session, "who is my brother")).memories
    assert sam.parts.domain == pytest.approx(0.15)


async def test_relevance_helpful_and_rule_violation_rates(service: MemoryService) -> None:
    """Metrics and feedback loop: "was the context helpful?"."""
    session = service.session(user_id="ana")
    await say(session, "my brother is sam", "never use emojis")
    question = Turn("who is my brother")
    await session.on_turn(question)
    given = await session.recall(question)
    session.note_reply(question.id, "Sam. Was that helpful?")
    assert session.judge_last_recall(helpful=True) == len(given.memories)
    assert session.judge_last_recall(helpful=True) == 0
    rule = next(m.fact for m in given.memories if m.fact.kind == "hard_rule")
    now = datetime.now(UTC)
    service.recorder.note_judged("ana", question.id, [rule.id], False, now, "correction")
    await session.aclose()
    judged = statistics_of(service.ledger, now=datetime.now(UTC), days=1)["feedback"]
    assert judged["helpful"]["user"] == len(given.memories)
    assert 0 < judged["helpful_rate"] < 1
    assert (judged["rules_given"], judged["rules_broken"]) == (1, 1)
    assert judged["rule_violation_rate"] == 1.0


async def test_relevance_latency_of_each_stage_is_a_metric(service: MemoryService) -> None:
    """Latency budget: one figure a component."""
    from prometheus_client import REGISTRY

    session = service.session(user_id="ana")
    await say(session, "my brother is sam")
    await asked(session, "who is my brother")
    for stage in ("gate.rules", "gate.judge", "recall.retrieve", "recall.search", "recall.score"):
        name, label = "bmo_stage_duration_seconds_count", {"stage": stage}
        assert (REGISTRY.get_sample_value(name, label) or 0) >= 1, stage


# -- extraction overhaul (extraction-overhaul.md) -------------------------------------------------


async def test_extraction_visibility_within_one_users_agents(tmp_path: Path) -> None:
    """Task 1.1, multi-agent: agent_id and visibility on every fact, with filters."""
    told: dict[Visibility, str] = {
        "shared": "my brother is sam",
        "agent": "my dog is called pickle",
        "private": "my cat is called miso",
    }
    for visibility, text in told.items():
        chosen = settings(tmp_path, bmo_agent_id="kitchen", bmo_visibility=visibility)
        service = await MemoryService.open(chosen)
        session = service.session(user_id="ana")
        assert await say(session, text)
        await service.aclose()
    seen: dict[str, int] = {}
    for agent in ("kitchen", "office"):
        service = await MemoryService.open(settings(tmp_path, bmo_agent_id=agent))
        session = service.session(user_id="ana")
        recall = await asked(session, "what do you know about me")
        assert "miso" not in recall.context.lower()
        seen[agent] = len(recall.memories)
        assert len((await session.profile()).memories) == seen[agent]
        await service.aclose()
    assert seen == {"kitchen": 2, "office": 1}
    command = ("memories", "list", "--user", "ana", "--json")
    for visibility in told:
        rows = bmo(tmp_path, *command, "--visibility", visibility, "--agent", "kitchen").rows
        assert [row["visibility"] for row in rows] == [visibility]
    assert bmo(tmp_path, *command, "--agent", "office").rows == []
    private = bmo(tmp_path, *command, "--visibility", "private").rows[0]["id"]
    bmo(tmp_path, "memories", "edit", private, "--visibility", "shared", "--user", "ana")
    assert len(bmo(tmp_path, *command, "--visibility", "shared").rows) == 2


async def test_extraction_a_list_of_technologies_is_one_fact_each(service: MemoryService) -> None:
    """Stage 2: multi-entity lists, entity deduplication ("Postgres" = "PostgreSQL"), negation."""
    session = service.session(user_id="ana")
    added = await say(session, "We use Postgres, Redis and Kafka.")
    assert added == ["Uses PostgreSQL", "Uses Redis", "Uses Kafka"]
    entities = {fact.entities for fact in service.ledger.live_facts("ana")}
    assert entities == {("kafka",), ("postgresql",), ("redis",)}
    assert await say(session, "we use PostgreSQL") == []
    await say(session, "we no longer use Kafka")
    assert "Uses Kafka" not in live(service)
    assert "Does not use Kafka" in live(service)


async def test_extraction_reprocess_for_all_users(service: MemoryService) -> None:
    """What changes: "no way to reprocess old data"."""
    for user in ("ana", "bo"):
        turn = Turn("my brother is sam", user_id=user)
        held = Decision("hold", ("other",), "old gate", 0.5, gate_version="old", text=turn.text)
        service.ledger.record(turn, held)
    gate, users = service.write_gate, service.ledger.users()
    found = reprocess(service.ledger, gate, users, version="old")
    assert {change.turn.user_id for change in found.changes} == {"ana", "bo"}
    await service.aclose()
    home = service.settings.bmo_home
    written = bmo(home, "reprocess", "--all-users", "--apply", "--json").rows
    assert {row["user_id"] for row in written[:-1]} == {"ana", "bo"}
    assert written[-1]["added"] == 2


async def test_extraction_a_later_policy_supersedes_its_opposite(service: MemoryService) -> None:
    """Task 5.2: same entities, contradicting content."""
    session = service.session(user_id="ana")
    await say(session, "always use Prettier", at=DAY)
    await say(session, "never use Prettier", at=DAY + timedelta(days=1))
    assert live(service) == ["Never use Prettier"]
    (ended,) = [
        fact
        for fact in service.ledger.live_facts("ana", include_past=True)
        if fact.valid_until is not None
    ]
    assert (ended.text, ended.end_reason) == ("Always use Prettier", "contradicted")
    assert service.ledger.conflicts("ana") == []
    # "Entity deduplication": what it is about counts, and not what it was called.
    await say(session, "always use postgres", at=DAY + timedelta(days=2))
    await say(session, "never use PostgreSQL", at=DAY + timedelta(days=3))
    assert sorted(live(service)) == ["Never use PostgreSQL", "Never use Prettier"]


async def test_extraction_policies_that_nothing_orders_are_a_conflict(
    service: MemoryService,
) -> None:
    """Task 5.2, and conflicting memory of relevance gating: both are given, and flagged."""
    session = service.session(user_id="ana")
    await say(session, "always use Prettier", "never use Realm")
    opposite = WriteGate.from_settings(service.settings, encoder=service.encoder).decide(
        Turn("never use Prettier")
    )
    service.ledger.add_imported("ana", opposite.facts[0], at=None)
    (group,) = service.ledger.conflicts("ana")
    assert {fact.text for fact in group} == {"Always use Prettier", "Never use Prettier"}
    recall = await asked(session, "do you remember my rules about prettier")
    lines = [line for line in recall.context.splitlines() if "Prettier" in line]
    assert len(lines) == 2 and all(CONTRADICTED in line for line in lines)
    await service.aclose()
    out = bmo(service.settings.bmo_home, "memories", "conflicts", "--user", "ana").out
    assert "Always use Prettier" in out and "Realm" not in out


def test_every_row_of_the_page_names_a_test_that_is_there() -> None:
    page = PAGE.read_text()
    here = Path(__file__).parents[2]
    named = re.findall(r"`(tests/[\w/.-]+\.py)::(test_\w+)`", page)
    own = re.findall(r"`(test_\w+)`", page)
    assert len(named) + len(own) >= 30
    for file, test in [*named, *((f"tests/integration/{Path(__file__).name}", one) for one in own)]:
        assert f"def {test}(" in (here / file).read_text(), f"{file}::{test}"
    tests = re.findall(r"def (test_(?!every)\w+)\(", Path(__file__).read_text())
    assert [test for test in tests if test not in own] == []
