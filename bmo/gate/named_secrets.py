"""Secrets known by the name of a credential: what follows "my password is", whatever it looks like.

Also what stands before the name ("4071 is my pin"), and the bare answer to a question for one. The
names and the words between name and value are data: ``tables/secrets.toml``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from bmo.gate.credential_names import CredentialName, may_name, names_in
from bmo.gate.credential_shapes import Found
from bmo.gate.credential_shapes import secret_table_words as words_of
from bmo.gate.numerals import Chunk, Run, chunks_of, digits, run_at

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
_GAP = 10
"""Most words between a credential's name and its value."""
_LONGEST = 26
"""Most words of a value: a recovery phrase has 24."""
_LETTERED = frozenset(["document_number", "national_number", "account"])
_LISTED = frozenset(["seed_phrase", "login"])
_PAIRED = frozenset(["password", "security_answer"])
_NOTED = frozenset(["password", "passphrase", "login", "security_answer"])
_WORDED = _NOTED | {"seed_phrase", "api_key", "username"}
_JOINTS = frozenset(["and", "but", "und", "aber", "et", "mais", "y", "pero", "so"])
_PURPOSE = 5
"""So many words from "for" on may still belong to a name: "code for the shed"."""
_IS = frozenset(["is", "was", "as", "ist", "war", "als", "est", "comme", "es", "como", "era"])
_THAT_IS = frozenset(["that's", "thats", "it's", "c'est"])
_AS = frozenset(["as", "als", "comme", "como"])
_NOW = frozenset(["now", "jetzt", "maintenant", "ahora"])
_WHETHER = frozenset(
    "do did shall should would can could is are have has soll hast ist möchtest veux dois as "
    "quieres debo tienes".split()
)


_DATE = re.compile(r"\d\d?[./-]\d\d?[./-](?:\d\d)?\d\d")
_ORDINAL = re.compile(r"(?:ten|ter|te|sten|ster|ste|th|st|nd|rd|er|\.)$")


def find_named(text: str, lower: str, words: Sequence[str]) -> Iterator[Found]:
    """Every secret of a text that a credential's name introduces, behind it or before.

    Args:
        text: What somebody said or typed.
        lower: The same in lower case.
        words: Its words in lower case.
    """
    if not may_name(text, lower, words):
        return
    chunks = chunks_of(text)
    starts = [chunk.start for chunk in chunks]
    named = list(names_in(lower))
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
            noted = _noted(chunks, first, window, name)
            told, window = told or noted is not None, noted or window
            changed = words_of("change").intersection(
                c.word for c in chunks[max(0, first - 5) : first]
            )
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


def _values(
    chunks: list[Chunk], name: CredentialName, *, told: bool, changed: bool
) -> Iterator[Found]:
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
                found = (at, _extent(chunks, at + 1, name))


def _value(
    chunks: list[Chunk], name: CredentialName, *, told: bool, changed: bool
) -> tuple[int, int] | None:
    """First chunk of the value and the one behind it, or None.

    Args:
        chunks: The words behind the name.
        name: Whose value it is.
        told: A copula stood before them.
        changed: A verb of change stood before the name, so that "to" is a copula.
    """
    direct, free, since, purpose = True, name.value == "any", 0, -_PURPOSE
    described = dated = False
    for at, chunk in enumerate(chunks):
        word = chunk.word
        if at - since >= _GAP or (at and chunks[at - 1].ends and word not in words_of("pointer")):
            return None
        counted = name.kind in ("code", "pin") and word in words_of("with")
        becomes = word in words_of("becomes") and (
            changed or (at + 2 < len(chunks) and chunks[at + 2].word in words_of("change"))
        )
        if word in words_of("copula") or counted or becomes:
            changed = word in words_of("change")  # "is set to"
            told, direct, since, described = True, False, at + 1, False
            continue
        changed = changed or word in words_of("change")
        told = told or bool(at and chunks[at - 1].mark == ":")
        purpose = at if word in words_of("for") else purpose
        dated = dated or (told and word in words_of("birthday"))
        last = _date_end(chunks, at) if told or dated else at
        named = any(c.word in words_of("month") for c in chunks[at:last])
        if last > at and (dated or (not described and (named or _DATE.fullmatch(word)))):
            return at, last
        near = told or direct or at - purpose < _PURPOSE
        run = run_at(chunks, at)
        loose = described or (name.value == "mixed" and not (told or direct))
        if run and loose and _YEAR.fullmatch(run.digits):
            run = None
        if described:  # "the code is an easy one, 4711"
            if run and chunks[at - 1].mark in ",:" and len(run.digits) >= 4:
                return (at, run.end) if _is_code(chunks, at, run) else None
            continue
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
        if free and at and ahead in words_of("sign"):
            return at, _extent(chunks, at + 1, name)
        if (told or (direct and (free or name.kind in ("code", "login")))) and spelled:
            if len(word) == 1 or word in words_of("spelled") or ahead == "slash":
                return at, _extent(chunks, at + 1, name)
        turned = name.kind == "code" and digits(word) is not None and _is_turn(chunks, at + 1)
        listed = name.kind == "seed_phrase" and direct and word not in words_of("stop")
        if (near and turned) or (listed and word not in words_of("not_value")):
            return at, _extent(chunks, at + 1, name)
        opens = word in words_of("article") and (not free or ahead in words_of("describes"))
        opens = opens or word in words_of("opener")
        if told and opens and ahead:
            direct = False
            continue
        if told and free and word in words_of("describes"):
            return at, next((i + 1 for i in range(at, len(chunks)) if chunks[i].ends), len(chunks))
        if told and free and word not in words_of("not_value"):
            return at, _extent(chunks, at + 1, name)
        if not told and word in words_of("break"):
            return None
        if told and name.value == "mixed" and name.kind != "login":
            described = True
            continue
        series = name.kind in _LETTERED and (chunk.raw.isupper() or len(word) == 1)
        series = series or (told and name.kind == "login" and not free)
        if not series and word not in words_of("number"):
            told = direct = False
    return None


def _date_end(chunks: Sequence[Chunk], at: int) -> int:
    """The chunk behind a date that begins at a chunk ("14 09 51", "3rd of may 84"), or that one."""
    last = at
    for place in range(at, len(chunks)):
        word = chunks[place].word
        if (
            word in words_of("month")
            or digits(word)
            or digits(_ORDINAL.sub("", word))
            or _DATE.fullmatch(word)
        ):
            last = place + 1
        elif last == at or word not in words_of("for") | words_of("opener"):
            break
        if chunks[place].ends and not word.isdigit():
            break
    return last


def _noted(
    chunks: list[Chunk], name_at: int, window: list[Chunk], name: CredentialName
) -> list[Chunk] | None:
    """The value where it and the name are all of a note ("netflix password bluebird"), or None."""
    if name.kind not in _NOTED or name.value != "any" or not window:
        return None
    begin = name_at
    while begin and chunks[begin - 1].mark == " " and chunks[begin - 1].word not in _JOINTS:
        begin -= 1
    before = {chunk.word for chunk in chunks[begin:name_at]}
    if len(before) > 2 or before & words_of("no_note"):
        return None
    if window[0].word in words_of("for"):  # "password for the guest network juniperberry"
        comma = next((i + 1 for i, c in enumerate(window[:5]) if c.mark == ","), 1)
        while comma < len(window) and window[comma].word in words_of("opener"):
            comma += 1
        window = window[comma:]
        rest = {chunk.word for chunk in window[:5]}
        return window if rest and rest.isdisjoint(words_of("no_note")) else None
    most = 7 if name.kind == "passphrase" else 4
    last = next((i for i, c in enumerate(window[:most]) if c.mark != " "), len(window) - 1)
    said = [chunk.word for chunk in window[: min(last, most) + 1]]
    last = next((i for i, word in enumerate(said) if word in _JOINTS), len(said))
    short = 0 < last < most and said[0] not in words_of("no_note") | words_of("opener")
    return window if short else None


def _is_turn(chunks: list[Chunk], at: int) -> bool:
    """Whether a number is followed by a direction: "12 right", "douze à droite"."""
    while at < len(chunks) and chunks[at].word in words_of("becomes"):
        at += 1
    return at < len(chunks) and chunks[at].word in words_of("spelled")


def _extent(chunks: list[Chunk], at: int, name: CredentialName) -> int:
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


def _before(chunks: list[Chunk], name_at: int, name: CredentialName) -> Iterator[Found]:
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
        used = name.value != "before" or not first or chunks[first - 1].mark == ","
        used = used or chunks[first - 1].word in words_of("use")
        if used and not _YEAR.fullmatch(run.digits):
            yield Found(chunks[first].start, chunks[at - 1].end, name.kind)
    elif value and value.mixed and at > 1 and name.value == "before":
        if chunks[at - 2].word in words_of("use"):
            yield Found(value.start, value.end, name.kind)
    elif value and name.value != "before":
        first, alone = at - 1, at == 1 or chunks[at - 2].ends or chunks[at].word in _AS
        if chunks[at].word in _THAT_IS:  # "i changed it to kestrel forty, that's the password"
            says = words_of("copula") | words_of("becomes")
            told = (i for i in range(at - 2, max(-1, at - 6), -1) if chunks[i].word in says)
            said_at = next(told, None)
            first, alone = (at - 1, alone) if said_at is None else (said_at + 1, True)
        known = words_of("not_value") | words_of("stop") | words_of("opener")
        plain = name.value == "any" and alone and chunks[first].word not in known
        plain = plain and (first < at - 1 or len(value.word) > 3)
        if plain or (value.mixed and any(map(str.isdigit, value.raw))):
            yield Found(chunks[first].start, value.end, name.kind)


def answering(text: str, asked: str) -> Iterator[Found]:
    """The value that answers the assistant's question for a credential."""
    question = _SENTENCES.split(asked.strip())[-1].lower()
    words = _WORD.findall(question)
    if not words or not (question.endswith("?") or {"tell", "give", "say"} & set(words)):
        return
    names = [n.name for n in names_in(question) if n.name.value not in ("none", "before")]
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
