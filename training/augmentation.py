"""Other writings of a turn: as recognisers print it, as people type it.

Every change is as likely for every label, so that none of them becomes a sign of a label.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from training.data import TurnExample

FILLERS = ("um", "uh", "er", "like", "you know", "well", "so", "i mean", "hmm", "okay so", "right")
OPENERS = ("hey bmo", "bmo", "hi", "okay", "oh", "hey", "so", "well", "right", "listen", "yeah")
CLOSERS = ("you know", "right", "anyway", "i guess so yeah", "yeah", "bmo", "okay", "so yeah")
HEARD_AS = {
    "their": "there", "there": "their", "youre": "your", "your": "youre", "to": "too", "two": "to",
    "its": "is", "for": "four", "by": "buy", "new": "knew", "know": "no", "here": "hear",
    "where": "were", "were": "where", "than": "then", "our": "are", "are": "our", "and": "in",
    "a": "the", "the": "a", "in": "and", "son": "sun", "week": "weak", "won": "one", "eye": "i",
    "meat": "meet", "whole": "hole", "wife": "life", "an": "and", "im": "i", "of": "off",
}  # fmt: skip
"""Words recognisers take for one another."""


def vary(turn: TurnExample, rng: random.Random, strangers: Sequence[str]) -> TurnExample:
    """Another writing of a turn.

    Args:
        turn: The annotated turn.
        rng: Source of chance.
        strangers: Assistant's lines, without a question, of other conversations.

    Returns:
        The turn with other words or context; now and then unchanged.
    """
    text, asked, before = turn.text, turn.asked, turn.before
    if rng.random() < 0.3:
        before = ""
    if asked and len(text.split()) >= 6 and rng.random() < 0.15:
        asked = before = ""
    elif not asked and rng.random() < 0.3:
        asked = rng.choice(strangers)
    text = vary_text(text, rng)
    if rng.random() < 0.2:
        asked = _as_written(asked, rng)
    return replace(turn, text=text or turn.text, asked=asked, before=before)


def vary_text(text: str, rng: random.Random) -> str:
    """Another writing of words: case, punctuation, a filler, a word taken for another."""
    words = len(text.split())
    changed = text
    if rng.random() < 0.5:
        changed = _as_written(changed, rng)
    if words >= 3 and rng.random() < 0.2:
        changed = _as_spoken(changed, rng)
    if words >= 5 and rng.random() < 0.12:
        changed = _misheard(changed, rng)
    return changed or text


def _as_written(text: str, rng: random.Random) -> str:
    """Other case and punctuation."""
    kind = rng.randrange(4)
    if kind == 0:
        return re.sub(r"[^\w\s]", "", text.lower())
    if kind == 1:
        return text.lower()
    if kind == 2:
        return re.sub(r"[,;:!?.]", "", text)
    typed = text[:1].upper() + text[1:]
    typed = re.sub(r"\bi\b", "I", typed)
    typed = re.sub(r"\b([Ii])m\b", r"\1'm", typed)
    typed = re.sub(r"\b(do|does|did|is|are|was|has|have|could|would)nt\b", r"\1n't", typed)
    return typed if typed[-1:] in ".?!" else typed + "."


def _as_spoken(text: str, rng: random.Random) -> str:
    """A filler inside, an opener, a closer or a repeated word."""
    kind, words = rng.randrange(4), text.split()
    if kind == 0:
        words.insert(rng.randrange(1, len(words)), rng.choice(FILLERS))
    elif kind == 1:
        words.insert(0, rng.choice(OPENERS))
    elif kind == 2:
        words.append(rng.choice(CLOSERS))
    else:
        place = rng.randrange(len(words))
        words.insert(place, words[place])
    return " ".join(words)


def _misheard(text: str, rng: random.Random) -> str:
    """One word lost, split or taken for another."""
    words = text.split()
    swaps = [i for i, word in enumerate(words) if word.lower() in HEARD_AS]
    if swaps and rng.random() < 0.6:
        place = rng.choice(swaps)
        words[place] = HEARD_AS[words[place].lower()]
    else:
        short = [
            i for i, word in enumerate(words) if word.lower() in ("a", "the", "is", "to", "of")
        ]
        if short:
            del words[rng.choice(short)]
    return " ".join(words)
