"""Secrets in what people say or type: found, named and masked before anything is written.

A secret is known by its shape (``credential_shapes``) or by the name of a credential before it:
what follows "my password is" is a secret whatever it looks like. A telephone number or a mail
address is a fact about a person and stays. The words are data: ``tables/secrets.toml``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from bmo.gate.credential_shapes import Found, find_shapes, load_detectors
from bmo.gate.credential_shapes import secret_table_words as words_of
from bmo.gate.numerals import Chunk, Run, chunks_of, digits, run_at, secret_table

SECRET_MASK = "[secret]"
"""What stands in the place of a secret."""

_WORD = re.compile(r"[^\W_]+")
_LINK = re.compile(r"(?:['’]s\b)?\s*(?:[:=]|->|[-–](?=\s))?\s*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_OF = re.compile(
    r"\b(?:for|of|from|von|für|vom|zur|de|du|del|para|pour)"
    r"(?: (?:my|the|our|der|die|den|dem|meine[rnm]?|la|le|mon|ma|mi|el))?\s+$"
)
"""Before a name that only says what the name before it is for: "the pin of my card is"."""
_SAID = re.compile(r"(?:\b(?:is|are|ist|est|c'est|es)|[:=]) $")
"""Before a name that is a value: "my password is password"."""
_SENTENCES = re.compile(r"(?<=[.!?])\s")
_CLAUSES = re.compile(r"[.,;:!?\n]+|\b(?:and|but|und|aber|et|mais|y|pero)\b")
_GAP = 10
"""Most words between a credential's name and its value."""
_LONGEST = 26
"""Most words of a value: a recovery phrase has 24."""
_LETTERED = frozenset(["document_number", "national_number", "account"])
_LISTED = frozenset(["seed_phrase", "login"])
_LEAST_REPEATED = 4
"""Fewest characters of a secret that is known again in other words."""
_PAIRED = frozenset(["password", "security_answer"])
_NOTED = frozenset(["password", "login", "security_answer"])
_WORDED = _NOTED | {"seed_phrase", "passphrase", "api_key"}
_JOINTS = frozenset(["and", "but", "und", "aber", "et", "mais", "y", "pero", "so"])
_PURPOSE = 5
"""So many words from "for" on may still belong to a name: "code for the shed"."""
_IS = frozenset(["is", "was", "as", "ist", "war", "als", "est", "comme", "es", "como", "era"])
_THAT_IS = frozenset(["that's", "thats", "it's", "c'est"])
_NOW = frozenset(["now", "jetzt", "maintenant", "ahora"])
_WHETHER = frozenset(
    "do did shall should would can could is are have has soll hast ist möchtest veux dois as "
    "quieres debo tienes".split()
)


@dataclass(frozen=True, slots=True)
class Scan:
    """What a text hides.

    Attributes:
        masked: The text with ``SECRET_MASK`` in the place of every secret.
        kinds: What was found, each once, in the order of the text.
        spans: Where it stood in the text: start and end, in order, without overlaps.
        values: The secrets themselves in lower case, a number as its digits: to know them again.
    """

    masked: str
    kinds: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    values: tuple[str, ...] = field(default=(), repr=False)


class _Name(NamedTuple):
    """What a credential is called in ``Scan.kinds``, and how its value looks (see the table)."""

    kind: str
    value: str
    least: int
    beside: tuple[str, ...]


class _Named(NamedTuple):
    """The name of a credential in a text."""

    start: int
    end: int
    name: _Name


class _Names(NamedTuple):
    """Names by their words run together.

    Attributes:
        rows: By these words.
        longest: The most words of a name by its first one.
        endings: Names that letters may stand before.
        telling: A text without one of these words has no name.
    """

    rows: dict[str, list[_Name]]
    longest: dict[str, int]
    endings: dict[str, list[_Name]]
    telling: set[str]


@cache
def _names() -> _Names:
    names = _Names({}, {}, {}, set())
    for row in secret_table()["name"]:
        beside = tuple(row.get("beside", ()))
        name = _Name(row["kind"], row["value"], row.get("least", 4), beside)
        for phrase in row["words"]:
            parts = _WORD.findall(phrase)
            key = "".join(parts)
            names.rows.setdefault(key, []).append(name)
            if name.value != "none":
                names.telling.update((max(parts, key=len), key))
            if phrase[0] == "*":
                names.endings.setdefault(key, []).append(name)
            for first in (parts[0], key, "wi" if key.startswith("wifi") else key):
                names.longest[first] = max(names.longest.get(first, 1), len(parts) + 1)
    return names


def load() -> None:
    """Reads the tables and the detectors (0.15 s), so that no first turn waits for them."""
    _names()
    load_detectors()


def scan(text: str, asked: str = "", known: Collection[str] = ()) -> Scan:
    """Finds every secret of a text.

    Args:
        text: What somebody said or typed.
        asked: The assistant's words before it: a bare value answers "what is the code?".
        known: ``Scan.values`` of earlier words: they are secrets here too.
    """
    lower = _lowered(text)
    words = _WORD.findall(lower)
    found = list(find_shapes(text, words))
    if SECRET_MASK in text:
        found += [Found(*m.span(), "masked") for m in re.finditer(re.escape(SECRET_MASK), text)]
    names = _names()
    if not names.telling.isdisjoint(words) or any(e in lower for e in names.endings):
        found += _behind_names(text, lower)
    if asked:
        found += _answering(text, asked)
    if known:
        found += _repeated(text, lower, known)
    return _scanned(text, found) if found else Scan(text)


def bare_secret(scan: Scan, text: str) -> bool:
    """Whether nothing worth keeping remains of a text beside its secrets."""
    if not scan.spans:
        return False
    for part in _CLAUSES.split(scan.masked):
        _, mask, behind = part.partition(SECRET_MASK)
        if mask:  # another clause may begin right behind it
            first = _WORD.findall(behind.lower())[:1]
            part = behind if first and first[0] in words_of("stop") - {"for", "on"} else ""
        told = [
            w for w in _WORD.findall(part.lower()) if len(w) > 1 and w not in words_of("filler")
        ]
        rows = _names().rows
        if len(told) > 1 and not any(n.value != "none" for w in told for n in rows.get(w, ())):
            return False
    return True


def _lowered(text: str) -> str:
    """In lower case and of the same length: some letters of other scripts grow."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _scanned(text: str, found: list[Found]) -> Scan:
    """The spans joined where they overlap, and the text with each of them replaced."""
    joined: list[Found] = []
    for item in sorted(found, key=lambda f: (f.start, -f.end)):
        if joined and item.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(end=max(joined[-1].end, item.end))
        else:
            joined.append(item)
    parts, at = [], 0
    for item in joined:
        parts += [text[at : item.start], SECRET_MASK]
        at = item.end
    kinds = tuple(dict.fromkeys(item.kind for item in joined))
    spans = tuple((f.start, f.end) for f in joined)
    values = (_value_of(text, *span) for span in spans)
    kept = tuple(value for value in values if len(value) >= _LEAST_REPEATED)
    return Scan("".join(parts) + text[at:], kinds, spans, kept)


def _value_of(text: str, start: int, end: int) -> str:
    """A secret in lower case, a number as its digits; "" for a mask."""
    chunks = chunks_of(text, start, end)
    run = run_at(chunks, 0)
    if run and run.end == len(chunks) and run.digits.isdecimal():
        return run.digits
    value = text[start:end]
    return "" if value == SECRET_MASK else value.lower()


def _repeated(text: str, lower: str, known: Collection[str]) -> Iterator[Found]:
    """Secrets that were told before, however their digits are said now."""
    for value in known:
        at = lower.find(value)
        while at >= 0:
            end = at + len(value)
            if not lower[at - 1 : at].isalnum() and not lower[end : end + 1].isalnum():
                yield Found(at, end, "repeated")
            at = lower.find(value, end)
    if not any(map(str.isdecimal, known)):
        return
    chunks, at = chunks_of(text), 0
    while at < len(chunks):
        run = run_at(chunks, at)
        if run and run.digits in known:
            yield Found(chunks[at].start, chunks[run.end - 1].end, "repeated")
        at = run.end if run else at + 1


def _named_in(lower: str) -> Iterator[_Named]:
    """Every name of a credential in a text, the longest where several begin with one word."""
    names = _names()
    words = [(m.start(), m.end(), m.group()) for m in _WORD.finditer(lower)]
    fits = {beside: beside in lower for beside in _beside_words()}
    at = 0
    while at < len(words):
        start, _, word = words[at]
        key, size, name = "", 1, None
        for ahead in range(min(names.longest.get(word, 0), len(words) - at)):
            key += words[at + ahead][2]
            rows = names.rows.get(key, ())
            for row in rows:
                if not row.beside or any(fits[b] for b in row.beside):
                    size, name = ahead + 1, row
                    break
        if name is None and len(word) > 6:
            rows = next((r for e, r in names.endings.items() if word.endswith(e)), ())
            name = rows[0] if rows else None
        if name:
            yield _Named(start, words[at + size - 1][1], name)
        at += size


@cache
def _beside_words() -> frozenset[str]:
    return frozenset(b for rows in _names().rows.values() for row in rows for b in row.beside)


def _behind_names(text: str, lower: str) -> Iterator[Found]:
    """What the names of credentials introduce, behind them or before."""
    chunks = chunks_of(text)
    starts = [chunk.start for chunk in chunks]
    named = list(_named_in(lower))
    borders = [
        n.start
        for n in named
        if n.name.value in ("any", "digits", "none")
        and not _OF.search(lower, max(0, n.start - 20), n.start)
        and not _SAID.search(lower, max(0, n.start - 9), n.start)
    ]
    done = 0
    for start, end, name in named:
        if name.value == "none" or start < done:
            continue
        first = max(0, bisect_left(starts, start + 1) - 1)
        hits: list[Found] = []
        if name.value != "before":
            border = bisect_left(borders, end)
            bounded = border < len(borders) and name.kind != "login"
            stop = borders[border] if bounded else len(text)
            last = bisect_left(starts, stop)
            told, window = _window(text, end, chunks, starts, last)
            behind = max(first, bisect_left(starts, end) - 1)
            told = told or chunks[behind].word in words_of("gives")
            told = told or _is_noted(chunks, first, window, name)
            changed = words_of("change").intersection(c.word for c in chunks[first - 5 : first])
            hits = list(_values(window, name, told=told, changed=bool(changed)))
            done = hits[-1].end if hits else done
        yield from hits or _before(chunks, first, name)


def _window(
    text: str, end: int, chunks: list[Chunk], starts: list[int], last: int
) -> tuple[bool, list[Chunk]]:
    """The words behind a name, and whether a mark ("pw: x", "password's x") says it comes now."""
    link = _LINK.match(text, end)
    begin = link.end() if link else end
    first = bisect_left(starts, begin)
    window = chunks[first : min(last, first + _GAP + _LONGEST)]
    if first and begin < chunks[first - 1].end:  # within a word: "pw=x"
        window = [*chunks_of(text, begin, chunks[first - 1].end), *window]
    if window and window[0].word[0] in ".;?!":
        window = []
    ended = first and begin >= chunks[first - 1].end and chunks[first - 1].ends
    if ended and window and window[0].word not in words_of("pointer"):
        window = []
    return bool(link and link.group().strip()), window


def _values(chunks: list[Chunk], name: _Name, *, told: bool, changed: bool) -> Iterator[Found]:
    """The value behind a name, and those that are said to replace it."""
    found = _value(chunks, name, told=told, changed=changed)
    while found:
        first, last = found
        yield Found(chunks[first].start, chunks[last - 1].end, name.kind)
        at = last
        while at < len(chunks) and chunks[at].word in words_of("chain"):
            at += 1
        found = None
        run = run_at(chunks, at)
        if run and len(run.digits) >= 3 and _is_code(chunks, at, run):
            found = (at, run.end)
        elif last < at < len(chunks):
            new = name.value == "any" and _NOW.intersection(c.word for c in chunks[last:at])
            if chunks[at].mixed or (new and chunks[at - 1].word in words_of("copula")):
                found = (at, at + 1)


def _value(
    chunks: list[Chunk], name: _Name, *, told: bool, changed: bool
) -> tuple[int, int] | None:
    """First chunk of the value and the one behind it, or None.

    Args:
        chunks: The words behind the name.
        name: Whose value it is.
        told: A copula stood before them.
        changed: A verb of change stood before the name, so that "to" is a copula.
    """
    direct, free, since, purpose = True, name.value == "any", 0, -_PURPOSE
    for at, chunk in enumerate(chunks[:_GAP]):
        word = chunk.word
        if at and chunks[at - 1].ends and word not in words_of("pointer"):
            return None
        counted = name.kind in ("code", "pin") and word in words_of("with")
        if word in words_of("copula") or counted or (changed and word in words_of("becomes")):
            changed = word in words_of("change")  # "is set to"
            told, direct, since = True, False, at + 1
            continue
        changed = changed or word in words_of("change")
        told = told or bool(at and chunks[at - 1].mark == ":")
        purpose = at if word in words_of("for") else purpose
        near = told or direct or at - purpose < _PURPOSE
        run = run_at(chunks, at)
        amount = run and not told and name.kind == "account" and len(run.digits.rstrip("0")) < 3
        if run and not amount and _is_code(chunks, at, run):
            least = 3 if (near or free) and name.least == 4 else name.least
            sent = name.kind == "code" and len(run.digits) >= 6
            if len(run.digits) >= least and (near or sent or name.value != "mixed"):
                last = _extent(chunks, run.end, name) if told else run.end
                return _lettered(chunks, at, last) if name.kind in _LETTERED else (at, last)
        if chunk.mixed and (near or free or name.kind in _LETTERED or name.kind == "login"):
            if name.value != "digits" or sum(map(str.isdigit, word)) >= 3:
                whole = name.kind == "login" and since and at - since < 6
                return since if whole else at, _extent(chunks, at + 1, name)
        ahead = chunks[at + 1].word if at + 1 < len(chunks) else ""
        spelled = ahead and (len(ahead) == 1 or digits(ahead) is not None)
        spelled = spelled or (name.kind == "login" and ahead == "slash")
        if (told or (direct and (free or name.kind in ("code", "login")))) and spelled:
            if len(word) == 1 or word in words_of("spelled") or ahead == "slash":
                return at, _extent(chunks, at + 1, name)
        turned = name.kind == "code" and digits(word) is not None and _is_turn(chunks, at + 1)
        listed = name.kind == "seed_phrase" and direct and word not in words_of("stop")
        if (near and turned) or (listed and word not in words_of("not_value")):
            return at, _extent(chunks, at + 1, name)
        if told and word in words_of("opener") and ahead:
            direct = False
            continue
        if told and free and word not in words_of("not_value"):
            return at, _extent(chunks, at + 1, name)
        if (told and name.value == "mixed" and name.kind != "login") or (
            not told and word in words_of("break")
        ):
            return None
        series = name.kind in _LETTERED and (chunk.raw.isupper() or len(word) == 1)
        if not series and word not in words_of("number"):
            told = direct = False
    return None


def _is_noted(chunks: list[Chunk], name_at: int, window: list[Chunk], name: _Name) -> bool:
    """Whether name and value are all of a note: "netflix password bluebird"."""
    if name.kind not in _NOTED or name.value != "any" or not window:
        return False
    begin = name_at
    while begin and chunks[begin - 1].mark == " " and chunks[begin - 1].word not in _JOINTS:
        begin -= 1
    before = {chunk.word for chunk in chunks[begin:name_at]}
    if len(before) > 2 or before & words_of("no_note"):
        return False
    last = next((i for i, c in enumerate(window[:4]) if c.mark != " "), min(4, len(window) - 1))
    said = [chunk.word for chunk in window[: last + 1]]
    last = next((i for i, word in enumerate(said) if word in _JOINTS), len(said))
    return 0 < last < 4 and said[0] not in words_of("no_note") | words_of("opener")


def _is_turn(chunks: list[Chunk], at: int) -> bool:
    """Whether a number is followed by a direction: "12 right", "douze à droite"."""
    while at < len(chunks) and chunks[at].word in words_of("becomes"):
        at += 1
    return at < len(chunks) and chunks[at].word in words_of("spelled")


def _extent(chunks: list[Chunk], at: int, name: _Name) -> int:
    """Where a value that began before a chunk ends."""
    first, listed = at, name.kind in _LISTED
    digital = name.kind not in _WORDED and bool(at and digits(chunks[at - 1].word))
    if name.kind == "passphrase":
        return next((i for i in range(at, len(chunks)) if chunks[i - 1].mark != " "), len(chunks))
    while at < len(chunks):
        mark, word = chunks[at - 1].mark, chunks[at].word
        if mark != " " and (mark not in ",:" or not (listed or _is_sign(word))):
            break
        if word in words_of("spelled") and digits(chunks[min(at + 1, len(chunks) - 1)].word):
            at += 2
            continue
        if name.kind == "code" and word in words_of("becomes") and _is_turn(chunks, at):
            at += 2
            continue
        joints = words_of("joint") | words_of("with") if name.kind == "login" else words_of("joint")
        if word in words_of("stop") or word in joints or (digital and not _is_sign(word)):
            ahead = at
            while ahead < len(chunks) and chunks[ahead].word in joints:
                ahead += 1
            follows = chunks[ahead].word if ahead < len(chunks) else ""
            plain = follows and follows not in words_of("stop") and not digital
            paired = name.kind in _PAIRED and at < first + 3 and _ends_soon(chunks, ahead)
            goes_on = _is_sign(follows) or (plain and (listed or paired))
            if ahead == at or not goes_on or follows in ("i", "y", "o"):
                break
            at = ahead
        at += 1
    return min(at, len(chunks))


def _is_sign(word: str) -> bool:
    """Whether a word is one character or number of a value that is spelled."""
    return len(word) == 1 or word in words_of("spelled") or bool(word and digits(word))


def _ends_soon(chunks: Sequence[Chunk], at: int) -> bool:
    """Whether two words at most follow and none of them begins something else."""
    rest = chunks[at : at + 3]
    stop = next((i for i, c in enumerate(rest) if c.mark != " "), len(rest) - 1)
    said = {c.word for c in rest[: stop + 1]}
    return stop < 2 and said.isdisjoint(words_of("stop") | words_of("copula"))


def _lettered(chunks: list[Chunk], first: int, last: int) -> tuple[int, int]:
    """A number with the letters around it: "QQ 12 34 56 C"."""
    while first and chunks[first - 1].raw.isupper():
        first -= 1
    while last < len(chunks) and chunks[last - 1].mark == " ":
        raw = chunks[last].raw
        letter = len(raw) == 1 and chunks[last].word not in "aiyoe"
        if not letter and not (raw.isupper() and (chunks[last].mixed or len(raw) == 2)):
            break
        last += 1
    return first, last


def _before(chunks: list[Chunk], name_at: int, name: _Name) -> Iterator[Found]:
    """A value that stands before the name: "4071 is my pin", "i use 4829 for everything"."""
    at = name_at
    if name.value != "before":
        said = _IS | _THAT_IS
        at = next((i for i in range(at - 1, max(-1, at - 5), -1) if chunks[i].word in said), 0)
        if not at or chunks[at].mark != " ":
            return
    first = at
    while first and (first == at or not chunks[first - 1].ends):
        run = run_at(chunks, first - 1)
        if run is None or run.end < first:
            break
        first -= 1
    run = run_at(chunks, first) if first < at else None
    value = chunks[at - 1] if at else None
    if run and len(run.digits) >= 4 and run.end == at:
        used = name.value != "before" or not first or chunks[first - 1].word in words_of("use")
        if used and not _YEAR.fullmatch(run.digits):
            yield Found(chunks[first].start, chunks[at - 1].end, name.kind)
    elif value and value.mixed and at > 1 and name.value == "before":
        if chunks[at - 2].word in words_of("use"):
            yield Found(value.start, value.end, name.kind)
    elif value and name.value != "before":
        alone = (at == 1 or chunks[at - 2].ends) and len(value.word) > 4 and value.word.isalpha()
        known = words_of("not_value") | words_of("stop") | words_of("opener")
        plain = name.value == "any" and alone and value.word not in known
        if plain or (value.mixed and any(map(str.isdigit, value.raw))):
            yield Found(value.start, value.end, name.kind)


def _answering(text: str, asked: str) -> Iterator[Found]:
    """The value that answers the assistant's question for a credential."""
    question = _SENTENCES.split(asked.strip())[-1].lower()
    words = _WORD.findall(question)
    if not words or not (question.endswith("?") or {"tell", "give", "say"} & set(words)):
        return
    names = [n.name for n in _named_in(question) if n.name.value not in ("none", "before")]
    if not names:
        return
    name, whether = names[-1], words[0] in _WHETHER
    if whether or name.value != "any":
        name = name._replace(value="digits", least=min(name.least, 4))
    chunks = chunks_of(text)
    found = _value(chunks[: _GAP + _LONGEST], name, told=not whether, changed=False)
    if found:
        yield Found(chunks[found[0]].start, chunks[found[1] - 1].end, name.kind)


def _is_code(chunks: Sequence[Chunk], at: int, run: Run) -> bool:
    """Whether a number is no amount and no year."""
    counts = run.end < len(chunks) and chunks[run.end - 1].mark == " "
    if counts and chunks[run.end].word in words_of("unit"):
        return False
    before = chunks[at - 1].word if at else ""
    if before in words_of("roughly"):
        return False
    return not (_YEAR.fullmatch(run.digits) and before in words_of("dated"))
