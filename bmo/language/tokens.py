"""Normalisation and tokens: a turn's words in normal form, with offsets into what was said.

Case and punctuation are kept beside the normal form, because names and places need them when the
recogniser has them. A token is one row over parallel lists: a turn is tokenised in microseconds,
which a list of objects would not allow.
"""

from __future__ import annotations

import re

from bmo.language.lexicon import LanguageCode, surface_lexicon

MAX_CHARACTERS = 2000
"""A turn is read up to here; speech of more than two minutes has no single fact to lose."""

MAX_TOKENS = 400
"""Words after this one are not read: a bound on time for hostile input."""

_WORDS = (
    r"\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|am|pm|k|m|%|°)?(?![^\W\d_])"  # numbers, times, dates
    r"|\w+(?:['.&/-]\w+)*(?:\+\+|#)?'?"  # words, with apostrophes and hyphens inside
)
_TOKEN = re.compile(_WORDS)
_TOKEN_WITH_ADDRESSES = re.compile(
    r"(?:https?://|www\.)\S+"  # web addresses
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"  # e-mail
    r"|" + _WORDS
)
_PUNCTUATION = re.compile(r"[^\w\s']")
_PLAIN = re.compile(r"([A-Za-z]+(?: [A-Za-z]+)*)[.!?]?\s*")
"""Letters and single spaces, as recognisers print them: such a text is split without matching."""
_PLAIN_LENGTH = 400

_QUOTES = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "\u00a0": " ",
        "\u202f": " ",
        "\x00": " ",
        "\ufeff": " ",
    }
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_ELISIONS = frozenset({"j", "l", "d", "c", "n", "s", "m", "t", "qu", "jusqu", "lorsqu", "puisqu"})


class Words:
    """A turn's words: parallel lists, one entry per word of the normal form.

    Attributes:
        text: The turn's text the offsets point into (same length as what was said, up to the cap).
        norm: Lower-case words after contractions ("im" gives "i", "am").
        start: Offset of the first character of each word.
        end: Offset behind the last character.
        after: Punctuation between this word and the next, "" for none.
        before: Punctuation before the first word.
    """

    __slots__ = ("after", "before", "end", "norm", "start", "text")

    def __init__(  # noqa: D107 - the class docstring names the arguments
        self,
        text: str,
        norm: list[str],
        start: list[int],
        end: list[int],
        after: list[str],
        before: str = "",
    ) -> None:
        self.text = text
        self.norm = norm
        self.start = start
        self.end = end
        self.after = after
        self.before = before

    def __len__(self) -> int:
        """Number of words."""
        return len(self.norm)

    def raw(self, index: int) -> str:
        """Word ``index`` as it was said; for an expanded contraction the whole contraction."""
        return self.text[self.start[index] : self.end[index]]

    def select(self, kept: list[int]) -> Words:
        """The words at the indices ``kept``, in that order."""
        return Words(
            self.text,
            [self.norm[i] for i in kept],
            [self.start[i] for i in kept],
            [self.end[i] for i in kept],
            [self.after[i] for i in kept],
            self.before,
        )


def clean(text: str) -> str:
    """Caps the text and makes it safe: no NUL, no lone surrogates, straight quotes.

    The result has the same length as the capped text, so offsets hold in both.
    """
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
    if text.isascii():
        return text.replace("\x00", " ") if "\x00" in text else text
    return _SURROGATES.sub(" ", text.translate(_QUOTES))


def words(text: str, language: LanguageCode = "en") -> Words:
    """Tokenises ``text`` and expands contractions.

    Args:
        text: What was said or typed.
        language: Whose contractions apply.

    Returns:
        The words; empty for a text without any.
    """
    text = clean(text)
    contractions = surface_lexicon(language).contractions
    plain = _PLAIN.fullmatch(text)
    if plain is not None and len(text) < _PLAIN_LENGTH:
        body = plain[1].lower()
        norm = body.split(" ")
        start, end, at = [], [], 0
        for word in norm:
            start.append(at)
            at += len(word)
            end.append(at)
            at += 1
        after = [""] * len(norm)
        after[-1] = text[len(body) :].strip()
        found = Words(text, norm, start, end, after)
        if contractions.keys().isdisjoint(norm):
            return found
        return _expanded(found, contractions, language)
    addresses = "@" in text or "://" in text or "www." in text
    pattern = _TOKEN_WITH_ADDRESSES if addresses else _TOKEN
    spans = [match.span() for match in pattern.finditer(text)][:MAX_TOKENS]
    if not spans:
        return Words(text, [], [], [], [], text.strip())
    lowered = text.lower()
    if len(lowered) == len(text):
        norm = [lowered[first:last] for first, last in spans]
    else:  # a few letters of other scripts grow when lowered
        norm = [text[first:last].lower() for first, last in spans]
    start = [first for first, _ in spans]
    end = [last for _, last in spans]
    if _PUNCTUATION.search(text) is None:
        after = [""] * len(norm)
    else:
        after = [
            text[last:first].strip()
            for last, first in zip(end, [*start[1:], len(text)], strict=True)
        ]
    before = text[: start[0]].strip()
    if "'" not in text and contractions.keys().isdisjoint(norm):
        return Words(text, norm, start, end, after, before)
    return _expanded(Words(text, norm, start, end, after, before), contractions, language)


def _expanded(
    spoken: Words, contractions: dict[str, tuple[str, ...]], language: LanguageCode
) -> Words:
    """The words with contractions spelled out and possessives split off."""
    norm: list[str] = []
    start: list[int] = []
    end: list[int] = []
    after: list[str] = []
    for token, first, last, mark in zip(
        spoken.norm, spoken.start, spoken.end, spoken.after, strict=True
    ):
        expansion = contractions.get(token)
        if expansion is not None:
            norm += expansion
            start += [first] * len(expansion)
            end += [last] * len(expansion)
            after += [""] * (len(expansion) - 1)
        elif "'" in token:
            parts = _apostrophe(token, first, last, language)
            for word, begin, stop in parts:
                norm.append(word)
                start.append(begin)
                end.append(stop)
            after += [""] * (len(parts) - 1)
        else:
            norm.append(token)
            start.append(first)
            end.append(last)
        after.append(mark)
    return Words(spoken.text, norm, start, end, after, spoken.before)


def _apostrophe(
    token: str, first: int, last: int, language: LanguageCode
) -> tuple[tuple[str, int, int], ...]:
    """Splits "sam's" into "sam" and "'s", "j'habite" into "je" and "habite"."""
    if language == "fr":
        head, _, rest = token.partition("'")
        if head in _ELISIONS and rest:
            cut = first + len(head) + 1
            full = surface_lexicon("fr").contractions.get(head + "'", (head + "'",))[0]
            return ((full, first, cut), (rest, cut, last))
        return ((token.rstrip("'"), first, last),)
    if token.endswith("'s"):
        return ((token[:-2], first, last - 2), ("'s", last - 2, last))
    if token.endswith("s'"):
        return ((token[:-1], first, last - 1), ("'s", last - 1, last))
    if token.endswith("'ve"):
        return ((token[:-3], first, last - 3), ("have", last - 3, last))
    if token.endswith("'ll"):
        return ((token[:-3], first, last - 3), ("will", last - 3, last))
    if token.endswith("'re"):
        return ((token[:-3], first, last - 3), ("are", last - 3, last))
    if token.endswith("n't"):
        return ((token[:-3], first, last), ("not", first, last))
    return ((token.rstrip("'"), first, last),)
