"""The speech act of each clause of a turn, as its sentence and the clause before tell it."""

from __future__ import annotations

from bmo.gate.speech_act import SpeechAct, speech_act
from bmo.gate.told_beside_requests import tells_beside
from bmo.gate.verbless_wishes import verbless_wish
from bmo.language import Clause, LanguageCode, Words


def speech_acts(
    spoken: Words, clauses: list[Clause], language: LanguageCode
) -> list[tuple[SpeechAct, int]]:
    """The speech act of each clause; what runs on from a question or a request belongs to it."""
    norm = spoken.norm
    polite = "please" in norm
    if len(clauses) == 1 and not polite:
        return [speech_act(spoken, clauses[0], language)]  # most turns: no clause to go with
    acts: list[tuple[SpeechAct, int]] = []
    for position, clause in enumerate(clauses):
        act, behind = speech_act(spoken, clause, language)
        if act == "instruction" and clause.carried:
            if _is_carried_on(norm[clause.start : clause.end], acts, language):
                act, behind = "statement", clause.start
        if polite and act == "statement" and "please" in norm[clause.start : clause.end]:
            said = norm[clause.start : clause.end]
            sentence = [other for other in clauses if other.sentence == clause.sentence]
            last = sentence[-1].end if sentence else clause.end
            standing = _is_standing(said, norm[clause.start : last])
            act = act if standing else "directive"
            if act == "directive" and verbless_wish(tuple(said), language):
                act = "instruction"
        if act == "statement" and position and acts[-1][0] in ("question", "directive"):
            before = clauses[position - 1]
            if not before.closed_by and not clause.intro:
                if not tells_beside(spoken, before, acts[-1][0], clause):
                    act = acts[-1][0]
                elif acts[-1][0] == "question":  # "could you ... for me": nothing is asked
                    acts[-1] = ("directive", acts[-1][1])
        acts.append((act, behind))
    if len(clauses) > 1 and "?" in spoken.text:
        asked = {c.sentence for c in clauses if "?" in c.closed_by}
        opened: dict[int, SpeechAct] = {}
        for clause, (act, _) in zip(clauses, acts, strict=True):
            opened.setdefault(clause.sentence, act)
        # A sentence that opens as a question and closes as one is a question throughout.
        whole = {sentence for sentence in asked if opened[sentence] == "question"}
        acts = [
            ("question", behind) if clause.sentence in whole else (act, behind)
            for clause, (act, behind) in zip(clauses, acts, strict=True)
        ]
    return acts


_FOR_GOOD = frozenset({"always", "any", "anything", "ever", "everything", "never", "only"})

_HOW_OFTEN = frozenset({"never", "always"})
_OF_ASSISTANT = frozenset("me us you your call tell remind say speak answer send keep".split())
_UNTIL_NOW = frozenset({"now", "today", "tonight", "tomorrow"})


def _is_carried_on(
    said: list[str], acts: list[tuple[SpeechAct, int]], language: LanguageCode
) -> bool:
    """Whether "and never drinks" goes on with a statement, and orders nothing."""
    if language != "en" or not acts or acts[-1][0] != "statement" or said[0] not in _HOW_OFTEN:
        return False
    return _OF_ASSISTANT.isdisjoint(said)


def _is_standing(said: list[str], sentence: list[str]) -> bool:
    """Whether a polite wish is one for good: "please, no calls while i work, ever"."""
    if not _UNTIL_NOW.isdisjoint(sentence) or said[0] not in ("no", "please"):
        return False
    unwanted = said[1] if said[0] == "please" and len(said) > 1 else said[0]
    return unwanted == "no" and not _FOR_GOOD.isdisjoint(sentence)
