"""Annotated conversations, scored: found, annotated, ended, given, beside the words alone.

The anchor is the simplest memory there is: the encoder's likeliest verdict, the turn in the user's
words with what it answers, the five nearest. Whatever does not beat it has no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bmo.evaluation.annotated import is_fact
from bmo.evaluation.metrics import Share, share
from bmo.replay.compare import has, in_one
from bmo.replay.rows import RecordedScenario, TurnRow
from bmo.replay.runner import replay
from bmo.replay.scenario import Scenario, ScenarioTurn, find_scenarios, load_scenario
from bmo.settings import Settings
from bmo.turn import Fact

if TYPE_CHECKING:
    from bmo.encoder import Encoder
    from bmo.index.embedders import Embedder

Figure = Literal[
    "verdicts right",
    "allow precision",
    "allow recall",
    "facts found",
    "stored annotated",
    "discards stored",
    "ends kept",
    "ends dropped",
    "given by recall",
    "given, with profile",
    "stale given",
    "read precision",
    "read recall",
]
"""What is counted; "stale given" is a share of the strings of ``omits``."""

NEAREST = 5
"""Exchanges the anchor gives."""


@dataclass(slots=True)
class ScenarioFigures:
    """Outcomes of one set of conversations.

    Attributes:
        outcomes: Figure -> one truth value a case.
        lines: Memories given in each turn that was given any.
    """

    outcomes: dict[Figure, list[bool]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)

    def note(self, figure: Figure, outcome: bool) -> None:
        """Counts one case."""
        self.outcomes.setdefault(figure, []).append(outcome)

    def shares(self) -> dict[Figure, Share]:
        """Each figure as a share with its interval."""
        return {figure: share(cases) for figure, cases in self.outcomes.items()}

    @property
    def lines_a_recall(self) -> float:
        """Median number of memories given where any was."""
        return median(self.lines) if self.lines else 0.0

    def as_row(self) -> dict[str, Any]:
        """As the documented JSON object: each figure, and the lines a recall."""
        row: dict[str, Any] = {figure: asdict(one) for figure, one in self.shares().items()}
        return {**row, "lines a recall": self.lines_a_recall}


def sets_of(folders: Iterable[Path], *, by_folder: bool = False) -> dict[str, list[Path]]:
    """The conversations of each folder.

    Args:
        folders: Folders, or files.
        by_folder: A set of its own for each folder below that has conversations.

    Raises:
        ScenarioError: A folder is missing, or has none.
    """
    sets: dict[str, list[Path]] = {}
    for folder in folders:
        for path in find_scenarios([folder]):
            sets.setdefault(str(path.parent if by_folder else folder), []).append(path)
    return sets


async def scenario_figures(paths: Sequence[Path], settings: Settings) -> ScenarioFigures:
    """Plays conversations through a real session and scores them."""
    figures = ScenarioFigures()
    scenarios = [load_scenario(path) for path in paths]
    place = 0
    async for result in replay(paths, settings):
        _score(scenarios[place], result, figures)
        place += 1
    return figures


def words_alone(paths: Iterable[Path], encoder: Encoder, embedder: Embedder) -> ScenarioFigures:
    """The anchor on the same conversations."""
    figures = ScenarioFigures()
    for path in paths:
        _play_words_alone(load_scenario(path), encoder, embedder, figures)
    return figures


def _score(scenario: Scenario, result: RecordedScenario, figures: ScenarioFigures) -> None:
    turns = iter(result.turns)
    for session in scenario.sessions:
        profile: tuple[str, ...] = ()
        for expected in session.turns:
            seen = next(turns)
            profile = seen.profile_told or profile
            _score_turn(expected, seen, profile, figures)
    for wanted in scenario.ends.keeps:
        figures.note("ends kept", in_one(wanted, result.end.told))
    for unwanted in scenario.ends.drops:
        figures.note("ends dropped", not any(has(text, unwanted) for text in result.end.live))


def _score_turn(
    expected: ScenarioTurn, seen: TurnRow, profile: Sequence[str], figures: ScenarioFigures
) -> None:
    _score_verdict(expected, seen.verdict or "hold", figures)
    found = [
        any(is_fact(fact, wanted, with_category=False) for fact in seen.stored)
        for wanted in expected.facts
    ]
    _score_stored(expected, found, bool(seen.stored), figures)
    told = [memory.told for memory in seen.recall.selected]
    texts = [memory.text for memory in seen.recall.selected]
    _score_read(expected, seen.recall.triggered, told, texts, figures)
    for wanted in expected.injects:
        figures.note("given, with profile", in_one(wanted, [*told, *profile]))


def _score_verdict(expected: ScenarioTurn, verdict: str, figures: ScenarioFigures) -> None:
    figures.note("verdicts right", verdict == expected.verdict)
    if verdict == "allow":
        figures.note("allow precision", expected.verdict == "allow")
    if expected.verdict == "allow":
        figures.note("allow recall", verdict == "allow")


def _score_stored(
    expected: ScenarioTurn, found: Sequence[bool], stored: bool, figures: ScenarioFigures
) -> None:
    for one in found:
        figures.note("facts found", one)
    if stored:
        figures.note("stored annotated", any(found))
    if expected.verdict == "discard":
        figures.note("discards stored", stored)


def _score_read(
    expected: ScenarioTurn,
    searched: bool,
    told: Sequence[str],
    texts: Sequence[str],
    figures: ScenarioFigures,
) -> None:
    """Scores what was given: ``told`` with what it answers, ``texts`` alone."""
    if searched:
        figures.note("read precision", expected.recall)
    if expected.recall:
        figures.note("read recall", searched)
    if told:
        figures.lines.append(len(told))
    for wanted in expected.injects:
        figures.note("given by recall", in_one(wanted, told))
    for unwanted in expected.omits:
        figures.note("stale given", any(has(text, unwanted) for text in texts))


def _play_words_alone(
    scenario: Scenario, encoder: Encoder, embedder: Embedder, figures: ScenarioFigures
) -> None:
    memory: list[tuple[str, str]] = []
    threshold = encoder.thresholds.read
    for session in scenario.sessions:
        asked = before = ""
        for expected in session.turns:
            words = expected.user
            seen = encoder.assess([(asked, words)], [before])[0]
            odds = {"allow": seen.allow, "hold": seen.hold, "discard": seen.discard}
            verdict = max(odds, key=odds.__getitem__)
            _score_verdict(expected, verdict, figures)
            searched = seen.read_need >= threshold
            near = _nearest(words, memory, embedder) if searched else []
            _score_read(
                expected,
                searched,
                [f"{a} {w}" for a, w in near],
                [w for _, w in near],
                figures,
            )
            stored = verdict == "allow"
            told = Fact(words, "personal_facts", asked=asked)
            found = [
                stored and is_fact(told, wanted, with_category=False) for wanted in expected.facts
            ]
            _score_stored(expected, found, stored, figures)
            if stored:
                memory.append((asked, words))
            asked, before = expected.assistant, words
    kept = [f"{asked} {words}" for asked, words in memory]
    for wanted in scenario.ends.keeps:
        figures.note("ends kept", in_one(wanted, kept))
    for unwanted in scenario.ends.drops:
        figures.note("ends dropped", not any(has(words, unwanted) for _, words in memory))


def _nearest(
    words: str, memory: Sequence[tuple[str, str]], embedder: Embedder
) -> list[tuple[str, str]]:
    if not memory:
        return []
    question = embedder.embed([words])[0]
    alone = embedder.embed([text for _, text in memory]) @ question
    whole = embedder.embed([text for _, text in memory], [asked for asked, _ in memory]) @ question
    order = np.argsort(-np.maximum(alone, whole), kind="stable")
    return [memory[i] for i in order[:NEAREST]]
