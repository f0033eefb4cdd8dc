"""Training data: conversations turn by turn, and memory pairs, as examples for the heads.

One format for conversations (``data/*.jsonl``), one user turn a line in conversation order::

    {"c": conversation, "s": visit, "user": words, "assistant": what BMO says after it,
     "verdict": "allow", "category": ["relationships"], "ends": [3], "restates": [1],
     "recall": true, "answers": [2]}

``ends``, ``restates`` and ``answers`` name earlier turns of the conversation by number, from 1.
A head learns from the rows that have its label: relations only from files that are annotated with
them. ``data/pairs/*.jsonl`` holds single memories with later turns and questions,
``data/attacks/*.jsonl`` attacks on memory and their harmless twins.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bmo.turn import CATEGORIES

if TYPE_CHECKING:
    from bmo.encoder import Encoder

DATA = Path(__file__).parent / "data"
PAIRS = DATA / "pairs"
RELATIONS = DATA / "relations"
"""Relations of conversations that were annotated later: ``{"c", "n", "ends", ...}`` a line."""

LEFT_OUT = DATA / "left_out.txt"
"""Digests of turns too near to a line that measures."""

ATTACKS = DATA / "attacks"
"""Attacks on memory and their harmless twins: ``{"asked", "text", "steers"}`` a line."""

VERDICTS = ("allow", "hold", "discard")
_OWN = frozenset(
    "i im ive id ill me my mine we our ours us ich mir mich mein meine meinen meinem meiner wir "
    "uns unser unsere unseren unserem je jai mon ma mes moi nous notre nos yo mi mis nuestro "
    "nuestra tengo estoy soy".split()
)
"""Words by which people speak of themselves, in four languages."""
Relation = Literal["neither", "restates", "ends"]
RELATION_NAMES: tuple[Relation, ...] = ("neither", "restates", "ends")

HELD_OUT = 12
"""One conversation of so many is not trained on; calibration and thresholds are chosen on it."""
_NEAR_NEGATIVES = 2
"""Memories nearest to a turn which it is also paired with, at most."""
_NEAR_OF_CHANGE = 6
"""The same of a turn that ends a memory or asks for one: which it is shows beside the others."""
_FAR_NEGATIVES = 1
"""The same of any others."""
_LEAST_PART = 3
"""Words of the shortest part of a memory that is a memory itself."""
_SHORT_WORD = 3
"""Letters of the longest word that makes no two texts near."""


@dataclass(frozen=True, slots=True)
class TurnExample:
    """One annotated turn.

    Attributes:
        group: File and conversation; examples of one group are held out together.
        before: The user's words of the turn before in the visit, or "".
        asked: The assistant's words just before it, or "".
        text: The user's words.
        verdict: Index into ``VERDICTS``, or None where not annotated.
        categories: One truth value per category, or None when none is annotated.
        recall: Whether a good reply needs memory.
        steers: Whether it would steer the assistant through memory, or None where not annotated.
    """

    group: str
    before: str
    asked: str
    text: str
    verdict: int | None
    categories: tuple[bool, ...] | None
    recall: bool
    steers: bool | None = None


@dataclass(frozen=True, slots=True)
class PairExample:
    """A memory and a later turn.

    Attributes:
        group: As of a turn.
        memory_asked: The assistant's words before the memory's, or "".
        memory: The memory's words.
        asked: The assistant's words before the turn, or "".
        text: The turn.
        relation: Index into ``RELATION_NAMES``, or None where only ``answers`` is annotated.
        answers: Whether a good reply to the turn needs the memory, or None where not annotated.
    """

    group: str
    memory_asked: str
    memory: str
    asked: str
    text: str
    relation: int | None
    answers: bool | None


@dataclass(frozen=True, slots=True)
class EndedMemory:
    """A memory that a turn ends, of which it is annotated what is still true.

    Attributes:
        group: As of a turn.
        memory: The assistant's words before the memory's ("" for none), and the memory's words.
        turn: The same two of the turn.
        rest: The part of the memory's words that is still true, or "" where all is over.
    """

    group: str
    memory: tuple[str, str]
    turn: tuple[str, str]
    rest: str


def read_ended() -> list[EndedMemory]:
    """Every ended memory of the files that say what is still true of them."""
    found: list[EndedMemory] = []
    for path in sorted(DATA.glob("*.jsonl")):
        rows = _rows(path)
        if not any("rest" in row for row in rows):
            continue
        for name, conversation in _conversations(rows):
            for at, row in enumerate(conversation):
                rest = {int(number): part for number, part in row.get("rest", {}).items()}
                for number in row.get("ends", ()):
                    known_as = _asked(conversation, number - 1)[1]
                    memory = (known_as, conversation[number - 1]["user"])
                    turn = (_asked(conversation, at)[1], row["user"])
                    group = f"{path.stem} {name}"
                    found.append(EndedMemory(group, memory, turn, rest.get(number, "")))
    return found


def read_data(encoder: Encoder | None = None) -> tuple[list[TurnExample], list[PairExample]]:
    """Every example of the repository, in the order of names.

    Args:
        encoder: An encoder of ours: by its vectors, too, it is chosen which memories are near.
    """
    turns: list[TurnExample] = []
    pairs: list[PairExample] = []
    seen: set[str] = set()
    barred = set(LEFT_OUT.read_text(encoding="utf-8").split())
    for path in sorted(DATA.glob("*.jsonl")):
        rows = _rows(path)
        relations = _relations(path.stem)
        related = relations is not None or any({"ends", "answers"} & row.keys() for row in rows)
        for name, conversation in _conversations(rows):
            group = f"{path.stem} {name}"
            if relations is not None:
                for number, found in relations.get(name, {}).items():
                    conversation[number - 1] |= found
            for example in _turns(group, conversation):
                key = normal_form(f"{example.asked} | {example.text}")
                if key not in seen and digest(example.text) not in barred:
                    seen.add(key)
                    turns.append(example)
            if related:
                pairs += _pairs(group, conversation, encoder)
    for path in sorted(PAIRS.glob("*.jsonl")):
        pairs += _blocks(path)
        turns += _questions(path)
    for path in sorted(ATTACKS.glob("*.jsonl")):
        turns += _attacks(path)
    return turns, pairs


def data_files() -> list[str]:
    """Names of all files that are read, without ending; a group's name begins with its file's."""
    return sorted(path.stem for folder in (DATA, PAIRS, ATTACKS) for path in folder.glob("*.jsonl"))


def is_held_out(group: str) -> bool:
    """Whether a conversation is kept from the training, for calibration."""
    return shard(group, HELD_OUT) == 0


def shard(name: str, count: int) -> int:
    """The number of the part, of so many, that a name falls into."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % count


def digest(text: str) -> str:
    """Sixteen hexadecimal digits that stand for a line in any case and punctuation."""
    return hashlib.sha256(normal_form(text).encode()).hexdigest()[:16]


def normal_form(text: str) -> str:
    """Lower case, letters and digits only: what two writings of a line share."""
    return " ".join(re.findall(r"\w+", text.lower().replace("'", "").replace("’", "")))


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise SystemExit(f"{path}:{number}: no JSON ({error})") from error
    return rows


def _conversations(
    rows: Sequence[dict[str, Any]],
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(str(row["c"]), []).append(row)
    yield from found.items()


def _relations(stem: str) -> dict[str, dict[int, dict[str, Any]]] | None:
    """Later annotations of a file by conversation and number of the turn; None without any."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    paths = sorted(RELATIONS.glob(f"{stem}*.jsonl"))
    for path in paths:
        for row in _rows(path):
            kept: dict[str, Any] = {
                key: row[key] for key in ("ends", "restates", "answers") if key in row
            }
            found.setdefault(str(row["c"]), {})[int(row["n"])] = kept
    return found if paths else None


def _asked(conversation: Sequence[dict[str, Any]], at: int) -> tuple[str, str]:
    """The user's and the assistant's words before a turn of the same visit."""
    row = conversation[at]
    if at and conversation[at - 1]["s"] == row["s"]:
        return conversation[at - 1]["user"], conversation[at - 1]["assistant"]
    return "", row.get("assistant_before", "")


def _turns(group: str, conversation: Sequence[dict[str, Any]]) -> Iterator[TurnExample]:
    for at, row in enumerate(conversation):
        named = set(row.get("category", ()))
        if unknown := named - set(CATEGORIES):
            raise SystemExit(f"{group}: unknown category {unknown.pop()!r}")
        before, asked = _asked(conversation, at)
        kinds = tuple(c in named for c in CATEGORIES) if named else None
        verdict = VERDICTS.index(row["verdict"])
        recall = bool(row.get("recall"))
        # An attack is never allowed, so what is allowed is none.
        steers = False if row["verdict"] == "allow" else None
        yield TurnExample(group, before, asked, row["user"], verdict, kinds, recall, steers)


def _pairs(
    group: str, conversation: Sequence[dict[str, Any]], encoder: Encoder | None
) -> Iterator[PairExample]:
    """Each turn with the earlier memories it concerns, and with a few that it does not."""
    rng = random.Random(group)
    said = [(_asked(conversation, at)[1], row["user"]) for at, row in enumerate(conversation)]
    vectors = encoder.vectors(said) if encoder else None
    gone: set[int] = set()
    for at, row in enumerate(conversation):
        ends, restates = ({n - 1 for n in row.get(key, ())} for key in ("ends", "restates"))
        answers = {n - 1 for n in row.get("answers", ())}
        known = [n for n in range(at) if conversation[n]["verdict"] == "allow" and n not in gone]
        named = sorted(ends | restates | answers)
        others = [n for n in known if n not in named]
        rng.shuffle(others)
        if row["verdict"] != "discard" or row.get("recall"):
            words = _words(row["user"])
            # What is nearest is what the gate asks about: there a wrong end is made.
            others.sort(key=lambda n: -len(words & _words(conversation[n]["user"])))
            if vectors is not None:
                alike = vectors @ vectors[at]
                others = _in_turn(others, sorted(others, key=lambda n: -float(alike[n])))
            near = _NEAR_OF_CHANGE if ends or row.get("recall") else _NEAR_NEGATIVES
            far = others[near:]
            others = others[:near] + rng.sample(far, min(_FAR_NEGATIVES, len(far)))
        else:
            others = others[:1]
        for n in [*named, *others]:
            relation = 2 if n in ends else 1 if n in restates else 0
            known_as = _asked(conversation, n)[1]
            yield PairExample(
                group,
                known_as,
                conversation[n]["user"],
                _asked(conversation, at)[1],
                row["user"],
                relation,
                (n in answers) if row.get("recall") else None,
            )
        yield from _parts(group, conversation, at)
        gone |= ends


def _in_turn(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Two orders of the same numbers as one: the best of the second, of the first, and so on."""
    return list(dict.fromkeys(n for both in zip(second, first, strict=True) for n in both))


def _parts(group: str, conversation: Sequence[dict[str, Any]], at: int) -> Iterator[PairExample]:
    """Of memories that a turn ends in part, what stays and what does not, each as a memory."""
    row, asked = conversation[at], _asked(conversation, at)[1]
    for number, stays in row.get("rest", {}).items():
        memory = conversation[int(number) - 1]["user"]
        known_as = _asked(conversation, int(number) - 1)[1]
        over = memory.replace(stays, " ").strip()
        for text, relation in ((stays, 0), (over, 2)):
            if len(text.split()) >= _LEAST_PART:
                yield PairExample(group, known_as, text, asked, row["user"], relation, None)


def _questions(path: Path) -> Iterator[TurnExample]:
    """Questions that need some memory, and those that need none."""
    for number, row in enumerate(_rows(path)):
        group = f"{path.stem} {number}"
        for text in row["answered"]:
            yield TurnExample(group, "", "", text, None, None, True)
        for text in row["not"]:
            # What is asked of one's own life may need another memory: that is not annotated.
            if _OWN.isdisjoint(normal_form(text).split()):
                yield TurnExample(group, "", "", text, None, None, False)


def _words(text: str) -> set[str]:
    return {word for word in normal_form(text).split() if len(word) > _SHORT_WORD}


def _attacks(path: Path) -> Iterator[TurnExample]:
    for number, row in enumerate(_rows(path)):
        steers = bool(row["steers"])
        verdict = VERDICTS.index("hold") if steers else None
        group = f"{path.stem} {number}"
        yield TurnExample(group, "", row["asked"], row["text"], verdict, None, False, steers)


def _blocks(path: Path) -> Iterator[PairExample]:
    rows = _rows(path)
    rng = random.Random(path.stem)
    for number, row in enumerate(rows):
        group = f"{path.stem} {number}"
        labelled: list[tuple[str, int | None, bool | None]] = []
        for relation, name in enumerate(RELATION_NAMES):
            labelled += [(text, relation, None) for text in row[name]]
        labelled += [(text, 0, True) for text in row["answered"]]
        labelled += [(text, 0, False) for text in row["not"]]
        other = rows[rng.randrange(len(rows))]
        if other is not row:
            labelled.append((rng.choice(other["ends"]), 0, None))
            labelled.append((rng.choice(other["answered"]), 0, False))
        for text, related, answers in labelled:
            yield PairExample(group, row["asked"], row["memory"], "", text, related, answers)
