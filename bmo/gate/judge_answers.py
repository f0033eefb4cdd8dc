"""A yes or no to a question of the assistant, judged by what the question asks.

Of "yes" alone nobody can tell whether it is worth keeping; of "i smoke", which it states, the judge
can: it was taught on statements. "Are you ready?" states "i am ready", and is not kept.
"""

from __future__ import annotations

from dataclasses import replace

from bmo.gate.clause_reader import ClauseAnalysis
from bmo.gate.judge_memories import Asked, memory_of
from bmo.turn import Fact

LASTING = 0.93
"""P(allow) of what a question asks from which the answer to it is kept, be it a yes or a no."""


def as_stated(asked: Asked) -> Asked:
    """The turn as if the user had said what was settled ("my wife works"), with no question.

    Args:
        asked: The judge and the turn.
    """
    stated = asked.analysis.settled
    if stated is None:
        return asked
    told = replace(asked.turn, assistant_before=asked.turn.assistant_before.replace("?", "."))
    return replace(asked, analysis=replace(asked.analysis, words=stated), turn=told)


def memory_of_answer(asked: Asked) -> Fact | None:
    """What a yes or no settles; None when it does not last.

    Args:
        asked: The judge and the turn, as stated; ``whole`` is the judge's word on what the
            question asks.
    """
    if asked.whole.allow < LASTING:
        return None
    words = asked.analysis.words
    said = ClauseAnalysis(words, (0, len(words.norm)), tuple(words.norm), "statement", (), (), True)
    asked.known[said.text] = asked.whole
    return memory_of(asked, [said])
