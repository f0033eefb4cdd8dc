"""Standing wishes without a verb: "no phone calls after eight please", "three points at most".

Only words that say how the assistant shall answer or when it shall keep quiet make one: "no onions
please" is an order to somebody. Words and shapes are data (``packs/<language>/wishes.toml``).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from bmo.language import LanguageCode
from bmo.language.lexicon import Phrases, match_phrase, phrase_table

POLITE = frozenset("please bitte stp svp plaît plait favor porfa thanks".split())
"""Words one of which a turn has that puts such a wish; without them it may be an answer."""

_LONGEST = 18
_MACRO = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class _Wishes:
    frames: Phrases
    moments: re.Pattern[str]
    whole: re.Pattern[str]


@lru_cache(maxsize=4)
def _wishes(language: LanguageCode) -> _Wishes:
    source = resources.files("bmo.gate") / "packs" / language / "wishes.toml"
    raw = tomllib.loads(source.read_text("utf-8"))
    patterns = [_MACRO.sub(lambda hit: raw[hit[1]], pattern) for pattern in raw["patterns"]]
    return _Wishes(
        frames=phrase_table(raw["frames"]),
        moments=re.compile(rf"(?:^| )(?:{'|'.join(raw['moments'])})(?: |$)"),
        whole=re.compile("|".join(f"(?:{pattern})$" for pattern in patterns)),
    )


@lru_cache(maxsize=512)
def verbless_wish(norm: tuple[str, ...], language: LanguageCode) -> str:
    """What a clause wishes for good, without its frame ("no phone calls after eight"), or "".

    Args:
        norm: The clause's words in normal form.
        language: Whose words apply.
    """
    if len(norm) > _LONGEST or len(norm) < 2:
        return ""
    wishes = _wishes(language)
    said = _without_frames(list(norm), wishes.frames)
    line = " ".join(said)
    if wishes.moments.search(line) is not None or wishes.whole.match(line) is None:
        return ""
    return line


def _without_frames(said: list[str], frames: Phrases) -> list[str]:
    """The words without "please" and the like, wherever they stand."""
    kept: list[str] = []
    at = 0
    while at < len(said):
        opens = not kept or said[at] in _ANYWHERE
        size = match_phrase(frames, said, at) if opens or at + 2 >= len(said) else 0
        if size:
            at += size
        else:
            kept.append(said[at])
            at += 1
    return kept


_ANYWHERE = frozenset("please bitte stp svp se por porfa".split())
