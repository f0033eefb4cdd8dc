"""Measures each rule's precision on annotated turns and writes it into the packs.

``python -m training.measure_rule_precision [--write]`` runs the write gate in pattern mode over
the project's annotated turns (``training/data``) and the golden conversations
(``tests/scenarios``), both with the assistant's words as context. A fact counts as right when its
turn is annotated ``allow`` and one of the turn's annotated memories holds at least half of the
value's content words. Precision is smoothed with the counts of a rule that is right nine times of
ten (four pseudo-counts), so that a rule which fired once is not taken for certain.

``--write`` puts the result into ``bmo/gate/packs/<language>/confidence.toml``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from bmo.gate import WriteGate
from bmo.gate.packs import load_pack, pack_folder
from bmo.language import LANGUAGES, LanguageCode
from bmo.language.times import NUMBER_WORDS
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

ROOT = Path(__file__).parent.parent
PRIOR_RIGHT = 3.6
PRIOR_COUNT = 4.0
_WORD = re.compile(r"[^\W_]+")
_EMPTY = frozenset(
    "a an the my their his her to of in on at for with and or is has have be not does do it".split()
)


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """An annotated turn: conversation, words, context, verdict and memories."""

    conversation: str
    text: str
    before: str
    language: str
    verdict: str
    memories: tuple[str, ...]


def training_turns(folder: Path) -> Iterator[LabelledTurn]:
    """Turns of the project's own training files."""
    for path in sorted(folder.glob("*.jsonl")):
        before, visit = "", ("", -1)
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if "user" not in row or "verdict" not in row:
                continue
            here = (str(row.get("c", "")), int(row.get("s", 0)))
            if here != visit:
                before, visit = "", here
            memories = tuple(memory for _, memory in row.get("facts", ()))
            language = str(row.get("language", "en"))
            yield LabelledTurn(here[0], row["user"], before, language, row["verdict"], memories)
            before = row.get("assistant", "")


def golden_turns(folder: Path) -> Iterator[LabelledTurn]:
    """Turns of the golden conversations; what a memory contains stands for its words."""
    for path in sorted(folder.glob("*.turns.yaml")):
        scenario = yaml.safe_load(path.read_text("utf-8"))
        for session in scenario["sessions"]:
            before = ""
            for turn in session["turns"]:
                memories = tuple(" ".join(f["contains"]) for f in turn.get("facts") or ())
                yield LabelledTurn(
                    scenario["id"],
                    turn["user"],
                    before,
                    scenario["language"],
                    turn["verdict"],
                    memories,
                )
                before = turn.get("assistant", "")


def is_right(fact: Fact, turn: LabelledTurn) -> bool:
    """Whether an annotated memory of the turn says what a stored fact says."""
    if turn.verdict != "allow":
        return False
    if fact.op == "retract":
        return True
    said = _content(fact.value or fact.text) or _content(fact.text)
    whole = _content(fact.text)
    if said.isdisjoint(_content(turn.text)):
        # The rule words the value itself ("died" for "passed away"): who it is about must agree.
        person = fact.subject.partition(".")[2].replace(":", " ")
        said = _content(person) if person else whole
    for memory in turn.memories:
        words = _content(memory)
        if words and (2 * len(said & words) >= len(said) or words <= whole):
            return True
    return False


def _content(text: str) -> frozenset[str]:
    words = (w for w in _WORD.findall(text.lower()) if w not in _EMPTY)
    return frozenset(str(NUMBER_WORDS[w]) if w in NUMBER_WORDS else w[:5] for w in words)


def measure(turns: Sequence[LabelledTurn]) -> dict[str, tuple[int, int]]:
    """Rule id -> (right, fired)."""
    gate = WriteGate(load_settings(gatekeeper_mode="pattern"))
    fired: Counter[str] = Counter()
    right: Counter[str] = Counter()
    subjects: dict[str, dict[str, str]] = defaultdict(dict)
    recent: list[Fact] = []
    conversation = ""
    for turn in turns:
        if turn.conversation != conversation:
            conversation, recent = turn.conversation, []
        known = subjects[turn.conversation]
        decision = gate.decide_by_rules(
            Turn(text=turn.text, assistant_before=turn.before, language=turn.language),
            DialogueContext(recent_facts=tuple(recent), subjects=dict(known)),
        )
        unwritten = turn.verdict == "allow" and "" in turn.memories
        for fact in decision.facts:
            agrees = is_right(fact, turn)
            # A memory whose words nobody wrote down speaks neither for nor against a rule.
            if agrees or not unwritten:
                fired[fact.rule_id] += 1
                right[fact.rule_id] += agrees
            name = fact.subject.partition(":")[2]
            if name:
                known[name] = fact.subject
        recent = [*decision.facts, *recent][:12]
    return {rule: (right[rule], count) for rule, count in fired.items()}


def smoothed(right: int, fired: int) -> float:
    """Precision with the prior's pseudo-counts, two decimals."""
    return round((right + PRIOR_RIGHT) / (fired + PRIOR_COUNT), 2)


def write(measured: dict[str, tuple[int, int]], language: LanguageCode) -> Path:
    """Writes ``confidence.toml`` of a language and returns its path."""
    lines = [
        "# Measured precision of each rule: python -m training.measure_rule_precision --write",
        "# (right of fired on annotated turns, smoothed). Do not edit.",
        "",
        "[confidence]",
    ]
    for rule in load_pack(language).rules:
        right, fired = measured.get(rule.data.id, (0, 0))
        if fired:
            lines.append(f'"{rule.data.id}" = {smoothed(right, fired)}  # {right} of {fired}')
    path = pack_folder(language) / "confidence.toml"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def main(arguments: Sequence[str]) -> int:
    """Prints a table, worst rules first; with ``--write`` stores it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write confidence.toml")
    options = parser.parse_args(arguments)
    turns = [
        *training_turns(ROOT / "training" / "data"),
        *golden_turns(ROOT / "tests" / "scenarios"),
    ]
    measured = measure(turns)
    for rule, (right, fired) in sorted(measured.items(), key=lambda e: smoothed(*e[1])):
        print(f"{smoothed(right, fired):.2f}  {right:4d} of {fired:4d}  {rule}")
    right = sum(r for r, _ in measured.values())
    fired = sum(f for _, f in measured.values())
    print(f"{len(turns)} turns: {right} of {fired} facts right ({right / max(fired, 1):.3f})")
    if options.write:
        for language in LANGUAGES:
            print(write(measured, language))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
