"""Normal forms: when two texts or values are the same, and by which words a memory is found.

Nothing here knows a grammar. Case, accents and punctuation never count; leading articles, and
the plural ending of a last word, do not tell two values apart. A subject is "user", "team",
"user.brother" or "user.brother:sam".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MAX_WORD = 48

_ARTICLES = frozenset(
    "a an the my our his her their your some any ein eine einen einem einer der die das den dem "
    "mein meine le la les un une des du de mon ma mes el los las una unos unas mi mis".split()
)
"""Dropped at the start of a value."""

_STOP_WORDS = frozenset(
    "a an the and or but of in on at to for from with by as is are was were be been am do does did "
    "has have had that this these those it its i im ive me my mine we our us you your he she his "
    "her him they them their user named called name about what which who whom whose where when how "
    "why can could would will shall should please forget remember delete remove erase know tell "
    "said told thing stuff everything anything something all any some not no so if up out just "
    "also too very s t m re ve ll d".split()
)
"""Words that lead to no memory: in nearly all of them, or the words of the asking itself."""

_DENIALS = frozenset(
    "not no never cannot without neither nor nicht kein keine keinen nie ohne pas ne jamais sans "
    "aucun nunca jamas sin ningun ninguna".split()
)
_ENDINGS = ("ing", "ed", "es", "s", "e")
_LEAST_STEM = 3


def text_key(text: str) -> str:
    """The form in which whole texts are compared: words in order, nothing else."""
    return " ".join(_words(text))


def value_key(value: str) -> str:
    """The form in which values are compared.

    Returns:
        Lower case, without accents, leading articles and plural ending ("dog"); "" for a value
        without letters or digits.
    """
    words = _words(value)
    while len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join([*words[:-1], _singular(words[-1])]) if words else ""


def content_words(texts: Iterable[str]) -> frozenset[str]:
    """The words by which a memory can be found again.

    Returns:
        Lower-case singular words without accents; stop words are left out.
    """
    return frozenset(
        _singular(word)[:_MAX_WORD]
        for text in texts
        for word in _words(text)
        if word not in _STOP_WORDS
    )


def mask_words(text: str, words: frozenset[str], mask: str) -> str:
    """``text`` with every occurrence of ``words`` (as of ``content_words``) replaced.

    Args:
        text: Any text.
        words: Words in their compared form; plurals and accents are found too.
        mask: What to put in their place.
    """

    def replaced(hit: re.Match[str]) -> str:
        return hit[0] if words.isdisjoint(content_words([hit[0]])) else mask

    masked = _WORD.sub(replaced, text)
    if words.isdisjoint(content_words([masked])):
        return masked
    # A symbol that only decomposes into the word ("㏂"): the whole run of characters goes.
    return re.sub(r"\S+", replaced, masked)


def spelt_with(word: str) -> str:
    """A piece of every ASCII word that ``content_words`` makes ``word`` of ("cit" of "cities")."""
    return word.removesuffix("y")


def denies(text: str) -> bool:
    """Whether a word of denial stands in a text: it and its denial are near in meaning."""
    return any(word in _DENIALS or word.endswith("n't") for word in _words(text))


def stems(texts: Iterable[str]) -> set[str]:
    """The stems of the content words of some texts."""
    return {stem(word) for word in content_words(texts)}


def stem(word: str) -> str:
    """Takes common English verb and noun endings off ("saving", "saved" -> "sav")."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word


def name_of(subject: str) -> str:
    """The name in a subject ("sam"), or ""."""
    return subject.rpartition(":")[2] if ":" in subject else ""


def relation_of(subject: str) -> str:
    """The subject without its name ("user.brother")."""
    return subject.rpartition(":")[0] if ":" in subject else subject


def is_person(subject: str) -> bool:
    """Whether it is someone or something beside the user and the team."""
    return "." in subject or ":" in subject


def _words(text: str) -> list[str]:
    if text.isascii():
        plain = text.casefold()  # nothing to decompose; most words are these, and each turn's all
    else:
        # Twice: some letters have a lower case only after they were decomposed.
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
        plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return [word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(plain)]


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word[:-1]
