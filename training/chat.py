"""Writes long written chat between friends: ``python -m training.chat``.

``chat.toml`` holds sentences by what they do (a reaction, wisdom, a question back, news of one's
own). Two to four of them make a turn, as people write to each other, into ``data/m.jsonl`` with a
fixed seed. What is kept for months stands in one sentence of several; the same chatter without it
is to be left alone, so every mould is written with and without news.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from training.turns import DATA

SENTENCES = Path(__file__).parent / "chat.toml"
TARGET = DATA / "m.jsonl"
SEED = 20260306

MOULDS: Mapping[str, Sequence[str]] = {
    "allow": (
        "news", "news", "news feeling_about", "reaction news", "reaction news question",
        "thanks news", "thanks news feeling_about", "greeting news question", "yes news",
        "yes news feeling_about question", "news news", "reaction wisdom news", "news wisdom",
        "greeting reaction news feeling_about", "pep news question", "news closing",
        "thanks yes news", "greeting news feeling_about question", "yes feeling_about news",
        "reaction news news", "wisdom news", "news feeling_about closing",
        "thanks feeling_about news question", "news pep",
    ),
    "discard": (
        "reaction", "reaction question", "thanks pep", "reaction wisdom pep", "yes wisdom",
        "greeting question", "wisdom pep", "advice advice", "reaction advice pep",
        "reaction pep question", "thanks closing", "wisdom", "yes feeling_about",
        "thanks wisdom question", "greeting reaction question", "yes reaction wisdom",
        "thanks feeling_about closing", "wisdom wisdom", "reaction reaction question",
        "greeting reaction wisdom", "pep closing", "yes advice wisdom", "feeling_about question",
        "feeling_about", "pep", "advice",
    ),
    "hold": ("unsure", "reaction unsure", "unsure question", "thanks unsure", "unsure wisdom"),
}  # fmt: skip
"""Kinds of sentences in the order they are said, by what is right for the turn."""
TURNS = {"allow": 1150, "discard": 1050, "hold": 180}
BEFORE = ("reaction question", "news question", "thanks news question", "news feeling_about",
          "reaction advice", "question", "reaction pep", "news", "wisdom question")  # fmt: skip
"""What the friend said before; news of the friend is nothing of the user's."""
TIES = ("", "", "", "", "BTW, ", "Oh, and ", "Actually, ", "As for me, ", "Guess what, ", "So, ")
"""How news is tied to what stands before it."""

_SLOT = re.compile(r"\{([^{}]+)\}")
_SEVERAL = re.compile(r"^(?:the (?!.*one)|our two)")
_ARTICLE = re.compile(r"^(?:my|our|the|an?|some) ")


class _Writer:
    """Writes sentences out with words chosen by chance, the same word for the same slot."""

    def __init__(self, data: Mapping[str, Any], rng: random.Random) -> None:
        self._words: dict[str, list[str]] = data["words"]
        self._lines = {kind: list(data[kind]["lines"]) for kind in data if kind != "words"}
        self._rng = rng
        self._stock: dict[str, list[str]] = {}

    def turn(self, mould: str) -> tuple[str, list[str]]:
        """The words of a turn and the categories of its news."""
        said: list[str] = []
        named: list[str] = []
        for kind in mould.split():
            line = self._next(kind)
            category, bar, words = line.partition(" | ")
            sentence = self._written(words if bar else line)
            if bar:
                named.append(category)
                if said and len(sentence) > 1:
                    tie = self._rng.choice(TIES)
                    own = sentence.startswith(("I ", "I'"))
                    sentence = tie + (sentence if own or not tie else _lowered(sentence))
            said.append(sentence)
        return " ".join(said), named

    def _next(self, kind: str) -> str:
        """Every line of a kind comes before one comes again."""
        stock = self._stock.setdefault(kind, [])
        if not stock:
            stock += self._rng.sample(self._lines[kind], len(self._lines[kind]))
        return stock.pop()

    def _written(self, line: str) -> str:
        chosen: dict[str, str] = {}
        text = _SLOT.sub(lambda match: self._word(match[1], chosen), line)
        return text[:1].upper() + text[1:]

    def _word(self, slot: str, chosen: dict[str, str]) -> str:
        if slot in chosen:
            return chosen[slot]
        many = bool(_SEVERAL.match(chosen.get("kid", "")))
        if slot == "s":
            word = "" if many else "s"
        elif slot == "is_are":
            word = "are" if many else "is"
        elif slot == "kin_poss":
            word = f"{self._rng.choice(self._words['kin'])}'s"
        elif slot == "petname2":
            word = self._rng.choice([n for n in self._words["petname"] if n != chosen["petname"]])
        elif slot.endswith("_bare"):
            word = _ARTICLE.sub("", self._rng.choice(self._words[slot.removesuffix("_bare")]))
        elif slot.endswith("_yours"):
            own = self._rng.choice(self._words[slot.removesuffix("_yours")])
            word = _ARTICLE.sub("your ", own)
        elif slot in self._words:
            word = self._rng.choice(self._words[slot])
        else:
            word = self._rng.choice(slot.split("|"))
        chosen[slot] = word
        return word


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def rows(data: Mapping[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """The turns, each a conversation of its own, half of them with the friend's words before."""
    writer = _Writer(data, rng)
    found: list[dict[str, Any]] = []
    for verdict, count in TURNS.items():
        for number in range(count):
            moulds = MOULDS[verdict]
            said, named = writer.turn(moulds[number % len(moulds)])
            row: dict[str, Any] = {"user": said, "assistant": "", "verdict": verdict}
            if rng.random() < 0.5:
                row["assistant_before"] = writer.turn(rng.choice(BEFORE))[0]
            row["facts"] = [[category, ""] for category in dict.fromkeys(named)]
            found.append({**row, "recall": False})
    rng.shuffle(found)
    return [{"c": f"m-{n:04}", "s": 0, **row} for n, row in enumerate(found, 1)]


def companions(count: int = 400) -> list[str]:
    """Sentences of chatter that say nothing to keep, each of its own; the same in every run."""
    writer = _Writer(tomllib.loads(SENTENCES.read_text("utf-8")), random.Random(SEED))
    kinds = ("reaction", "wisdom", "pep", "question", "thanks", "closing")
    return [writer.turn(kinds[n % len(kinds)])[0] for n in range(count)]


def main() -> None:
    """Reads the sentences, writes the turns."""
    written = rows(tomllib.loads(SENTENCES.read_text("utf-8")), random.Random(SEED))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written)
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET}: {len(written)} lines")


if __name__ == "__main__":
    main()
