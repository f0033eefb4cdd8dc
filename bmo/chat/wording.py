"""Sentences of the offline responder: canonical memories in the second person. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from bmo.chat.acknowledgement import HEARD, NO_WORDS, Kept, about_forgetting, acknowledge
from bmo.chat.second_person import (
    NAMED,
    OWN_NAME,
    UNTIL,
    is_about_the_person,
    phrase_set,
    phrases,
    second_person,
)
from bmo.turn import Signal

MOST_LINES = 4
"""Memories put into one answer at most (a wide question gets all)."""

SHORT = 4
"""Words of a greeting at most: after more of them something was said."""

NO_MODEL = "I can't answer that without a language model: I only know what you tell me."
CANNOT_DO = "I can't do that without a language model: I only remember what you tell me."
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

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MARKS = frozenset(" ?!.,;:-\t")
_BULLET = re.compile(r"^\s*-\s+(?P<text>.+?)\s*$")
_TAIL = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*$")
_TAIL_NOTE = re.compile(r"\s*\[[^\[\]]*\]$")
_NOTICE = re.compile(r"<memory_notice>(?P<text>.*?)</memory_notice>", re.DOTALL)
_WISHES = "Standing wishes:"
_PROFILE = "<profile>"
_WIDE = re.compile(r"\b(?:everything|anything)\b", re.IGNORECASE)
_ABOUT_ME = re.compile(
    r"\b(?:about (?:me|myself|us)|(?:über|von) (?:mich|mir|uns)|(?:sur|de) (?:moi|nous)"
    r"|(?:sobre|de) (?:mí|mi|nosotros))$",
    re.IGNORECASE,
)
_ASKS_OF_ONESELF = re.compile(
    r"\b(?:am|do|did|have|was|can|could|should|will|would) i\b|\b(?:bin|habe|esse|trinke) ich\b",
    re.IGNORECASE,
)
_WHO_IS = re.compile(r"^(?:whos|who is|who was) (?!my\b|our\b)\w+(?: \w+)?$")
_CALLED_BY = re.compile(r"^(?:Prefers|Wants) to be called (?P<name>\w[\w'-]{0,30})(?:;|$)")
_TELLING = frozenset({"anything", "everything", "ever", "far", "said", "say", "told"})


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
    plain = _plain(words)
    if plain in phrase_set("about_asks"):
        return ABOUT
    if plain in phrase_set("complaints"):
        return COMPLAINT
    changed = kept is not None and (kept.added or kept.confirmed or kept.ended)
    recalled = [t for b in blocks if not b.startswith(_PROFILE) for t in memories_of(b)]
    if words.strip() and set(words) <= _MARKS:
        return NO_WORDS
    if "question" in signals or words.rstrip().endswith("?") or (not changed and _asks(plain)):
        return _to_question(words, blocks)
    if kept is not None and changed:
        return acknowledge(words, kept)
    if recalled and "greeting" not in signals:
        known = " ".join(second_person(text) for text in recalled[:MOST_LINES])
        return f"{known} {NEEDS_MODEL}"
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
    plain = f" {_plain(words)} "
    for ask in _padded("source_asks"):
        if ask in plain:
            rest = plain.replace(ask, " ").split()
            return " ".join(word for word in rest if word not in phrase_set("source_words"))
    return None


def _asks(plain: str) -> bool:
    """Whether words open as a question does; a statement was not found in them."""
    said = plain.split()
    if len(said) < 2 or (said[0] == "were" and said[1] not in phrase_set("subjects")):
        return False  # "we're thinking about moving"
    return said[0] in phrase_set("question_openers") or said[1] in phrase_set("inverted_pronouns")


def _to_question(words: str, blocks: Sequence[str]) -> str:
    fitting = fitting_memories(words, blocks) or _wishes_asked_for(words, blocks)
    if fitting:
        return " ".join(second_person(text) for text in fitting)
    asked = _plain(words)
    for frame in phrases()["asking_frames"]:
        asked = asked.removeprefix(f"{frame.casefold()} ")
    said = set(asked.split())
    # Who asks for advice asks for more than a memory: "what should i cook".
    return (
        DONT_KNOW
        if said & phrase_set("first_person") and not said & phrase_set("advice")
        else NO_MODEL
    )


def _wishes_asked_for(words: str, blocks: Sequence[str]) -> list[str]:
    """The standing wishes, for a question about rules and wishes."""
    if phrase_set("wish_asks").isdisjoint(_plain(words).split()):
        return []
    every = [text for b in blocks for text in memories_of(b, with_wishes=True)]
    other = {text for b in blocks for text in memories_of(b)}
    return [text for text in dict.fromkeys(every) if text not in other]


def _to_pleasantry(
    words: str, memories: Sequence[str], signals: Sequence[Signal], kept: Kept | None
) -> str:
    """The reply to what asks for nothing: a greeting gets one, with the name where it is known."""
    name = _name_of(memories)
    to_whom = f", {name}." if name else "."
    said = [token.casefold() for token in _WORD.findall(words)]
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


def _plain(words: str) -> str:
    """The words in lower case, without punctuation, apostrophes and lead-ins."""
    said = [token.casefold().replace("'", "").replace("’", "") for token in _WORD.findall(words)]
    while said and said[0] in phrase_set("lead_ins"):
        del said[0]
    return " ".join(said)


@cache
def _padded(name: str) -> tuple[str, ...]:
    return tuple(f" {phrase.casefold()} " for phrase in phrases()[name])


def spoken_notice(text: str) -> str:
    """A line that memory wants said ("... Ask whether to erase them for good."), as speech."""
    asked = text.replace("Ask whether to erase them for good.", "Shall I erase them for good?")
    return asked.removesuffix("Say so.").rstrip()


def memories_of(block: str, *, with_wishes: bool = False) -> list[str]:
    """The memories of a block.

    Dates and notes in brackets are taken off; of two that disagree both are given; one that has
    ended keeps its "(until ...)".

    Args:
        block: A memory block of the model's context.
        with_wishes: Also the standing wishes, which answer no question but a wide one.
    """
    found: list[str] = []
    wishes = False
    for line in block.splitlines():
        match = _BULLET.match(line)
        if match is None:
            wishes = line.strip() == _WISHES
        elif with_wishes or not wishes:
            found += [_bare(text) for text in _TAIL_NOTE.sub("", match["text"]).split(" / ")]
    return found


def fitting_memories(words: str, blocks: Sequence[str]) -> list[str]:
    """The memories that answer a question.

    What was recalled for the turn was chosen for it: the most words in common with the question
    only narrow it down, and never leave out what someone must not be given (an allergy). A name
    answers only who asks for one. The profile was
    written when the conversation began and may hold what has been changed or forgotten since, so
    it answers only when nothing was recalled, and only with memories that share a word; about
    food it adds what someone must not eat.

    Args:
        words: The question.
        blocks: The memory blocks of the model's context.
    """
    asked = _stems(words)
    recalled = [text for b in blocks if not b.startswith(_PROFILE) for text in memories_of(b)]
    profile = [text for b in blocks if b.startswith(_PROFILE) for text in memories_of(b)]
    lines = list(dict.fromkeys(recalled or profile))
    if _ABOUT_ME.search(words.rstrip(" ?!.")) or (_WIDE.search(words) and not asked - _TELLING):
        given = [b for b in blocks if not b.startswith(_PROFILE)] if recalled else blocks
        return list(dict.fromkeys(t for b in given for t in memories_of(b, with_wishes=True)))
    asked -= _TELLING
    names = bool(phrase_set("name_asks") & {token.casefold() for token in _WORD.findall(words)})
    if not names or asked:  # "who does my books" is not answered by a name alone
        recalled, lines = _without_own_name(recalled), _without_own_name(lines)
    who_is = _WHO_IS.match(_plain(words))
    if who_is and asked:  # all that is known of him, his name first
        about = [text for text in lines if asked <= _stems(text)]
        if about:
            return sorted(about, key=lambda text: NAMED.match(text) is None)[:MOST_LINES]
    others = "who" in _plain(words).split()  # "who do i live with"
    if _ASKS_OF_ONESELF.search(words) and not others and not asked & phrase_set("food"):
        # Lotte's diet does not answer "am i vegetarian".
        own = [text for text in lines if not _of_somebody_else(text, asked)]
        recalled, lines = [text for text in recalled if text in own], own
    sharing = _closest(asked, lines, names=names)
    if names and not asked:
        own = [text for text in lines if OWN_NAME.match(text)]
        if own:
            return own
    if asked & phrase_set("food"):  # the cat's name is no answer to "what should i cook"
        recalled = [t for t in recalled if t in sharing or _stems(t) & phrase_set("of_food")]
    # What the profile says already is not recalled again; about food it must be said.
    known = [*recalled, *profile] if recalled and asked & phrase_set("food") else recalled
    careful = [
        text for text in known if text not in sharing and _stems(text) & phrase_set("hazards")
    ]
    return list(dict.fromkeys([*careful, *(sharing or recalled)]))[:MOST_LINES]


def _closest(asked: set[str], lines: Sequence[str], *, names: bool) -> list[str]:
    """The memories with the most words of the question; of those, where one is asked, the names."""
    shared = [len(asked & _stems(text)) for text in lines]
    most = max(shared, default=0)
    if not most:
        return []
    best = [text for text, count in zip(lines, shared, strict=True) if count == most]
    named = [text for text in best if NAMED.match(text)] if names else []
    return named or best


def _of_somebody_else(text: str, asked: set[str]) -> bool:
    """Whether a memory is about somebody the question does not name ("Brother Max is 4")."""
    if is_about_the_person(text):
        return False
    first = _stems(text.split()[0])
    opens = first | {text.split()[0].casefold().strip(":,")}
    if opens & (phrase_set("nobody") | phrase_set("own_things")):
        return False
    named = {word.casefold() for word in _WORD.findall(text) if word[0].isupper()}
    whose = first | {word.removesuffix("'s").removesuffix("’s") for word in named}
    return not whose & asked


def _without_own_name(memories: Sequence[str]) -> list[str]:
    return [text for text in memories if OWN_NAME.match(text) is None]


def _bare(text: str) -> str:
    if UNTIL.match(text):
        return text
    while (shorter := _TAIL.sub("", text)) != text and shorter:
        text = shorter
    return text.rstrip(".")


def _stems(text: str) -> set[str]:
    """Content words without plural and possessive endings."""
    words = (token.casefold().replace("’", "'") for token in _WORD.findall(text))
    bare = (word.removesuffix("'s").replace("'", "") for word in words)
    kept = (word for word in bare if word not in phrase_set("stop_words"))
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in kept}


def _name_of(memories: Sequence[str]) -> str:
    """What the person is to be called, or their name."""
    for pattern in (_CALLED_BY, OWN_NAME):
        for text in memories:
            match = pattern.match(text)
            if match:
                return match["name"].strip()
    return ""
