"""Injection firewall: text that would steer the assistant through its memory.

What tells the assistant what it is, may do, must say to others or must obey is an attack, however
kindly it is put. A person's wishes about form and conduct towards them ("always answer in
celsius") are none. The rules are data: ``tables/firewall.toml``.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import re2

_MARK = r"[\x00-/:-@\[-`{-\x7f]"
_BLANK = r"[\x00- \"-\-/:->@\[-`{-\x7f]{1,4}"
_GAP = rf"{_MARK}(?:[^.?!]{{0,60}}{_MARK})?"
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]")
_ASCII = str.maketrans(
    dict(zip("‘’‚‛´′“”„‟«»‹›″–—―…ßłøđıæœ", '\'\'\'\'\'\'"""""""""---.slodiao', strict=True))
    # Letters of Cyrillic and Greek that look like Latin ones.
    | dict(zip("авсԁеѐёһіїјкӏмнорԛѕтуѵѡхԝґзбпгип", "abcdeeehiijklmhopqstyvwxwrzbnrun", strict=True))
    | dict(zip("ᴀʙᴄᴅᴇꜰɡɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɩʋɾ", "abcdefgghijklmnoprstuvwyzaiur", strict=True))
    # Squared letters, and those that make flags.
    | {chr(base + i): chr(97 + i) for base in (0x1F130, 0x1F170, 0x1F1E6) for i in range(26)}
    | dict(zip("αβγδεζηθικλμνξοπρσςτυφχψω", "abydezniiklmvxonpostuoxuw", strict=True))
)
_LEET = str.maketrans("013457@$|!", "oieastasli")
_LEET_SIGNS = re.compile(r"[a-z@$|][013457@$|]|[013457@$|!][a-z]")
_SPELLED = re.compile(r"(?:(?<!\w)\w[ .,\-_*/]{1,3}){4,}\w(?!\w)")
_RUN_TOGETHER = re.compile(r"[a-z]{20,}")
_SENTENCE = re.compile(r"[.?!\n]+(?=\s|$)")
_LONGEST = 20_000
_FEWEST_BARE = 7
"""So many words at most has a bare yes."""


class _Rule(NamedTuple):
    id: str
    unless: Any


class _Rules(NamedTuple):
    patterns: Any
    owners: tuple[_Rule, ...]
    squashed: Any
    yes: frozenset[str]
    affirm: frozenset[str]
    asks: tuple[str, ...]
    musts: tuple[str, ...]
    swap: dict[str, str]


def attack(text: str, asked: str = "") -> str | None:
    """The name of the rule that sees an attack, or None.

    Args:
        text: What somebody said or typed.
        asked: The assistant's words before it: a bare yes to a suggestion is what was suggested.
    """
    rules = _rules()
    if not text.isascii() and _TAGS.search(text):
        return "obfuscation"
    found = _matched(text, rules)
    if found is None and asked and _is_yes(text, rules):
        found = _matched(asked, rules) or _matched(_as_order(asked, rules), rules)
        return f"yes.{found}" if found else None
    return found


def fold(text: str) -> str:
    """The text in lower-case Latin letters, without accents, disguises and invisible marks."""
    text = text[:_LONGEST].lower()
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).lower().translate(_ASCII)
        if not text.isascii():
            split = unicodedata.normalize("NFD", text)
            text = "".join(c for c in split if not unicodedata.combining(c)).translate(_ASCII)
            text = text.encode("ascii", "replace").decode()
    return text


def _matched(text: str, rules: _Rules) -> str | None:
    folded = fold(text)
    found = _first(folded, rules)
    if found is None:
        if _LEET_SIGNS.search(folded):
            found = _first(folded.translate(_LEET), rules)
    if found is None and _SPELLED.search(folded):
        squashed = _SPELLED.sub(lambda m: re.sub(r"[^a-z0-9]", "", m.group()), folded)
        squashed = squashed.translate(_LEET)
        if rules.squashed.search(re.sub(r"[^a-z]", "", squashed)):
            return "obfuscation"
        found = _first(squashed, rules)
    if found is None and any(rules.squashed.search(w) for w in _RUN_TOGETHER.findall(folded)):
        return "obfuscation"
    return found


def _first(folded: str, rules: _Rules) -> str | None:
    """The first rule that matches in a sentence that none of its exceptions excuses."""
    fired = rules.patterns.Match(folded)
    for index in sorted(fired or ()):
        rule: _Rule = rules.owners[index]
        excused: dict[tuple[int, int], bool] = {}
        for match in rules.patterns.re(index).finditer(folded):
            place = _sentence(folded, *match.span())
            if place not in excused:
                excused[place] = bool(rule.unless and rule.unless.search(folded[slice(*place)]))
            if not excused[place]:
                return rule.id
    return None


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    first = 0
    for border in _SENTENCE.finditer(text, max(0, start - 400), start):
        first = border.end()
    last = _SENTENCE.search(text, max(start, end - 1), end + 400)
    return first, last.start() if last else len(text)


def _is_yes(text: str, rules: _Rules) -> bool:
    words = re.findall(r"[\w'-]+", text.lower())
    return (
        0 < len(words) <= _FEWEST_BARE and words[0] in rules.affirm and rules.yes.issuperset(words)
    )


def _as_order(asked: str, rules: _Rules) -> str:
    """The assistant's suggestion as the user would give it: "shall I tell" is "you tell"."""
    said = asked.lower()
    for ask in rules.asks:
        said = said.replace(ask, "@must")
    turned = [rules.swap.get(word.strip(".,?!"), word.strip("?")) for word in said.split(" ")]
    order = " ".join(turned)
    return ". ".join(order.replace("@must", must) for must in rules.musts)


@cache
def _rules() -> _Rules:
    """All rules compiled, once per process."""
    raw = tomllib.loads((files("bmo.gate") / "tables" / "firewall.toml").read_text("utf-8"))
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    patterns, owners = re2.Filter(), []
    for row in raw["rule"]:
        excuses = [_expand(pattern, raw["words"]) for pattern in row.get("unless", ())]
        unless = re2.compile("|".join(excuses), options) if excuses else None
        for pattern in row["patterns"]:
            written = pattern if row.get("raw") else _expand(pattern, raw["words"])
            patterns.Add(written, options)
            owners.append(_Rule(row["id"], unless))
    patterns.Compile()
    yes = raw["yes"]
    return _Rules(
        patterns,
        tuple(owners),
        re2.compile("|".join(raw["squashed"]["stems"]), options),
        frozenset(yes["words"]),
        frozenset(yes["affirm"]),
        tuple(sorted(yes["asks"], key=len, reverse=True)),
        tuple(yes["musts"]),
        yes["swap"],
    )


def _expand(pattern: str, words: dict[str, str]) -> str:
    """A pattern as the table writes it, in RE2's language, for whole words."""
    for _ in range(2):
        pattern = re.sub(r"\{([a-z]+)\}", lambda found: words[found[1]], pattern)
    pattern = pattern.replace("you are", "(?:you are|you're|youre)").replace(
        "i am", "(?:i am|i'm|im)"
    )
    parts = re.split(r"(\[[^\]]*\]|\{[^}]*\})", pattern)
    for at in range(0, len(parts), 2):
        parts[at] = (
            parts[at].replace(" ... ", _GAP).replace(" ", f"(?:{_BLANK})").replace("'", "['`]?")
        )
    return rf"(?:^|{_MARK})(?:{''.join(parts)})(?:{_MARK}|$)"
