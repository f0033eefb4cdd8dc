"""How a memory is shown to whoever reads it: a canonical text, or the user's words as a quotation.

First-person words stay as they were said, so a reader needs to see that they are words and of when:
``"me and ines" (said 2026-03-03)``. Words that mean little without the question they answer are
shown with it: ``asked "Who is cooking?": "me and ines" (said 2026-03-03)``.
"""

from __future__ import annotations

import re
from unicodedata import category

from bmo.turn import Fact, StoredFact

ANSWER_WORDS = 20
"""Up to so many words a turn is shown with the question it answers."""

QUESTION_WORDS = 16
"""Up to so many words a question is shown with the sentence before it."""

CONTRADICTED = ", conflicts with another memory: ask which holds"
"""What a reader is told of a memory that nothing can order against one that contradicts it."""
_BRACKETS = str.maketrans("<\ufe64\uff1c>\ufe65\uff1e", "((()))")
"""Also those that Unicode calls the same in another width."""
_SPELT = re.compile(
    r"&(?:(?P<lt>lt|#0*60|#x0*3c)|gt|#0*62|#x0*3e)(?:;|(?![a-z0-9]))|%3(?P<c>c)|%3e"
    r"|\\(?:u00|x)3(?P<x>c)|\\(?:u00|x)3e",
    re.IGNORECASE,
)
"""Angle brackets as HTML, URLs and program text write them."""
_JOINERS = "\u200c\u200d"
"""They show nothing, and stand within words and pictures."""
_SENTENCE = re.compile(r"\S.*?(?:[.!?]+(?=\s|$)|$)", re.DOTALL)


def quotation(memory: Fact | StoredFact) -> str:
    """A memory's text for a reader, without its date: one line, no angle brackets.

    Returns:
        The canonical text as it is; words in quotation marks, with the question they answer.
    """
    text = one_line(memory.text)
    if not is_words(memory):
        return text
    question = answered(memory)
    return f'asked "{question}": "{text}"' if question else f'"{text}"'


def dated_quotation(memory: StoredFact) -> str:
    """``quotation`` with the day: since when a canonical text holds, when words were said."""
    day = memory.valid_from.date().isoformat()
    shown = quotation(memory)
    if memory.valid_until is not None:
        return f"{shown} (until {memory.valid_until.date().isoformat()}, no longer true)"
    since = f"said {day}" if is_words(memory) else day
    return f"{shown} ({since}{CONTRADICTED if memory.conflict else ''})"


def exchange(memory: Fact | StoredFact) -> str:
    """Everything a memory tells: the words it answers, and its text."""
    return f"{memory.asked} {memory.text}".strip()


def is_words(memory: Fact | StoredFact) -> bool:
    """Whether a memory's text is what the user said, and no canonical text."""
    return bool(memory.said) and memory.slot is None and not _written_by_model(memory)


def answered(memory: Fact | StoredFact) -> str:
    """The question that a memory's words answer, where they need it to be understood; else ""."""
    if not memory.asked or len(memory.text.split()) > ANSWER_WORDS:
        return ""
    sentences = [s.strip() for s in _SENTENCE.findall(memory.asked)]
    places = [n for n, sentence in enumerate(sentences) if sentence.endswith("?")]
    if not places:
        return ""
    question = sentences[places[-1]]
    # Whom it is about often stands before it: "Aw, Pepper! Does she live indoors?"
    before = sentences[places[-1] - 1] if places[-1] else ""
    whole = f"{before} {question}".strip()
    return one_line(whole if len(whole.split()) <= QUESTION_WORDS else question)


def one_line(text: str) -> str:
    """Text on one line, which cannot close a block or a quotation that it stands in."""
    return flat(text).replace('"', "'")


def flat(text: str) -> str:
    """Text on one line without angle brackets, so that it cannot close a block it stands in.

    However they are written, and without characters that nobody sees.
    """
    line = " ".join(text.split())
    seen = (one for one in line if one in _JOINERS or category(one) not in ("Cc", "Cf"))
    plain = _SPELT.sub(lambda m: "(" if m["lt"] or m["c"] or m["x"] else ")", "".join(seen))
    return " ".join(plain.translate(_BRACKETS).split())


def _written_by_model(memory: Fact | StoredFact) -> bool:
    """A model service behind the gate writes canonical texts ("gemini:...", "ollama:...")."""
    method = memory.extraction_method
    return ":" in method and method.partition(":")[0] not in {"encoder", "pattern", "judge"}
