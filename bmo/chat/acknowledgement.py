"""What the offline responder says to what asks for nothing: what was understood, and no more.

It says what the ledger says: a memory is named when it was written, something is forgotten when
it is gone. What is erased or secret is never said again. The choice between ways to say the same
depends on the words alone, so that a conversation can be replayed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from bmo.chat.second_person import NAMED, QUOTED, phrase_set, second_person
from bmo.ledger import Recorded
from bmo.turn import Decision, Signal, Verdict

HEARD = "I hear you."
LISTENING = (HEARD, "I see.", "All right.")
NOTED = (
    "Noted: {}.",
    "Got it: {}.",
    "I'll remember: {}.",
    "Okay: {}.",
    "So {}; I'll keep that in mind.",
)
SORRY = "I'm sorry to hear that."
SECRET = "That sounds like a secret. I keep it nowhere."
BESIDE_SECRET = "The secret I keep nowhere."
IDENTIFIER = "Numbers and addresses like that I don't keep."
STEERING = "That tries to steer me, so I don't keep it."
UNKNOWN_LANGUAGE = "I don't know that language well enough to keep it."
NOT_SETTLED = "I see. Tell me when it's settled."
NO_WORDS = "I only understand words."
PAST = "All right, I take that as past."
FORGOTTEN = "Done. That is forgotten."
NOTHING_TO_FORGET = "I have nothing like that to forget."
CONFLICT = "That does not fit what I had; I keep both until you say which is right."
UNKEPT = "I hear you. Nothing of it is kept."

MOST_NAMED = 2
"""Memories named in one acknowledgement."""

LONGEST_NAMED = 110
"""Characters of a memory that is said again; a longer one is only noted."""

_OPEN = frozenset({"conditional", "hedge", "wish"})
_MASKED = re.compile(r"\[(?:phone|email|identity number)\]")
_AS_SAID = "Said in "
_BRACKETS = re.compile(r" \([^()]*\)")
_SAD = re.compile(r"\b(?:has died|passed away|died)\b")
_LABEL = re.compile(
    r"^your [\w-]+ [A-ZÀ-Þ][\w-]* (?=(?:is|has|lives|works|does|studies|attends)\b)"
)


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a turn.

    Attributes:
        verdict: The write gate's.
        reason: Why.
        signals: What it saw.
        added: Texts of new memories.
        confirmed: Texts that were known.
        ended: Something is no longer true.
        forgotten: Something was erased.
        asked: Texts that are withdrawn until somebody says yes or no.
        conflict: Something contradicts what was known.
        off_record: Nothing is kept.
        masked: The words held an identifier, of which only its kind was written.
    """

    verdict: Verdict
    reason: str = ""
    signals: tuple[Signal, ...] = ()
    added: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    ended: bool = False
    forgotten: bool = False
    asked: tuple[str, ...] = ()
    conflict: bool = False
    off_record: bool = False
    masked: bool = False


def kept_of(decision: Decision, recorded: Recorded | None, *, off_record: bool) -> Kept:
    """What became of a turn, as far as it may be said.

    Args:
        decision: The write gate's.
        recorded: What the ledger made of it; None: it was not recorded.
        off_record: Nothing is kept.
    """
    done = recorded if recorded is not None else Recorded(turn_id="")
    return Kept(
        verdict=decision.verdict,
        reason=decision.reason,
        signals=decision.signals,
        added=tuple(fact.text for fact in done.added),
        confirmed=tuple(fact.text for fact in done.confirmed),
        ended=bool(done.ended),
        forgotten=done.receipt is not None and any(done.receipt.places.values()),
        asked=tuple(fact.text for fact in done.pending_erasure.facts)
        if done.pending_erasure is not None
        else (),
        conflict=bool(done.conflicts),
        off_record=off_record,
        masked=_MASKED.search(decision.text) is not None,
    )


def acknowledge(words: str, kept: Kept) -> str:
    """What is said to a turn that asks for nothing.

    Args:
        words: The person's words.
        kept: What became of them.
    """
    if kept.off_record:
        return UNKEPT
    if kept.added:
        noted = _one_of(NOTED, words).format(_named(kept.added, words))
        if kept.added[0].startswith(_AS_SAID) or len(kept.added[0]) > LONGEST_NAMED:
            noted = "Noted."
        if _SAD.search(" ".join(kept.added)):
            noted = SORRY
        more = [CONFLICT] if kept.conflict else []
        more += [BESIDE_SECRET] if kept.reason == "told beside a secret" else []
        return " ".join([noted, *more])
    if kept.confirmed:
        return f"Yes, I know: {_named(kept.confirmed, words)}."
    if kept.ended:
        return PAST
    if kept.masked and kept.reason not in ("secret", "injection"):
        return IDENTIFIER
    if kept.verdict == "hold":
        return _held(words, kept.reason)
    return {
        "secret": SECRET,
        "personal identifier": IDENTIFIER,
        "empty": NO_WORDS,
    }.get(kept.reason) or _one_of(LISTENING, words)


def about_forgetting(kept: Kept) -> str:
    """What is said to a request to forget, without a word of what is gone.

    Args:
        kept: What became of it.
    """
    if kept.off_record:
        return UNKEPT
    if kept.asked:
        named = "; ".join(kept.asked[:MOST_NAMED])
        more = len(kept.asked) - MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        count = "1 memory is" if len(kept.asked) == 1 else f"{len(kept.asked)} memories are"
        return f"{count} withdrawn ({named}{rest}). Shall I erase them for good?"
    return FORGOTTEN if kept.forgotten or kept.ended else NOTHING_TO_FORGET


def _held(words: str, reason: str) -> str:
    if reason == "injection":
        return STEERING
    if reason == "language":
        return UNKNOWN_LANGUAGE
    return NOT_SETTLED if reason in _OPEN else _one_of(LISTENING, words)


def _named(texts: Sequence[str], words: str) -> str:
    told = [text for text in dict.fromkeys(texts) if not _is_named_again(text, texts)]
    if "(" not in words:  # then the gate put them there: "three children (Kinder)"
        told = [_BRACKETS.sub("", text) for text in told]
    said = [_inside(second_person(text), words) for text in told]
    short = [text for text in said if len(text) <= LONGEST_NAMED]
    named = " and ".join(_without_subject_again(short[:MOST_NAMED]))
    more = len(said) - len(short[:MOST_NAMED])
    return f"{named}, and {more} more" if more else named


def _is_named_again(text: str, texts: Sequence[str]) -> bool:
    """Whether "Has a sister named Hanna" says nothing beside "Sister Hanna has a dog"."""
    if any(other.startswith(f"{text},") for other in texts):
        return True  # "Works at the infirmary", told with more behind a comma
    named = NAMED.match(text)
    if named is None:
        return False
    label = f"{named['who']} {named['name']} ".casefold()
    return any(other.casefold().startswith(label) for other in texts)


def _without_subject_again(sentences: Sequence[str]) -> list[str]:
    """Sentences about the same one, who is named in the first only."""
    said: list[str] = []
    for text in sentences:
        label = _LABEL.match(text)
        again = label is not None and said and said[0].startswith(label[0]) and "; " not in said[0]
        said.append(text[label.end() :] if label is not None and again else text)
    return said


def _inside(sentence: str, words: str) -> str:
    """A sentence as a part of another one: its first word small, where that is no name.

    Somebody who writes capitals at all has shown how the word is written.
    """
    text = sentence.rstrip(".").removeprefix(QUOTED)
    opens = text.split(" ", 1)[0].casefold()
    small = opens in phrase_set("openings") or opens in phrase_set("own_things")
    if not small and words != words.casefold():
        small = opens in words.split()
    return text[:1].lower() + text[1:] if small else text


def _one_of(ways: Sequence[str], words: str) -> str:
    return ways[zlib.crc32(words.strip().casefold().encode("utf-8", "replace")) % len(ways)]
