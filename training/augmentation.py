"""Other writings of a turn: as recognisers print it, as people type it.

Every change is as likely for every label, so that none of them becomes a sign of a label.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from training.turns import TrainingTurn

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


UNFRAMED = frozenset("iklmnqr")
"""Files that get no companions: other languages, and chat that has them already."""


def vary(
    turn: TrainingTurn,
    rng: random.Random,
    strangers: Sequence[str],
    companions: Sequence[str] = (),
) -> TrainingTurn:
    """Another writing of a turn.

    Args:
        turn: The annotated turn.
        rng: Source of chance.
        strangers: Assistant's lines, without a question, of other conversations.
        companions: Sentences that say nothing to keep ("Good for you!", "How about you?"), to
            stand before or behind the turn's own.

    Returns:
        The turn with other words or context; now and then unchanged.
    """
    text, context = turn.text, turn.context
    words = len(text.split())
    if context and words >= 6 and rng.random() < 0.2:
        context = ""
    elif not context and rng.random() < 0.35:
        context = rng.choice(strangers)
    if companions and words >= 4 and turn.file not in UNFRAMED and rng.random() < 0.12:
        text = _in_company(text, rng, companions)
    if rng.random() < 0.6:
        text = _as_written(text, rng)
        if rng.random() < 0.3:
            context = _as_written(context, rng)
    if words >= 3 and rng.random() < 0.25:
        text = _as_spoken(text, rng)
    if words >= 5 and rng.random() < 0.12:
        text = _misheard(text, rng)
    return replace(turn, text=text or turn.text, context=context)


def _in_company(text: str, rng: random.Random, companions: Sequence[str]) -> str:
    """A sentence of chatter before, behind, or on both sides."""
    said = text[:1].upper() + text[1:]
    said = said if said[-1:] in ".?!" else said + "."
    where = rng.randrange(3)
    if where != 1:
        said = f"{rng.choice(companions)} {said}"
    return f"{said} {rng.choice(companions)}" if where else said


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
