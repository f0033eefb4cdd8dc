"""An answer's own words, written into a clause with words of the question."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.language import Words

MAX_ANSWER = 14


@dataclass(frozen=True, slots=True)
class Answer:
    """A turn, or its beginning, read as an answer.

    Attributes:
        readings: Full clauses to read in turn; the first that gives a fact counts, unless ``all``.
        used: How many of the turn's clauses they stand for.
        all: All readings count ("i speak polish", "i speak english").
        settled: A yes or no settled the question: only rules of narrow constructions count.
        asked: What a yes to that question states ("i smoke").
        whole: What all readings say together ("i do not take sugar or milk"), where there are more.
        more: The turn tells more than the readings ("no | i rent").
    """

    readings: tuple[Words, ...]
    used: int
    all: bool = False
    settled: bool = False
    asked: str = ""
    more: bool = False
    whole: Words | None = None


OWN_CLAUSES = frozenset("i we my our he she you can what play set".split())
"""Words that open a clause of its own, which needs no question."""


def flipped(text: str) -> str:
    """The question's words as the user says them: "your sister" is "my sister"."""
    return " ".join(
        {"you": "i", "your": "my", "yours": "mine", "yourself": "myself"}.get(w, w)
        for w in text.split()
    )


def filled(spoken: Words, template: str, groups: dict[str, str], answer: list[int]) -> Words:
    """A clause of ``dialogue.toml`` with the question's groups and the answer at ``{A}``."""
    front, _, back = template.partition("{A}")
    return written_line(
        spoken, front.format(**groups).split(), answer, back.format(**groups).split()
    )


def written_line(
    spoken: Words, front: list[str], answer: list[int], back: list[str] | None = None
) -> Words:
    """Words of a clause written in around the answer's own words."""
    at = spoken.start[answer[0]] if answer else spoken.start[0]
    last = spoken.end[answer[-1]] if answer else spoken.end[-1]
    back = back or []
    return Words(
        spoken.text,
        [*front, *(spoken.norm[i] for i in answer), *back],
        [*([at] * len(front)), *(spoken.start[i] for i in answer), *([last] * len(back))],
        [*([at] * len(front)), *(spoken.end[i] for i in answer), *([last] * len(back))],
        [*([""] * len(front)), *(spoken.after[i] for i in answer), *([""] * len(back))],
    )
