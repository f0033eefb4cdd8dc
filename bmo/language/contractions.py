"""Contractions and possessives: what was said as one word and is read as two ("i'm", "sam's")."""

from __future__ import annotations

from bmo.language.lexicon import LanguageCode, surface_lexicon

_ELISIONS = frozenset({"j", "l", "d", "c", "n", "s", "m", "t", "qu", "jusqu", "lorsqu", "puisqu"})

Columns = tuple[list[str], list[int], list[int], list[str]]
"""Words in normal form, where each begins and ends in the text, and the punctuation behind it."""


def expanded(
    spoken: list[str],
    starts: list[int],
    ends: list[int],
    marks: list[str],
    language: LanguageCode,
) -> Columns:
    """Words with contractions spelled out and possessives split off.

    Args:
        spoken: Lower-case words as they were said.
        starts: Offset of the first character of each.
        ends: Offset behind the last character of each.
        marks: Punctuation behind each, "" for none.
        language: Whose contractions apply.

    Returns:
        The same four lists, of the words in normal form.
    """
    contractions = surface_lexicon(language).contractions
    norm: list[str] = []
    start: list[int] = []
    end: list[int] = []
    after: list[str] = []
    done = 0
    for i, token in enumerate(spoken):
        expansion = contractions.get(token)
        if expansion is None and "'" not in token:
            continue
        # What stands before a contraction is taken over as it is.
        norm += spoken[done:i]
        start += starts[done:i]
        end += ends[done:i]
        after += marks[done:i]
        done = i + 1
        first, last = starts[i], ends[i]
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
        after.append(marks[i])
    norm += spoken[done:]
    start += starts[done:]
    end += ends[done:]
    after += marks[done:]
    return norm, start, end, after


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
