"""What the pieces of a turn tell the stages before the rules, all of them in one pass.

A piece is what stands between two blanks. Whether it may be a part of something sensitive or of an
attack, whether small talk or a published signal is made of it, and of which language it is: all
that is read once for each piece and kept as one number with a counter for each question, so that
one sum over the pieces answers for a turn. Stages that each looked at every piece took as many
times as long.
"""

from __future__ import annotations

from collections.abc import Sequence

from bmo.gate import injection, sensitive
from bmo.gate.published_signals import may_signal
from bmo.gate.skip_rules import may_be_small_talk
from bmo.language.by_piece import ByPiece
from bmo.language.identification import ENGLISH_ALONE, FOREIGN, is_speech, piece_tells

MOST_PIECES = 500
"""Longer texts are not read so: a counter holds no more, and each stage reads them itself."""

_WIDTH = 9
"""Bits of a counter. Seven of them fit into the 63 bits that ``sum`` adds without allocating, and
what most pieces tell into the lower 30, which it adds fastest."""
_COUNTER = (1 << _WIDTH) - 1

_ENGLISH = 0
_TELLING, _SIGNALLING, _LETTER, _FOREIGN, _SENSITIVE, _STEERING = (
    _WIDTH * place for place in range(1, 7)
)

MAY_BE_FOREIGN = _COUNTER << _FOREIGN
"""A piece may be of another language than English, or is more than one word."""
MAY_BE_SENSITIVE = _COUNTER << _SENSITIVE
"""A piece may be a part of something sensitive: see ``sensitive.scan``."""
MAY_STEER = _COUNTER << _STEERING
"""A piece may be a part of an attack: see ``injection.scan``."""
_LETTERS = _COUNTER << _LETTER
_SPELLED = injection.FEWEST_LETTERS << _LETTER
WORTH_A_LOOK = _SPELLED
"""What a text tells at least of which a piece may be foreign, sensitive or steering, or that may be
spelled out: those counters are the highest, so that one comparison is enough for most turns."""
NO_SMALL_TALK = _COUNTER << _TELLING
"""A piece is in no phrase of small talk: see ``match_skip``."""
MAY_SIGNAL = _COUNTER << _SIGNALLING
"""A piece may be a part of a published signal: see ``signals_and_sarcasm``."""
UNREAD = MAY_BE_FOREIGN | MAY_BE_SENSITIVE | MAY_STEER | MAY_SIGNAL
"""What a text tells of which nobody has read the pieces: every stage has to look."""


def read_pieces(pieces: Sequence[str]) -> int:
    """What the pieces of a text tell, as a sum of counters; ``UNREAD`` for too many of them.

    Args:
        pieces: What stands between the text's blanks.
    """
    if len(pieces) > MOST_PIECES:
        return UNREAD
    return sum(map(_told_by.__getitem__, pieces))


def are_english(told: int, text: str, pieces: Sequence[str]) -> bool:
    """Whether a text is English: a quarter of its words only English has, and none is foreign."""
    if told & MAY_BE_FOREIGN or (told & _COUNTER) * 4 < len(pieces):
        return False
    return is_speech(text, pieces)


def may_steer(told: int, text: str, pieces: Sequence[str]) -> bool:
    """Whether a text may be an attack, by a word of it or spelled out letter by letter."""
    if told & MAY_STEER or told & _LETTERS >= _SPELLED:
        return True
    # Other blanks than spaces part words too, and no piece with one of them is harmless.
    return told & MAY_BE_SENSITIVE != 0 and injection.may_be_spelled(text, pieces)


def _told(piece: str) -> int:
    of_language = piece_tells(piece)
    return (
        (of_language == ENGLISH_ALONE) << _ENGLISH
        | (of_language == FOREIGN) << _FOREIGN
        | (not sensitive.is_harmless(piece)) << _SENSITIVE
        | (not injection.is_harmless(piece)) << _STEERING
        | (not may_be_small_talk(piece)) << _TELLING
        | may_signal(piece) << _SIGNALLING
        | (len(piece) == 1) << _LETTER
    )


_told_by = ByPiece(_told)
