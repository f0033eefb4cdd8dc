"""Secrets known by the name of a credential: what follows "my password is", whatever it looks like.

Also what stands before the name ("4071 is my pin"), and the bare answer to a question for one. The
names and the words between name and value are data: ``tables/secrets.toml``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from bmo.gate.credential_names import CredentialName, NamedAt, names_in
from bmo.gate.credential_shapes import Found
from bmo.gate.credential_values import NOTED, WINDOW, YEAR, ValueSearch, ends_soon, words_of
from bmo.language.numerals import Chunk, chunks_of, run_at

_WORD = re.compile(r"[^\W_]+")
_LINK = re.compile(r"(?:['’]s\b)?\s*(?:[:=]|->|[-–](?=\s))?\s*")
_OF = re.compile(
    r"\b(?:for|of|on|from|von|für|vom|zur|de|du|del|para|pour)"
    r"(?: (?:my|me|the|that|this|our|your|his|her|their|der|die|den|dem|(?:m|d|s)eine[rnm]?"
    r"|ihre[rnm]?|la|le|mon|ma|ton|ta|son|sa|mi|tu|su|el))?\s+$"
)
"""Before a name that only says what the name before it is for: "the pin of my card is"."""
_DASHES = frozenset("-–")
_EQUALS = frozenset([":", "=", "->"])
_MOST_FOR = 7
"""Most words between the name of a credential and the colon before its value: what it is for."""
_LEAST_MIXED = 6
"""Fewest characters of letters and digits that "i use ... for everything" makes a secret."""
_SENTENCES = re.compile(r"(?<=[.!?])\s")


def find_named(text: str, lower: str, words: Sequence[str]) -> Iterator[Found]:
    """Every secret of a text that a credential's name introduces, behind it or before.

    Args:
        text: What somebody said or typed.
        lower: The same in lower case.
        words: Its words in lower case.
    """
    named = list(names_in(lower, words))
    if not named:
        return
    chunks = chunks_of(text)
    starts = [chunk.start for chunk in chunks]
    borders = [n.start for n in named if _ends_a_search(lower, n)]
    for start, end, name in named:
        if name.value == "none":
            continue
        first = max(0, bisect_left(starts, start + 1) - 1)
        found: list[Found] = []
        if name.value != "before":
            border = bisect_left(borders, end)
            bounded = border < len(borders) and name.kind != "login"
            last = bisect_left(starts, borders[border]) if bounded else len(chunks)
            told, window = _behind(text, end, chunks, starts, last)
            told = told or chunks[first].word in words_of("gives")
            asks = any(c.word in words_of("is") for c in chunks[max(0, first - 3) : first])
            told = told or (asks and text.endswith("?"))
            noted = _noted(chunks, first, window, name)
            changed = any(c.word in words_of("change") for c in chunks[max(0, first - 5) : first])
            search = ValueSearch(noted or window, name, told=told or bool(noted), changed=changed)
            named_so = first and chunks[first - 1].word in words_of("as")  # "bluebell7 as my pin"
            found = (
                list(_before(chunks, first, name) if named_so else ())
                or list(_labelled(chunks[bisect_left(starts, end) :], name))
                or list(search.values())
            )
        yield from found or _before(chunks, first, name)


def answering(text: str, asked: str) -> Iterator[Found]:
    """The value that answers the assistant's question for a credential."""
    question = _SENTENCES.split(asked.strip())[-1].lower()
    words = _WORD.findall(question)
    if not words or not (question.endswith("?") or {"tell", "give", "say"} & set(words)):
        return
    names = [n.name for n in names_in(question, words) if n.name.value not in ("none", "before")]
    if not names:
        return
    name, whether = names[-1], words[0] in words_of("whether")
    if whether or name.value != "any":
        name = name._replace(value="digits", least=min(name.least, 4))
    chunks = chunks_of(text)[:WINDOW]
    found = ValueSearch(chunks, name, told=not whether, changed=False).first()
    if found:
        yield Found(chunks[found[0]].start, chunks[found[1] - 1].end, name.kind)


def _ends_a_search(lower: str, named: NamedAt) -> bool:
    """Whether a name begins another subject, and does not say what the one before it is for."""
    start, _, name = named
    ends = name.value in ("any", "digits", "none")
    return ends and not _OF.search(lower, max(0, start - 20), start)


def _behind(
    text: str, end: int, chunks: list[Chunk], starts: list[int], last: int
) -> tuple[bool, list[Chunk]]:
    """Whether a name says that its value comes now ("pw: x"), and the words behind it."""
    link = _LINK.match(text, end)
    begin = link.end() if link else end
    told = bool(link and link[0].strip())
    first = bisect_left(starts, begin)
    window = chunks[first : min(last, first + WINDOW)]
    named = chunks[max(0, bisect_left(starts, end) - 1)]
    told = told or named.word in words_of("gives")
    if begin < chunks[first - 1].end:  # within a word: "pw=x"
        return told, [*chunks_of(text, begin, chunks[first - 1].end), *window]
    if window and (named.ends or window[0].word[0] in ".;?!"):
        window = window if window[0].word in words_of("pointer") else []
    return told, window


def _labelled(chunks: Sequence[Chunk], name: CredentialName) -> Iterator[Found]:
    """The value behind a separator and what the name is for: "password netflix: bluebird"."""
    other = (words_of("no_note") | words_of("opener")) - words_of("for") - words_of("article")
    for at, chunk in enumerate(chunks[: _MOST_FOR + 1]):
        dashed = chunks[0].word in words_of("for") and chunk.word in _DASHES
        separates = dashed or chunk.word in _EQUALS or chunk.word in words_of("is")
        if (at and separates) or (chunk.mark == ":" and chunk.word not in other):
            value = chunks[at + 1 : at + 1 + WINDOW]
            written = chunk.mark == ":" or chunk.word in _EQUALS
            if written and name.kind == "password" and value and ends_soon(value, 0):  # "wifi: x"
                name = name._replace(value="any")
            yield from ValueSearch(value, name, told=True, changed=False).values()
            return
        if chunk.mixed or chunk.word in other or chunk.mark != " ":
            return


def _noted(
    chunks: list[Chunk], name_at: int, window: list[Chunk], name: CredentialName
) -> list[Chunk] | None:
    """The value where it and the name are all of a note ("netflix password bluebird"), or None."""
    if name.kind not in NOTED or name.value != "any" or not window:
        return None
    begin, joints = name_at, words_of("clause")
    while begin and chunks[begin - 1].mark == " " and chunks[begin - 1].word not in joints:
        begin -= 1
    before = {chunk.word for chunk in chunks[begin:name_at]}
    if len(before) > 2 or before & words_of("no_note"):
        return None
    if window[0].word in words_of("for"):  # "password for the guest network juniperberry"
        comma = next((i + 1 for i, c in enumerate(window[:5]) if c.mark == ","), 1)
        if any(chunk.word in words_of("copula") for chunk in window[:comma]):
            return None  # "password for the club account is x1, keep it"
        while comma < len(window) and window[comma].word in words_of("opener"):
            comma += 1
        ends = next((i + 1 for i, c in enumerate(window) if i >= comma and c.mark != " "), None)
        rest = {chunk.word for chunk in window[comma:ends]}
        other = words_of("no_note") | words_of("is")
        return window[comma:] if rest and rest.isdisjoint(other) else None
    lead = next((i + 1 for i, c in enumerate(window[:4]) if c.word in words_of("case")), 0)
    window, most = window[lead:], 7 if name.kind == "passphrase" else 4
    last = next((i for i, c in enumerate(window[:most]) if c.mark != " "), len(window) - 1)
    said = [chunk.word for chunk in window[: min(last, most) + 1]]
    last = next((i for i, word in enumerate(said) if word in joints), len(said))
    short = 0 < last < most and said[0] not in words_of("no_note") | words_of("opener")
    short = short and said[last - 1] not in words_of("no_note")  # "netflix forgotten"
    short = short and words_of("is").isdisjoint(said[:last])  # what it is, is no value: "too short"
    return window if short else None


def _before(chunks: list[Chunk], name_at: int, name: CredentialName) -> Iterator[Found]:
    """A value that stands before the name: "4071 is my pin", "i use 4829 for everything"."""
    at, only = name_at, name.value == "before"
    if not only:
        back = range(at - 1, max(-1, at - 5), -1)
        at = next((i for i in back if chunks[i].word in words_of("is")), 0)
    first, run = at, None
    while first and (longer := run_at(chunks, first - 1)) and longer.end == at:
        first, run = first - 1, longer
    value = chunks[at - 1] if at else None
    lead = chunks[first - 1 if run else at - 2] if at > 1 and (first or not run) else None
    used = lead is not None and (lead.word in words_of("use") or (run and lead.mark == ","))
    if run and len(run.digits) >= 4:
        if (used or not only or not first) and not YEAR.fullmatch(run.digits):
            yield Found(chunks[first].start, chunks[at - 1].end, name.kind)
    elif value and only:
        if value.mixed and used and len(value.raw) >= _LEAST_MIXED:  # no "wd40"
            yield Found(value.start, value.end, name.kind)
    elif value:
        first, alone = at - 1, at == 1 or chunks[at - 2].ends or chunks[at].word in words_of("as")
        if chunks[at].word in words_of("copula"):  # "i changed it to kestrel forty, that's it"
            says = words_of("copula") | words_of("becomes")
            told = (i for i in range(at - 2, max(-1, at - 6), -1) if chunks[i].word in says)
            said_at = next(told, None)
            first, alone = (at - 1, alone) if said_at is None else (said_at + 1, True)
        known = words_of("not_value") | words_of("stop") | words_of("opener")
        plain = name.value == "any" and alone and chunks[first].word not in known
        if (plain and value.end - chunks[first].start > 3) or (
            value.mixed and any(map(str.isdigit, value.raw))
        ):
            yield Found(chunks[first].start, value.end, name.kind)
