"""Secrets known by their own shape: keys and tokens, cards, bank and national numbers.

Tokens are found by detect-secrets and by the beginnings that providers give their keys, numbers
are checked by python-stdnum. Both are imported when a text first holds something like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import NamedTuple

from bmo.gate.tables import read_table, words_of
from bmo.language.numerals import (
    Chunk,
    Run,
    chunks_of,
    count_numerals,
    digits,
    is_quantity,
    is_repeat,
    run_at,
)

_TOKEN_LIKE = re.compile(r"-----BEGIN |[^\s\"'`<>]{14,}")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,9}-----[^-]*(?:-----END[A-Z ]*-----)?"
)
_WEBHOOK = re.compile(r"https?://\S*(?:/api/webhooks/|hooks\.slack\.com/|/webhook/)\S+", re.I)
_ASSIGNED = re.compile(
    r"(?i)[\w.-]{0,40}?(?:passwd|password|passwort|pwd|secret|token|api_?key|access_?key|auth"
    r"|private_?key|account_?key)[\w-]{0,20}[\"']?[=:][\"']?([^\s\"',;/]\S{3,})"
)
_OTHER = re.compile(r"[\w~.-]{3}\dQ~[\w~.-]{31,34}|\b[5KL][1-9A-HJ-NP-Za-km-z]{50,51}\b")
_HEX = re.compile(r"[0-9a-f]{32,}", re.I)
_COMMIT = re.compile(r"\b(?:commit|sha|hash|md5|checksum|revision|digest)\W+$", re.I)
_DIGITS = re.compile(r"(?:\d[^\d]*){6}")
_CARD = re.compile(r"(?<![\w+.,])[2-6]\d{3}(?:[ -]?\d){9,15}(?!\w)")
_FOURS = re.compile(r"[3-6]\d{3}([ -])\d{4}\1\d{4}\1\d{4}")
_IBAN = re.compile(r"(?<![^\W_])[a-z]{2} ?\d\d(?: ?[a-z0-9]){11,30}(?![^\W_])", re.I)
_LONGEST_TOKEN = 1_500
_LEAST_SPOKEN, _MOST_SPOKEN = 4, 8
"""So many digits that are said one by one are a code beside what is opened with one."""
_COUNTED = "1234567891011"
_KEYS = frozenset(["hash", "raute", "dièse", "almohadilla"])


class Found(NamedTuple):
    """A secret in a text: where it stands, and what it is."""

    start: int
    end: int
    kind: str


@cache
def load_detectors() -> Callable[[str], bool]:
    """The detectors of detect-secrets as one test; the first call takes 0.1 s."""
    detectors = []
    for place in read_table("secrets.toml")["tokens"]["detectors"]:
        module, _, name = place.partition(".")
        detectors.append(getattr(import_module(f"detect_secrets.plugins.{module}"), name)())
    return lambda token: any(True for d in detectors for _ in d.analyze_string(token))


@cache
def _prefixes() -> re.Pattern[str]:
    starts = "|".join(read_table("secrets.toml")["tokens"]["prefixes"])
    return re.compile(rf"(?<![A-Za-z0-9])(?:{starts})[A-Za-z0-9_\-.~+/=]{{14,}}")


def find_shapes(text: str, words: Sequence[str]) -> Iterator[Found]:
    """Every secret of a text that its shape tells.

    Args:
        text: What somebody said or typed.
        words: Its words in lower case.
    """
    if len(text) > 13:
        for token in _TOKEN_LIKE.finditer(text):
            yield from _token(text, *token.span())
    for kind, wanted, patterns in _shapes():
        if any(needed in text for needed in wanted):
            for pattern in patterns:
                yield from (Found(*m.span("value"), kind) for m in pattern.finditer(text))
    if _DIGITS.search(text):
        phoned = not words_of("secrets.toml", "phone").isdisjoint(words)
        for match in _CARD.finditer(text):
            said = match.group()
            if _FOURS.fullmatch(said) or (len(set(said)) > 3 and _valid("luhn", said)):
                yield Found(*match.span(), "card_number")
        yield from _ibans(text)
        for module, pattern in () if phoned or "+" in text else _national():
            hits = list(pattern.finditer(text))
            numbers = {match.group() for match in hits}
            valid = {said for said in numbers if not module or _valid(module, said)}
            yield from (Found(*m.span(), "national_number") for m in hits if m.group() in valid)
    numerals = count_numerals(words) if len(words) > _LEAST_SPOKEN else 0
    opens = numerals >= _LEAST_SPOKEN and not words_of("secrets.toml", "opened").isdisjoint(words)
    if numerals >= 7 or opens or not _KEYS.isdisjoint(words):
        yield from _spoken_numbers(text, opens)


@cache
def _shapes() -> list[tuple[str, list[str], list[re.Pattern[str]]]]:
    """The shapes of the table: kind, what a text with one has, patterns."""
    return [
        (row["kind"], row["needed"], [re.compile(p, re.IGNORECASE) for p in row["patterns"]])
        for row in read_table("secrets.toml")["shape"]
    ]


@cache
def _national() -> list[tuple[str, re.Pattern[str]]]:
    """Modules of python-stdnum, and how the numbers look that they check."""
    numbers = read_table("secrets.toml")["national"]["numbers"]
    return [(module, re.compile(look)) for module, look in numbers]


def _token(text: str, start: int, end: int) -> Iterator[Found]:
    """A key of a provider, or what looks as random as one."""
    if text.startswith("-----BEGIN", start):
        key = _PRIVATE_KEY.match(text, start)
        if key:
            yield Found(*key.span(), "private_key")
        return
    token = text[start:end].rstrip(".,;:?)]}!")
    end = start + len(token)
    plain = token.islower() or token.istitle() or token.isupper()
    if not any(map(str.isdigit, token)) and "=" not in token and plain:
        return
    assigned = _ASSIGNED.search(token) if "=" in token or ":" in token else None
    if assigned and "://" not in token:
        yield Found(start + assigned.start(1), end, "api_key")
        return
    known = _WEBHOOK.match(token) or _prefixes().search(token) or _OTHER.search(token)
    if known:
        yield Found(start + known.start(), end, "api_key")
    elif "://" in token or token.startswith("www.") or "@" in token:
        return
    elif _HEX.fullmatch(token) and not token.isdigit() and not token.isalpha():
        if not _COMMIT.search(text[max(0, start - 20) : start]):
            yield Found(start, end, "api_key")
    elif _looks_random(token) or (
        len(token) < _LONGEST_TOKEN and len(set(token)) > 9 and load_detectors()(token)
    ):
        yield Found(start, end, "api_key")


def _looks_random(token: str) -> bool:
    """Whether letters of both cases and digits change so often that nobody wrote it."""
    if len(token) < 20 or len(set(token)) < 10 or not re.fullmatch(r"[\w+/=.~-]+", token):
        return False
    kinds = [0 if c.isdigit() else 1 if c.islower() else 2 if c.isupper() else 3 for c in token]
    changes = sum(a != b for a, b in pairwise(kinds))
    return {0, 1, 2} <= set(kinds) and changes * 3 >= len(token)


def _valid(module: str, number: str) -> bool:
    bare = number.replace(" ", "").replace("-", "")
    return bool(import_module(f"stdnum.{module}").is_valid(bare))


def _ibans(text: str) -> Iterator[Found]:
    seen: dict[str, int] = {}  # bounds the work on a text that says one thing for ever
    for match in _IBAN.finditer(text):
        said = match.group()
        if said not in seen:  # words may follow the account's number
            stops = [len(said), *(m.start() for m in reversed([*re.finditer(" ", said)]))]
            fits = (stop for stop in stops if stop >= 15 and _valid("iban", said[:stop]))
            seen[said] = next(fits, 0)
        if seen[said]:
            yield Found(match.start(), match.start() + seen[said], "iban")


def _spoken_numbers(text: str, opens: bool) -> Iterator[Found]:
    """Digits before a key that ends a code, or, where something ``opens``, said one by one.

    Thirteen of them are a card, unless one is phoned.
    """
    chunks = chunks_of(text)
    at = 0
    while at < len(chunks):
        run = run_at(chunks, at)
        if run and len(run.digits) > 2 and chunks[run.end - 1].word in _KEYS:
            yield Found(chunks[at].start, chunks[run.end - 1].end, "code")
        elif run and opens and _one_by_one(chunks, at, run):
            yield Found(chunks[at].start, chunks[run.end - 1].end, "code")
        if run is None or len(run.digits) < 13 or any(map(str.isdigit, chunks[at].word)):
            at = at + 1 if run is None else run.end
            continue
        before = {c.word for c in chunks[max(0, at - 8) : at]}
        counted = _COUNTED.startswith(run.digits[:9])
        quantity = is_quantity([c.word for c in chunks[at : run.end]])
        if not (counted or quantity or before & words_of("secrets.toml", "phone")):
            while at and len(chunks[at - 1].word) == 1 and chunks[at - 1].word.isalpha():
                at -= 1  # "D E" of an IBAN
            yield Found(chunks[at].start, chunks[run.end - 1].end, "card_number")
        at = run.end


def _one_by_one(chunks: Sequence[Chunk], at: int, run: Run) -> bool:
    """Whether a number is said digit by digit as a code is, and no telephone number or amount."""
    if not _LEAST_SPOKEN <= len(run.digits) <= _MOST_SPOKEN or run.digits in _COUNTED:
        return False
    said = [digits(c.word) for c in chunks[at : run.end] if not is_repeat(c.word)]
    around = {c.word for c in chunks[max(0, at - 8) : at]} | {c.word for c in chunks[run.end :][:1]}
    amount = words_of("secrets.toml", "phone") | words_of("secrets.toml", "unit")
    return all(one and len(one) == 1 for one in said) and around.isdisjoint(amount)
