"""Disfluency repair: fillers, repetitions, and reparandum - interregnum - repair.

Terms after Shriberg (1994): in "a dentist no sorry a dental hygienist" the reparandum is "a
dentist", the interregnum (editing term) "no sorry", the repair "a dental hygienist". The repair
replaces the reparandum, which begins at the last word of the same class as the repair's first
word (a rough copy), or, after a strong editing term, behind the last function word.
"""

from __future__ import annotations

from functools import cache
from operator import eq

from bmo.language.asides import aside_at, aside_words
from bmo.language.late_repairs import class_of, counted_again, said_late
from bmo.language.lexicon import (
    LanguageCode,
    SurfaceLexicon,
    match_phrase,
    phrase_stands,
    places_of,
    surface_lexicon,
)
from bmo.language.times import NUMBER_WORDS, calendar_class
from bmo.language.tokens import Words

_WINDOW = 8
_LONGEST_REPEAT = 4
_LEGITIMATE_REPEATS = frozenset(
    {"very", "really", "so", "bye", "had", "that", "night", "knock", "no", "never", "many", "much"}
)
_AFFIRMED_KNOW = frozenset(
    {"do", "did", "if", "as", "to", "let", "would", "should", "could", "what", "not", "so", "how"}
)

_NO = frozenset(
    {("no",), ("sorry",), ("no", "sorry"), ("sorry", "no"), ("nope",), ("no", "wait")}
    | {("no", "i", "tell", "a", "lie"), ("i", "tell", "a", "lie"), ("tell", "a", "lie")}
)
_I_MEAN = frozenset({("i", "mean"), ("i", "meant"), ("no", "i", "mean"), ("sorry", "i", "mean")})
_IT_IS = frozenset({("it", "is"), ("it", "'s"), ("that", "is"), ("it", "was")})
_COPULAS = frozenset({"is", "are", "was", "were", "called", "named", "'s"})
_TAKES_NOTHING_BACK = frozenset(
    "not it that this there so like just ok okay fine true look come how what why when if".split()
)


_PADDING = frozenset({"like", "know", "see"})
"""Words that tell of what pads speech in some places only ("you know", "like")."""


@cache
def repair_cues(language: LanguageCode) -> frozenset[str]:
    """The words of which one stands in all that is repaired, but for plain repetitions."""
    return _PADDING.union(surface_lexicon(language).disfluencies)


def repair(words: Words, language: LanguageCode = "en", *, cued: bool = True) -> Words:
    """Returns the words without fillers, repetitions and misspoken parts.

    Idempotent: repairing what is repaired changes nothing.

    Args:
        words: What was said.
        language: Whose fillers and editing terms apply.
        cued: False where the caller knows that no word of ``repair_cues`` stands among the words.
    """
    norm = words.norm
    size = len(norm)
    if not cued and len(set(norm)) == size:
        return words  # most turns: no word is said twice
    if size < 2 or not (cued or any(map(eq, norm, norm[1:]))):
        return words
    lexicon = surface_lexicon(language)
    touched = phrase_stands(lexicon.disfluencies, norm)
    padded = ("like" in norm and "," in "".join(words.after)) or (
        "you" in norm and ("know" in norm or "see" in norm)
    )
    if not touched and not padded:
        if not any(map(eq, norm, norm[1:])):
            return words
    closed: set[int] = set()
    kept = _without_fillers(words, lexicon, closed)
    kept = _without_repetitions(norm, kept)
    if touched:
        repaired = _without_reparanda(words, kept, lexicon)
        if repaired is not kept:
            kept = _without_repetitions(norm, repaired)
    if len(kept) == size:
        return words
    return _select_keeping_borders(words, kept, closed)


def _select_keeping_borders(words: Words, kept: list[int], closed: set[int]) -> Words:
    """Selects, and hands the punctuation of a dropped word to the word before it.

    Commas are handed on behind asides only (``closed``: their last words): "black like, no sugar".
    """
    result = words.select(kept)
    for position, index in enumerate(kept[:-1]):
        if not result.after[position]:
            for dropped in range(index + 1, kept[position + 1]):
                mark = words.after[dropped]
                if mark and (mark[0] in ".!?;" or dropped in closed):
                    result.after[position] = mark
                    break
    if kept and kept[-1] != len(words.norm) - 1 and not result.after[-1]:
        result.after[-1] = words.after[-1]
    return result


def _without_fillers(words: Words, lexicon: SurfaceLexicon, closed: set[int]) -> list[int]:
    """The words kept; the last word of each aside is added to ``closed``."""
    norm = words.norm
    size = len(norm)
    opening = aside_words(lexicon.language)
    fillers = lexicon.fillers
    dropped = _may_be_dropped(lexicon.language)
    places = places_of(dropped, norm)
    kept: list[int] = []
    i = 0
    for place in places:
        if place < i:
            continue  # a part of the aside before
        kept += range(i, place)
        i = place
        word = norm[i]
        if word in opening:
            length = aside_at(words, i, lexicon)
            if length:
                i += length
                closed.add(i - 1)
                continue
        if word in fillers and not (word == "mm" and _is_number(norm[i - 1 : i])):
            i += 1
            continue
        if lexicon.language == "en":
            if word == "you" and i + 1 < size and norm[i + 1] in ("know", "see"):
                before = norm[i - 1] if i else ""
                after = norm[i + 2] if i + 2 < size else ""
                if (
                    i
                    and before not in _AFFIRMED_KNOW
                    and after not in ("what", "how", "who", "that", "where", "when", "my", "the")
                ):
                    i += 2
                    continue
            if word == "like" and i and _filler_like(words, i, fillers):
                i += 1
                continue
        kept.append(i)
        i += 1
    kept += range(i, size)
    return kept


@cache
def _may_be_dropped(language: LanguageCode) -> frozenset[str]:
    """The words with which a filler or an aside may begin."""
    padding = _PADDED if language == "en" else frozenset[str]()
    return aside_words(language) | surface_lexicon(language).fillers | padding


_PADDED = frozenset({"you", "like"})
"""What may pad English speech, by what stands around it."""


def _is_number(before: list[str]) -> bool:
    """Whether "mm" is millimetres: a number stands before it."""
    return bool(before) and (before[0].isdigit() or before[0] in NUMBER_WORDS)


def _filler_like(words: Words, i: int, fillers: frozenset[str]) -> bool:
    """Whether "like" at ``i`` fills a pause: between commas, between "um"s, or intensified."""
    norm = words.norm
    before = norm[i - 1]
    after = norm[i + 1] if i + 1 < len(norm) else ""
    if before in fillers and after in fillers:
        return True
    if words.after[i - 1] == "," and words.after[i] == ",":
        return True
    return before in ("is", "am", "are", "was", "been") and after in (
        "really",
        "so",
        "super",
        "very",
    )


def _without_repetitions(norm: list[str], kept: list[int]) -> list[int]:
    """Collapses immediate repeats of one to four words ("i i", "ninth of june ninth of june")."""
    left = [norm[i] for i in kept]
    if len(set(left)) == len(left) or not _may_repeat(left):
        return kept  # most turns
    numbers = {word for word in norm if word in NUMBER_WORDS or word[0].isdigit()}
    result: list[int] = []
    said: list[str] = []
    counted = 0  # numbers said in a row: those may be repeated
    for index in kept:
        word = norm[index]
        result.append(index)
        said.append(word)
        length = len(said)
        counted = counted + 1 if word in numbers else 0
        for span in range(counted + 1, min(_LONGEST_REPEAT, length // 2) + 1):
            if word != said[-1 - span]:
                continue
            if span == 1:
                if word in _LEGITIMATE_REPEATS:
                    continue
            elif said[-2 * span : -span] != said[-span:]:
                continue
            del result[-span:], said[-span:]
            break
    return result


def _may_repeat(said: list[str]) -> bool:
    """Whether some words stand twice in a row, up to ``_LONGEST_REPEAT`` of them."""
    for span in range(1, _LONGEST_REPEAT + 1):
        if _SAME[span] in bytes(map(eq, said, said[span:])):
            return True
    return False


_SAME = [b"\x01" * span for span in range(_LONGEST_REPEAT + 1)]


def _without_reparanda(words: Words, kept: list[int], lexicon: SurfaceLexicon) -> list[int]:
    strong_edits, weak_edits = lexicon.strong_edits, lexicon.weak_edits
    edits = (strong_edits, weak_edits, lexicon.late_edits)
    if all(edit.keys().isdisjoint(words.norm) for edit in edits):
        return kept
    norm = [words.norm[i] for i in kept]
    marks = [words.after[i] for i in kept]
    size = len(norm)
    result: list[int] = []  # positions in ``kept``
    changed = False
    i = 0
    while i < size:
        late = said_late(norm, marks, result, i, lexicon)
        if late is not None:
            result, i = late
            changed = True
            continue
        length = match_phrase(strong_edits, norm, i) if norm[i] in strong_edits else 0
        strong = length > 0
        if not length and result and norm[i] in weak_edits:
            length = match_phrase(weak_edits, norm, i)
        if not length or not result or i + length >= size:
            result.append(i)
            i += 1
            continue
        follow = i + length
        denied = _denied_copy(norm, result, follow) if norm[follow] in ("not", "nicht") else 0
        cut = -1
        if denied:
            cut, follow = len(result) - denied, follow + 1 + denied
            if tuple(norm[follow : follow + 2]) in _IT_IS and follow + 2 < size:
                follow += 2
        elif follow < size and (not marks[result[-1]] or marks[result[-1]][0] in ",-—–"):
            cut, repaired = _behind_copula(norm, result, (i, follow), lexicon)
            if cut < 0:
                cut = _reparandum_start(norm, result, follow, strong, lexicon)
            else:
                follow = repaired
        if cut < 0:
            if strong and norm[i] == "i":  # "i mean" that repairs nothing
                i += length
                changed = True
                continue
            result.append(i)
            i += 1
            continue
        counted, taken = counted_again(norm, result, cut, follow, lexicon)
        del result[cut:]
        if counted:  # "two kids no three": three kids
            result += range(follow, follow + taken)
            follow += taken
        result += counted
        changed = True
        i = follow
    return [kept[p] for p in result] if changed else kept


def _denied_copy(norm: list[str], result: list[int], follow: int) -> int:
    """In "a terrier no not a terrier a dachshund": the words of the second "a terrier"."""
    said = [norm[p] for p in result[-4:]]
    for length in range(min(4, len(said), len(norm) - follow - 2), 0, -1):
        if norm[follow + 1 : follow + 1 + length] == said[-length:]:
            return length
    return 0


def _behind_copula(
    norm: list[str], result: list[int], edit: tuple[int, int], lexicon: SurfaceLexicon
) -> tuple[int, int]:
    """Index in ``result`` of the predicate that an editing term takes back, and of its repair.

    "My favourite colour is purple no it is turquoise", "he is called dave i mean david": what
    stands behind the last form of "be" is replaced, unless somebody or something else follows;
    (-1, -1) then.
    """
    none = (-1, -1)
    said, follow = tuple(norm[edit[0] : edit[1]]), edit[1]
    classes = lexicon.classes
    if follow < len(norm) and said in _NO and tuple(norm[follow : follow + 2]) in _IT_IS:
        repaired, longest = follow + 2, 4
    elif said in _I_MEAN:
        repaired, longest = follow, 1
    else:
        return none
    first = norm[repaired] if repaired < len(norm) else ""
    if not first or classes.get(first) in ("pronoun", "possessive") or first in _TAKES_NOTHING_BACK:
        return none
    if repaired + 1 < len(norm) and classes.get(norm[repaired + 1]) == "be":
        return none  # "no its fur is red"
    for position in range(len(result) - 2, max(-1, len(result) - 2 - longest), -1):
        word = norm[result[position]]
        if classes.get(word) == "be" and word in _COPULAS:
            return position + 1, repaired
        if classes.get(word) == "pronoun":
            return none
    return none


def _reparandum_start(
    norm: list[str], result: list[int], follow: int, strong: bool, lexicon: SurfaceLexicon
) -> int:
    """Index in ``result`` from which the repair at ``follow`` replaces, or -1 for no repair."""
    first = norm[follow]
    low = max(0, len(result) - _WINDOW)
    classes = lexicon.classes
    kind = class_of(first, lexicon)
    pronoun = kind == "pronoun"
    for position in range(len(result) - 1, low - 1, -1):
        word = norm[result[position]]
        if word == first:
            if pronoun and not strong and follow + 1 < len(norm):
                # "no i like it" answers; only "i was in no i am in" repairs.
                continue
            return _range_start(norm, result, position, follow)
        if kind and kind != "be" and kind == class_of(word, lexicon):
            if pronoun and not strong:
                continue
            return _range_start(norm, result, position, follow)
    if pronoun or not strong:
        return -1
    if kind == "be":
        return -1
    for position in range(len(result) - 1, max(low, len(result) - 4) - 1, -1):
        word = norm[result[position]]
        if word in classes and position + 1 < len(result):
            return position + 1
    return len(result) - 1


def _range_start(norm: list[str], result: list[int], position: int, follow: int) -> int:
    """Where a span begins that is said anew as one: "mondays to wednesdays no tuesdays to ..."."""
    kind = calendar_class(norm[follow])
    if not kind or position < 2 or follow + 2 >= len(norm):
        return position
    joins = (norm[follow + 1], norm[result[position - 1]])
    both = (norm[follow + 2], norm[result[position - 2]])
    if _JOINS.issuperset(joins) and all(calendar_class(word) == kind for word in both):
        return position - 2
    return position


_JOINS = frozenset({"to", "till", "until", "through", "and", "or", "bis", "und"})
