"""The value behind the name of a credential: where it begins among the words, and where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from bmo.gate import tables
from bmo.gate.credential_names import CredentialName
from bmo.gate.credential_shapes import Found
from bmo.language.numerals import Chunk, Run, digits, run_at

words_of = partial(tables.words_of, "secrets.toml")
YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"\d\d?[./-]\d\d?[./-](?:\d\d)?\d\d")
_ORDINAL = re.compile(r"(?:ten|ter|te|sten|ster|ste|th|st|nd|rd|er|\.)$")
_GAP = 10
"""Most words between a credential's name and its value."""
WINDOW = _GAP + 26
"""So many words behind a name are looked at: a recovery phrase has 24."""
_PURPOSE = 5
"""So many words from "for" on may still belong to a name: "code for the shed"."""
_LETTERED = frozenset(["document_number", "national_number", "account"])
_LISTED = frozenset(["seed_phrase", "login"])
_PAIRED = frozenset(["password", "security_answer"])
NOTED = frozenset(["password", "passphrase", "login", "security_answer"])
_WORDED = NOTED | {"seed_phrase", "api_key", "username"}
_Span = tuple[int, int]
"""First chunk of a value, and the one behind it."""


class ValueSearch:
    """Looks for the value behind the name of a credential, word by word.

    Attributes:
        chunks: The words behind the name.
        name: Whose value it is.
        told: A copula stood before: the value comes now.
        changed: A verb of change stood before, so that "to" is a copula.
        direct: Nothing stood between.
    """

    def __init__(
        self, chunks: Sequence[Chunk], name: CredentialName, *, told: bool, changed: bool
    ) -> None:
        """A search that begins right behind the name."""
        self.chunks, self.name, self.told, self.changed = chunks, name, told, changed
        self.direct, self.free, self.dated = True, name.value == "any", False
        self.coded = name.kind in ("code", "pin")
        self._since, self._purpose = 0, -_PURPOSE

    def values(self) -> Iterator[Found]:
        """The value, and those that are said to replace it."""
        chunks, found = self.chunks, self.first()
        while found:
            first, last = found
            yield Found(chunks[first].start, chunks[last - 1].end, self.name.kind)
            at = last
            while at < len(chunks) and chunks[at].word in words_of("chain"):
                at += 1
            found, run = None, run_at(chunks, at)
            between = {chunk.word for chunk in chunks[last:at]}
            if run and len(run.digits) >= 3 and _is_code(chunks, at, run):
                found = (at, run.end)
            elif last < at < len(chunks) and (
                chunks[at].mixed
                or (between & words_of("present") and chunks[at - 1].word in words_of("copula"))
            ):
                found = (at, self._extent(at + 1))

    def first(self) -> _Span | None:
        """The first value, or None."""
        for at, chunk in enumerate(self.chunks):
            ended = at and self.chunks[at - 1].ends and chunk.word not in words_of("pointer")
            if at - self._since >= _GAP or ended:
                return None
            if self._introduces(at):
                continue
            self.changed = self.changed or chunk.word in words_of("change")
            mark = self.chunks[at - 1].mark if at else " "  # "the code is an easy one, 4711"
            self.told = self.told or mark == ":" or (mark == "," and self._since > 0 and self.coded)
            self._purpose = at if chunk.word in words_of("for") else self._purpose
            found = (
                self._date(at)
                or self._number(at)
                or self._mixed(at)
                or self._spelled(at)
                or self._worded(at)
            )
            breaks = chunk.word in words_of("break") and not (self.name.kind == "login" and at)
            if found or (breaks and not self.told):
                return found
            self._pass(at)
        return None

    def _word(self, at: int) -> str:
        return self.chunks[at].word if at < len(self.chunks) else ""

    def _is_near(self, at: int) -> bool:
        """Whether nothing but what the name is for stands before a word."""
        return self.told or self.direct or at - self._purpose < _PURPOSE

    def _introduces(self, at: int) -> bool:
        """Whether a word says "here it comes"."""
        word = self._word(at)
        begun = at and self._word(at - 1) in words_of("begins")
        counted = (self.coded or begun) and word in words_of("with")
        becomes = word in words_of("becomes") and (
            self.changed or self._word(at + 2) in words_of("change")
        )
        if word not in words_of("copula") and not counted and not becomes:
            return False
        self.changed = word in words_of("change")  # "is set to"
        self.told, self.direct, self._since = True, False, at + 1
        return True

    def _pass(self, at: int) -> None:
        """Takes note of a word that is no value."""
        chunk = self.chunks[at]
        opens = chunk.word in words_of("opener") or (
            chunk.word in words_of("article")
            and (not self.free or self._word(at + 1) in words_of("describes"))
        )
        if self.told and opens:
            self.direct = False
            return
        series = self.name.kind in _LETTERED and _is_letter(chunk)
        series = series or (self.told and self.name.kind == "login" and not self.free)
        if not series and chunk.word not in words_of("number"):
            self.told = self.direct = False

    def _date(self, at: int) -> _Span | None:
        """A date of birth as a value: "my pin is my birthday, 14 09 51"."""
        self.dated = self.dated or (self._since > 0 and self._word(at) in words_of("birthday"))
        parts = [place for place in range(at, at + 5) if _dates(self._word(place))]
        told = self.dated or (self.told and _DATE.fullmatch(self._word(at)))
        return (at, parts[-1] + 1) if told and parts[:1] == [at] else None

    def _number(self, at: int) -> _Span | None:
        run, name = run_at(self.chunks, at), self.name
        if run is None or not _is_code(self.chunks, at, run):
            return None
        near, year = self._is_near(at), YEAR.fullmatch(run.digits)
        if name.value == "mixed" and not (near and (self.told or self.direct or not year)):
            return None
        if len(run.digits) < (3 if (near or self.free) and name.least == 4 else name.least):
            return None
        last = self._extent(run.end) if self.told else run.end
        return _lettered(self.chunks, at, last) if name.kind in _LETTERED else (at, last)

    def _mixed(self, at: int) -> _Span | None:
        """A word of letters and digits or marks ("hunter2", "a_b")."""
        chunk, kind = self.chunks[at], self.name.kind
        far = not self.free and kind not in _LETTERED and kind != "login"
        if not chunk.mixed or (far and not self._is_near(at)):
            return None
        if self.name.value == "digits" and sum(map(str.isdigit, chunk.word)) < 3:
            return None
        first = self._since if kind == "login" and self._since else at
        return first, self._extent(at + 1)

    def _spelled(self, at: int) -> _Span | None:
        """What is spelled ("b l u e", "capital g", "admin slash"), or turned ("12 right")."""
        word, ahead, kind = self._word(at), self._word(at + 1), self.name.kind
        if self.free and ahead in words_of("sign"):
            return at, self._extent(at + 1)
        slash = kind == "login" and ahead == "slash"
        if self.told or (self.direct and (self.free or kind in ("code", "login"))):
            sign = len(word) == 1 or word in words_of("spelled")
            if not self.told and word in words_of("becomes"):  # "le code à vingt ans"
                sign = sign and len(ahead) == 1
            if slash or (sign and (len(ahead) == 1 or digits(ahead) is not None)):
                return at, self._extent(at + 1)
        turned = kind == "code" and digits(word) is not None and _is_turn(self.chunks, at + 1)
        return (at, self._extent(at + 1)) if turned and self._is_near(at) else None

    def _worded(self, at: int) -> _Span | None:
        """Any word behind a copula, where the value may be any."""
        word, ahead = self._word(at), self._word(at + 1)
        none = word in words_of("not_value")
        if self.name.kind == "seed_phrase" and self.direct and not none:
            return None if word in words_of("stop") else (at, self._extent(at + 1))
        if not self.told or not self.free or (word in words_of("opener") and ahead):
            return None
        if word in words_of("describes"):
            ends = (i + 1 for i in range(at, len(self.chunks)) if self.chunks[i].ends)
            return at, next(ends, len(self.chunks))
        if none or (word in words_of("article") and ahead in words_of("describes")):
            return None
        return at, self._extent(at + 1)

    def _extent(self, at: int) -> int:
        """Where a value that began before a chunk ends."""
        chunks, kind = self.chunks, self.name.kind
        first, listed = at, kind in _LISTED
        digital = kind not in _WORDED and bool(at and digits(chunks[at - 1].word))
        joints = words_of("joint")
        if kind == "login":
            joints = joints | words_of("with")
        elif kind == "security_answer":  # "rex the beagle"
            joints = joints | words_of("article")
        while at < len(chunks):
            mark, word = chunks[at - 1].mark, chunks[at].word
            if mark != " " and (mark not in ",:" or not (listed or _is_sign(word))):
                break
            if kind == "passphrase":
                at += 1
                continue
            turns = kind == "code" and word in words_of("becomes") and _is_turn(chunks, at)
            if turns or (word in words_of("spelled") and digits(self._word(at + 1))):
                at += 2
                continue
            if word in words_of("stop") or word in joints or (digital and not _is_sign(word)):
                ahead = at
                while self._word(ahead) in joints:
                    ahead += 1
                follows = self._word(ahead)
                plain = follows and follows not in words_of("stop") and not digital
                paired = kind in _PAIRED and at < first + 3 and ends_soon(chunks, ahead)
                goes_on = _is_sign(follows) or (plain and (listed or paired))
                if ahead == at or not goes_on or follows in ("i", "y", "o"):
                    break
                at = ahead
            at += 1
        return min(at, len(chunks))


def _dates(word: str) -> bool:
    """Whether a word may be a part of a date ("14", "4.", "fourth", "may")."""
    number = any(map(str.isdigit, word)) or digits(word) or digits(_ORDINAL.sub("", word))
    return bool(number) or word in words_of("month")


def _is_turn(chunks: Sequence[Chunk], at: int) -> bool:
    """Whether a number is followed by a direction: "12 right", "douze à droite"."""
    while at < len(chunks) and chunks[at].word in words_of("becomes"):
        at += 1
    return at < len(chunks) and chunks[at].word in words_of("spelled")


def _is_sign(word: str) -> bool:
    """Whether a word is one character or number of a value that is spelled."""
    return len(word) == 1 or word in words_of("spelled") or bool(word and digits(word))


def ends_soon(chunks: Sequence[Chunk], at: int) -> bool:
    """Whether two words at most follow and none of them begins something else."""
    rest = chunks[at : at + 3]
    stop = next((i for i, c in enumerate(rest) if c.mark != " "), len(rest) - 1)
    said = {c.word for c in rest[: stop + 1]}
    return stop < 2 and said.isdisjoint(words_of("stop") | words_of("copula"))


def _is_letter(chunk: Chunk) -> bool:
    """Whether a word stands for a letter or some: "QQ", "k", "kilo"."""
    return chunk.raw.isupper() or len(chunk.word) == 1 or chunk.word in words_of("letter")


def _lettered(chunks: Sequence[Chunk], first: int, last: int) -> _Span:
    """A number with the letters around it: "QQ 12 34 56 C", "kilo lima 92"."""
    while first and _is_letter(chunks[first - 1]):
        first -= 1
    while last < len(chunks) and chunks[last - 1].mark == " ":
        raw, word = chunks[last].raw, chunks[last].word
        letter = (len(raw) == 1 and word not in "aiyoe") or word in words_of("letter")
        if not letter and not (raw.isupper() and (chunks[last].mixed or len(raw) == 2)):
            break
        last += 1
    return first, last


def _is_code(chunks: Sequence[Chunk], at: int, run: Run) -> bool:
    """Whether a number is no amount and no year."""
    counts = run.end < len(chunks) and chunks[run.end - 1].mark == " "
    if counts and chunks[run.end].word in words_of("unit"):
        return False
    before = chunks[at - 1].word if at else ""
    if before in words_of("roughly"):
        return False
    return not (YEAR.fullmatch(run.digits) and before in words_of("dated"))
