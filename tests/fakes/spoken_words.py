"""What the offline recogniser can hear: one grammar for all spoken tests.

Most sentences have alternatives nobody says in a test, so that hearing the right one is work.
"""

from __future__ import annotations

SENTENCES = (
    "hello there",
    "good morning",
    "thank you",
    "goodbye",
    "what time is it",
    "turn the (light | radio | heating) off",
    "my name is (peter | anna | robert | susan)",
    "my (brother | sister) is called (sam | tom | lucy | kate)",
    "what is my (brother | sister) called",
    "i live in (oxford | boston | paris | london)",
    "actually i live in (oxford | boston | paris | london) now",
    "where do i live",
    "i am allergic to (peanuts | eggs | shrimp | milk)",
    "what am i allergic to",
    "i work as a (nurse | teacher | baker | doctor)",
    "remember that my (brother | sister) plays the (piano | violin)",
)
"""JSGF: one sentence a line."""
