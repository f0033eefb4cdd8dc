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


def memory_of_answer(asked: Asked) -> Fact | None:
    """What a yes or no settles; None when it does not last.

    Args:
        asked: The judge and the turn; ``whole`` is the judge's word on what the question asks.
    """
    if asked.whole.allow < LASTING:
        return None
    stated = asked.analysis.settled
    if stated is not None and stated.norm[0] == "my":
        # Written as if the user had said "my wife works": whose it is needs no question beside it.
        alone = replace(asked.turn, assistant_before="")
        asked = replace(asked, analysis=replace(asked.analysis, words=stated), turn=alone)
    words = asked.analysis.words
    said = ClauseAnalysis(words, (0, len(words.norm)), tuple(words.norm), "statement", (), (), True)
    asked.known[said.text] = asked.whole
    return memory_of(asked, [said])
