"""Secrets and identifiers known by their shape alone: keys, cards, IBANs, mails, telephones.

All patterns are linear: repeated parts are bounded or possessive.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

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
_DIGIT = re.compile(r"\d")
_SPOKEN_DOMAINS = "com|org|net|io|de|fr|es|uk|eu|ch|at|ca|au|ie|info|edu|example|dev|me|co"

IBAN_LENGTHS = range(15, 35)
"""ISO 13616: 15 (Norway) to 34 characters."""


_DOUBLED = bytes.maketrans(bytes(range(10)), bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
"""A digit -> the sum of the digits of twice that digit."""
_VALUES = bytes.maketrans(b"0123456789", bytes(range(10)))


def luhn(digits: str) -> bool:
    """The check of ISO/IEC 7812: payment card numbers pass it, one in ten others does.

    Args:
        digits: Decimal digits of any script.
    """
    if not digits.isascii():
        digits = "".join(str(int(digit)) for digit in digits)
    values = digits.encode("ascii").translate(_VALUES)
    return (sum(values[-1::-2]) + sum(values[-2::-2].translate(_DOUBLED))) % 10 == 0


_IBAN_LENGTH_OF = {
    pair[:2]: int(pair[2:])
    for pair in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 "
        "EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 "
        "IT27 JO30 KW30 KZ20 LB28 LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MT31 MU30 NL18 NO15 PK24 "
        "PL28 PS29 PT25 QA29 RO24 RS22 SA24 SE24 SI19 SK24 SM27 TN24 TR26 UA29 VA22 XK20"
    ).split()
}
"""Length by country (ISO 13616 registry); of other countries every length is tried."""
_IBAN_DIGITS = {ord(letter): str(int(letter, 36)) for letter in string.ascii_uppercase}
"""ISO 13616: A is 10, ..., Z is 35."""


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
    if text.isascii() and not _DIGIT.search(text):
        return  # a word without a digit is no key, and the rest are numbers
    for match in _LONG_TOKEN.finditer(text):
        if looks_random(match.group()):
            yield Found(match.start(), match.end(), "key", True)
    for match in _CARD.finditer(text):
        digits = match.group().replace(" ", "").replace("-", "")
        if luhn(digits) and len(set(digits)) > 1:
            yield Found(match.start(), match.end(), "card", True)
    ends: dict[str, int] = {}  # a bound on time for text that says one thing for ever
    for match in _IBAN.finditer(text):
        candidate = match.group()
        end = ends.get(candidate, -1)
        if end < 0:
            end = ends[candidate] = _iban_end(candidate)
        if end:
            yield Found(match.start(), match.start() + end, "account", True)
    for match in _SSN.finditer(text) if "-" in text else ():
        yield Found(match.start(), match.end(), "ssn", True)


_IBAN_DIGITS_LEAST = 10
_GROUP = re.compile(r"[a-z0-9]+", re.I)


def _iban_end(candidate: str) -> int:
    """Length of the longest prefix at a group's end that is an IBAN, or 0: words may follow it."""
    if not candidate.isascii():  # "K" may be the Kelvin sign, which no account has
        candidate = candidate[: next(i for i, char in enumerate(candidate) if ord(char) > 127)]
    expected = _IBAN_LENGTH_OF.get(candidate[:2].upper())
    longest = IBAN_LENGTHS.stop - 1 if expected is None else expected
    groups: list[tuple[int, int]] = []
    total = 0
    for match in _GROUP.finditer(candidate):
        start, end = match.span()
        if total + end - start > longest:
            break
        total += end - start
        groups.append((start, end))
    if expected is not None and total != expected:
        return 0
    whole = "".join([candidate[start:end] for start, end in groups]).upper()
    spelled = [candidate[start:end].upper().translate(_IBAN_DIGITS) for start, end in groups]
    digits = "".join(spelled)
    front = len(whole[:4].translate(_IBAN_DIGITS))
    sizes = list(accumulate(end - start for start, end in groups))
    lengths = list(accumulate(map(len, spelled)))
    for place in range(len(groups) - 1, -1, -1):
        size = sizes[place]
        if size < IBAN_LENGTHS.start:
            break
        if expected is not None and size != expected:
            continue
        # The check of ISO 13616 (mod 97-10): the first four characters count last.
        if int(digits[front : lengths[place]] + digits[:front]) % 97 == 1:
            if sum(map(str.isdigit, whole[:size])) >= _IBAN_DIGITS_LEAST:
                return groups[place][1]
    return 0


def _identifiers(text: str, lexicon: Lexicon) -> Iterator[Found]:
    if "@" in text:
        for match in _MAIL.finditer(text):
            yield Found(match.start(), match.end(), "email", False)
    lowered = text.lower()
    spelled = any(f" {dot} " in lowered for dot in lexicon.words["dot"])
    for match in _spoken_mail(lexicon).finditer(text) if spelled else ():
        yield Found(match.start(), match.end(), "email", False)
    for match in _PHONE.finditer(text) if _DIGIT.search(text) else ():
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


_AMERICAN = re.compile(r"\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}")
_SPANISH = re.compile(r"[67]\d{2}[ ]?\d{2,3}[ ]?\d{2,3}(?:[ ]?\d{2})?")


def is_phone_number(candidate: str) -> bool:
    """Whether digits without an introducing word are a telephone number.

    Only shapes that nothing else has are looked up: international ("+44 ..."), a leading 0, or
    the three groups of North America; the rest would take dates and quantities for telephones.
    """
    if candidate.startswith("+"):
        regions: tuple[str | None, ...] = (None,)
    elif candidate.lstrip("(")[0] == "0":
        regions = ("GB", "DE", "FR")
    elif _AMERICAN.fullmatch(candidate):
        regions = ("US",)
    elif _SPANISH.fullmatch(candidate):
        regions = ("ES",)
    else:
        return False
    import phonenumbers  # imported when a candidate shows up: 40 ms

    for region in regions:
        try:
            number = phonenumbers.parse(candidate, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number) or region == "US":
            return True
    return False
