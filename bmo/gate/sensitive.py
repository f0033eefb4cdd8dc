"""Sensitive data: secrets that are written nowhere, personal identifiers by policy.

Secrets (passwords, PINs, one-time, door and alarm codes, payment cards with their check number
and expiry, bank accounts, API keys, private keys, social security numbers) are masked whatever
the settings say. Identifiers (telephone numbers, e-mail addresses, passport, licence and
insurance numbers) follow ``BMO_SENSITIVE``. Spoken forms count as much as written ones. A postal
address is a personal fact that people want remembered, and is left as it is.

A cheap scan for triggers lets ordinary turns through in about a microsecond; the rest is linear
in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bmo.frozen import quickly_made
from bmo.gate.digit_runs import find_runs, tokenise
from bmo.gate.secret_shapes import find_shapes
from bmo.gate.sensitive_lexicon import Found, load_lexicon
from bmo.gate.sensitive_triggers import find_triggered
from bmo.settings import SensitivePolicy

_SHOWN_AS = {"id number": "identity number"}
"""Names of kinds within a mask: "id" would be read as "i would"."""

SECRET_MASK = "[secret]"
"""What stands in the place of a secret."""

MASKED = re.compile(r"\[[a-z ]+(?: \d\d| at \S+)?\]")
"""What stands in the place of a secret or an identifier: "[secret]", "[phone 99]"."""

MAX_SCANNED = 20_000
"""Characters that are looked at; what lies behind is dropped from the masked text."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Span:
    """A sensitive stretch of the scanned text.

    Attributes:
        start: Character offset in the original.
        end: Offset behind it.
        kind: What it holds: a secret (password, pin, code, card, expiry, account, ssn, key, number)
            or an identifier (phone, email, id number).
    """

    start: int
    end: int
    kind: str


class SensitiveScan(NamedTuple):
    """What a scan found.

    Attributes:
        masked: The text as it may be written down under the policy.
        secrets: Spans that are never written.
        identifiers: Spans that the policy decides about (found under every policy). Under
            ``drop`` nothing that holds one may become a fact.
    """

    masked: str
    secrets: tuple[Span, ...] = ()
    identifiers: tuple[Span, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is anything sensitive."""
        return bool(self.secrets or self.identifiers)


def scan(
    text: str, policy: SensitivePolicy = "drop", *, pieces: Sequence[str] | None = None
) -> SensitiveScan:
    """Finds secrets and identifiers and masks them.

    Args:
        text: A turn's words, at most ``MAX_SCANNED`` characters are kept.
        policy: What becomes of identifiers: ``drop`` replaces them by ``[phone]`` and the like,
            ``mask`` keeps the last two digits or the mail domain, ``keep`` leaves them.
        pieces: What stands between the text's spaces, where the caller has split it already.

    Returns:
        The masked text and the spans, in order, without overlaps.
    """
    if len(text) > MAX_SCANNED:
        text, pieces = text[:MAX_SCANNED], None
    if pieces is None:
        pieces = text.split(" ")
    lexicon = load_lexicon()
    found = _masked_before(text) if SECRET_MASK in text else []
    if not found and not lexicon.may_hold(text, pieces):
        return tuple.__new__(SensitiveScan, (text, (), ()))
    found += find_shapes(text, lexicon)
    if text.lower() != text.upper():  # without a letter there is no word, and so no trigger
        tokens = tokenise(text)
        found += find_triggered(text, tokens, find_runs(tokens, lexicon.numbers), lexicon)
    if not found:
        return SensitiveScan(text)
    merged = _merge(found)
    return SensitiveScan(
        masked=_mask(text, merged, policy),
        secrets=tuple(Span(f.start, f.end, f.kind) for f in merged if f.secret),
        identifiers=tuple(Span(f.start, f.end, f.kind) for f in merged if not f.secret),
    )


def is_harmless(piece: str) -> bool:
    """Whether a piece of a text has no part in anything sensitive, nor is a mask of it."""
    return SECRET_MASK not in piece and load_lexicon().harmless.hold_all((piece,))


def holds_mask(text: str, first: int, last: int) -> bool:
    """Whether a mask overlaps ``text[first:last]``; a clause may end before a mask's bracket."""
    return any(mask.start() < last and mask.end() > first for mask in MASKED.finditer(text))


def _masked_before(text: str) -> list[Found]:
    """Masks of an earlier scan: a logged turn that is read again still had a secret in it."""
    return [
        Found(hit.start(), hit.end(), "number", True)
        for hit in re.finditer(re.escape(SECRET_MASK), text)
    ]


def _merge(found: list[Found]) -> list[Found]:
    """Joins overlapping spans; a secret wins over an identifier, then the longer span."""
    merged: list[Found] = []
    for item in sorted(found, key=lambda f: (f.start, -f.end)):
        if merged and item.start < merged[-1].end:
            last = merged[-1]
            wins = (item.secret, item.end - item.start) > (last.secret, last.end - last.start)
            best = item if wins else last
            merged[-1] = Found(last.start, max(last.end, item.end), best.kind, best.secret)
        else:
            merged.append(item)
    return merged


def _mask(text: str, spans: list[Found], policy: SensitivePolicy) -> str:
    """The text with every span replaced as the policy asks."""
    parts: list[str] = []
    position = 0
    for span in spans:
        parts.append(text[position : span.start])
        parts.append(_replacement(text[span.start : span.end], span, policy))
        position = span.end
    parts.append(text[position:])
    return "".join(parts)


def _replacement(value: str, span: Found, policy: SensitivePolicy) -> str:
    if span.secret:
        return SECRET_MASK
    if policy == "keep":
        return value
    if policy == "mask":
        if span.kind == "email" and "@" in value:
            return f"[email at {value.rpartition('@')[2]}]"
        if value[-2:].isdigit():
            return f"[{_SHOWN_AS.get(span.kind, span.kind)} ending {value[-2:]}]"
    return f"[{_SHOWN_AS.get(span.kind, span.kind)}]"
