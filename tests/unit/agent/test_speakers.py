"""Words and who said them."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from livekit.agents import AgentSession, UserInputTranscribedEvent, llm

from bmo.agent.speakers import Part, Speakers

pytestmark = pytest.mark.unit


class _NoRoom:
    @property
    def room_io(self) -> Any:
        raise RuntimeError("no room")


SESSION = cast("AgentSession[Any]", _NoRoom())


def final(text: str, label: str | None) -> UserInputTranscribedEvent:
    return UserInputTranscribedEvent(transcript=text, is_final=True, speaker_id=label)


def user_says(text: str) -> llm.ChatMessage:
    return llm.ChatMessage(role="user", content=[text])


WORDS = st.text(alphabet="abc", min_size=1, max_size=4)


@given(st.lists(st.tuples(st.sampled_from(["S1", "S2", "S3"]), WORDS), min_size=1, max_size=8))
def test_every_word_of_a_turn_goes_to_exactly_one_speaker(said: list[tuple[str, str]]) -> None:
    speakers = Speakers("glenn", "visit")
    heard = [(speakers.hear(SESSION, final(words, label)), words) for label, words in said]
    text = " ".join(words for _, words in said)
    parts = speakers.parts_of(SESSION, user_says(text))
    assert " ".join(part.text for part in parts) == text
    flat = [(part.speaker, word) for part in parts for word in part.text.split()]
    assert flat == heard
    assert heard[0][0] == "", "the first voice is the user's"
    speakers.done_with(text)
    assert speakers.parts_of(SESSION, user_says(text)) == (Part("", text),), "typed, then"


def test_a_quick_second_turn_does_not_lose_its_transcripts() -> None:
    """Both turns were recognised before the first one's hook began."""
    speakers = Speakers("glenn", "visit")
    for words, label in (("hello", "S1"), ("i live in leeds", "S2")):
        speakers.hear(SESSION, final(words, label))
    speakers.done_with("Hello.")
    parts = speakers.parts_of(SESSION, user_says("I live in Leeds."))
    assert [part.speaker for part in parts] == ["glenn:guest:visit:S2"]
