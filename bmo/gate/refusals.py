"""What speaks against the clauses of a turn, each by itself and the turn as a whole."""

from __future__ import annotations

from bmo.gate.cue_words import QUOTED, SCOPED, TAKEN_BACK, VETOED
from bmo.gate.factuality import Veto, cue_stands, may_be_framed, vetoes, vetoes_of_turn
from bmo.gate.negation_scope import may_be_beyond
from bmo.gate.quoted_words import words_not_the_users
from bmo.gate.speech_act import SpeechAct
from bmo.language import Clause, LanguageCode, Words


def refusals(
    spoken: Words,
    clauses: list[Clause],
    acts: list[tuple[SpeechAct, int]],
    language: LanguageCode,
    stages: int,
) -> list[tuple[Veto, ...]]:
    """What speaks against each clause that is a statement, and against the turn as a whole."""
    refused: list[tuple[Veto, ...]] = [()] * len(clauses)
    stated = [place for place, (act, _) in enumerate(acts) if act == "statement"]
    scoped = stages & SCOPED != 0 and may_be_beyond(spoken.norm, language)
    if stated and (
        scoped
        or (stages & VETOED and cue_stands(spoken.norm, language))
        or may_be_framed(spoken, clauses, language)
    ):
        for place in stated:
            refused[place] = vetoes(spoken, clauses[place], language, scoped=scoped)
    quoted = words_not_the_users(spoken, clauses, language) if stages & QUOTED else None
    if quoted is not None:
        for place, clause in enumerate(clauses):
            if clause.end > quoted[0] and clause.start < quoted[1]:
                refused[place] = (*refused[place], "quotation")
    if "n't not " in spoken.text:  # "i don't not like it": the repair takes one for a stutter
        refused = [(*found, "scope") for found in refused]
    turn_veto = vetoes_of_turn(spoken, language) if stages & TAKEN_BACK else None
    if turn_veto is not None:
        refused = [(*found, turn_veto) for found in refused]
    return refused
