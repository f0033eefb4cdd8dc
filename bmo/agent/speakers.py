"""Who is speaking: the user whose memory this is, or a guest.

Two things tell: the room's participant, and the label a recogniser with diarization gives each
final transcript. The user's participant is the one that memory was opened for, and no other. A
label ("S1") means nothing by itself: the first one that is heard is the user's, unless it is named.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from livekit.agents import AgentSession, UserInputTranscribedEvent, llm

from bmo.agent.heard import bare_words
from bmo.ids import guest_id, user_id_for

logger = logging.getLogger("bmo.agent")

USER_ATTRIBUTE = "bmo.user_id"
"""Key of a user's id: in a job's metadata, and in a participant's attributes (where a setting lets
them count: a participant may set his own)."""

SPEAKER_KEY = "bmo.speaker"
"""Key in a message's ``extra``: identity of the participant who typed it."""

TYPED_KEY = "bmo.typed"
"""Key in a message's ``extra``: its words were typed, not spoken."""

UNKNOWN = "unknown"
"""The label of a transcript without one, where others of the same session have one."""

NameSpeaker = Callable[[str], str | None]
"""Recogniser's label -> user id of that person, or None when it names nobody."""

_SEGMENTS_KEPT = 64


@dataclass(frozen=True, slots=True)
class Part:
    """What one speaker said of a turn; ``speaker``: "" for the user, else the guest's user id."""

    speaker: str
    text: str


class Speakers:
    """Attributes the words of one visit to those who said them."""

    def __init__(
        self,
        user_id: str,
        session_id: str,
        name: NameSpeaker | None = None,
        *,
        participant: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Nobody was heard yet.

        Args:
            user_id: Whose memory it is.
            session_id: Which visit it is; a recogniser's labels mean nothing beyond it.
            name: Names a recogniser's labels, where the application knows voices.
            participant: Tells the user's identity in the room, None where that is his id's.
        """
        self._user_id = user_id
        self._session_id = session_id
        self._name = name
        self._user_in_room = participant
        self._own_label: str | None = None
        self._linked: str | None = None
        self._began: str | None = None
        self._warned = False
        self._labelled = False
        self._segments: deque[Part] = deque(maxlen=_SEGMENTS_KEPT)
        self._interim: Part | None = None

    def watch(self, session: AgentSession[Any], then: Callable[[], None]) -> None:
        """Notes it when an application lets a session listen to another participant.

        LiveKit has no event for it, and what a realtime model knows must change before it is
        spoken to. The participant may be chosen before he is there.
        """
        try:
            room_io = session.room_io
        except RuntimeError:
            return
        own = room_io.set_participant

        def set_participant(participant_identity: str | None) -> None:
            own(participant_identity)
            self._linked = participant_identity or self._linked
            then()

        vars(room_io)["set_participant"] = set_participant

    def begin(self, session: AgentSession[Any]) -> None:
        """Somebody begins to speak: words that are recognised later may be his still."""
        self._began = self._listened_to(session)

    def listening_to(self, session: AgentSession[Any]) -> str:
        """Whom the session listens to: "" for the user and without a room, else a guest's id."""
        return self._participant(self._listened_to(session))

    def hear(self, session: AgentSession[Any], event: UserInputTranscribedEvent) -> str:
        """Notes who said a transcript: "" is the user, else it is the guest's user id."""
        if event.is_final and event.speaker_id:
            self._labelled = True
        # Words that began with one participant and ended with another are a guest's if one is.
        speaker = (
            self._participant(self._began) or self.listening_to(session) or self._labelled_as(event)
        )
        segment = Part(speaker, event.transcript)
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
        if matched := self._matching(text):
            return _joined(matched)
        if self._interim is not None and bare_words(self._interim.text) == bare_words(text):
            return (Part(self._interim.speaker, text),)
        return (Part(self.listening_to(session), text),)

    def done_with(self, text: str) -> None:
        """A turn with these words was gated: its transcripts, and older ones, are let go."""
        if matched := self._matching(text):
            while self._segments.popleft() is not matched[-1]:
                pass

    def _matching(self, text: str) -> list[Part]:
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
            return "" if self._user_id in (named, user_id_for(named)) else user_id_for(named)
        if label == self._user_id:
            return ""
        if self._own_label is None and event.is_final:
            self._own_label = label
        return "" if label == self._own_label or not self._labelled else self._guest(label)

    def _guest(self, label: str) -> str:
        """An id of the guest's own: of this visit, because "S2" is someone else in the next."""
        return guest_id(self._user_id, self._session_id, label)

    def _participant(self, identity: str | None) -> str:
        """Nothing ("") for the user's own participant and where there is none, else the guest's id.

        Where memory calls the user as the room does, it does so with guests: theirs is their own.
        Else nobody can tell what a guest is called, and his id is of this visit.
        """
        if identity is None:
            return ""
        own = self._user_in_room()
        if identity == own or (own is None and user_id_for(identity) == self._user_id):
            return ""
        if own is None and not self._warned:
            self._warned = True
            logger.warning(
                "The memory's user is not in the room, and who speaks there is a guest: use "
                "memory_for, or set the memory's participant"
            )
        known = own is not None and user_id_for(own) == self._user_id
        return user_id_for(identity) if known else self._guest(identity)

    def _listened_to(self, session: AgentSession[Any]) -> str | None:
        """Identity of the participant a session listens to, or did last; None without a room."""
        try:
            linked = identity_in_room(session.room_io.linked_participant)
        except RuntimeError:
            return None
        # Last words are heard when their speaker has left.
        self._linked = linked or self._linked
        return self._linked


def identity_in_room(participant: Any) -> str | None:
    """A participant's identity, as his token says; mocks of the console have none."""
    identity = getattr(participant, "identity", None)
    return identity if isinstance(identity, str) and identity else None


def attribute_of(participant: Any) -> str | None:
    """The user's id in a participant's attributes, which may be the participant's own words."""
    attributes = getattr(participant, "attributes", None)
    named = attributes.get(USER_ATTRIBUTE) if isinstance(attributes, Mapping) else None
    return named if isinstance(named, str) and named else None


def typed_by_user(message: llm.ChatMessage) -> bool:
    """Whether a message's words came through ``user_turn``."""
    return TYPED_KEY in message.extra


def _joined(segments: list[Part]) -> tuple[Part, ...]:
    runs = groupby(segments, key=lambda segment: segment.speaker)
    return tuple(Part(speaker, " ".join(one.text for one in run)) for speaker, run in runs)
