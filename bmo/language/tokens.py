"""Normalisation and tokens: a turn's words in normal form, with offsets into what was said.

Case and punctuation are kept beside the normal form, because names and places need them when the
recogniser has them. A token is one row over parallel lists: a turn is tokenised in microseconds,
which a list of objects would not allow.
"""

from __future__ import annotations

import re
from itertools import accumulate

from bmo.language.lexicon import LanguageCode, surface_lexicon

MAX_CHARACTERS = 2000
"""A turn is read up to here; speech of more than two minutes has no single fact to lose."""

MAX_TOKENS = 400
"""Words after this one are not read: a bound on time for hostile input."""

_WORDS = (
    r"\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|am|pm|k|m|%|°)?(?![^\W\d_])"  # numbers, times, dates
    r"|\w+(?:['.&/-]\w+)*(?:\+\+|#)?'?"  # words, with apostrophes and hyphens inside
)
_TOKEN = re.compile(rf"({_WORDS})")
_TOKEN_WITH_ADDRESSES = re.compile(
    r"((?:https?://|www\.)\S+"  # web addresses
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"  # e-mail
    rf"|{_WORDS})"
)
_PUNCTUATION = re.compile(r"[^\w\s']")
_PLAIN_LENGTH = 400
"""Shorter texts of letters and single spaces, as recognisers print them, are just split."""

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
    found = _plain_words(text)
    if found is not None:
        if contractions.keys().isdisjoint(found.norm):
            return found
        return _expanded(found, contractions, language)
    addresses = "@" in text or "://" in text or "www." in text
    pattern = _TOKEN_WITH_ADDRESSES if addresses else _TOKEN
    parts = pattern.split(text, MAX_TOKENS)  # gap, word, gap, ..., word, gap
    if len(parts) < 3:
        return Words(text, [], [], [], [], text.strip())
    norm = [part.lower() for part in parts[1::2]]
    borders = list(accumulate(map(len, parts)))
    start, end = borders[0:-1:2], borders[1::2]
    if _PUNCTUATION.search(text) is None:
        after = [""] * len(norm)
    else:
        after = ["" if gap == " " else gap.strip() for gap in parts[2::2]]
    before = parts[0].strip()
    if "'" not in text and contractions.keys().isdisjoint(norm):
        return Words(text, norm, start, end, after, before)
    return _expanded(Words(text, norm, start, end, after, before), contractions, language)


def _plain_words(text: str) -> Words | None:
    """The words of a text of letters and single spaces, one mark at most behind it, else None."""
    if len(text) >= _PLAIN_LENGTH or not text.isascii():
        return None
    body = text.rstrip()
    mark = body[-1:]
    if mark and mark in ".!?":
        body = body[:-1]
    norm = body.lower().split(" ")
    if "" in norm or not "".join(norm).isalpha():
        return None
    behind = list(accumulate([len(word) + 1 for word in norm]))
    after = [""] * len(norm)
    after[-1] = text[len(body) :].strip()
    return Words(text, norm, [0, *behind[:-1]], [at - 1 for at in behind], after)


def _expanded(
    spoken: Words, contractions: dict[str, tuple[str, ...]], language: LanguageCode
) -> Words:
    """The words with contractions spelled out and possessives split off."""
    norm: list[str] = []
    start: list[int] = []
    end: list[int] = []
    after: list[str] = []
    done = 0
    for i, token in enumerate(spoken.norm):
        expansion = contractions.get(token)
        if expansion is None and "'" not in token:
            continue
        # What stands before a contraction is taken over as it is.
        norm += spoken.norm[done:i]
        start += spoken.start[done:i]
        end += spoken.end[done:i]
        after += spoken.after[done:i]
        done = i + 1
        first, last = spoken.start[i], spoken.end[i]
        if expansion is not None:
            norm += expansion
            start += [first] * len(expansion)
            end += [last] * len(expansion)
            after += [""] * (len(expansion) - 1)
        else:
            parts = _apostrophe(token, first, last, language)
            for word, begin, stop in parts:
                norm.append(word)
                start.append(begin)
                end.append(stop)
            after += [""] * (len(parts) - 1)
        after.append(spoken.after[i])
    norm += spoken.norm[done:]
    start += spoken.start[done:]
    end += spoken.end[done:]
    after += spoken.after[done:]
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
