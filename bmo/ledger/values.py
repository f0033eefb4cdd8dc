"""When two values say the same: case, articles, plurals, accents, and names of one thing.

The tables are in ``data/values.toml``, with examples that the tests run.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MAX_WORD = 48
_LONGEST_TOPIC = 7
_OWN = frozenset(
    "my i do for a am at how where what whom is the about that our of wo ou donde".split()
)
"""Words around a topic of one's own."""
_TOPIC = re.compile(
    r"(?P<topic>\S+(?: \S+){0,3}?) (?:is|are|has moved|have moved|moved|was moved|goes through)\b"
)


@dataclass(frozen=True, slots=True)
class _Tables:
    articles: frozenset[str]
    stopwords: frozenset[str]
    aliases: Mapping[str, str]
    keep_s: frozenset[str]
    irregular: Mapping[str, str]
    ends: Mapping[str, tuple[str, ...]]
    gone_with: Mapping[str, tuple[str, ...]]
    head_last: frozenset[str]
    opposites: Mapping[str, str]
    many_relations: frozenset[str]
    negations: frozenset[str]
    fillers: frozenset[str]
    kinds: frozenset[str]
    kind_names: Mapping[str, str]
    change: tuple[str, ...]
    changing: frozenset[str]
    asked: Mapping[frozenset[str], tuple[str, ...]]


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    raw = tomllib.loads((resources.files(__package__) / "data" / "values.toml").read_text("utf-8"))
    articles = frozenset(raw["articles"])
    keep_s, irregular = frozenset(raw["plurals"]["keep"]), raw["plurals"]["irregular"]
    # The main name is keyed like any value: "los angeles" alone and by its alias must agree.
    aliases = {
        " ".join(_words(name)): _bare_key(_words(main), articles, keep_s, irregular)
        for main, names in raw["aliases"].items()
        for name in names
    }
    return _Tables(
        articles=articles,
        stopwords=frozenset(raw["stopwords"]),
        aliases=aliases,
        keep_s=keep_s,
        irregular=irregular,
        ends={slot: tuple(others) for slot, others in raw["ends"].items()},
        gone_with={slot: tuple(others) for slot, others in raw["gone_with"].items()},
        head_last=frozenset(raw["details"]["head_last"]),
        opposites=raw["opposites"] | {b: a for a, b in raw["opposites"].items()},
        many_relations=frozenset(raw["relations"]["many"]),
        negations=frozenset(raw["negation"]["words"]),
        fillers=frozenset(raw["negation"]["fillers"]),
        kinds=frozenset(raw["details"]["kinds"]),
        kind_names=raw["details"]["kind_names"],
        change=tuple(f" {text_key(cue)} " for cue in raw["change"]["words"]),
        changing=frozenset(raw["change"]["categories"]),
        asked={
            frozenset(_words(words)) - _OWN: tuple(one["slots"])
            for one in raw["asked"]
            for words in one["words"]
        },
    )


def value_key(value: str) -> str:
    """The form in which values are compared.

    Args:
        value: A slot's value as spoken ("the Postgres").

    Returns:
        Lower case, without accents, leading articles and plural endings, by its main name
        ("postgresql"); "" for a value without letters or digits.
    """
    tables = _tables()
    words = _without_articles(_words(value), tables.articles)
    spoken = " ".join(words)
    if spoken in tables.aliases:
        return tables.aliases[spoken]
    key = _bare_key(words, tables.articles, tables.keep_s, tables.irregular)
    return tables.aliases.get(key, key)


def _bare_key(
    words: list[str],
    articles: frozenset[str],
    keep_s: frozenset[str],
    irregular: Mapping[str, str],
) -> str:
    """Words without leading articles and plural ending, before any other name is looked up."""
    bare = _without_articles(words, articles)
    return " ".join([*bare[:-1], _singular(bare[-1], keep_s, irregular)]) if bare else ""


def _without_articles(words: list[str], articles: frozenset[str]) -> list[str]:
    while len(words) > 1 and words[0] in articles:
        words = words[1:]
    return words


def text_key(text: str) -> str:
    """The form in which whole canonical texts are compared: words in order, nothing else."""
    return " ".join(_words(text))


def content_words(texts: Iterable[str]) -> frozenset[str]:
    """The words by which a fact can be found again.

    Args:
        texts: Canonical text, value, entities, subject.

    Returns:
        Lower-case singular words without accents; stop words are left out.
    """
    tables = _tables()
    found: set[str] = set()
    for text in texts:
        for word in _words(text):
            if word in tables.stopwords:
                continue
            main = tables.aliases.get(word) or _singular(word, tables.keep_s, tables.irregular)
            found.update(_parts(main))
    return frozenset(found)


def mask_words(text: str, words: frozenset[str], mask: str) -> str:
    """``text`` with every occurrence of ``words`` (as of ``content_words``) replaced.

    Args:
        text: Any text.
        words: Words in their compared form; plurals, accents and aliases are found too.
        mask: What to put in their place.
    """

    def replaced(hit: re.Match[str]) -> str:
        return hit[0] if words.isdisjoint(content_words([hit[0]])) else mask

    masked = _WORD.sub(replaced, text)
    if words.isdisjoint(content_words([masked])):
        return masked
    # A symbol that only decomposes into the word ("㏂"): the whole run of characters goes.
    return re.sub(r"\S+", replaced, masked)


def spelt_with(word: str) -> frozenset[str]:
    """Pieces of which every ASCII word that ``content_words`` makes ``word`` of has one.

    Args:
        word: Result of ``content_words``: "city" is in "cities", so its piece is "cit".
    """
    tables = _tables()
    pieces = {word.removesuffix("y")}
    pieces.update(form for form, single in tables.irregular.items() if single == word)
    pieces.update(name for name, main in tables.aliases.items() if word in _parts(main))
    return frozenset(pieces)


def _parts(name: str) -> list[str]:
    return [part[:_MAX_WORD] for part in name.split()]


def ended_with(slot: str) -> tuple[str, ...]:
    """Slots whose value goes when ``slot`` gets a new one."""
    return _tables().ends.get(slot, ())


def gone_with(slot: str) -> tuple[str, ...] | None:
    """Slots in which a thing of ``slot`` that is gone may stand too; None for any slot."""
    return _tables().gone_with.get(slot)


def asked_slots(topic: str) -> tuple[str, ...]:
    """Slots that a request to forget means by a word for them ("address", "where i live").

    Args:
        topic: What is to be forgotten, as the gate left it; () for anything with a value in it.
    """
    words = _words(topic)
    if len(words) > _LONGEST_TOPIC:
        return ()
    return _tables().asked.get(frozenset(words) - _OWN, ())


def says_more(slot: str | None, known: str, new: str) -> bool:
    """Whether the known value says the new one and more.

    Args:
        slot: The slot both fill.
        known: "Seattle, Washington", or "senior nurse" for a job.
        new: "Seattle", "nurse".
    """
    more, less = value_key(known).split(), value_key(new).split()
    if not 0 < len(less) < len(more):
        return False
    return more[: len(less)] == less or (slot in _tables().head_last and more[-len(less) :] == less)


def opposite_slot(slot: str) -> str | None:
    """The slot a value leaves when it moves into ``slot``, or None."""
    return _tables().opposites.get(slot)


def may_have_many(relation: str) -> bool:
    """Whether people usually have several of ``relation`` ("friend")."""
    return relation in _tables().many_relations


def is_negated(text: str) -> bool:
    """Whether a canonical text denies something ("Does not eat meat")."""
    return not _tables().negations.isdisjoint(_words(text))


def tells_of_change(words: str) -> bool:
    """Whether a turn says that something is different from before ("now", "instead")."""
    spoken = f" {text_key(words)} "
    return any(cue in spoken for cue in _tables().change)


def topic_of(text: str) -> frozenset[str]:
    """What a canonical text is about: the words before "is", if they are a thing's name.

    Args:
        text: "Stand-up is at 10:15 daily"; "Is a nurse" is about nothing but the user.
    """
    said = _TOPIC.match(text)
    return content_words([said["topic"]]) if said is not None else frozenset()


def changes_as_a_whole(category: str) -> bool:
    """Whether a memory of this category takes the place of the one nearest to it."""
    return category in _tables().changing


_IN_LAW = re.compile(r"[ -]in[ -]laws?\b", re.IGNORECASE)


def denies_whole(denied: str, known: str) -> bool:
    """Whether to deny one value is to deny another: "a boat" and "a little sailboat".

    What is longer than the known value by more than fillers denies something narrower ("peanut
    oil" of "peanuts", "pizza with pineapple" of "pizza"), and an in-law is nobody's brother.
    """
    if bool(_IN_LAW.search(denied)) != bool(_IN_LAW.search(known)):
        return False
    fillers = _tables().fillers
    less, more = content_words([denied]) - fillers, content_words([known])
    return bool(less) and all(
        any(word == one or (len(word) > 3 and one.endswith(word)) for one in more) for word in less
    )


def adds_to(new: str, known: str) -> bool:
    """Whether a text says what another says, and more than fillers beside it."""
    fillers = {stem(word) for word in _tables().fillers}
    return bool(stems([new]) - stems([known]) - fillers)


_KIND = re.compile(r"(?P<kind>[^:]+): ")
_FAVOURITE = re.compile(r"favou?rite ")


def kind_of(slot: str | None, value: str) -> str:
    """What kind of thing a value is of, where a slot has one value for each kind.

    Args:
        slot: "favourite".
        value: "favourite colour: blue", "Italian food: lasagne".

    Returns:
        "colour", "italian food"; "" for any other slot.
    """
    found = _KIND.match(value) if slot in _tables().kinds else None
    if found is None:
        return ""
    kind = value_key(_FAVOURITE.sub("", found["kind"].casefold()))
    return _tables().kind_names.get(kind, kind)


_TRANSLATED = re.compile(r" ?\([^)]*\)")


def goes_on(text: str, value: str, known: str) -> str:
    """What a text says behind its value and another text does not: "on Mondays", "at night".

    Args:
        text: Canonical text ("Does not work at lidl on Mondays").
        value: The value in it ("lidl").
        known: The text of what is known already.

    Returns:
        The words behind the value, "" where they are fillers or known.
    """
    plain = _TRANSLATED.sub("", text)
    at = plain.casefold().rfind(value.casefold()) if value else -1
    tail = plain[at + len(value) :].split(";")[0].strip() if at >= 0 else ""
    more = {*tail.casefold().split()} - _tables().fillers
    return tail if stems([" ".join(more)]) - stems([known]) else ""


def words_agree(asked: frozenset[str], offered: frozenset[str]) -> bool:
    """Whether every word that was asked for is there, by its stem."""
    return bool(asked) and {stem(word) for word in asked} <= {stem(word) for word in offered}


_ENDINGS = ("ing", "ed", "es", "s", "e")
_LEAST_STEM = 3


def stems(texts: Iterable[str]) -> set[str]:
    """The stems of the content words of some texts."""
    return {stem(word) for word in content_words(texts)}


def stem(word: str) -> str:
    """Takes common English verb and noun endings off ("saving", "saved" -> "sav")."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word


def forms_of(word: str) -> tuple[str, ...]:
    """Every word with the stem of ``word``: the stem itself, and with each of the endings."""
    base = stem(word)
    forms = (base, *(f"{base}{ending}" for ending in _ENDINGS))
    return tuple(form for form in forms if stem(form) == base)


def _words(text: str) -> list[str]:
    if text.isascii():
        plain = text.casefold()  # nothing to decompose; most words are these, and each turn's all
    else:
        # Twice: some letters have a lower case only after they were decomposed.
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
        plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return [word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(plain)]


def _singular(word: str, keep_s: frozenset[str], irregular: Mapping[str, str]) -> str:
    if word in irregular:
        return irregular[word]
    if len(word) < 4 or not word.endswith("s") or word in keep_s or word.endswith("ss"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    if word.endswith(("us", "is")):
        return word
    return word[:-1]
