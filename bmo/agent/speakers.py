"""Who is speaking: the user whose memory this is, or a guest.

Two things tell: the room's participant, and the label a recogniser with diarization gives each
final transcript. A participant is known by the id his memory would have (``user_id_of``). A label
("S1") means nothing by itself: the first one that is heard is the user's, unless it is named.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from livekit.agents import AgentSession, UserInputTranscribedEvent, llm

from bmo.agent.heard import bare_words
from bmo.settings import USER_ID_PATTERN

USER_ATTRIBUTE = "bmo.user_id"
"""Participant attribute, signed into the token, that names the user; else the identity does."""

SPEAKER_KEY = "bmo.speaker"
"""Key in a message's ``extra``: user id of the participant who typed it."""

TYPED_KEY = "bmo.typed"
"""Key in a message's ``extra``: its words were typed, not spoken."""

UNKNOWN = "unknown"
"""The label of a transcript without one, where others of the same session have one."""

NameSpeaker = Callable[[str], str | None]
"""Recogniser's label -> user id of that person, or None when it names nobody."""

_SEGMENTS_KEPT = 64
_LONGEST_ID = 128


@dataclass(frozen=True, slots=True)
class Part:
    """What one speaker said of a turn.

    Attributes:
        speaker: "" for the user, else the guest's user id.
        text: The words.
    """

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class _Segment:
    speaker: str
    text: str


class Speakers:
    """Attributes the words of one visit to those who said them."""

    def __init__(self, user_id: str, session_id: str, name: NameSpeaker | None = None) -> None:
        """Nobody was heard yet.

        Args:
            user_id: Whose memory it is.
            session_id: Which visit it is; a recogniser's labels mean nothing beyond it.
            name: Names a recogniser's labels, where the application knows voices.
        """
        self._user_id = user_id
        self._session_id = session_id
        self._name = name
        self._own_label: str | None = None
        self._own_participant: str | None = None
        self._labelled = False
        self._segments: deque[_Segment] = deque(maxlen=_SEGMENTS_KEPT)
        self._interim: _Segment | None = None

    def hear(self, session: AgentSession[Any], event: UserInputTranscribedEvent) -> str:
        """Notes who said a transcript.

        Args:
            session: Where it was heard.
            event: Interim or final.

        Returns:
            "" for the user, else the guest's user id.
        """
        if event.is_final and event.speaker_id:
            self._labelled = True
        speaker = self._participant(user_id_of(_linked(session))) or self._labelled_as(event)
        segment = _Segment(speaker, event.transcript)
        if event.is_final:
            self._segments.append(segment)
            self._interim = None
        else:
            self._interim = segment
        return speaker

    def parts_of(self, session: AgentSession[Any], message: llm.ChatMessage) -> tuple[Part, ...]:
        """Splits a turn's words by who said them, in the order they were said.

        Words that no transcript explains were typed: they are the user's, or those of the
        participant the message names. Nothing is used up: see ``done_with``.
        """
        text = message.text_content or ""
        typed_by = message.extra.get(SPEAKER_KEY)
        if isinstance(typed_by, str):
            return (Part(self._participant(typed_by), text),)
        matched = self._matching(text)
        if matched:
            return _joined(matched)
        if self._interim is not None and bare_words(self._interim.text) == bare_words(text):
            return (Part(self._interim.speaker, text),)
        return (Part(self._participant(user_id_of(_linked(session))), text),)

    def done_with(self, text: str) -> None:
        """A turn with these words was gated: its transcripts, and older ones, are let go."""
        matched = self._matching(text)
        if matched:
            while self._segments and self._segments[0] is not matched[-1]:
                self._segments.popleft()
            self._segments.popleft()

    def _matching(self, text: str) -> list[_Segment]:
        """The run of final transcripts that makes up ``text``, or none."""
        wanted = bare_words(text)
        segments = list(self._segments)
        for first in range(len(segments)):
            place, taken = 0, []
            for segment in segments[first:]:
                words = bare_words(segment.text)
                if wanted[place : place + len(words)] != words:
                    break
                place += len(words)
                taken.append(segment)
                if place == len(wanted):
                    return taken if wanted else []
        return []

    def _labelled_as(self, event: UserInputTranscribedEvent) -> str:
        label = event.speaker_id
        if not label:
            # An interim transcript often has no label yet; a final one then is of nobody known.
            return self._guest(UNKNOWN) if self._labelled and event.is_final else ""
        named = self._name(label) if self._name is not None else None
        if named is not None:
            return "" if named == self._user_id else safe_user_id(named)
        if label == self._user_id:
            return ""
        if self._own_label is None and event.is_final:
            self._own_label = label
        return "" if label == self._own_label or not self._labelled else self._guest(label)

    def _guest(self, label: str) -> str:
        """An id of the guest's own: of this visit, because "S2" is someone else in the next."""
        return safe_user_id(f"{self._user_id}:guest:{self._session_id[:8]}:{label}")

    def _participant(self, own: str | None) -> str:
        """Nothing ("") for the user's own participant and where there is none, else the guest's id.

        The user's is the one whose id the memory has, else the first that spoke: an application
        may give its users other ids than its rooms do.
        """
        if own is None:
            return ""
        if self._own_participant is None or own == self._user_id:
            self._own_participant = own
        return "" if own == self._own_participant else safe_user_id(own)


def user_id_of(participant: Any) -> str | None:
    """Whose memory a participant's is: the signed attribute ``bmo.user_id``, else the identity.

    Args:
        participant: A room's participant; mocks of the console name nobody.

    Returns:
        The id as it was given (it may be refused), or None.
    """
    attributes = getattr(participant, "attributes", None)
    named = attributes.get(USER_ATTRIBUTE) if isinstance(attributes, Mapping) else None
    if isinstance(named, str) and named:
        return named
    identity = getattr(participant, "identity", None)
    return identity if isinstance(identity, str) and identity else None


def typed_by_user(message: llm.ChatMessage) -> bool:
    """Whether a message's words came through ``user_turn``."""
    return TYPED_KEY in message.extra


def safe_user_id(name: str) -> str:
    """``name`` if it may be a user id, else one made from it that nobody else gets."""
    if USER_ID_PATTERN.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    plain = re.sub(r"[^A-Za-z0-9._:@-]+", "_", name)
    return f"{plain[: _LONGEST_ID - len(digest) - 1]}-{digest}"


def _linked(session: AgentSession[Any]) -> Any:
    """The participant a session listens to, or None without a room."""
    try:
        return session.room_io.linked_participant
    except RuntimeError:
        return None


def _joined(segments: list[_Segment]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for segment in segments:
        if parts and parts[-1].speaker == segment.speaker:
            parts[-1] = Part(segment.speaker, f"{parts[-1].text} {segment.text}")
        else:
            parts.append(Part(segment.speaker, segment.text))
    return tuple(parts)
