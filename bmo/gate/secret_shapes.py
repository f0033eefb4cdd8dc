"""Secrets and identifiers known by their shape alone: keys, cards, IBANs, mails, telephones.

All patterns are linear: repeated parts are bounded or possessive.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from bmo.gate.sensitive_lexicon import Found, Lexicon

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.S
)
_KEYS = re.compile(
    r"\b(?:"
    r"sk-[\w-]{16,}+|[srp]k_(?:live|test)_\w{8,}+|gh[pousr]_\w{16,}+|github_pat_\w{16,}+"
    r"|glpat-[\w-]{16,}+|xox[abeprs]-[\w-]{10,}+|A[KS]IA[0-9A-Z]{12,}+|AIza[\w-]{20,}+"
    r"|ya29\.[\w-]{16,}+|npm_\w{20,}+|pypi-[\w-]{16,}+|hf_\w{16,}+|SG\.[\w.-]{16,}+"
    r"|eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?"
    r")",
)
"""Key formats as their issuers document them (OpenAI, Stripe, GitHub, GitLab, Slack, AWS, Google,
npm, PyPI, Hugging Face, SendGrid) and JSON Web Tokens (RFC 7519)."""
_ASSIGNED = re.compile(
    r"(?:password|passwd|pwd|secret|token|api[_-]?key)"
    r"(?:_[a-z]{1,20}+){0,2}+\s{0,3}[=:]\s{0,3}['\"]?([^\s'\"]{3,})",
    re.I,
)
_URL_LOGIN = re.compile(r"://[^\s:/@]{1,100}:([^\s@/]{1,200})@")
_LONG_TOKEN = re.compile(r"(?<![\w/.@:+=-])[\w+/=-]{20,}+(?![.@:/])")
_CARD = re.compile(r"(?<![\d.,])\d(?:[ -]?\d){12,18}(?![\d]|[.,]\d)")
_IBAN = re.compile(r"(?<!\w)[a-z]{2}[ ]?\d{2}(?:[ -]?[a-z0-9]){11,30}(?!\w)", re.I)
_SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_PHONE = re.compile(r"(?<![\d\w.,/-])[+(]?\d(?:[ ().\-/]{0,2}\d){6,14}(?![\d\w]|[.,:]\d)")
_SPOKEN_DOMAINS = "com|org|net|io|de|fr|es|uk|eu|ch|at|ca|au|ie|info|edu|example|dev|me|co"

IBAN_LENGTHS = range(15, 35)
"""ISO 13616: 15 (Norway) to 34 characters."""


_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
"""Sum of the digits of twice a digit."""


def luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812: payment card numbers pass it, one in ten others does."""
    as_they_are = sum(map(int, digits[-1::-2]))
    doubled = sum(_DOUBLED[int(char)] for char in digits[-2::-2])
    return (as_they_are + doubled) % 10 == 0


def iban_checks(candidate: str) -> bool:
    """The check of ISO 13616 (mod 97-10) on a candidate without blanks."""
    compact = candidate.upper()
    if len(compact) not in IBAN_LENGTHS:
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def looks_random(token: str) -> bool:
    """Whether a long token has the entropy of a key rather than of words.

    Args:
        token: 20 characters or more without blanks.
    """
    letters = sum(char.isalpha() for char in token)
    digits = sum(char.isdigit() for char in token)
    if not letters or not digits:
        return False
    if re.fullmatch(r"[0-9a-fA-F]{32,}", token):
        return True
    mixed_case = any(c.isupper() for c in token) and any(c.islower() for c in token)
    if not mixed_case and digits < 6:
        return False
    counts = Counter(token)
    entropy = -sum(n / len(token) * math.log2(n / len(token)) for n in counts.values())
    return entropy >= 3.5 and digits >= 3 and not re.search(r"[a-z]{9}", token)


def find_shapes(text: str, lexicon: Lexicon) -> list[Found]:
    """All spans that are sensitive by shape, unordered and possibly overlapping."""
    return [*_secrets(text), *_identifiers(text, lexicon)]


def _secrets(text: str) -> Iterator[Found]:
    if "-----BEGIN" in text:
        for match in _PRIVATE_KEY.finditer(text):
            yield Found(match.start(), match.end(), "key", True)
    for match in _KEYS.finditer(text):
        yield Found(match.start(), match.end(), "key", True)
    if "=" in text or ":" in text:
        for match in _ASSIGNED.finditer(text):
            if not match[1].startswith("["):
                yield Found(match.start(1), match.end(1), "key", True)
        for match in _URL_LOGIN.finditer(text):
            if not match[1].startswith("["):
                yield Found(match.start(1), match.end(1), "password", True)
    for match in _LONG_TOKEN.finditer(text):
        if looks_random(match.group()):
            yield Found(match.start(), match.end(), "key", True)
    for match in _CARD.finditer(text):
        digits = match.group().replace(" ", "").replace("-", "")
        if luhn(digits) and len(set(digits)) > 1:
            yield Found(match.start(), match.end(), "card", True)
    for match in _IBAN.finditer(text):
        end = _iban_end(match.group())
        if end:
            yield Found(match.start(), match.start() + end, "account", True)
    for match in _SSN.finditer(text):
        yield Found(match.start(), match.end(), "ssn", True)


def _iban_end(candidate: str) -> int:
    """Length of the longest prefix at a group's end that is an IBAN, or 0: words may follow it."""
    ends = [m.end() for m in re.finditer(r"[a-z0-9]+", candidate, re.I)]
    for end in reversed(ends):
        compact = re.sub(r"[ -]", "", candidate[:end])
        if compact.isascii() and sum(map(str.isdigit, compact)) >= 10 and iban_checks(compact):
            return end
    return 0


def _identifiers(text: str, lexicon: Lexicon) -> Iterator[Found]:
    if "@" in text:
        for match in _MAIL.finditer(text):
            yield Found(match.start(), match.end(), "email", False)
    for match in _spoken_mail(lexicon).finditer(text):
        yield Found(match.start(), match.end(), "email", False)
    for match in _PHONE.finditer(text):
        if is_phone_number(match.group()):
            yield Found(match.start(), match.end(), "phone", False)


_spoken_mail_patterns: dict[tuple[str, ...], re.Pattern[str]] = {}


def _spoken_mail(lexicon: Lexicon) -> re.Pattern[str]:
    """What "oksana dot berg at gmail dot com" is in all languages."""
    pattern = _spoken_mail_patterns.get(lexicon.mails)
    if pattern is None:
        at = "|".join(map(re.escape, sorted(set(lexicon.mails))))
        dot = "|".join(map(re.escape, sorted(lexicon.words["dot"])))
        part = r"[\w-]{1,40}"
        pattern = re.compile(
            rf"(?<![\w-]){part}(?: (?:{dot}|underscore|dash) {part}){{0,3}} (?:{at}) "
            rf"{part}(?: (?:{dot}) {part}){{0,2}}? (?:{dot}) (?:{_SPOKEN_DOMAINS})(?!\w)",
            re.I,
        )
        _spoken_mail_patterns[lexicon.mails] = pattern
    return pattern


def is_phone_number(candidate: str) -> bool:
    """Whether digits without an introducing word are a telephone number.

    Only shapes that nothing else has are looked up: international ("+44 ..."), a leading 0, or
    the three groups of North America; the rest would take dates and quantities for telephones.
    """
    import phonenumbers  # imported when a candidate shows up: 40 ms

    digits = re.sub(r"\D", "", candidate)
    if candidate.startswith("+"):
        regions: tuple[str | None, ...] = (None,)
    elif digits.startswith("0"):
        regions = ("GB", "DE", "FR")
    elif re.fullmatch(r"\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}", candidate):
        regions = ("US",)
    elif re.fullmatch(r"[67]\d{2}[ ]?\d{2,3}[ ]?\d{2,3}(?:[ ]?\d{2})?", candidate):
        regions = ("ES",)
    else:
        return False
    for region in regions:
        try:
            number = phonenumbers.parse(candidate, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number) or region == "US":
            return True
    return False
