"""Figures of retrieval on lines written by others: precisionMemBench and LoCoMo.

Both run through the real ledger, the real index and the real ``Recaller`` in a folder of their
own. Memory texts are stored as they are. Beside BMO's figures stand those of Mem0's own search with
the same embedder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from bmo.evaluation.corpora import CorpusRow, read_corpus
from bmo.settings import load_settings
from bmo.turn import Category, Decision, Fact, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.index import Embedder, MemoryIndex
    from bmo.ledger import Ledger

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
"""The moment of the questions."""

STORED = NOW - timedelta(days=45)
"""When the memories were said: neither new nor old."""

BUDGET_TOKENS = 2000
TOP = 10


@dataclass(slots=True)
class Ranking:
    """What one method found, case by case.

    Attributes:
        name: The method.
        precision: Share of what was given that is relevant, per case with relevant memories.
        recall: Share of the relevant that was given, per such case.
        empty: Whether nothing was given, per case where nothing is relevant.
    """

    name: str
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    empty: list[bool] = field(default_factory=list)

    def count(self, given: Sequence[str], relevant: set[str]) -> None:
        """Adds one case: the ids that the turn gives, and those that it should."""
        if not relevant:
            self.empty.append(not given)
            return
        hits = len(relevant & set(given))
        self.precision.append(hits / len(given) if given else 0.0)
        self.recall.append(hits / len(relevant))

    def as_row(self) -> dict[str, float]:
        """Means over the cases, as the documented JSON object."""
        return {
            "precision": fmean(self.precision) if self.precision else 0.0,
            "recall": fmean(self.recall) if self.recall else 0.0,
            "empty_kept": float(sum(self.empty)),
            "empty": float(len(self.empty)),
        }


@dataclass(frozen=True, slots=True)
class _Stored:
    """One text to store: in which memory space, and its id in the corpus."""

    space: str
    corpus_id: str
    text: str
    category: Category = "personal_facts"


def retrieval_figures(corpora: Path, home: Path, embedder: Embedder) -> dict[str, list[Ranking]]:
    """Both benchmarks: data -> what each method found.

    Args:
        corpora: Folder with ``pmb_*.jsonl`` and ``locomo_*.jsonl``.
        home: Folder for ledgers and indexes.
        embedder: Of the index.

    Raises:
        CorpusError: A file is not there, or has a row without a field that is needed.
    """
    return {
        "precisionMemBench, texts alone": precision_mem_bench(corpora, home / "a", embedder),
        "LoCoMo, first 10": locomo(corpora, home / "b", embedder),
    }


def precision_mem_bench(corpora: Path, home: Path, embedder: Embedder) -> list[Ranking]:
    """PrecisionMemBench: what is given for a query, and what is not.

    A scope of the benchmark is a memory space of its own here; superseded memories are not stored
    live, since the ledger would have ended them. A query is planned as a search by its words
    alone: the benchmark measures retrieval and not the read gate.

    Args:
        corpora: Folder with ``pmb_memories.jsonl`` and ``pmb_cases.jsonl``.
        home: Folder for ledger and index.
        embedder: Of the index.

    Returns:
        BMO, Mem0's search top 5.
    """
    rows = [
        _Stored(_space(scope), row.id, row.text, _category(row))
        for row in read_corpus(corpora, "pmb_memories")
        if row.id != "b-other-user-leak-check" and row.extra["epistemic_status"] != "superseded"
        for scope in row.extra["scope"]
    ]
    ours, mem0 = Ranking("bmo"), Ranking("mem0 search top 5")
    with _stored(home, embedder, rows) as (recaller, index, ids):
        for case in read_corpus(corpora, "pmb_cases"):
            relevant = _relevant(case)
            if not case.text.strip() and relevant:
                continue  # what is always injected is the profile's part, not retrieval's
            given: list[str] = []
            found: list[tuple[float, str]] = []
            for scope in [] if case.category == "Cold start behavior" else case.extra["scope"]:
                space = _space(scope)
                recall = recaller.recall(_plan(case.text), space, NOW)
                given += [ids[memory.fact.id] for memory in recall.memories]
                if case.text.strip():
                    hits = index.search(space, case.text, top_k=5, threshold=0.1, raw=True)
                    found += [(hit.score, ids[hit.fact_id]) for hit in hits]
            ours.count(given, relevant)
            mem0.count([i for _, i in sorted(found, reverse=True)[:5]], relevant)
    return [ours, mem0]


def _category(row: CorpusRow) -> Category:
    return "preferences" if row.extra["type"] == "preference" else "decisions"


def locomo(corpora: Path, home: Path, embedder: Embedder) -> list[Ranking]:
    """LoCoMo: share of a question's evidence among the first ten memories, all turns stored.

    Args:
        corpora: Folder with ``locomo_turns.jsonl`` and ``locomo_qa.jsonl``.
        home: Folder for ledger and index.
        embedder: Of the index.

    Returns:
        BMO's retrieval, Mem0's search.
    """
    turns = list(read_corpus(corpora, "locomo_turns"))
    rows = [_Stored(_space(t.extra["sample_id"]), t.id, t.text) for t in turns]
    known = {row.corpus_id for row in rows}
    ours, mem0 = Ranking("bmo"), Ranking("mem0 search")
    with _stored(home, embedder, rows) as (recaller, index, ids):
        for question in read_corpus(corpora, "locomo_qa"):
            space = _space(question.extra["sample_id"])
            relevant = set(question.extra["evidence"]) & known
            if not relevant:
                continue
            nearest = recaller.nearest(_plan(question.text), space, NOW)
            ours.count([ids[f.id] for f in nearest[:TOP]], relevant)
            hits = index.search(space, question.text, top_k=TOP, threshold=0.0, raw=True)
            mem0.count([ids[hit.fact_id] for hit in hits], relevant)
    return [ours, mem0]


@contextmanager
def _stored(
    home: Path, embedder: Embedder, rows: Sequence[_Stored]
) -> Iterator[tuple[Any, MemoryIndex, dict[str, str]]]:
    """A recaller over a fresh ledger and index that hold ``rows``; ledger id -> corpus id."""
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger
    from bmo.recall import Recaller

    settings = load_settings(bmo_home=home)
    home.mkdir(parents=True, exist_ok=True)
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings, embedder)
    try:
        ids = _fill(ledger, index, rows)
        yield Recaller(ledger, index, settings), index, ids
    finally:
        index.close()
        ledger.close()


def _fill(ledger: Ledger, index: MemoryIndex, rows: Sequence[_Stored]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for row in rows:
        fact = Fact(text=row.text, category=row.category)
        decision = Decision("allow", ("other",), "benchmark", 1.0, facts=(fact,), text=row.text)
        turn = Turn(text=row.text, user_id=row.space, at=STORED)
        recorded = ledger.record(turn, decision, source_type="import")
        # The same words said twice are one memory; its evidence counts under the first id.
        for stored in recorded.added:
            ids[stored.id] = row.corpus_id
            index.add(stored, {})
    return ids


def _plan(query: str) -> RecallPlan:
    return RecallPlan(recall=True, trigger="forced", budget_tokens=BUDGET_TOKENS, query=query)


def _relevant(case: CorpusRow) -> set[str]:
    if case.label == "retrieve_nothing":
        return set()
    wanted = set(case.extra.get("relevant_exact", ())) | set(case.extra.get("must_include", ()))
    return wanted - set(case.extra.get("must_not", ()))


def _space(scope: str) -> str:
    return re.sub(r"[^A-Za-z0-9._:@-]", "-", scope)
