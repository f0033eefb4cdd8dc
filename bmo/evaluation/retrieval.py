"""Figures of retrieval on lines written by others: precisionMemBench and LoCoMo.

Both run through the real ledger, the real index and the real ``Recaller`` in a folder of their
own. Memory texts are stored as they are. Beside BMO's figures stand those of Mem0's own search with
the same embedder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from bmo.evaluation.corpora import CorpusRow, read_corpus
from bmo.settings import load_settings
from bmo.turn import Category, Decision, Fact, Kind, RecallPlan, Turn

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

    def count(self, given: Sequence[str], relevant: set[str], known: Collection[str] = ()) -> None:
        """Adds one case.

        Args:
            given: Ids that the turn gives.
            relevant: Ids that it should have.
            known: Ids that need not be given, since they were before the turn.
        """
        if not relevant:
            self.empty.append(not given)
            return
        hits = len(relevant & set(given))
        if given or not relevant <= set(known):
            self.precision.append(hits / len(given) if given else 0.0)
        self.recall.append(len(relevant & {*given, *known}) / len(relevant))

    def as_row(self) -> dict[str, float]:
        """Means over the cases, as the documented JSON object."""
        return {
            "precision": fmean(self.precision) if self.precision else 0.0,
            "recall": fmean(self.recall) if self.recall else 0.0,
            "empty_kept": float(sum(self.empty)),
            "empty": float(len(self.empty)),
        }


HISTORY = "Historical record only"
"""How a row of precisionMemBench begins to say that it is no longer so."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """One text to store: whose, under which corpus id, and what else is known of it.

    Attributes:
        space: The memory space.
        corpus_id: Its id in the corpus.
        text: The memory.
        names: Other names of what it is about.
        category: Its category.
        standing: Whether it always holds and is to be in view: a standing instruction.
    """

    space: str
    corpus_id: str
    text: str
    names: tuple[str, ...] = ()
    category: Category = "personal_facts"
    standing: bool = False


def retrieval_figures(corpora: Path, home: Path, embedder: Embedder) -> dict[str, list[Ranking]]:
    """Both benchmarks, precisionMemBench two ways: data -> what each method found.

    Args:
        corpora: Folder with ``pmb_*.jsonl`` and ``locomo_*.jsonl``.
        home: Folder for ledgers and indexes.
        embedder: Of the index.

    Raises:
        CorpusMissing: A file is not there.
    """
    told = "precisionMemBench, all that its rows tell"
    return {
        "precisionMemBench, texts alone": precision_mem_bench(corpora, home / "a", embedder),
        told: precision_mem_bench(corpora, home / "b", embedder, told=True),
        "LoCoMo, first 10": locomo(corpora, home / "c", embedder),
    }


def precision_mem_bench(
    corpora: Path, home: Path, embedder: Embedder, *, told: bool = False
) -> list[Ranking]:
    """PrecisionMemBench: what is given for a query, and what is not.

    A scope of the benchmark is a memory space of its own here; superseded memories are not stored
    live, since the ledger would have ended them. A query is planned as a search by its words
    alone: the benchmark measures retrieval and not the read gate.

    With ``told`` every field of a row stands where BMO has a place for what it means, as
    ``_as_told`` says; no label of a case is looked at for that. What is pinned is then in the
    profile, which is loaded for real: ``must_include`` may be found there, ``relevant_exact`` only
    in what the turn gives, and a memory that the profile gave does not count again in the turn.

    Args:
        corpora: Folder with ``pmb_memories.jsonl`` and ``pmb_cases.jsonl``.
        home: Folder for ledger and index.
        embedder: Of the index.
        told: Use all that a row tells, and not its text alone.

    Returns:
        BMO, Mem0's search top 5.
    """
    rows = [
        stored
        for row in read_corpus(corpora, "pmb_memories")
        if row.id != "b-other-user-leak-check"
        for stored in (_as_told(row) if told else _as_text(row))
    ]
    ours, mem0 = Ranking("bmo"), Ranking("mem0 search top 5")
    with _stored(home, embedder, rows) as (recaller, index, ids):
        pinned = {stored.corpus_id for stored in rows if stored.standing}
        for case in read_corpus(corpora, "pmb_cases"):
            relevant = _relevant(case)
            if not case.text.strip() and relevant:
                continue  # what is always injected is the profile's part, not retrieval's
            asked = [_space(scope) for scope in case.extra["scope"]]
            cold = case.category == "Cold start behavior"
            given: list[str] = []
            found: list[tuple[float, str]] = []
            known: set[str] = set()
            for space in [] if cold else asked:
                recall = recaller.recall(_plan(case.text), space, NOW)
                given += [ids[memory.fact.id] for memory in recall.memories]
                if pinned:
                    profile = recaller.profile(space, NOW)
                    known |= {ids[memory.fact.id] for memory in profile.memories} & pinned
                if case.text.strip():
                    hits = index.search(space, case.text, top_k=5, threshold=0.1, raw=True)
                    found += [(hit.score, ids[hit.fact_id]) for hit in hits]
            known -= set(case.extra.get("relevant_exact", ()))
            ours.count([i for i in given if i not in known], relevant, known)
            mem0.count([i for _, i in sorted(found, reverse=True)[:5]], relevant)
    return [ours, mem0]


def _as_text(row: CorpusRow) -> Iterator[_Stored]:
    """A memory by its text alone, in each space of its scope; none when it is superseded."""
    if row.extra["epistemic_status"] != "superseded":
        for scope in row.extra["scope"]:
            yield _Stored(_space(scope), row.id, row.text, category=_category(row))


def _as_told(row: CorpusRow) -> Iterator[_Stored]:
    """A memory with all that its row tells, where BMO has a place for it.

    ``aliases`` and ``canonical_name`` are names of what it is about: its entities. ``pinned`` is to
    be always in view: a standing instruction, which the profile gives. ``inferred`` was not said:
    the write gate would hold it. ``superseded``, or a ``why_it_matters`` that calls the row a
    record of the past only: the ledger would have ended it. ``exploratory`` is as good as said:
    that a question is open is a fact.
    """
    status = row.extra["epistemic_status"]
    if status in ("superseded", "inferred") or row.extra["why_it_matters"].startswith(HISTORY):
        return
    names = (*row.extra["aliases"], row.extra["canonical_name"].replace("_", " "))
    pinned = bool(row.extra["pinned"])
    category: Category = "preferences" if pinned else _category(row)
    for scope in row.extra["scope"]:
        yield _Stored(_space(scope), row.id, row.text, names, category, pinned)


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
        kind: Kind = "policy" if row.standing else "fact"
        fact = Fact(text=row.text, category=row.category, kind=kind, entities=row.names)
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
