"""Which of the memories the offline responder was given answer a question. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain, zip_longest

from bmo.chat.memory_clauses import is_about_the_person, is_name, phrase_set, phrases
from bmo.chat.second_person import NAMED, OWN_NAME, UNTIL
from bmo.gate import people_lexicon
from bmo.language import LANGUAGES

MOST_LINES = 4
"""Memories put into one answer at most (a wide question gets all)."""

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
"""A word, with what hangs on it by an apostrophe or a hyphen."""

_BULLET = re.compile(r"^\s*-\s+(?P<text>.+?)\s*$")
_TAIL = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*$")
_TAIL_NOTE = re.compile(r"\s*\[[^\[\]]*\]$")
_WISHES = "Standing wishes:"
_PROFILE = "<profile>"
_WIDE = re.compile(r"\b(?:everything|anything)\b", re.IGNORECASE)
_ABOUT_ME = re.compile(
    r"\b(?:about (?:me|myself|us)|(?:über|von) (?:mich|mir|uns)|(?:sur|de) (?:moi|nous)"
    r"|(?:sobre|de) (?:mí|mi|nosotros))(?: (?:then|now|so far|already|again|bmo|denn|alors))*$",
    re.IGNORECASE,
)
_ASKS_OF_ONESELF = re.compile(
    r"\b(?:am|do|did|have|was|can|could|should|will|would) i\b|\b(?:bin|habe|esse|trinke) ich\b",
    re.IGNORECASE,
)
_ASKS_OF_THE_ASSISTANT = re.compile(r"^(?:what|how|who|where|why)?\s*(?:are|were) you\b")
_WHO_IS = re.compile(r"^(?:whos|who is|who was) (?!my\b|our\b)\w+(?: \w+)?$")
_WHO_IS_MINE = re.compile(r"^(?:whos|who is) (?:my|our) \w+(?:-\w+)*(?: now| again)?$")
_TELLING = frozenset({"anything", "everything", "ever", "far", "said", "say", "told"})


def plain_words(words: str) -> str:
    """The words in lower case, without punctuation, apostrophes and lead-ins."""
    said = [token.casefold().replace("'", "").replace("’", "") for token in WORD.findall(words)]
    while said and said[0] in phrase_set("lead_ins"):
        del said[0]
    return " ".join(said)


def recalled_memories(blocks: Sequence[str]) -> list[str]:
    """What was recalled for this turn: the memories of every block but the profile."""
    return [text for b in blocks if not b.startswith(_PROFILE) for text in memories_of(b)]


def memories_of(block: str, *, with_wishes: bool = False) -> list[str]:
    """The memories of a block.

    Dates and notes in brackets are taken off; of two that disagree both are given; one that has
    ended keeps its "(until ...)".

    Args:
        block: A memory block of the model's context.
        with_wishes: Also the standing wishes, which answer no question but a wide one.
    """
    found: list[str] = []
    wishes = False
    for line in block.splitlines():
        match = _BULLET.match(line)
        if match is None:
            wishes = line.strip() == _WISHES
        elif with_wishes or not wishes:
            found += [_bare(text) for text in _TAIL_NOTE.sub("", match["text"]).split(" / ")]
    return found


def wishes_of(blocks: Sequence[str]) -> list[str]:
    """The standing wishes of some blocks."""
    every = [text for block in blocks for text in memories_of(block, with_wishes=True)]
    other = {text for block in blocks for text in memories_of(block)}
    return [text for text in dict.fromkeys(every) if text not in other]


def fitting_memories(words: str, blocks: Sequence[str]) -> list[str]:
    """The memories that answer a question.

    What was recalled for the turn was chosen for it: the most words in common with the question
    only narrow it down, and never leave out what someone must not be given (an allergy). A name
    answers only who asks for one, and what is known of the person answers nothing about somebody
    of theirs. The profile was written when the conversation began and may hold what has been
    changed since, so it answers only when nothing was recalled, and only with memories that share
    a word; about food it adds what someone must not eat.

    Args:
        words: The question.
        blocks: The memory blocks of the model's context.
    """
    asked = _stems(words)
    recalled = recalled_memories(blocks)
    profile = [text for b in blocks if b.startswith(_PROFILE) for text in memories_of(b)]
    if _ABOUT_ME.search(words.rstrip(" ?!.")) or (_WIDE.search(words) and not asked - _TELLING):
        given = [b for b in blocks if not b.startswith(_PROFILE)] if recalled else blocks
        return _all_of(given)
    plain = plain_words(words)
    if not recalled and _ASKS_OF_THE_ASSISTANT.match(plain):
        return []  # "what are you like"
    lines = list(dict.fromkeys(recalled or profile))
    asked -= _TELLING
    names = bool(phrase_set("name_asks") & {token.casefold() for token in WORD.findall(words)})
    if not names or asked:  # "who does my books" is not answered by a name alone
        recalled, lines = _without_own_name(recalled), _without_own_name(lines)
    if _WHO_IS.match(plain) and asked:  # all that is known of him, his name first
        about = [text for text in lines if asked <= _stems(text)]
        if about:
            return sorted(about, key=lambda text: NAMED.match(text) is None)[:MOST_LINES]
    food = bool(asked & phrase_set("food"))
    of_oneself = _ASKS_OF_ONESELF.search(words) is not None and "who" not in plain.split()
    if of_oneself and not food:
        # Lotte's diet does not answer "am i vegetarian".
        own = [text for text in lines if not _of_somebody_else(text, asked)]
        recalled, lines = [text for text in recalled if text in own], own
    relations = _relations_in(plain)
    if relations and not food:
        about = [text for text in lines if _is_about(text, relations, [*recalled, *profile])]
        recalled = [text for text in recalled if text in about]
        named = [text for text in about if NAMED.match(text)]
        if named and _WHO_IS_MINE.match(plain):  # and not who is no longer
            return named[:MOST_LINES]
        if not of_oneself:  # where i work does not answer where my sister works
            lines = [text for text in lines if text in about or not is_about_the_person(text)]
    if names and not asked:
        own = [text for text in lines if OWN_NAME.match(text)]
        if own:
            return own
    sharing = _closest(asked, lines, names=names) or _wishes_meant(asked, blocks)
    if food:  # the cat's name is no answer to "what should i cook"
        recalled = [t for t in recalled if t in sharing or _stems(t) & phrase_set("of_food")]
    # What the profile says already is not recalled again; about food it must be said.
    known = [*recalled, *profile] if recalled and food else recalled
    careful = [
        text for text in known if text not in sharing and _stems(text) & phrase_set("hazards")
    ]
    return list(dict.fromkeys([*careful, *(sharing or recalled)]))[:MOST_LINES]


def _all_of(blocks: Sequence[str]) -> list[str]:
    """Every memory, in the order somebody would tell them: the name, then them and theirs."""
    every = list(dict.fromkeys(text for block in blocks for text in memories_of(block)))
    name = [text for text in every if OWN_NAME.match(text)]
    own = [text for text in every if text not in name and is_about_the_person(text)]
    theirs = [text for text in every if text not in name and text not in own]
    mixed = chain.from_iterable(zip_longest(own, theirs))
    return [*name, *(text for text in mixed if text is not None), *wishes_of(blocks)]


def _closest(asked: set[str], lines: Sequence[str], *, names: bool) -> list[str]:
    """The memories with the most words of the question; of those, where one is asked, the names.

    Who is named in the question must be named in them.
    """
    shared = [len(asked & _stems(text)) for text in lines]
    most = max(shared, default=0)
    if not most:
        return []
    best = [text for text, count in zip(lines, shared, strict=True) if count == most]
    who = {stem for text in lines for stem in asked & _named_in(text)}
    best = [text for text in best if who & _stems(text)] or best
    named = [text for text in best if NAMED.match(text)] if names else []
    return named or best


def _wishes_meant(asked: set[str], blocks: Sequence[str]) -> list[str]:
    """The standing wishes that have half of the question's words ("which language for samples")."""
    wishes = _closest(asked, wishes_of(blocks), names=False)
    return [text for text in wishes if 2 * len(asked & _stems(text)) >= len(asked)]


def _of_somebody_else(text: str, asked: set[str]) -> bool:
    """Whether a memory is about somebody the question does not name ("Brother Max is 4")."""
    if is_about_the_person(text):
        return False
    first = _stems(text.split()[0])
    opens = first | {text.split()[0].casefold().strip(":,")}
    if opens & (phrase_set("nobody") | phrase_set("own_things")):
        return False
    named = {word.casefold() for word in WORD.findall(text) if word[0].isupper()}
    whose = first | {word.removesuffix("'s").removesuffix("’s") for word in named}
    return not whose & asked


def _relations_in(plain: str) -> set[str]:
    """Whom of the person's people a question is about: "my older brother" is {"brother"}."""
    words = plain.split()
    found: set[str] = set()
    for at, word in enumerate(words):
        if word not in phrase_set("whose"):
            continue
        for place in range(at + 1, min(at + 3, len(words))):
            found |= {_relation_of(words[place])} - {""}
    return found


@cache
def _relation_of(word: str) -> str:
    """The English name of a relation some language has this word for, or ""."""
    for language in LANGUAGES:
        relation = people_lexicon(language).forms.get((word,))
        if relation is not None:
            return relation.name
    return ""


def _is_about(text: str, relations: set[str], known: Sequence[str]) -> bool:
    """Whether a memory speaks of one of these relations, or of who is known to be one."""
    families: dict[str, list[str]] = phrases()["families"]
    meant = relations.union(*(families.get(name, []) for name in relations))
    said = [token.casefold().removesuffix("'s").removesuffix("’s") for token in WORD.findall(text)]
    if any(_relation_of(word) in meant for word in said):
        return True
    matches = [match for other in known if (match := NAMED.match(other)) is not None]
    called = {m["name"].casefold() for m in matches if _relation_of(m["who"].casefold()) in meant}
    return not called.isdisjoint(said)


def _named_in(text: str) -> set[str]:
    """Stems of the words in a memory that are written as names."""
    words = WORD.findall(text)
    capital = [w for at, w in enumerate(words) if w[0].isupper() and (at or is_name(w))]
    return {stem for word in capital for stem in _stems(word)}


def _without_own_name(memories: Sequence[str]) -> list[str]:
    return [text for text in memories if OWN_NAME.match(text) is None]


def _bare(text: str) -> str:
    if UNTIL.match(text):
        return text
    while (shorter := _TAIL.sub("", text)) != text and shorter:
        text = shorter
    return text.rstrip(".")


def _stems(text: str) -> set[str]:
    """Content words without plural and possessive endings."""
    words = (token.casefold().replace("’", "'") for token in WORD.findall(text))
    bare = (word.removesuffix("'s").replace("'", "") for word in words)
    kept = (word for word in bare if word not in phrase_set("stop_words"))
    return {word[:-1] if len(word) > 2 and word.endswith("s") else word for word in kept}
