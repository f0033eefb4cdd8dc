"""Sentences of the offline responder: canonical memories in the second person. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from bmo.chat.acknowledgement import HEARD, NO_WORDS, Kept, about_forgetting, acknowledge
from bmo.chat.chosen_memories import (
    WORD,
    fitting_memories,
    memories_of,
    plain_words,
    recalled_memories,
    wishes_of,
)
from bmo.chat.second_person import OWN_NAME, phrase_set, phrases, second_person
from bmo.turn import Signal

MOST_TOLD = 8
"""Memories said to a wide question ("what do you know about me"); the rest is counted."""

MOST_ADDED = 4
"""Memories said to a request at most."""

SHORT = 4
"""Words of a greeting at most: after more of them something was said."""

NO_MODEL = "I can't answer that without a language model: I only know what you tell me."
CANNOT_DO = "I can't do that without a language model: I only remember what you tell me."
MORE = "And {} more: /memories lists them."
NEEDS_MODEL = "For more than that I need a language model."
DONT_KNOW = "I don't know that. You haven't told me, or I didn't keep it."
FORGETTING = "I'll forget that, if I know it."
SOURCE = "Type /why and a word of it: then I show when and in which words you told me."
NO_SOURCE = "I have nothing about that; so I can't say where it would come from."
COMPLAINT = "Sorry. Tell me how it is and I'll put it right, or say what I should forget."
ABOUT = (
    "I remember what matters of what you tell me about yourself, and answer from that. For "
    "anything else I need a language model: put a GOOGLE_API_KEY into .env. /help lists the "
    "commands."
)

_NOT_KEPT = frozenset({"secret", "personal identifier"})
_MARKS = frozenset(" ?!.,;:-\t")
_NOTICE = re.compile(r"<memory_notice>(?P<text>.*?)</memory_notice>", re.DOTALL)
_CALLED_BY = re.compile(r"^(?:Prefers|Wants) to be called (?P<name>\w[\w'-]{0,30})(?:;|$)")


def answer(
    words: str,
    blocks: Sequence[str],
    signals: Sequence[Signal],
    kept: Kept | None = None,
    source: str | None = None,
) -> str:
    """What the offline responder says.

    Args:
        words: The person's words.
        blocks: The memory blocks in the model's context, profile first.
        signals: What the write gate saw in the words: a question, a command, ...
        kept: What became of the turn; None where nobody knows.
        source: Where the memories come from that are asked for (``asks_for_source``), "" when
            there are none; None where nobody knows.
    """
    notices = [found["text"] for block in blocks for found in _NOTICE.finditer(block)]
    if notices:
        return " ".join(spoken_notice(text) for text in notices)
    if "forget" in signals:
        return FORGETTING if kept is None else about_forgetting(kept)
    if asks_for_source(words) is not None:
        return SOURCE if source is None else source or NO_SOURCE
    plain = plain_words(words)
    if plain in phrase_set("about_asks"):
        return ABOUT
    if plain in phrase_set("complaints"):
        return COMPLAINT
    if words.strip() and set(words) <= _MARKS:
        return NO_WORDS
    if kept is not None and kept.reason in _NOT_KEPT:
        return acknowledge(words, kept)
    changed = kept is not None and bool(kept.added or kept.confirmed or kept.ended)
    if _is_question(words, signals, kept, changed=changed):
        said = _told(fitting_memories(words, blocks) or _wishes_asked_for(words, blocks))
        if said or not changed:
            return said or _not_known(words)
    if kept is not None and changed:
        return acknowledge(words, kept)
    recalled = recalled_memories(blocks)
    if recalled and "greeting" not in signals:
        return f"{' '.join(second_person(text) for text in recalled[:MOST_ADDED])} {NEEDS_MODEL}"
    if "command" in signals:
        return CANNOT_DO
    memories = [text for block in blocks for text in memories_of(block)]
    return _to_pleasantry(words, memories, signals, kept)


def asks_for_source(words: str) -> str | None:
    """What a question for the source of a memory names.

    Args:
        words: The person's words.

    Returns:
        The words that name a memory ("hamster"), "" for the latest answer ("how do you know
        that"), None when no source is asked for.
    """
    plain = f" {plain_words(words)} "
    for ask in _padded("source_asks"):
        if ask in plain:
            rest = plain.replace(ask, " ").split()
            return " ".join(word for word in rest if word not in phrase_set("source_words"))
    return None


def _is_question(
    words: str, signals: Sequence[Signal], kept: Kept | None, *, changed: bool
) -> bool:
    """Whether an answer is wanted.

    Where it is known what became of the words, a question seen somewhere in them is not enough:
    "set this up for me, I'm not sure I'm doing it right".
    """
    if words.rstrip().endswith("?") or (not changed and _asks(plain_words(words))):
        return True
    return "question" in signals and (kept is None or kept.verdict == "discard")


def _asks(plain: str) -> bool:
    """Whether words open as a question does; a statement was not found in them."""
    said = plain.split()
    while said and said[0] in phrase_set("greetings"):
        del said[0]  # "hallo, ich bin's wieder"
    if len(said) < 2 or (said[0] == "were" and said[1] not in phrase_set("subjects")):
        return False  # "we're thinking about moving"
    return said[0] in phrase_set("question_openers") or said[1] in phrase_set("inverted_pronouns")


def _told(memories: Sequence[str]) -> str:
    """Memories as speech, "" for none; of many the first, and how many more there are."""
    said = [second_person(text) for text in memories[:MOST_TOLD]]
    if len(memories) > MOST_TOLD:
        said.append(MORE.format(len(memories) - MOST_TOLD))
    return " ".join(said)


def _not_known(words: str) -> str:
    asked = plain_words(words)
    for frame in phrases()["asking_frames"]:
        asked = asked.removeprefix(f"{frame.casefold()} ")
    if asked.startswith(tuple(f"{frame} " for frame in phrases()["request_frames"])):
        return CANNOT_DO  # "could you speak up a bit"
    said = set(asked.split())
    # Who asks for advice asks for more than a memory: "what should i cook".
    return (
        DONT_KNOW
        if said & phrase_set("first_person") and not said & phrase_set("advice")
        else NO_MODEL
    )


def _wishes_asked_for(words: str, blocks: Sequence[str]) -> list[str]:
    """The standing wishes, for a question about rules and wishes."""
    if phrase_set("wish_asks").isdisjoint(plain_words(words).split()):
        return []
    return wishes_of(blocks)


def _to_pleasantry(
    words: str, memories: Sequence[str], signals: Sequence[Signal], kept: Kept | None
) -> str:
    """The reply to what asks for nothing: a greeting gets one, with the name where it is known."""
    name = _name_of(memories)
    to_whom = f", {name}." if name else "."
    said = [token.casefold() for token in WORD.findall(words)]
    reason = kept.reason if kept is not None else ""
    if reason == "goodbye":
        return f"Goodbye{to_whom}"
    if reason == "thanks":
        return "You're welcome."
    if said and said[0] in phrase_set("greetings") and kept is not None:
        return f"Hello{to_whom}"
    if said and len(said) <= SHORT:
        if said[0] in phrase_set("greetings"):
            return f"Hello{to_whom}"
        if said[-1] in phrase_set("farewells"):
            return f"Goodbye{to_whom}"
        if "greeting" in signals:
            return f"Hello{to_whom}"
        if said[0] in phrase_set("thanks"):
            return "You're welcome."
    return HEARD if kept is None else acknowledge(words, kept)


@cache
def _padded(name: str) -> tuple[str, ...]:
    return tuple(f" {phrase.casefold()} " for phrase in phrases()[name])


def spoken_notice(text: str) -> str:
    """A line that memory wants said ("... Ask whether to erase them for good."), as speech."""
    asked = text.replace("Ask whether to erase them for good.", "Shall I erase them for good?")
    return asked.removesuffix("Say so.").rstrip()


def _name_of(memories: Sequence[str]) -> str:
    """What the person is to be called, or their name."""
    for pattern in (_CALLED_BY, OWN_NAME):
        for text in memories:
            match = pattern.match(text)
            if match:
                return match["name"].strip()
    return ""
