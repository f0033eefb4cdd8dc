"""Secrets in what people say or type: found, named and masked before anything is written.

A secret is known by its shape (``credential_shapes``), by the name of a credential beside it
(``named_secrets``), or because it was told before. A telephone number or a mail address is a fact
about a person and stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from bmo.gate.credential_names import names_a_credential
from bmo.gate.credential_shapes import Found, find_shapes, load_detectors
from bmo.gate.named_secrets import answering, find_named
from bmo.gate.tables import words_of
from bmo.language.numerals import chunks_of, run_at

SECRET_MASK = "[secret]"
"""What stands in the place of a secret."""

_WORD = re.compile(r"[^\W_]+")
_CLAUSES = re.compile(r"[.,;:!?\n]+|\b(?:and|but|und|aber|et|mais|y|pero)\b")
_LEAST_REPEATED = 4
"""Fewest characters of a secret that is known again in other words."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a text hides.

    Attributes:
        masked: The text with ``SECRET_MASK`` in the place of every secret.
        kinds: What was found, each once, in the order of the text.
        spans: Where it stood in the text: start and end, in order, without overlaps.
        values: The secrets themselves in lower case, a number as its digits: to know them again.
    """

    masked: str
    kinds: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    values: tuple[str, ...] = field(default=(), repr=False)


def load() -> None:
    """Reads the tables and the detectors (0.15 s), so that no first turn waits for them."""
    scan("my pin is 1234")
    load_detectors()


def scan(text: str, asked: str = "", known: Collection[str] = ()) -> Scan:
    """Finds every secret of a text.

    Args:
        text: What somebody said or typed.
        asked: The assistant's words before it: a bare value answers "what is the code?".
        known: ``Scan.values`` of earlier words: they are secrets here too.
    """
    lower = _lowered(text)
    words = _WORD.findall(lower)
    found = list(find_shapes(text, words))
    if SECRET_MASK in text:
        found += [Found(*m.span(), "masked") for m in re.finditer(re.escape(SECRET_MASK), text)]
    found += find_named(text, lower, words)
    if asked:
        found += answering(text, asked)
    if known:
        found += _repeated(text, lower, known)
    return _scanned(text, found) if found else Scan(text)


def bare_secret(scan: Scan) -> bool:
    """Whether nothing worth keeping remains of a text beside its secrets."""
    if not scan.spans:
        return False
    stop = words_of("secrets.toml", "stop") - {"for", "on"}
    filler = words_of("secrets.toml", "filler")
    for part in _CLAUSES.split(scan.masked):
        _, mask, behind = part.partition(SECRET_MASK)
        if mask:  # another clause may begin right behind it
            first = _WORD.findall(behind.lower())[:1]
            part = behind if first and first[0] in stop else ""
        told = [w for w in _WORD.findall(part.lower()) if len(w) > 1 and w not in filler]
        if len(told) > 1 and not any(map(names_a_credential, told)):
            return False
    return True


def _lowered(text: str) -> str:
    """In lower case and of the same length: some letters of other scripts grow."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _scanned(text: str, found: list[Found]) -> Scan:
    """The spans joined where they overlap, and the text with each of them replaced."""
    joined: list[Found] = []
    for item in sorted(found, key=lambda f: (f.start, -f.end)):
        if joined and item.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, item.end))
        else:
            joined.append(item)
    parts, at = [], 0
    for item in joined:
        parts += [text[at : item.start], SECRET_MASK]
        at = item.end
    kinds = tuple(dict.fromkeys(item.kind for item in joined))
    spans = tuple((f.start, f.end) for f in joined)
    values = (_value_of(text, *span) for span in spans)
    kept = tuple(value for value in values if len(value) >= _LEAST_REPEATED)
    return Scan("".join(parts) + text[at:], kinds, spans, kept)


def _value_of(text: str, start: int, end: int) -> str:
    """A secret in lower case, a number as its digits; "" for a mask."""
    chunks = chunks_of(text, start, end)
    run = run_at(chunks, 0)
    if run and run.end == len(chunks) and run.digits.isdecimal():
        return run.digits
    value = text[start:end]
    return "" if value == SECRET_MASK else value.lower()


def _repeated(text: str, lower: str, known: Collection[str]) -> Iterator[Found]:
    """Secrets that were told before, however their digits are said now."""
    for value in known:
        at = lower.find(value)
        while at >= 0:
            end = at + len(value)
            if not lower[at - 1 : at].isalnum() and not lower[end : end + 1].isalnum():
                yield Found(at, end, "repeated")
            at = lower.find(value, end)
    if not any(map(str.isdecimal, known)):
        return
    chunks, at = chunks_of(text), 0
    while at < len(chunks):
        run = run_at(chunks, at)
        if run and run.digits in known:
            yield Found(chunks[at].start, chunks[run.end - 1].end, "repeated")
        at = run.end if run else at + 1
